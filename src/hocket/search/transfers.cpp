// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/transfers.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "hocket/base/error.hpp"

namespace hocket::search {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// When a transfer's bytes pass a link.
struct Passage {
    std::int32_t transfer;
    std::int64_t begin_ns, end_ns;
};

std::vector<std::vector<Passage>> passages_of(const Tree& tree, std::span<const Transfer> transfers) {
    std::vector<std::vector<Passage>> passages(at(tree.num_links()));
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        const Transfer& t = transfers[i];
        const std::int64_t duration = tree.duration_ns(t.source, t.target);
        std::int64_t begin = t.start_ns;
        tree.for_path(t.source, t.target, [&](std::int32_t link) {
            begin += tree.delay_ns(link);
            passages[at(tree.capacity_of(link))].push_back({static_cast<std::int32_t>(i), begin, begin + duration});
        });
    }
    return passages;
}

/// Transfers that come before each transfer, directly or not.
class Ancestors {
public:
    explicit Ancestors(std::size_t num) : before_(num, std::vector<bool>(num)) {}
    void put_before(std::int32_t early, std::int32_t late) {
        std::vector<bool>&to = before_[at(late)], &from = before_[at(early)];
        for (std::size_t i = 0; i < from.size(); ++i)
            if (from[i]) to[i] = true;
        to[at(early)] = true;
    }
    [[nodiscard]] bool is_before(std::int32_t early, std::int32_t late) const { return before_[at(late)][at(early)]; }

private:
    std::vector<std::vector<bool>> before_;
};

/// Adds the ops of each rank in the order in which they happen, so that a message and those that announce ends reach
/// their receivers in the order in which they were sent.
class Writer {
public:
    Writer(const Tree& tree, Collective collective, std::int32_t root, std::span<const Transfer> transfers)
        : schedule_{collective, "custom", tree.num_computers(), Rank{root}, 1, {}},
          transfers_(transfers),
          arrived_(at(tree.num_computers()), -1),
          received_(transfers.size(), -1) {
        schedule_.ranks.resize(at(tree.num_computers()));
    }

    void start(std::int32_t transfer, std::span<const std::int32_t> waits) {
        const Transfer& t = transfers_[at(transfer)];
        std::vector<std::int32_t> after;
        if (arrived_[at(t.source)] >= 0) after.push_back(arrived_[at(t.source)]);
        for (const std::int32_t wait : waits) {
            const std::int32_t announcer = transfers_[at(wait)].target, has_ended = received_[at(wait)];
            if (announcer == t.source) continue;  // it has what arrived last
            rank(announcer).add(OpKind::send, Rank{t.source}, {}, {has_ended});
            after.push_back(rank(t.source).add(OpKind::recv, Rank{announcer}, {}, {}));
        }
        rank(t.source).add(OpKind::send, Rank{t.target}, {{0, 1}}, after);
    }
    void end(std::int32_t transfer) {
        const Transfer& t = transfers_[at(transfer)];
        const bool combines_it = combines(schedule_.collective);
        std::vector<std::int32_t> before;  // values are combined one after another
        if (combines_it && arrived_[at(t.target)] >= 0) before.push_back(arrived_[at(t.target)]);
        arrived_[at(t.target)] = received_[at(transfer)] = rank(t.target).add(
            combines_it ? OpKind::recv_reduce_right : OpKind::recv, Rank{t.source}, {{0, 1}}, before);
    }
    [[nodiscard]] Schedule finish() { return std::move(schedule_); }

private:
    RankSchedule& rank(std::int32_t r) { return schedule_.ranks[at(r)]; }

    Schedule schedule_;
    std::span<const Transfer> transfers_;
    std::vector<std::int32_t> arrived_;   // [rank] its last receive of the message
    std::vector<std::int32_t> received_;  // [transfer] that receive of its target
};

Schedule schedule_of(const Tree& tree, Collective collective, std::int32_t root, std::span<const Transfer> transfers,
                     Order order) {
    const auto waits =
        order == Order::kept ? waits_of(tree, transfers) : std::vector<std::vector<std::int32_t>>(transfers.size());
    // With delays a transfer may follow another one on a link before that one has ended; who waits for its end starts
    // later.
    struct Event {
        std::int64_t time_ns;
        bool starts;
        std::int32_t transfer;
        auto operator<=>(const Event&) const = default;
    };
    std::vector<Event> events;
    std::vector<std::int64_t> ends_ns, arrived_ns(at(tree.num_computers()), 0);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        const Transfer& t = transfers[i];
        std::int64_t start_ns = std::max(t.start_ns, arrived_ns[at(t.source)]);
        for (const std::int32_t wait : waits[i]) start_ns = std::max(start_ns, ends_ns[at(wait)]);
        ends_ns.push_back(start_ns + t.end_ns - t.start_ns);
        arrived_ns[at(t.target)] = std::max(arrived_ns[at(t.target)], ends_ns.back());
        events.push_back({start_ns, true, static_cast<std::int32_t>(i)});
        events.push_back({ends_ns.back(), false, static_cast<std::int32_t>(i)});
    }
    std::sort(events.begin(), events.end());
    Writer writer(tree, collective, root, transfers);
    for (const Event& event : events) {
        if (event.starts)
            writer.start(event.transfer, waits[at(event.transfer)]);
        else
            writer.end(event.transfer);
    }
    return writer.finish();
}

}  // namespace

