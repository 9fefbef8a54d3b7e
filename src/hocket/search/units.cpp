// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/units.hpp"

#include <algorithm>
#include <numeric>

namespace hocket::search {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
std::int32_t back(std::int32_t link) { return link ^ 1; }

}  // namespace

Unit own_unit(const Tree& tree, std::int32_t computer) {
    const std::int64_t rate = tree.send_rate(computer);
    return {-1, -1, computer, Tree::unlimited, rate, rate, Tree::unlimited, Tree::unlimited, 0, 0, 0, 0};
}

Units::Units(const Tree& tree)
    : tree_(&tree),
      links_from_(at(tree.num_nodes())),
      behind_(at(tree.num_links())),
      worst_into_(at(tree.num_links()), never),
      worst_beyond_(worst_into_),
      growth_(tree) {
    for (std::int32_t v = 0; v < tree.num_nodes(); ++v)
        if (v != tree.middle()) {
            links_from_[at(v)].push_back(2 * v);
            links_from_[at(tree.parent(v))].push_back(2 * v + 1);
        }
    const auto order = tree.order();
    const auto slowest_into = [&](std::int32_t link) {  // all links into where it begins are known, but its own back
        const std::int32_t from = end_of(back(link));
        const std::int32_t own = tree.computer_at(from);
        std::int64_t slowest = own >= 0 ? std::min(tree.bandwidth(link), tree.send_rate(own)) : never;
        for (const std::int32_t out : links_from_[at(from)])
            if (out != link) slowest = std::min({slowest, worst_into_[at(back(out))], tree.bandwidth(link)});
        worst_into_[at(link)] = slowest;
    };
    const auto slowest_beyond = [&](std::int32_t link) {  // all links from where it ends are known, but its own back
        const std::int32_t to = end_of(link);
        std::int64_t slowest = tree.computer_at(to) >= 0 ? tree.bandwidth(link) : never;
        for (const std::int32_t out : links_from_[at(to)])
            if (out != back(link)) slowest = std::min({slowest, worst_beyond_[at(out)], tree.bandwidth(link)});
        worst_beyond_[at(link)] = slowest;
    };
    // Links up to the middle, leaves first; then links down. And the other way.
    for (std::size_t i = order.size(); i-- > 1;) slowest_into(2 * order[i]);
    for (std::size_t i = 1; i < order.size(); ++i) slowest_into(2 * order[i] + 1);
    for (std::size_t i = order.size(); i-- > 1;) slowest_beyond(2 * order[i] + 1);
    for (std::size_t i = 1; i < order.size(); ++i) slowest_beyond(2 * order[i]);
    // What is behind a link down is known once all below is; then the links up, from the middle.
    for (std::size_t i = order.size(); i-- > 1;) find_behind(2 * order[i] + 1);
    for (std::size_t i = 1; i < order.size(); ++i)
        if (links_from_[at(order[i])].size() > 1) find_behind(2 * order[i]);
    for (std::size_t i = 1; i < order.size(); ++i)
        if (links_from_[at(order[i])].size() > 1) {
            find_pause(2 * order[i] + 1);
            find_pause(2 * order[i]);
        }
    for (std::int32_t v = 0; v < tree.num_nodes(); ++v) {
        if (links_from_[at(v)].size() < 2) continue;  // its neighbour sees as much
        Place place{v, {}};
        for (const std::int32_t link : links_from_[at(v)])
            if (behind(link).holds_computers()) place.units.push_back(behind(link));
        if (tree.computer_at(v) >= 0) place.units.push_back(own_unit(tree, tree.computer_at(v)));
        if (place.units.size() > 1) places_.push_back(std::move(place));
    }
    join_places();
    for (Place& place : places_) {
        const auto slowest = std::max_element(place.units.begin(), place.units.end(), [](const Unit& a, const Unit& b) {
            return a.alone_tail_ns < b.alone_tail_ns;
        });
        const auto others = std::count_if(place.units.begin(), place.units.end(), [&](const Unit& unit) {
            return unit.alone_tail_ns == slowest->alone_tail_ns;
        });
        if (slowest->pause_ns > 0 && others == 1) place.slowest = slowest - place.units.begin();
    }
}

std::int32_t Units::end_of(std::int32_t link) const { return link % 2 == 0 ? tree_->parent(link / 2) : link / 2; }

