// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/bound.hpp"

#include <algorithm>
#include <numeric>

namespace hocket::search {
Bound::Bound(const Tree& tree, std::span<const SubtreeBound> subtrees)
    : tree_(&tree),
      subtrees_(subtrees),
      units_(tree),
      order_(units_.places().size()),
      sides_(at(tree.num_links())),
      found_ns_(order_.size()),
      place_at_(at(tree.num_nodes()), -1),
      growth_(tree) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    for (std::size_t i = 0; i < order_.size(); ++i)
        if (const std::int32_t node = units_.places()[i].node; node >= 0)
            place_at_[at(node)] = static_cast<std::int32_t>(i);
}

/// Takes into account what the unit's cable is already used for, and that at first few inside have the message.
Sender Bound::sender_of(const Unit& unit, const Side& side, std::int64_t first_ns, const State& state) const {
    Sender sender = growth_.sender_of(unit, std::min(side.from_ns, growth_.helped_ns(first_ns, unit)));
    if (unit.out_link < 0) return sender;
    const Growth::Receivers& receivers = growth_.receivers();
    const std::int32_t capacity = tree_->capacity_of(unit.out_link);
    const std::int64_t slowest = std::min(unit.worst_out, receivers.worst_in);
    const std::int64_t fastest = std::min(unit.best_out, receivers.best_in);
    const std::int64_t best = std::min(side.best, receivers.best_in);
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
            bytes +=
                static_cast<std::int64_t>((static_cast<__int128>(left) * (next - t) + 999'999'999) / 1'000'000'000);
        }
        t = next;
    }
    sender.base_ns = last;
    sender.base_bytes = bytes;
    sender.from_ns = std::min(first, last);
    return sender;
}

Bound::Side Bound::own_side(std::int32_t computer, const State& state) const {
    if (computer < 0 || !state.informed(computer)) return {};
    const std::int64_t from = std::max(state.now_ns(), state.ready_ns(computer));
    if (from >= late_ns_) return {from, 0, 0};
    return {from, Tree::unlimited, tree_->send_rate(computer)};
}

Bound::Side Bound::side_of(const Unit& unit, const State& state) const {
    return unit.out_link >= 0 ? sides_[at(unit.out_link)] : own_side(unit.computer, state);
}

/// Whether nothing but one branch of what is behind the unit's cable has the message.
bool Bound::in_one_branch(const Unit& unit, const State& state) const {
    const std::int32_t node = units_.end_of(unit.in_link), own = tree_->computer_at(node);
    std::int32_t count = own >= 0 && state.informed(own) ? 1 : 0;
    for (const std::int32_t link : units_.links_from(node))
        if (link != unit.out_link && sides_[at(link ^ 1)].from_ns < never && ++count > 1) return false;
    return count == 1;
}

/// Without the receivers in the unit that begins with `but_in_link`.
std::int64_t Bound::at_place(const Place& place, const State& state, std::int64_t aim_ns, std::int32_t but_in_link) {
    growth_.begin();
    std::int64_t first = never;
    for (const Unit& unit : place.units) {
        const std::int64_t from = side_of(unit, state).from_ns;
        first = std::min(first, from);
        if (from >= never && (but_in_link < 0 || unit.in_link != but_in_link)) growth_.add_receiver(unit);
    }
    if (!growth_.has_receivers()) return 0;
    const auto add_senders = [&] {
        for (const Unit& unit : place.units)
            if (const Side side = side_of(unit, state); side.from_ns < never)
                growth_.add_sender(sender_of(unit, side, first, state));
    };
    if (aim_ns >= never || place.slowest < 0 || but_in_link >= 0) return growth_.last_arrival(add_senders);
    missing_.assign(growth_.missing().begin(), growth_.missing().end());
    const std::int64_t found = growth_.last_arrival(add_senders);
    if (found > aim_ns) return found;
    const Unit& slowest = place.units[static_cast<std::size_t>(place.slowest)];
    std::ptrdiff_t sender = -1;
    if (side_of(slowest, state).from_ns < never) {
        if (!in_one_branch(slowest, state)) return found;
        sender = std::count_if(place.units.begin(), place.units.begin() + place.slowest,
                               [&](const Unit& unit) { return side_of(unit, state).from_ns < never; });
    }
    return growth_.can_end_by(aim_ns, missing_, slowest, sender, add_senders) ? found : aim_ns + 1;
}

/// From when on a transfer may begin on the link: what is reserved leaves room for the slowest there can be.
std::int64_t Bound::first_free(std::int32_t link, std::int64_t from_ns, const State& state) const {
    const std::int64_t most = tree_->bandwidth(link) - units_.slowest_over(link);
    for (;;) {
        std::int64_t load = 0, next = never;
        state.for_reserved(tree_->capacity_of(link), [&](std::int64_t start, std::int64_t end, std::int64_t rate) {
            if (start > from_ns || end <= from_ns) return;
            load += rate;
            next = std::min(next, end);
        });
        if (load <= most) return from_ns;
        from_ns = next;
    }
}