std::vector<Transfer> reversed(std::span<const Transfer> transfers) {
    std::int64_t end_ns = 0;
    for (const Transfer& t : transfers) end_ns = std::max(end_ns, t.end_ns);
    std::vector<Transfer> result;
    for (const Transfer& t : transfers) result.push_back({t.target, t.source, end_ns - t.end_ns, end_ns - t.start_ns});
    std::stable_sort(result.begin(), result.end(),
                     [](const Transfer& a, const Transfer& b) { return a.start_ns < b.start_ns; });
    return result;
}

Tree reversed(const Tree& tree) {
    std::vector<std::int32_t> computers;
    for (std::int32_t i = 0; i < tree.num_computers(); ++i) computers.push_back(tree.node_of(i));
    std::int32_t num_nodes = tree.num_nodes();
    std::vector<Cable> cables;
    for (Cable cable : tree.cables()) {
        std::swap(cable.bandwidth[0], cable.bandwidth[1]);
        std::swap(cable.delay_ns[0], cable.delay_ns[1]);
        // A transfer reserves a link after the link's delay, so backwards in time before it. That moves all that is on
        // a link alike and means nothing, unless directions that share the bandwidth have different delays: then what
        // one has more comes behind, on a cable of its own.
        const std::int64_t more_ns = cable.delay_ns[0] - cable.delay_ns[1];
        if (cable.half_duplex && more_ns != 0) {
            std::int32_t& far = more_ns > 0 ? cable.b : cable.a;
            cables.push_back({num_nodes, far, {cable.bandwidth[0], cable.bandwidth[0]}, {std::abs(more_ns), 0}, false});
            far = num_nodes++;
            cable.delay_ns[0] = cable.delay_ns[1] = std::min(cable.delay_ns[0], cable.delay_ns[1]);
        }
        cables.push_back(cable);
    }
    return {num_nodes, std::move(computers), std::move(cables), tree.bytes()};
}

std::vector<std::vector<std::int32_t>> waits_of(const Tree& tree, std::span<const Transfer> transfers) {
    std::vector<std::vector<std::int32_t>> waits(transfers.size());
    std::vector<std::int64_t> bandwidths(at(tree.num_links()), std::numeric_limits<std::int64_t>::max());
    for (std::int32_t link = 0; link < tree.num_links(); ++link)
        if (tree.bandwidth(link) > 0) bandwidths[at(tree.capacity_of(link))] = tree.bandwidth(link);
    const std::vector<std::vector<Passage>> passages = passages_of(tree, transfers);
    const auto rate = [&](std::int32_t i) { return tree.rate(transfers[at(i)].source, transfers[at(i)].target); };
    std::vector<std::int32_t> gone;
    for (std::size_t c = 0; c < passages.size(); ++c)
        for (const Passage& one : passages[c]) {
            gone.clear();
            std::int64_t load = rate(one.transfer);
            for (const Passage& other : passages[c]) {
                if (other.transfer >= one.transfer || other.begin_ns >= one.end_ns) continue;
                load += std::min(rate(other.transfer), bandwidths[c]);
                if (other.end_ns <= one.begin_ns) gone.push_back(other.transfer);
            }
            if (load <= bandwidths[c]) continue;
            waits[at(one.transfer)].insert(waits[at(one.transfer)].end(), gone.begin(), gone.end());
        }

    Ancestors ancestors(transfers.size());
    std::vector<std::vector<std::int32_t>> into(at(tree.num_computers()));  // transfers so far
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        const auto self = static_cast<std::int32_t>(i);
        for (const std::int32_t before : into[at(transfers[i].source)]) ancestors.put_before(before, self);
        std::vector<std::int32_t> all = std::move(waits[i]);
        std::sort(all.begin(), all.end(), std::greater<>());
        waits[i].clear();
        for (const std::int32_t before : all) {
            if (ancestors.is_before(before, self)) continue;
            ancestors.put_before(before, self);
            waits[i].push_back(before);
        }
        into[at(transfers[i].target)].push_back(self);
    }
    return waits;
}

Schedule bcast_of(const Tree& tree, std::int32_t root, std::span<const Transfer> transfers, Order order) {
    return schedule_of(tree, Collective::bcast, root, transfers, order);
}

Schedule reduce_of(const Tree& tree, std::int32_t root, std::span<const Transfer> broadcast, Order order) {
    return schedule_of(tree, Collective::reduce, root, reversed(broadcast), order);
}

Program timed_program_of(const Tree& tree, std::span<const Transfer> transfers) {
    struct Clock {
        std::int32_t op = -1;  // ends at time_ns
        std::int64_t time_ns = 0;
    };
    Program program;
    program.ranks.resize(at(tree.num_computers()));
    std::vector<Clock> clocks(at(tree.num_computers()));
    std::vector<std::vector<std::int32_t>> received(at(tree.num_computers()));  // ops
    for (const Transfer& t : transfers) {
        RankProgram& source = program.ranks[at(t.source)];
        Clock& clock = clocks[at(t.source)];
        std::vector<std::int32_t> after = received[at(t.source)];
        if (t.start_ns > clock.time_ns) {
            const double seconds = 1e-9 * static_cast<double>(t.start_ns - clock.time_ns);
            std::vector<std::int32_t> before;
            if (clock.op >= 0) before.push_back(clock.op);
            clock = {source.add({.kind = ProgramOpKind::compute, .peer = {}, .seconds = seconds}, before), t.start_ns};
        }
        if (clock.op >= 0) after.push_back(clock.op);
        source.add({.kind = ProgramOpKind::send, .peer = Rank{t.target}, .bytes = tree.bytes()}, after);
        received[at(t.target)].push_back(program.ranks[at(t.target)].add(
            {.kind = ProgramOpKind::recv, .peer = Rank{t.source}, .bytes = tree.bytes()}));
    }
    return program;
}

}  // namespace hocket::search
