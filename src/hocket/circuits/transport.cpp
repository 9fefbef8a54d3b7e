// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/circuits/transport.hpp"

#include <algorithm>
#include <limits>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"

namespace hocket::circuits {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace

CircuitTransport::CircuitTransport(const Network& network, Policy policy, Collectives collectives,
                                   const std::vector<HostPair>& pinned)
    : network_(network),
      rules_(circuits_of(network)),
      policy_(policy),
      paths_(network),
      board_(network, paths_, policy == Policy::naive ? std::optional(1) : std::nullopt),
      plan_(std::move(collectives)),
      filling_(network, board_, paths_),
      hosts_(network.nodes().size()),
      next_s_(never) {
    if (rules_.blocked == network::Blocked::electrical) electrical_.emplace(network, true);
    for (const Collectives::One& one : plan_.all) collectives_.push_back({.messages_left = one.num_messages});
    if (policy == Policy::batch) {
        batch_of_send_ = plan_.of_send;
        for (auto& rank : batch_of_send_)
            for (std::int32_t& batch : rank) batch = batch < 0 ? nobody : later;
    }
    for (const HostPair& pair : pinned) {
        const auto circuit = board_.connect(pair, 0);
        if (!circuit)
            throw InvalidInput("circuits: no port or wavelength is left for that of " +
                                   base::quoted(network.node(pair.first).name) + " and " +
                                   base::quoted(network.node(pair.second).name),
                               "pin fewer circuits");
        connected(connection_of(pair), *circuit, pins);
    }
}

std::int32_t CircuitTransport::connection_of(HostPair pair) {
    const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(pair.first.value)} << 32U |
                              static_cast<std::uint32_t>(pair.second.value);
    const auto [found, is_new] = numbers_.try_emplace(key, static_cast<std::int32_t>(connections_.size()));
    if (is_new) {
        connections_.push_back({.hosts = pair});
        paths_.find(pair.first, pair.second, path_);
        connections_.back().latency_s[0] = paths_.latency_s(path_);
        paths_.find(pair.second, pair.first, path_);
        connections_.back().latency_s[1] = paths_.latency_s(path_);
    }
    return found->second;
}

const std::int32_t* CircuitTransport::batch_of(const TransportMessage& message) const {
    if (batch_of_send_.empty()) return &nobody;
    return &batch_of_send_[message.source.at()][static_cast<std::size_t>(message.send)];
}

std::int32_t CircuitTransport::collective_of(const TransportMessage& message) const {
    return plan_.of_send.empty() ? -1 : plan_.of_send[message.source.at()][static_cast<std::size_t>(message.send)];
}

bool CircuitTransport::begin(const TransportMessage& message, double now_s, std::vector<LinkId>& links) {
    const NodeId from = network_.host_of(message.source), to = network_.host_of(message.target);
    if (from == to) {
        if (!end_call(message)) return false;
        network_.route(message.source, message.target, links);
        return true;
    }
    const auto number = static_cast<std::size_t>(message.number);
    if (cleared_.size() <= number) cleared_.resize(number + 1 + number / 2, false);
    if (electrical_ && !cleared_[number] && !paths_.joins(from, to)) {
        cleared_[number] = true;
        by_electrical_.insert(message.number);
    }
    if (cleared_[number]) {
        const bool is_electrical = by_electrical_.contains(message.number);
        (is_electrical ? *electrical_ : paths_).find(from, to, links);
        return true;
    }
    const std::int32_t c = connection_of(pair_of(from, to));
    const std::int32_t* batch = batch_of(message);
    const std::size_t direction = from == at(c).hosts.first ? 0 : 1;
    if (goes_at_once(at(c), direction, *batch)) {
        go(at(c), direction);
        paths_.find(from, to, links);
        return true;
    }
    at(c).waiting[direction].push_back({message.number, batch, now_s, sequence_++});
    ++num_waiting_;
    if (*batch == later)
        make_next(collective_of(message));
    else if (!takes_any(*batch))
        want_batch(*batch);
    else if (at(c).circuit < 0)
        want_circuit(c);
    change(at(c));
    next_s_ = now_s;
    return false;
}