/// From when on an informed computer may begin to send.
std::int64_t Bound::can_send_ns(std::int32_t computer, const State& state) const {
    const std::int64_t from = std::max(state.now_ns(), state.ready_ns(computer));
    std::int64_t first = never;
    for (const std::int32_t link : units_.links_from(tree_->node_of(computer)))
        first = std::min(first, first_free(link, from + tree_->delay_ns(link), state) - tree_->delay_ns(link));
    return first;
}

void Bound::read(const State& state) {
    const auto order = tree_->order();
    late_ns_ = never;
    for (std::int32_t c = 0; c < tree_->num_computers(); ++c) {
        if (!state.informed(c)) continue;
        std::int64_t rate = 0;
        for (const std::int32_t link : units_.links_from(tree_->node_of(c)))
            rate = std::max(rate, std::min(tree_->bandwidth(link), tree_->send_rate(c)));
        if (rate > 0)  // 0: it is the only node
            late_ns_ = std::min(late_ns_, can_send_ns(c, state) + tree_->time_of(rate));
    }
    const auto through = [&](Side side, std::int32_t link) {
        if (side.from_ns < never) side.from_ns = first_free(link, side.from_ns + tree_->delay_ns(link), state);
        side.flow = std::min(side.flow, tree_->bandwidth(link));
        side.best = std::min(side.best, tree_->bandwidth(link));
        sides_[at(link)] = side;
    };
    meetings_.assign(at(tree_->num_nodes()), {});
    for (std::size_t i = order.size(); i-- > 0;) {
        const std::int32_t v = order[i];
        meetings_[at(v)].join(own_side(tree_->computer_at(v), state));
        if (v == tree_->middle()) continue;
        through(meetings_[at(v)].first, 2 * v);
        meetings_[at(tree_->parent(v))].join(sides_[at(2 * v)]);
    }
    for (std::size_t i = 1; i < order.size(); ++i) {
        const std::int32_t v = order[i];
        through(meetings_[at(tree_->parent(v))].without(sides_[at(2 * v)]), 2 * v + 1);
        meetings_[at(v)].join(sides_[at(2 * v + 1)]);
    }
}

std::int64_t Bound::of_subtrees(const State& state) {
    if (subtrees_.empty()) return 0;
    num_below_.assign(at(tree_->num_nodes()), 0);
    const auto order = tree_->order();
    for (std::size_t i = order.size(); i-- > 0;) {
        const std::int32_t v = order[i], own = tree_->computer_at(v);
        if (own >= 0 && state.informed(own)) ++num_below_[at(v)];
        if (v != tree_->middle()) num_below_[at(tree_->parent(v))] += num_below_[at(v)];
    }
    std::int64_t bound = 0;
    for (std::int32_t link = 0; link < tree_->num_links(); ++link) {
        const SubtreeBound& subtree = subtrees_[at(link)];
        if (subtree.needs_ns == 0) continue;
        const std::int32_t below = num_below_[at(link / 2)];
        const std::int32_t behind = link % 2 == 1 ? below : state.num_informed() - below;
        if (at(behind) != subtree.holders.size()) continue;
        std::int64_t from = sides_[at(link)].from_ns;
        for (const std::int32_t holder : subtree.holders) from = std::min(from, can_send_ns(holder, state));
        if (from < never) bound = std::max(bound, from + subtree.needs_ns);
    }
    return bound;
}

std::int64_t Bound::of(const State& state, std::int64_t enough_ns, std::int64_t aim_ns) {
    read(state);
    double sum = 0;
    std::int64_t bound = state.end_ns();
    bound = std::max(bound, of_subtrees(state));
    if (bound >= enough_ns) return bound;
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const Place& place = units_.places()[order_[i]];
        const std::int64_t found = at_place(place, state, aim_ns);
        bound = std::max(bound, found);
        if (bound >= enough_ns) {  // the same place may be enough the next time
            const auto first = order_.begin();
            std::rotate(first, first + static_cast<std::ptrdiff_t>(i), first + static_cast<std::ptrdiff_t>(i) + 1);
            return bound;
        }
        found_ns_[order_[i]] = found;
        sum += static_cast<double>(found);
    }
    mean_ns_ = sum;
    return bound;
}

std::int64_t Bound::below_ns(std::int32_t node, const State& state) {
    const std::int32_t place = place_at_[at(node)];
    if (place < 0) return 0;
    if (node == tree_->middle() || sides_[at(2 * node + 1)].from_ns < never) return found_ns_[at(place)];
    return at_place(units_.places()[at(place)], state, never, 2 * node);
}

}  // namespace hocket::search