void Units::find_behind(std::int32_t in_link) {
    const std::int32_t out_link = back(in_link), node = end_of(in_link);
    Unit found;
    found.out_link = out_link;
    found.in_link = in_link;
    found.out_bandwidth = tree_->bandwidth(out_link);
    const auto extend = [&](const Unit& inner) {
        if (!inner.holds_computers()) return;
        found.best_out = std::max(found.best_out, std::min(inner.best_out, found.out_bandwidth));
        found.worst_out = std::min(found.worst_out, std::min(inner.worst_out, found.out_bandwidth));
        const std::int64_t in_bandwidth = tree_->bandwidth(in_link);
        found.best_in = std::max(found.best_in, std::min(inner.best_in, in_bandwidth));
        found.worst_in = std::min(found.worst_in, std::min(inner.worst_in, in_bandwidth));
        found.near_out_ns = std::min(found.near_out_ns, inner.near_out_ns + tree_->delay_ns(out_link));
        found.near_in_ns = std::min(found.near_in_ns, inner.near_in_ns + tree_->delay_ns(in_link));
        found.far_in_ns = std::max(found.far_in_ns, inner.far_in_ns + tree_->delay_ns(in_link));
    };
    for (const std::int32_t link : links_from_[at(node)])
        if (link != out_link) extend(behind(link));
    if (tree_->computer_at(node) >= 0) extend(own_unit(*tree_, tree_->computer_at(node)));
    if (found.holds_computers()) {
        found.tail_ns = tail_behind(in_link, false);
        found.alone_tail_ns = tail_behind(in_link, true);
    }
    behind_[at(in_link)] = found;
}

std::vector<Unit> Units::inside(std::int32_t in_link) const {
    const std::int32_t node = end_of(in_link);
    std::vector<Unit> inner;
    for (const std::int32_t link : links_from_[at(node)])
        if (link != back(in_link) && behind(link).holds_computers()) inner.push_back(behind(link));
    if (tree_->computer_at(node) >= 0) inner.push_back(own_unit(*tree_, tree_->computer_at(node)));
    return inner;
}

/// How long all that is behind the link cannot send to elsewhere, from when one branch begins to send to a second one
/// until that has the message. Whichever branch is the first, what it sends to the second and to elsewhere does not fit
/// on its cable together.
void Units::find_pause(std::int32_t in_link) {
    Unit& unit = behind_[at(in_link)];
    if (!unit.holds_computers() || tree_->has_delays()) return;
    const std::vector<Unit> inner = inside(in_link);
    if (inner.size() < 2) return;
    const std::int64_t elsewhere = std::min(unit.out_bandwidth, behind(back(in_link)).worst_in);
    std::int64_t pause = never, slowest_in = never, fastest_in = 0;
    for (const Unit& one : inner) {
        slowest_in = std::min(slowest_in, one.worst_in);
        fastest_in = std::max(fastest_in, one.best_in);
    }
    for (const Unit& one : inner) {
        const std::int64_t slowest = std::min(slowest_in, one.worst_out) + std::min(elsewhere, one.worst_out);
        pause = std::min(pause, slowest > one.out_bandwidth ? tree_->time_of(std::min(fastest_in, one.best_out)) : 0);
    }
    unit.pause_ns = pause;
}

/// From the first arrival behind the link to the last; `alone`: which is the only one that comes over the link.
std::int64_t Units::tail_behind(std::int32_t in_link, bool alone) {
    const std::vector<Unit> inner = inside(in_link);
    if (inner.size() == 1) return alone ? inner[0].alone_tail_ns : inner[0].tail_ns;
    const std::int64_t in_bandwidth = tree_->bandwidth(in_link);
    // The slowest transfer into here: how many can be under way when the first arrives.
    std::int64_t slowest = std::min(in_bandwidth, worst_into_[at(in_link)]);
    for (const Unit& unit : inner) slowest = std::min(slowest, unit.worst_in);
    const std::int64_t others = in_bandwidth / slowest - 1;
    // And when what comes on the cable was there last, before the first arrival.
    std::int64_t begin = 0;
    for (const Unit& unit : inner) begin = std::min(begin, -unit.far_in_ns);
    const auto importer = [&] {
        const std::int64_t lowest_rate = std::min(slowest, growth_.receivers().worst_in);
        Sender sender{begin,
                      begin,
                      others * tree_->bytes(),
                      in_bandwidth,
                      tree_->time_of(std::min(in_bandwidth, growth_.receivers().best_in)),
                      std::max<std::int64_t>(1, in_bandwidth / lowest_rate),
                      in_bandwidth};
        sender.num_begun = others;
        return sender;
    };
    const auto from_first = [&](std::size_t first, const Unit& sender) {
        growth_.begin();
        for (std::size_t i = 0; i < inner.size(); ++i)
            if (i != first) growth_.add_receiver(inner[i]);
        return growth_.last_arrival([&] {
            growth_.add_sender(
                growth_.sender_of(sender, std::min(sender.near_out_ns, growth_.helped_ns(begin, sender))));
            if (!alone) growth_.add_sender(importer());
        });
    };
    constexpr std::size_t few = 16;
    std::int64_t best = never;
    if (inner.size() <= few) {
        for (std::size_t i = 0; i < inner.size(); ++i)
            best = std::min(best, std::max(inner[i].tail_ns, from_first(i, inner[i])));
        return best;
    }
    // Rather than try each as the first: that with the longest tail has the message, and sends as the best of all do.
    Unit sender = inner[0];
    std::size_t longest = 0;
    for (std::size_t i = 0; i < inner.size(); ++i) {
        const Unit& unit = inner[i];
        if (unit.tail_ns > inner[longest].tail_ns) longest = i;
        sender.out_bandwidth = std::max(sender.out_bandwidth, unit.out_bandwidth);
        sender.best_out = std::max(sender.best_out, unit.best_out);
        sender.worst_out = std::min(sender.worst_out, unit.worst_out);
        sender.best_in = std::max(sender.best_in, unit.best_in);
        sender.near_in_ns = std::min(sender.near_in_ns, unit.near_in_ns);
        sender.near_out_ns = std::min(sender.near_out_ns, unit.near_out_ns);
    }
    return from_first(longest, sender);
}