void CircuitTransport::end(const TransportMessage& message, double now_s) {
    const NodeId from = network_.host_of(message.source), to = network_.host_of(message.target);
    if (from == to || by_electrical_.erase(message.number) > 0) return;
    const std::int32_t c = connection_of(pair_of(from, to));
    const std::int32_t direction = from == at(c).hosts.first ? 0 : 1;
    const double arrival_s = now_s + at(c).latency_s[static_cast<std::size_t>(direction)];
    arrivals_.push({arrival_s, message.number, c, direction, *batch_of(message), collective_of(message)});
    next_s_ = std::min(next_s_, arrivals_.top().time_s);
}

void CircuitTransport::change(NodeId host) {
    if (hosts_[host.at()].has_changed) return;
    hosts_[host.at()].has_changed = true;
    changed_.push_back(host);
}

void CircuitTransport::change(const Connection& connection) {
    change(connection.hosts.first);
    change(connection.hosts.second);
}

void CircuitTransport::arrive(const Arrival& arrival) {
    Connection& connection = at(arrival.connection);
    const NodeId from = arrival.direction == 0 ? connection.hosts.first : connection.hosts.second;
    --hosts_[from.at()].sending;
    connection.is_busy[static_cast<std::size_t>(arrival.direction)] = false;
    connection.last_used_s = arrival.time_s;
    change(connection);
    if (arrival.batch >= 0) {
        leave_batch(arrival);
    } else if (policy_ == Policy::naive ||
               (arrival.batch == alone && connection.owner == nobody && connection.circuit >= 0)) {
        connection.served = arrival.collective;
        if (!has_use(connection)) disconnect(arrival.connection, arrival.time_s);
    }
    if (arrival.collective >= 0) count_out(arrival.collective);
}

void CircuitTransport::connected(std::int32_t c, std::int32_t circuit, std::int32_t owner) {
    Connection& connection = at(c);
    connection.circuit = circuit;
    connection.owner = owner;
    connection.is_used = {};
    board_.circuit(circuit).configuration = owner >= 0 ? owner : circuit;
    openings_.push({board_.circuit(circuit).open_s, c});
    for (const NodeId host : {connection.hosts.first, connection.hosts.second}) {
        hosts_[host.at()].live.push_back(c);
        if (connection.wish >= 0) hosts_[host.at()].wishes.erase({connection.wish, c});
    }
    connection.wish = -1;
}

void CircuitTransport::disconnect(std::int32_t c, double now_s) {
    Connection& connection = at(c);
    board_.disconnect(connection.circuit, now_s);
    if (connection.owner >= 0) connection.served = state(connection.owner).collective;
    if (connection.served >= 0) {
        double& down_s = collectives_[static_cast<std::size_t>(connection.served)].down_s;
        down_s = std::max(down_s, board_.circuit(connection.circuit).down_s);
    }
    connection.served = nobody;
    connection.circuit = -1;
    connection.is_open = false;
    connection.owner = nobody;
    for (const NodeId host : {connection.hosts.first, connection.hosts.second}) std::erase(hosts_[host.at()].live, c);
    want_circuit(c);
    change(connection);
    for (const std::int32_t other : lack_wavelength_) change(at(other));
    lack_wavelength_.clear();
}

/// If a message waits for a circuit of its own.
void CircuitTransport::want_circuit(std::int32_t c) {
    Connection& connection = at(c);
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const auto& waiting : connection.waiting)
        for (const Message& message : waiting)
            if (takes_any(*message.batch)) first = std::min(first, message.sequence);
    if (first == std::numeric_limits<std::int64_t>::max() || connection.wish >= 0) return;
    connection.wish = first;
    for (const NodeId host : {connection.hosts.first, connection.hosts.second})
        hosts_[host.at()].wishes.insert({first, c});
}

