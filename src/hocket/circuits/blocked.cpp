// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// What becomes of messages whose circuit cannot be set up.

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/circuits/transport.hpp"

namespace hocket::circuits {

/// Whether its circuit cannot be set up, and nothing is being torn down for it.
bool CircuitTransport::cannot_be_set_up(std::int32_t c) {
    if (at(c).wish < 0) return false;
    if (policy_ == Policy::program) return at(c).users == 0;
    for (const NodeId host : {at(c).hosts.first, at(c).hosts.second})
        if (!board_.has_port(host) && !board_.is_closing(host) && idle_at(host) < 0) return true;
    const bool lacks_wavelength =
        std::find(lack_wavelength_.begin(), lack_wavelength_.end(), c) != lack_wavelength_.end();
    return lacks_wavelength && at(c).room_s <= now_s_;
}

/// Messages of the hosts that have changed, or of all if circuits have opened, over which they may go.
void CircuitTransport::serve_blocked(std::vector<std::int32_t>& ready) {
    std::set<std::pair<std::int64_t, std::int32_t>> wishes;
    const auto add = [&](const Host& host) {
        for (const Wish& wish : host.wishes) wishes.emplace(wish.sequence, wish.connection);
    };
    if (has_opened_ && !electrical_)
        std::for_each(hosts_.begin(), hosts_.end(), add);
    else
        for (const NodeId host : senders_) add(hosts_[host.at()]);
    has_opened_ = false;
    for (const auto& [sequence, c] : wishes) {
        if (!cannot_be_set_up(c)) continue;
        if (electrical_)
            take_electrical(c, ready);
        else
            take_relays(c);
        if (at(c).users > 0 || !at(c).waiting[0].empty() || !at(c).waiting[1].empty()) continue;
        forget_wish(c);
    }
}

void CircuitTransport::take_electrical(std::int32_t c, std::vector<std::int32_t>& ready) {
    for (auto& waiting : at(c).waiting) {
        for (const Message& message : waiting) {
            sent_[static_cast<std::size_t>(message.number)].is_cleared = true;
            by_electrical_.insert(message.number);
            waiting_s_ += now_s_ - message.ready_s;
            ready.push_back(message.number);
        }
        num_waiting_ -= static_cast<std::int64_t>(waiting.size());
        waiting.clear();
    }
}

void CircuitTransport::take_relays(std::int32_t c) {
    for (const std::size_t direction : {0U, 1U}) {
        const auto [first, second] = at(c).hosts;
        const std::vector<NodeId> path = direction == 0 ? relay_path(first, second) : relay_path(second, first);
        if (path.empty()) continue;
        const std::vector<Message> messages = std::exchange(at(c).waiting[direction], {});
        num_waiting_ -= static_cast<std::int64_t>(messages.size());
        for (const Message& message : messages) {
            for (std::size_t i = 0; i + 1 < path.size(); ++i) ++at(connection_of(pair_of(path[i], path[i + 1]))).relays;
            relays_[message.number] = {.hosts = path, .ready_s = message.ready_s};
            Connection& connection = at(connection_of(pair_of(path[0], path[1])));
            queue(connection, path[0] == connection.hosts.first ? 0 : 1, message);
        }
        senders_.push_back(path[0]);
    }
}

/// The fewest circuits that are up and join the two, among these those that were set up first; empty: none do.
std::vector<NodeId> CircuitTransport::relay_path(NodeId from, NodeId to) {
    std::unordered_map<std::int32_t, NodeId> came_from{{from.value, from}};
    std::vector<NodeId> level{from};
    for (std::size_t next = 0; next < level.size() && !came_from.contains(to.value); ++next)
        for (const std::int32_t c : hosts_[level[next].at()].live) {
            const auto& [first, second] = at(c).hosts;
            const NodeId other = first == level[next] ? second : first;
            if (at(c).is_open && came_from.try_emplace(other.value, level[next]).second) level.push_back(other);
        }
    if (!came_from.contains(to.value)) return {};
    std::vector<NodeId> path{to};
    while (path.back() != from) path.push_back(came_from.at(path.back().value));
    std::reverse(path.begin(), path.end());
    return path;
}

/// Whether the message takes several circuits: begins on the next of them.
bool CircuitTransport::begin_hop(const TransportMessage& message, double now_s, std::vector<LinkId>& links) {
    const auto found = relays_.find(message.number);
    if (found == relays_.end()) return false;
    Relay& relay = found->second;
    if (relay.hop == 0) ++num_messages_;
    relay.source = message.source;
    relay.send = message.send;
    relay.begin_s = now_s;
    paths_.find(relay.hosts[relay.hop], relay.hosts[relay.hop + 1], links);
    return true;
}

/// A message that takes several circuits has arrived at a host, where it waits for the next of them.
void CircuitTransport::forward(const Arrival& arrival) {
    const auto found = relays_.find(arrival.number);
    if (found == relays_.end()) return;
    Relay& relay = found->second;
    const NodeId from = relay.hosts[relay.hop], here = relay.hosts[relay.hop + 1];
    --at(arrival.connection).relays;
    hops_.push_back({relay.source, relay.send, from, here, relay.ready_s, relay.begin_s, arrival.time_s});
    if (here == relay.hosts.back()) {
        relays_.erase(found);
        return;
    }
    relay.ready_s = arrival.time_s;
    Connection& next = at(connection_of(pair_of(here, relay.hosts[++relay.hop + 1])));
    queue(next, here == next.hosts.first ? 0 : 1, {arrival.number, &nobody, arrival.time_s, sequence_++});
    change(next);
}

bool CircuitTransport::relieve(double now_s) {
    if (num_waiting_ == 0) return false;
    if (policy_ == Policy::program) {
        refuse_requests();
        refuse_wait();
        return false;
    }
    bool has_freed = false;
    for (std::size_t i = 0; i < connections_.size(); ++i) {
        const auto c = static_cast<std::int32_t>(i);
        if (at(c).circuit < 0 || at(c).owner == pins || has_use(at(c))) continue;
        if (at(c).owner >= 0) state(at(c).owner).is_broken = true;
        disconnect(c, now_s);
        has_freed = true;
    }
    if (!has_freed) refuse_wait();
    if (has_freed) next_s_ = now_s;
    return has_freed;
}

/// Messages or connects wait, and nothing goes on: names the circuit of the first, and what it lacks.
void CircuitTransport::refuse_wait() const {
    const Connection* found = nullptr;
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    const auto see = [&](const Connection& connection, std::int64_t sequence) {
        if (connection.circuit >= 0 || sequence >= first) return;
        first = sequence;
        found = &connection;
    };
    for (const Connection& connection : connections_) {
        for (const auto& waiting : connection.waiting)
            if (!waiting.empty()) see(connection, waiting.front().sequence);
        if (connection.users > 0) see(connection, connection.asked);
    }
    if (found == nullptr) return;
    const auto name_of = [&](NodeId host) { return base::quoted(network_.node(host).name); };
    std::string what = "circuits: that of " + name_of(found->hosts.first) + " and " + name_of(found->hosts.second) +
                       " can never be set up, and " +
                       (found->users > 0 ? "the program connects them: " : "a message waits for it: ");
    for (const NodeId host : {found->hosts.first, found->hosts.second}) {
        if (board_.has_port(host)) continue;
        const std::int32_t ports = board_.num_ports(host);
        std::string number = ports == 0 ? "no port" : "1 port";
        if (ports > 1) number = std::to_string(ports) + " ports";
        what += name_of(host) + " has " + number;
        const auto& live = hosts_[host.at()].live;
        for (std::size_t i = 0; i < live.size(); ++i) {
            const HostPair& hosts = connections_[static_cast<std::size_t>(live[i])].hosts;
            what +=
                (i > 0 ? ", " : ", taken by circuits to ") + name_of(hosts.first == host ? hosts.second : hosts.first);
        }
        if (policy_ == Policy::program)
            throw InvalidInput(what, "disconnect one before, or give it more ports in the table [circuits]");
        throw InvalidInput(what, policy_ == Policy::pinned && !live.empty()
                                     ? "pin fewer circuits, or give it more ports in the table [circuits]"
                                     : "give it more ports in the table [circuits] of the network");
    }
    throw InvalidInput(what + "no wavelength is left on their cables",
                       "give the cables more wavelengths in the table [circuits] of the network");
}

}  // namespace hocket::circuits
