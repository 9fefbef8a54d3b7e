// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/bound.hpp"

#include <algorithm>
#include <functional>

namespace hocket::search {
Bound::Bound(const Tree& tree)
    : tree_(&tree),
      neighbours_(at(tree.num_nodes())),
      units_(at(tree.num_nodes())),
      below_(at(tree.num_nodes())),
      above_(at(tree.num_nodes())),
      through_below_(at(tree.num_nodes())),
      through_above_(at(tree.num_nodes())),
      known_below_(at(tree.num_nodes())),
      known_above_(at(tree.num_nodes())) {
    for (const Cable& cable : tree.cables()) {
        neighbours_[at(cable.a)].push_back(cable.b);
        neighbours_[at(cable.b)].push_back(cable.a);
    }
    for (std::int32_t node = 0; node < tree.num_nodes(); ++node) {
        if (neighbours_[at(node)].size() < 2) continue;  // its neighbour sees as much
        std::vector<Unit>& units = units_[at(node)];
        for (const std::int32_t next : neighbours_[at(node)]) {
            const Unit unit = unit_through(node, next);
            if (unit.best_out > 0) units.push_back(unit);
        }
        if (tree.computer_at(node) >= 0) units.push_back(own_computer);
        if (units.size() > 1) places_.push_back(node);
    }
}

/// What hangs on `node` through its neighbour `next`. best_out is 0 if it holds no computer.
Bound::Unit Bound::unit_through(std::int32_t node, std::int32_t next) {
    const bool below = tree_->parent(next) == node && next != tree_->middle();
    Unit& unit = below ? through_below_[at(next)] : through_above_[at(node)];
    char& known = below ? known_below_[at(next)] : known_above_[at(node)];
    if (known != 0) return unit;
    const std::int32_t up = 2 * (below ? next : node), down = up + 1;
    Unit found{below ? up : down, below ? down : up, 0, 0, never, 0, never, never, never, 0, 0};
    found.out_bandwidth = tree_->bandwidth(found.out_link);
    const auto extend = [&](const Unit& inner) {
        if (inner.best_out == 0) return;
        found.best_out = std::max(found.best_out, inner.best_out);
        found.worst_out = std::min(found.worst_out, inner.worst_out);
        found.best_in = std::max(found.best_in, inner.best_in);
        found.worst_in = std::min(found.worst_in, inner.worst_in);
        found.near_out_ns = std::min(found.near_out_ns, inner.near_out_ns);
        found.near_in_ns = std::min(found.near_in_ns, inner.near_in_ns);
        found.far_in_ns = std::max(found.far_in_ns, inner.far_in_ns);
    };
    for (const std::int32_t further : neighbours_[at(next)])
        if (further != node) extend(unit_through(next, further));
    if (tree_->computer_at(next) >= 0)
        extend(own_computer);
    if (found.best_out > 0) {
        found.best_out = std::min(found.best_out, found.out_bandwidth);
        found.worst_out = std::min(found.worst_out, found.out_bandwidth);
        const std::int64_t in_bandwidth = tree_->bandwidth(found.in_link);
        found.best_in = std::min(found.best_in, in_bandwidth);
        found.worst_in = std::min(found.worst_in, in_bandwidth);
        found.near_out_ns += tree_->delay_ns(found.out_link);
        found.near_in_ns += tree_->delay_ns(found.in_link);
        found.far_in_ns += tree_->delay_ns(found.in_link);
        found.tail_ns = tail_through(next, node);
    }
    unit = found;
    known = 1;
    return unit;
}

/// From the first arrival beyond `node`, coming from `from`, to the last.
std::int64_t Bound::tail_through(std::int32_t node, std::int32_t from) {
    std::vector<Unit> inner;
    for (const std::int32_t next : neighbours_[at(node)])
        if (next != from) {
            const Unit unit = unit_through(node, next);
            if (unit.best_out > 0) inner.push_back(unit);
        }
    if (tree_->computer_at(node) >= 0)
        inner.push_back(own_computer);
    const bool below = tree_->parent(node) == from && node != tree_->middle();
    const std::int32_t in_link = below ? 2 * node + 1 : 2 * from;
    const std::int64_t in_bandwidth = tree_->bandwidth(in_link);
    // The slowest transfer into here: how many can be under way when the first arrives.
    std::int64_t slowest = in_bandwidth;
    for (const Unit& unit : inner) slowest = std::min(slowest, unit.worst_in);
    std::vector<std::int32_t> stack{from}, parents{node};
    std::vector<std::int64_t> least{in_bandwidth};
    while (!stack.empty()) {
        const std::int32_t v = stack.back(), parent = parents.back();
        const std::int64_t rate = least.back();
        stack.pop_back();
        parents.pop_back();
        least.pop_back();
        if (tree_->computer_at(v) >= 0) slowest = std::min(slowest, rate);
        for (const std::int32_t next : neighbours_[at(v)])
            if (next != parent) {
                const bool hangs = tree_->parent(next) == v && next != tree_->middle();
                stack.push_back(next);
                parents.push_back(v);
                least.push_back(std::min(rate, tree_->bandwidth(hangs ? 2 * next : 2 * v + 1)));
            }
    }
    const std::int64_t others = in_bandwidth / slowest - 1;
    // And when what comes on the cable was there last, before the first arrival.
    std::int64_t begin = 0;
    for (const Unit& unit : inner) begin = std::min(begin, -unit.far_in_ns);
    const auto importer = [&] {
        const std::int64_t lowest_rate = std::min(slowest, receivers_.worst_in);
        Sender sender{begin, begin, others * tree_->bytes(), in_bandwidth,
                      tree_->time_of(std::min(in_bandwidth, receivers_.best_in)),
                      std::max<std::int64_t>(1, in_bandwidth / lowest_rate)};
        sender.num_begun = others;
        return sender;
    };
    constexpr std::size_t few = 16;
    const auto from_first = [&](const Unit& first, const Unit& sender) {
        begin_growth();
        for (const Unit& unit : inner)
            if (&unit != &first) add_receiver(unit);
        return last_arrival([&] {
            senders_.push_back(sender_of(sender, std::min(sender.near_out_ns, helped_ns(begin, sender))));
            best_rates_.push_back(sender.best_out);
            senders_.push_back(importer());
            best_rates_.push_back(in_bandwidth);
        });
    };
    std::int64_t best = never;
    if (inner.size() <= few) {
        for (const Unit& first : inner) best = std::min(best, std::max(first.tail_ns, from_first(first, first)));
        return best;
    }
    // Rather than try each as the first: that with the longest tail has the message, and sends as the best of all do.
    Unit sender = inner[0];
    const Unit* longest = &inner[0];
    for (const Unit& unit : inner) {
        if (unit.tail_ns > longest->tail_ns) longest = &unit;
        sender.out_bandwidth = std::max(sender.out_bandwidth, unit.out_bandwidth);
        sender.best_out = std::max(sender.best_out, unit.best_out);
        sender.worst_out = std::min(sender.worst_out, unit.worst_out);
        sender.best_in = std::max(sender.best_in, unit.best_in);
        sender.near_in_ns = std::min(sender.near_in_ns, unit.near_in_ns);
        sender.near_out_ns = std::min(sender.near_out_ns, unit.near_out_ns);
    }
    return from_first(*longest, sender);
}

void Bound::begin_growth() {
    receivers_ = {};
    missing_.clear();
    senders_.clear();
}

void Bound::add_receiver(const Unit& unit) {
    missing_.push_back(&unit);
    receivers_.best_in = std::max(receivers_.best_in, unit.best_in);
    receivers_.worst_in = std::min(receivers_.worst_in, unit.worst_in);
    receivers_.near_in_ns = std::min(receivers_.near_in_ns, unit.near_in_ns);
    receivers_.near_out_ns = std::min(receivers_.near_out_ns, unit.near_out_ns);
}

/// All receivers are known.
Bound::Sender Bound::sender_of(const Unit& unit, std::int64_t from_ns) const {
    const std::int64_t fastest = std::min(unit.best_out, receivers_.best_in);
    const std::int64_t slowest = std::min(unit.worst_out, receivers_.worst_in);
    const std::int64_t at_once = std::max<std::int64_t>(1, unit.out_bandwidth / slowest);
    std::int64_t bandwidth = unit.out_bandwidth;
    if (fastest == slowest) bandwidth = std::min(bandwidth, at_once * fastest);
    return {from_ns, from_ns, 0, bandwidth, tree_->time_of(fastest), at_once};
}

/// When a unit can begin at the latest: one whose message comes late, or must go far, may get another one.
std::int64_t Bound::helped_ns(std::int64_t first_ns, const Unit& unit) const {
    return first_ns + tree_->time_of(unit.best_in) + unit.near_in_ns + unit.near_out_ns;
}

/// Takes into account what the unit's cable is already used for, and that at first few inside have the message.
Bound::Sender Bound::sender_of(const Unit& unit, const Side& side, std::int64_t first_ns, const State& state) const {
    Sender sender = sender_of(unit, std::min(side.from_ns, helped_ns(first_ns, unit)));
    if (unit.out_link < 0) return sender;
    const std::int32_t capacity = tree_->capacity_of(unit.out_link);
    const std::int64_t slowest = std::min(unit.worst_out, receivers_.worst_in);
    const std::int64_t fastest = std::min(unit.best_out, receivers_.best_in);
    const std::int64_t best = std::min(side.best, receivers_.best_in);
    const bool few = best > 0 && late_ns_ > sender.from_ns && (side.flow < sender.bandwidth || best < fastest);
    std::int64_t last = few ? late_ns_ : sender.from_ns;
    state.for_reserved(capacity, [&](std::int64_t, std::int64_t end, std::int64_t) { last = std::max(last, end); });
    if (last == sender.from_ns) return sender;
    if (few) {
        sender.late_ns = late_ns_;
        sender.late_least_ns = sender.least_ns;
        sender.least_ns = tree_->time_of(best);
        sender.at_once = std::max<std::int64_t>(1, std::min(sender.at_once, side.flow / std::min(slowest, best)));
    }
    std::int64_t bytes = 0, first = never;
    for (std::int64_t t = sender.from_ns; t < last;) {
        std::int64_t load = 0, next = last;
        state.for_reserved(capacity, [&](std::int64_t start, std::int64_t end, std::int64_t rate) {
            if (start <= t && t < end) load += rate;
            if (start > t) next = std::min(next, start);
            if (end > t) next = std::min(next, end);
        });
        std::int64_t left = unit.out_bandwidth - load;
        left = left < slowest ? 0 : fastest == slowest ? left / slowest * slowest : left;
        if (few && t < late_ns_) {
            next = std::min(next, late_ns_);
            left = std::min(left, side.flow);
        }
        if (left > 0) {
            first = std::min(first, t);
            bytes += static_cast<std::int64_t>((static_cast<__int128>(left) * (next - t) + 999'999'999) / 1'000'000'000);
        }
        t = next;
    }
    sender.base_ns = last;
    sender.base_bytes = bytes;
    sender.from_ns = std::min(first, last);
    return sender;
}

/// The earliest end of the sender's next message.
std::int64_t Bound::next_completion(const Sender& sender) const {
    const std::int64_t k = sender.num_sent + 1;
    const std::int64_t left = k * tree_->bytes() - sender.base_bytes;
    std::int64_t time = sender.from_ns;
    if (left > 0)
        time = sender.base_ns +
               static_cast<std::int64_t>(static_cast<__int128>(left) * 1'000'000'000 / sender.bandwidth);
    const std::int64_t new_ones = std::max<std::int64_t>(0, k - sender.num_begun);
    return std::max(time, std::min(sender.late_ns + sender.late_least_ns,
                                   sender.from_ns + (new_ones + sender.at_once - 1) / sender.at_once * sender.least_ns));
}

/// When all that is missing has arrived, with tails, relative to the senders' times.
std::int64_t Bound::grow() {
    const std::size_t count = missing_.size();
    if (count == 0) return 0;
    bandwidths_.clear();
    rates_.clear();
    tails_.clear();
    for (const Unit* unit : missing_) {
        bandwidths_.push_back(unit->out_bandwidth);
        rates_.push_back(unit->best_out);
        tails_.push_back(unit->tail_ns);
    }
    std::sort(bandwidths_.begin(), bandwidths_.end(), std::greater<>{});
    std::sort(rates_.begin(), rates_.end(), std::greater<>{});
    std::sort(tails_.begin(), tails_.end(), std::greater<>{});
    std::int64_t slowest_out = never;
    for (const Unit* unit : missing_) slowest_out = std::min(slowest_out, unit->worst_out);
    heap_.clear();
    for (std::size_t i = 0; i < senders_.size(); ++i)
        heap_.push_back({next_completion(senders_[i]), static_cast<std::int32_t>(i)});
    std::make_heap(heap_.begin(), heap_.end());
    arrivals_.clear();
    std::int64_t end = 0;
    while (arrivals_.size() < count) {
        std::pop_heap(heap_.begin(), heap_.end());
        const Next next = heap_.back();
        heap_.pop_back();
        const std::size_t k = arrivals_.size();
        const std::int64_t arrival = next.time_ns + receivers_.near_in_ns;
        arrivals_.push_back(arrival);
        end = std::max(end, arrival + tails_[k]);
        ++senders_[at(next.sender)].num_sent;
        heap_.push_back({next_completion(senders_[at(next.sender)]), next.sender});
        std::push_heap(heap_.begin(), heap_.end());
        if (k + 1 == count) break;
        const std::int64_t fastest = std::min(rates_[k], receivers_.best_in);
        const std::int64_t slowest = std::min(slowest_out, receivers_.worst_in);
        const std::int64_t at_once = std::max<std::int64_t>(1, bandwidths_[k] / slowest);
        std::int64_t bandwidth = bandwidths_[k];
        if (fastest == slowest) bandwidth = std::min(bandwidth, at_once * fastest);
        const std::int64_t from = arrival + receivers_.near_out_ns;
        senders_.push_back({from, from, 0, bandwidth, tree_->time_of(fastest), at_once});
        heap_.push_back({next_completion(senders_.back()), static_cast<std::int32_t>(senders_.size()) - 1});
        std::push_heap(heap_.begin(), heap_.end());
    }
    return end;
}

/// After grow(): when those in missing_ alone have arrived, with as many senders at any time as grow() found.
std::int64_t Bound::grow_again() {
    tails_.clear();
    for (const Unit* unit : missing_) tails_.push_back(unit->tail_ns);
    std::sort(tails_.begin(), tails_.end(), std::greater<>{});
    heap_.clear();
    for (std::size_t i = 0; i < senders_.size(); ++i)
        heap_.push_back({next_completion(senders_[i]), static_cast<std::int32_t>(i)});
    std::make_heap(heap_.begin(), heap_.end());
    std::int64_t end = 0;
    for (const std::int64_t tail : tails_) {
        std::pop_heap(heap_.begin(), heap_.end());
        Next& next = heap_.back();
        end = std::max(end, next.time_ns + receivers_.near_in_ns + tail);
        ++senders_[at(next.sender)].num_sent;
        next.time_ns = next_completion(senders_[at(next.sender)]);
        std::push_heap(heap_.begin(), heap_.end());
    }
    return end;
}

/// Of the missing units and what is in them, from senders that `add_senders` makes, for the receivers of the moment.
template <class AddSenders>
std::int64_t Bound::last_arrival(AddSenders&& add_senders) {
    if (missing_.empty()) return 0;
    senders_.clear();
    best_rates_.clear();
    add_senders();
    // Each receiver by itself.
    std::int64_t end = 0, first_arrival = never;
    for (const Sender& sender : senders_) first_arrival = std::min(first_arrival, next_completion(sender));
    first_arrival += receivers_.near_in_ns + receivers_.near_out_ns;
    for (const Unit* unit : missing_) {
        std::int64_t arrival = first_arrival + tree_->time_of(unit->best_in);
        for (std::size_t i = 0; i < senders_.size(); ++i) {
            const Sender& sender = senders_[i];
            if (sender.num_begun > 0) arrival = std::min(arrival, sender.from_ns);
            const std::int64_t rate = std::min(best_rates_[i], unit->best_in);
            arrival = std::min(arrival, std::min(sender.from_ns + std::max(sender.least_ns, tree_->time_of(rate)),
                                                 sender.late_ns + tree_->time_of(rate)));
        }
        end = std::max(end, arrival + unit->near_in_ns + unit->tail_ns);
    }
    end = std::max(end, grow());
    // Those that receive slowly, by themselves.
    all_missing_ = missing_;
    std::sort(all_missing_.begin(), all_missing_.end(),
              [](const Unit* a, const Unit* b) { return a->best_in > b->best_in; });
    const std::int64_t near_out = receivers_.near_out_ns;
    std::int64_t slowest_out = never;
    for (const Unit* unit : all_missing_) slowest_out = std::min(slowest_out, unit->worst_out);
    for (std::size_t i = 1; i < all_missing_.size(); ++i) {
        if (all_missing_[i]->best_in == all_missing_[i - 1]->best_in) continue;
        begin_growth();
        for (std::size_t k = i; k < all_missing_.size(); ++k) add_receiver(*all_missing_[k]);
        add_senders();
        for (std::size_t k = 0; k + 1 < arrivals_.size(); ++k) {
            const std::int64_t from = arrivals_[k] + near_out;
            const std::int64_t fastest = std::min(rates_[k], receivers_.best_in);
            const std::int64_t slowest = std::min(slowest_out, receivers_.worst_in);
            senders_.push_back({from, from, 0, bandwidths_[k], tree_->time_of(fastest),
                                std::max<std::int64_t>(1, bandwidths_[k] / slowest)});
        }
        end = std::max(end, grow_again());
    }
    return end;
}

Bound::Side Bound::side_of(const Unit& unit, std::int32_t node, const State& state) const {
    if (unit.out_link >= 0) return unit.out_link % 2 == 0 ? below_[at(unit.out_link / 2)] : above_[at(node)];
    const std::int32_t computer = tree_->computer_at(node);
    if (!state.informed(computer)) return {};
    return {std::max(state.now_ns(), state.ready_ns(computer)), unlimited, unlimited};
}

std::int64_t Bound::at_node(std::int32_t node, const State& state) {
    begin_growth();
    const std::vector<Unit>& units = units_[at(node)];
    std::int64_t first = never;
    for (const Unit& unit : units) {
        const Side side = side_of(unit, node, state);
        first = std::min(first, side.from_ns);
        if (side.from_ns >= never) add_receiver(unit);
    }
    if (missing_.empty()) return 0;
    return last_arrival([&] {
        for (const Unit& unit : units)
            if (const Side side = side_of(unit, node, state); side.from_ns < never) {
                senders_.push_back(sender_of(unit, side, first, state));
                best_rates_.push_back(unit.best_out);
            }
    });
}

void Bound::read(const State& state) {
    const auto order = tree_->order();
    late_ns_ = never;
    for (std::int32_t c = 0; c < tree_->num_computers(); ++c) {
        if (!state.informed(c)) continue;
        std::int64_t rate = 0;
        const std::int32_t v = tree_->node_of(c);
        for (const std::int32_t next : neighbours_[at(v)])
            rate = std::max(rate, tree_->bandwidth(tree_->parent(next) == v && next != tree_->middle() ? 2 * next + 1
                                                                                                       : 2 * v));
        if (rate > 0)  // 0: it is the only node
            late_ns_ = std::min(late_ns_, std::max(state.now_ns(), state.ready_ns(c)) + tree_->time_of(rate));
    }
    const auto own = [&](std::int32_t node) -> Side {
        const std::int32_t computer = tree_->computer_at(node);
        if (computer < 0 || !state.informed(computer)) return {};
        const std::int64_t from = std::max(state.now_ns(), state.ready_ns(computer));
        const std::int64_t flow = from < late_ns_ ? unlimited : 0;
        return {from, flow, flow};
    };
    const auto join = [](Side& side, const Side& other) {
        side.from_ns = std::min(side.from_ns, other.from_ns);
        side.flow += other.flow;
        side.best = std::max(side.best, other.best);
    };
    const auto through = [&](Side side, std::int32_t link) {
        if (side.from_ns < never) side.from_ns += tree_->delay_ns(link);
        side.flow = std::min(side.flow, tree_->bandwidth(link));
        side.best = std::min(side.best, tree_->bandwidth(link));
        return side;
    };
    const auto is_child = [&](std::int32_t next, std::int32_t v) {
        return tree_->parent(next) == v && next != tree_->middle();
    };
    for (std::size_t i = order.size(); i-- > 0;) {
        const std::int32_t v = order[i];
        if (v == tree_->middle()) continue;
        Side side = own(v);
        for (const std::int32_t next : neighbours_[at(v)])
            if (is_child(next, v)) join(side, below_[at(next)]);
        below_[at(v)] = through(side, 2 * v);
    }
    for (const std::int32_t v : order) {
        if (v == tree_->middle()) continue;
        const std::int32_t parent = tree_->parent(v);
        Side side = own(parent);
        if (parent != tree_->middle()) join(side, above_[at(parent)]);
        for (const std::int32_t next : neighbours_[at(parent)])
            if (next != v && is_child(next, parent)) join(side, below_[at(next)]);
        above_[at(v)] = through(side, 2 * v + 1);
    }
}

std::int64_t Bound::of(const State& state, std::int64_t enough_ns) {
    read(state);
    double sum = 0;
    std::int64_t bound = state.end_ns();
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const std::int64_t found = at_node(places_[i], state);
        bound = std::max(bound, found);
        if (bound >= enough_ns) {  // the same place may be enough the next time
            std::rotate(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(i),
                        places_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            return bound;
        }
        sum += static_cast<double>(found);
    }
    mean_ns_ = sum;
    return bound;
}

}  // namespace hocket::search
