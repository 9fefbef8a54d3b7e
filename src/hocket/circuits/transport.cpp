// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/circuits/transport.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"

namespace hocket::circuits {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace

CircuitTransport::CircuitTransport(const Network& network, Policy policy, Collectives collectives,
                                   const std::vector<HostPair>& pinned, const Program* program)
    : network_(network),
      rules_(circuits_of(network)),
      policy_(policy),
      program_(program),
      paths_(network),
      board_(network, paths_, policy == Policy::naive ? std::optional(1) : std::nullopt),
      plan_(std::move(collectives)),
      filling_(network, board_, paths_),
      hosts_(network.nodes().size()),
      blocked_pass_(network.nodes().size(), -1),
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
    const auto [number, is_new] = numbers_.number_of(pair);
    if (is_new) {
        connections_.push_back({.hosts = pair});
        paths_.find(pair.first, pair.second, path_);
        connections_.back().latency_s[0] = paths_.latency_s(path_);
        paths_.find(pair.second, pair.first, path_);
        connections_.back().latency_s[1] = paths_.latency_s(path_);
    }
    return number;
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
    if (sent_.size() <= number) sent_.resize(number + 1 + number / 2);
    Sent& sent = sent_[number];
    if (electrical_ && !sent.is_cleared && !paths_.joins(from, to)) {
        sent.is_cleared = true;
        by_electrical_.insert(message.number);
    }
    const ProgramOpKind kind = kind_of(message);
    if (is_of_circuit(kind)) {
        if (!sent.is_cleared) request(message, kind, now_s);
        return sent.is_cleared;
    }
    if (sent.is_cleared) {
        if (begin_hop(message, now_s, links)) return true;
        const bool is_electrical = by_electrical_.contains(message.number);
        if (!is_electrical) ++num_messages_;
        (is_electrical ? *electrical_ : paths_).find(from, to, links);
        return true;
    }
    const std::int32_t c = sent.connection = connection_of(pair_of(from, to));
    const std::int32_t* batch = batch_of(message);
    const std::size_t direction = from == at(c).hosts.first ? 0 : 1;
    if (goes_at_once(at(c), direction, *batch)) {
        go(at(c), direction);
        ++num_messages_;
        paths_.find(from, to, links);
        return true;
    }
    queue(at(c), direction, {message.number, batch, now_s, sequence_++});
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

void CircuitTransport::queue(Connection& connection, std::size_t direction, const Message& message) {
    auto& waiting = connection.waiting[direction];
    const auto after = [&](const Message& other) { return message.sequence < other.sequence; };
    const bool is_last = waiting.empty() || !after(waiting.back());
    waiting.insert(is_last ? waiting.end() : std::find_if(waiting.begin(), waiting.end(), after), message);
    ++num_waiting_;
}

bool CircuitTransport::end(const TransportMessage& message, double now_s) {
    NodeId from = network_.host_of(message.source), to = network_.host_of(message.target);
    if (from == to || is_of_circuit(kind_of(message)) || by_electrical_.erase(message.number) > 0) return true;
    std::int32_t c = sent_[static_cast<std::size_t>(message.number)].connection;
    bool is_at_target = true;
    if (const auto relay = relays_.find(message.number); relay != relays_.end()) {
        const auto& hosts = relay->second.hosts;
        from = hosts[relay->second.hop];
        to = hosts[relay->second.hop + 1];
        is_at_target = to == hosts.back();
        c = connection_of(pair_of(from, to));
    }
    const std::int32_t direction = from == at(c).hosts.first ? 0 : 1;
    const double arrival_s = now_s + at(c).latency_s[static_cast<std::size_t>(direction)];
    arrivals_.push({arrival_s, message.number, c, direction, *batch_of(message), collective_of(message)});
    next_s_ = std::min(next_s_, arrivals_.top().time_s);
    return is_at_target;
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
    if (!relays_.empty()) forward(arrival);
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
    for (const NodeId host : {connection.hosts.first, connection.hosts.second}) hosts_[host.at()].live.push_back(c);
    forget_wish(c);
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
    for (const NodeId host : {connection.hosts.first, connection.hosts.second}) {
        std::erase(hosts_[host.at()].live, c);
        if (std::exchange(blocked_pass_[host.at()], -1) == pass_) unblocked_.push_back(host);
    }
    want_circuit(c);
    change(connection);
    for (const std::int32_t other : lack_wavelength_) change(at(other));
    lack_wavelength_.clear();
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
    if (connection.relays > 0) return true;
    for (const std::size_t direction : {0U, 1U}) {
        if (connection.is_busy[direction]) return true;
        for (const Message& message : connection.waiting[direction])
            if (may_go(connection, direction, message)) return true;
    }
    return false;
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
    sent_[static_cast<std::size_t>(message.number)].is_cleared = true;
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
        has_opened_ = true;
        change(connection);
    }
    senders_.clear();
    while (!changed_.empty()) {  // what is torn down for one may help another
        seen_.clear();
        seen_.swap(changed_);
        for (const NodeId host : seen_) hosts_[host.at()].has_changed = false;
        set_up_batches(now_s);
        if (policy_ == Policy::program) serve_requests(seen_, now_s, ready);
        grant_wishes(seen_, now_s);
        senders_.insert(senders_.end(), seen_.begin(), seen_.end());
    }
    if (rules_.blocked != network::Blocked::queue) serve_blocked(ready);
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