bool CircuitTransport::may_go(const Connection& connection, std::size_t direction, const Message& message) {
    if (policy_ == Policy::naive) return !connection.is_used[direction];
    const std::int32_t batch = *message.batch;
    if (batch == alone)
        return connection.owner == pins || (connection.owner == nobody && !connection.is_used[direction]);
    return takes_any(batch) || (batch >= 0 && (connection.owner == batch || connection.owner == pins));
}

/// Whether a message is on its way, or waits that can go.
bool CircuitTransport::has_use(const Connection& connection) {
    for (const std::size_t direction : {0U, 1U}) {
        if (connection.is_busy[direction]) return true;
        for (const Message& message : connection.waiting[direction])
            if (may_go(connection, direction, message)) return true;
    }
    return false;
}

/// The circuit of this host that was not used for longest, of those that may be torn down; -1: none.
std::int32_t CircuitTransport::idle_at(NodeId host) {
    std::int32_t found = -1;
    if (policy_ == Policy::naive) return found;
    for (const std::int32_t c : hosts_[host.at()].live) {
        if (at(c).owner != nobody || has_use(at(c))) continue;
        if (found < 0 || at(c).last_used_s < at(found).last_used_s) found = c;
    }
    return found;
}

void CircuitTransport::make_fibre(Connection& connection, double now_s) {
    if (policy_ == Policy::naive || connection.room_s > now_s) return;
    std::int32_t found = -1;
    for (std::size_t i = 0; i < connections_.size(); ++i) {
        const auto c = static_cast<std::int32_t>(i);
        if (at(c).circuit < 0 || at(c).owner != nobody || has_use(at(c))) continue;
        if (found >= 0 && at(c).last_used_s >= at(found).last_used_s) continue;
        if (board_.shares_fibre(at(c).hosts, connection.hosts)) found = c;
    }
    if (found < 0) return;
    const std::int32_t circuit = at(found).circuit;
    disconnect(found, now_s);
    connection.room_s = board_.circuit(circuit).down_s;
}

/// Whether it has its circuit now.
bool CircuitTransport::grant(std::int32_t c, double now_s) {
    const auto [a, b] = at(c).hosts;
    // Nothing is torn down for a circuit that would lack a port at its other end.
    for (const NodeId host : {a, b})
        if (!board_.has_port(host) && !board_.is_closing(host) && idle_at(host) < 0) return false;
    for (const NodeId host : {a, b})
        if (!board_.has_port(host) && !board_.is_closing(host)) disconnect(idle_at(host), now_s);
    if (!board_.has_port(a) || !board_.has_port(b)) return false;
    auto circuit = board_.connect(at(c).hosts, now_s);
    if (!circuit) {
        lack_wavelength_.push_back(c);
        make_fibre(at(c), now_s);
        circuit = board_.connect(at(c).hosts, now_s);
    }
    if (circuit) connected(c, *circuit, nobody);
    return circuit.has_value();
}

/// Of the hosts that have changed, in the order in which the messages became ready.
void CircuitTransport::grant_wishes(const std::vector<NodeId>& changed, double now_s) {
    std::vector<std::pair<std::int64_t, std::int32_t>> wishes;
    for (const NodeId host : changed) {
        const Host& here = hosts_[host.at()];
        if (here.wishes.empty() || (!board_.has_port(host) && idle_at(host) < 0)) continue;
        wishes.insert(wishes.end(), here.wishes.begin(), here.wishes.end());
    }
    std::sort(wishes.begin(), wishes.end());
    wishes.erase(std::unique(wishes.begin(), wishes.end()), wishes.end());
    for (const auto& [sequence, c] : wishes)
        if (at(c).wish == sequence) grant(c, now_s);
}

/// Its circuit is up, and no message of its host waits for the injector. Others of its direction may wait for their
/// batch.
bool CircuitTransport::goes_at_once(const Connection& connection, std::size_t direction, std::int32_t batch) {
    if (!connection.is_open || connection.is_busy[direction] || policy_ == Policy::naive) return false;
    if (batch == later || batch == alone) return false;
    if (batch >= 0 ? connection.owner != batch : !connection.waiting[direction].empty()) return false;
    const NodeId from = direction == 0 ? connection.hosts.first : connection.hosts.second;
    return rules_.injection == Injection::all || hosts_[from.at()].sending == 0;
}

