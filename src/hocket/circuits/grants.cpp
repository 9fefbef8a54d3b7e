// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Which messages of no batch get a circuit, in the order in which they became ready.

#include <algorithm>
#include <functional>
#include <limits>

#include "hocket/circuits/transport.hpp"

namespace hocket::circuits {

/// If a message waits for a circuit of its own.
void CircuitTransport::want_circuit(std::int32_t c) {
    Connection& connection = at(c);
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const auto& waiting : connection.waiting)
        for (const Message& message : waiting)
            if (takes_any(*message.batch)) first = std::min(first, message.sequence);
    if (connection.users > 0 && connection.circuit < 0) first = std::min(first, connection.asked);
    if (first == std::numeric_limits<std::int64_t>::max() || connection.wish >= 0) return;
    connection.wish = first;
    connection.wish_pass = pass_;
    const auto [a, b] = connection.hosts;
    for (const auto& [host, other] : {HostPair{a, b}, HostPair{b, a}}) {
        std::vector<Wish>& wishes = hosts_[host.at()].wishes;
        const Wish wish{first, c, other};
        if (wishes.empty() || wishes.back() < wish)
            wishes.push_back(wish);
        else
            wishes.insert(std::lower_bound(wishes.begin(), wishes.end(), wish), wish);
    }
}

void CircuitTransport::forget_wish(std::int32_t c) {
    Connection& connection = at(c);
    if (connection.wish < 0) return;
    for (const NodeId host : {connection.hosts.first, connection.hosts.second}) {
        std::vector<Wish>& wishes = hosts_[host.at()].wishes;
        wishes.erase(std::lower_bound(wishes.begin(), wishes.end(), Wish{connection.wish, c, host}));
    }
    connection.wish = -1;
}

/// The circuit of this host that was not used for longest, of those that may be torn down; -1: none.
std::int32_t CircuitTransport::idle_at(NodeId host) {
    std::int32_t found = -1;
    if (policy_ == Policy::naive || policy_ == Policy::program) return found;
    for (const std::int32_t c : hosts_[host.at()].live) {
        if (at(c).owner != nobody || has_use(at(c))) continue;
        if (found < 0 || at(c).last_used_s < at(found).last_used_s) found = c;
    }
    return found;
}

void CircuitTransport::make_fibre(Connection& connection, double now_s) {
    if (policy_ == Policy::naive || policy_ == Policy::program || connection.room_s > now_s) return;
    std::int32_t found = -1;
    for (std::size_t i = 0; i < connections_.size(); ++i) {
        const auto c = static_cast<std::int32_t>(i);
        if (at(c).circuit < 0 || at(c).owner != nobody || has_use(at(c))) continue;
        if (found >= 0 && at(c).last_used_s >= at(found).last_used_s) continue;
        if (board_.is_full() || board_.shares_fibre(at(c).hosts, connection.hosts)) found = c;
    }
    if (found < 0) return;
    const std::int32_t circuit = at(found).circuit;
    disconnect(found, now_s);
    connection.room_s = board_.circuit(circuit).down_s;
}

/// Whether no circuit can be set up here, whatever is torn down. Holds until one of the host is torn down.
bool CircuitTransport::is_blocked(NodeId host) {
    if (blocked_pass_[host.at()] == pass_) return true;
    if (board_.has_port(host) || board_.is_closing(host) || idle_at(host) >= 0) return false;
    blocked_pass_[host.at()] = pass_;
    return true;
}

/// Sets it up if it can be.
void CircuitTransport::grant(std::int32_t c, double now_s) {
    if (policy_ == Policy::program && at(c).users == 0) return;
    const auto [a, b] = at(c).hosts;
    // Nothing is torn down for a circuit that would lack a port at its other end.
    if (is_blocked(a) || is_blocked(b)) return;
    for (const NodeId host : {a, b})
        if (!board_.has_port(host) && !board_.is_closing(host)) disconnect(idle_at(host), now_s);
    if (!board_.has_port(a) || !board_.has_port(b)) return;
    auto circuit = board_.connect(at(c).hosts, now_s);
    if (!circuit) {
        lack_wavelength_.push_back(c);
        make_fibre(at(c), now_s);
        circuit = board_.connect(at(c).hosts, now_s);
    }
    if (circuit) connected(c, *circuit, nobody);
}

/// Of the hosts that have changed, in the order in which the messages became ready: their lists are merged. What waits
/// for a host that is blocked is left out until a circuit of that host is torn down for another.
void CircuitTransport::grant_wishes(const std::vector<NodeId>& changed, double now_s) {
    ++pass_;
    unblocked_.clear();
    next_wishes_.clear();
    for (const NodeId host : changed) {
        Host& here = hosts_[host.at()];
        if (here.wishes.empty() || (!board_.has_port(host) && idle_at(host) < 0)) continue;
        here.asking_pass = pass_;
        put_after(host, {-1, -1, host});
    }
    std::int64_t last = -1;
    while (!next_wishes_.empty()) {
        NextWish next = take_wish();
        while (true) {
            const auto [wish, host, index] = next;
            Host& here = hosts_[host.at()];
            here.queued_pass = -1;
            if (is_blocked(host)) break;
            const bool asks = here.asking_pass == pass_ || hosts_[wish.other.at()].asking_pass == pass_;
            // Of both hosts it may come twice. One that is new in this pass is for the next one.
            if (asks && wish.sequence != last && !is_blocked(wish.other) && at(wish.connection).wish == wish.sequence &&
                at(wish.connection).wish_pass != pass_)
                grant(wish.connection, now_s);
            last = wish.sequence;
            const auto after = wish_after(host, wish, index);
            if (after) here.queued_pass = pass_;
            for (const NodeId unblocked : unblocked_)
                if (hosts_[unblocked.at()].queued_pass != pass_) put_after(unblocked, wish);
            unblocked_.clear();
            if (!after) break;
            next = *after;
            if (!next_wishes_.empty() && next_wishes_.front().wish < next.wish) {
                put_wish(next);
                next = take_wish();
            }
        }
    }
}

/// The next one of the host, which is likely to be at `index` + 1, whose other host was not found blocked.
std::optional<CircuitTransport::NextWish> CircuitTransport::wish_after(NodeId host, const Wish& wish,
                                                                       std::size_t index) const {
    const std::vector<Wish>& wishes = hosts_[host.at()].wishes;
    if (index < wishes.size() && wishes[index].sequence == wish.sequence)
        ++index;
    else
        index = static_cast<std::size_t>(std::upper_bound(wishes.begin(), wishes.end(), wish) - wishes.begin());
    while (index < wishes.size() && blocked_pass_[wishes[index].other.at()] == pass_) ++index;
    if (index == wishes.size()) return std::nullopt;
    return NextWish{wishes[index], host, index};
}

void CircuitTransport::put_after(NodeId host, const Wish& wish) {
    const auto next = wish_after(host, wish, 0);
    if (!next) return;
    hosts_[host.at()].queued_pass = pass_;
    put_wish(*next);
}

void CircuitTransport::put_wish(const NextWish& next) {
    next_wishes_.push_back(next);
    std::push_heap(next_wishes_.begin(), next_wishes_.end(), std::greater<>());
}

CircuitTransport::NextWish CircuitTransport::take_wish() {
    std::pop_heap(next_wishes_.begin(), next_wishes_.end(), std::greater<>());
    const NextWish next = next_wishes_.back();
    next_wishes_.pop_back();
    return next;
}

}  // namespace hocket::circuits