/// Joins nodes that fast cables connect: which computers are how fast matters more there than what hangs on which node.
void Units::join_places() {
    std::vector<std::int64_t> speeds;
    const auto is_inner = [&](std::int32_t node) { return links_from_[at(node)].size() > 1; };
    const auto speed = [&](std::int32_t v) { return std::min(tree_->bandwidth(2 * v), tree_->bandwidth(2 * v + 1)); };
    for (std::int32_t v = 0; v < tree_->num_nodes(); ++v)
        if (v != tree_->middle() && is_inner(v) && is_inner(tree_->parent(v))) speeds.push_back(speed(v));
    std::sort(speeds.begin(), speeds.end(), std::greater<>{});
    speeds.erase(std::unique(speeds.begin(), speeds.end()), speeds.end());
    std::vector<std::int32_t> top(at(tree_->num_nodes()));  // the node joined with it that is nearest to the middle
    std::vector<std::size_t> size_before(top.size(), 1);
    for (const std::int64_t least : speeds) {
        std::vector<std::vector<std::int32_t>> joined(top.size());
        for (const std::int32_t v : tree_->order()) {
            const bool joins = v != tree_->middle() && is_inner(v) && is_inner(tree_->parent(v)) && speed(v) >= least;
            top[at(v)] = joins ? top[at(tree_->parent(v))] : v;
            joined[at(top[at(v)])].push_back(v);
        }
        for (std::int32_t v = 0; v < tree_->num_nodes(); ++v) {
            const std::vector<std::int32_t>& nodes = joined[at(v)];
            if (nodes.size() > size_before[at(v)]) places_.push_back({-1, units_at(nodes, top)});
            size_before[at(v)] = nodes.size();
        }
    }
}

/// The units of joined nodes, with the rates that the cables between them leave.
std::vector<Unit> Units::units_at(std::span<const std::int32_t> nodes, std::span<const std::int32_t> top) const {
    std::vector<Unit> units;
    std::vector<std::int32_t> node_of;
    for (const std::int32_t v : nodes) {
        for (const std::int32_t link : links_from_[at(v)])
            if (top[at(end_of(link))] != top[at(v)] && behind(link).holds_computers()) units.push_back(behind(link));
        if (tree_->computer_at(v) >= 0) units.push_back(own_unit(*tree_, tree_->computer_at(v)));
        node_of.resize(units.size(), v);
    }
    struct Rates {
        std::int64_t best_out = 0, worst_out = never, best_in = 0, worst_in = never;
    };
    std::vector<Rates> rates(units.size());
    std::vector<std::int64_t> out(links_from_.size()), in(links_from_.size());  // [node] between it and the first one
    std::vector<std::pair<std::int32_t, std::int32_t>> stack;                   // (node, where it was reached from)
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (i == 0 || node_of[i] != node_of[i - 1]) {
            stack.emplace_back(node_of[i], -1);
            out[at(node_of[i])] = in[at(node_of[i])] = never;
            while (!stack.empty()) {
                const auto [v, from] = stack.back();
                stack.pop_back();
                for (const std::int32_t link : links_from_[at(v)]) {
                    const std::int32_t next = end_of(link);
                    if (next == from || top[at(next)] != top[at(v)]) continue;
                    out[at(next)] = std::min(out[at(v)], tree_->bandwidth(link));
                    in[at(next)] = std::min(in[at(v)], tree_->bandwidth(back(link)));
                    stack.emplace_back(next, v);
                }
            }
        }
        for (std::size_t k = 0; k < units.size(); ++k) {
            if (k == i) continue;
            const std::int64_t to = out[at(node_of[k])], from = in[at(node_of[k])];
            rates[i].best_out = std::max(rates[i].best_out, std::min(to, units[k].best_in));
            rates[i].worst_out = std::min(rates[i].worst_out, std::min(to, units[k].worst_in));
            rates[i].best_in = std::max(rates[i].best_in, std::min(from, units[k].best_out));
            rates[i].worst_in = std::min(rates[i].worst_in, std::min(from, units[k].worst_out));
        }
    }
    for (std::size_t i = 0; i < units.size(); ++i) {
        units[i].best_out = std::min(units[i].best_out, rates[i].best_out);
        units[i].worst_out = std::min(units[i].worst_out, rates[i].worst_out);
        units[i].best_in = std::min(units[i].best_in, rates[i].best_in);
        units[i].worst_in = std::min(units[i].worst_in, rates[i].worst_in);
    }
    return units;
}

}  // namespace hocket::search