void CircuitTransport::go(Connection& connection, std::size_t direction) {
    connection.is_busy[direction] = connection.is_used[direction] = true;
    ++hosts_[(direction == 0 ? connection.hosts.first : connection.hosts.second).at()].sending;
    ++num_messages_;
}

/// Lets the message go that waits for longest among those that can.
bool CircuitTransport::clear_next(NodeId host, std::vector<std::int32_t>& ready) {
    const Host& here = hosts_[host.at()];
    if (rules_.injection == Injection::one && here.sending > 0) return false;
    std::int32_t found = -1;
    std::size_t position = 0;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const std::int32_t c : here.live) {
        const Connection& connection = at(c);
        const std::size_t direction = host == connection.hosts.first ? 0 : 1;
        if (connection.is_busy[direction] || !connection.is_open) continue;
        const auto& waiting = connection.waiting[direction];
        for (std::size_t i = 0; i < waiting.size() && waiting[i].sequence < least; ++i) {
            if (!may_go(connection, direction, waiting[i])) continue;
            least = waiting[i].sequence;
            found = c;
            position = i;
        }
    }
    if (found < 0) return false;
    Connection& connection = at(found);
    const std::size_t direction = host == connection.hosts.first ? 0 : 1;
    auto& waiting = connection.waiting[direction];
    const Message message = waiting[position];
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(position));
    --num_waiting_;
    waiting_s_ += now_s_ - message.ready_s;
    go(connection, direction);
    cleared_[static_cast<std::size_t>(message.number)] = true;
    ready.push_back(message.number);
    return true;
}

void CircuitTransport::update(double now_s, std::vector<std::int32_t>& ready) {
    while (!arrivals_.empty() && arrivals_.top().time_s <= now_s) {
        const Arrival arrival = arrivals_.top();
        arrivals_.pop();
        arrive(arrival);
    }
    now_s_ = now_s;
    freed_.clear();
    if (board_.advance(now_s, freed_)) make_anew();
    for (const NodeId host : freed_) change(host);
    if (!freed_.empty()) {
        for (const std::int32_t c : lack_wavelength_) change(at(c));
        lack_wavelength_.clear();
    }
    for (; !openings_.empty() && openings_.top().first <= now_s; openings_.pop()) {
        Connection& connection = at(openings_.top().second);
        connection.is_open = connection.circuit >= 0 && board_.circuit(connection.circuit).open_s <= now_s;
        change(connection);
    }
    senders_.clear();
    while (!changed_.empty()) {  // what is torn down for one may help another
        seen_.clear();
        seen_.swap(changed_);
        for (const NodeId host : seen_) hosts_[host.at()].has_changed = false;
        set_up_batches(now_s);
        grant_wishes(seen_, now_s);
        senders_.insert(senders_.end(), seen_.begin(), seen_.end());
    }
    if (electrical_) take_electrical(senders_, ready);
    for (const NodeId host : senders_)
        while (clear_next(host, ready)) {
        }
    end_calls(now_s, ready);
    next_s_ = arrivals_.empty() ? never : arrivals_.top().time_s;
    if (!downs_.empty()) next_s_ = std::min(next_s_, downs_.top().first);
    if (num_waiting_ == 0) return;
    next_s_ = std::min(next_s_, board_.next_event_s());
    if (!openings_.empty()) next_s_ = std::min(next_s_, openings_.top().first);
}

double CircuitTransport::finish(double now_s) {
    for (std::size_t i = 0; i < connections_.size(); ++i)
        if (connections_[i].circuit >= 0) disconnect(static_cast<std::int32_t>(i), now_s);
    double end_s = now_s;
    for (const Circuit& circuit : board_.circuits()) end_s = std::max(end_s, circuit.down_s);
    return end_s;
}

}  // namespace hocket::circuits
