// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// What CircuitTransport does for Policy::batch. With Stop::all a batch is set up at once when all of its ports are
// free, after the one before it is down; with Stop::circuit each of its circuits when its ports are free, after all of
// the batch before are set up.

#include <algorithm>

#include "hocket/circuits/transport.hpp"

namespace hocket::circuits {

void CircuitTransport::want_batch(std::int32_t batch) {
    BatchState& wanted = state(batch);
    if (wanted.is_wanted) return;
    wanted.is_wanted = true;
    if (wanted.is_next) next_batches_.push_back(batch);
}

void CircuitTransport::allow_after(std::int32_t batch) {
    const auto next = static_cast<std::size_t>(batch) + 1;
    if (next == states_.size() || batches_.batches[next].collective != batches_.batches[next - 1].collective) return;
    states_[next].is_next = true;
    if (states_[next].is_wanted) next_batches_.push_back(batch + 1);
}

/// One that waits for ports is not overtaken by another that wants ports of the same hosts.
void CircuitTransport::set_up_batches(double now_s) {
    std::set<NodeId> taken;
    for (std::size_t i = 0; i < next_batches_.size();) {
        const std::int32_t batch = next_batches_[i];
        const auto& pairs = batches_.batches[static_cast<std::size_t>(batch)].circuits;
        const bool is_free = taken.empty() || std::none_of(pairs.begin(), pairs.end(), [&](const HostPair& pair) {
                                 return taken.contains(pair.first) || taken.contains(pair.second);
                             });
        if (is_free && set_up(batch, now_s)) {
            next_batches_.erase(next_batches_.begin() + static_cast<std::ptrdiff_t>(i));
            continue;
        }
        for (const auto& [a, b] : pairs) taken.insert({a, b});
        ++i;
    }
}

/// Whether nothing but a lack of ports or wavelengths keeps the circuit from being set up.
bool CircuitTransport::make_room(std::int32_t c, std::int32_t batch, double now_s) {
    if (at(c).circuit >= 0) {
        if (at(c).owner >= 0 || has_use(at(c))) return at(c).owner == batch;
        disconnect(c, now_s);
    }
    for (const NodeId host : {at(c).hosts.first, at(c).hosts.second})
        if (!board_.has_port(host) && !board_.is_closing(host))
            if (const std::int32_t idle = idle_at(host); idle >= 0) disconnect(idle, now_s);
    return true;
}

/// Whether all of its circuits have been set up.
bool CircuitTransport::set_up(std::int32_t batch, double now_s) {
    BatchState& wanted = state(batch);
    const auto& pairs = batches_.batches[static_cast<std::size_t>(batch)].circuits;
    if (wanted.to_set_up.empty())
        for (const HostPair& pair : pairs) wanted.to_set_up.push_back(connection_of(pair));
    bool is_free = true;
    for (const std::int32_t c : wanted.to_set_up) is_free = make_room(c, batch, now_s) && is_free;
    if (rules_.stop == Stop::all) {
        if (!is_free) return false;
        const auto circuits = board_.connect_all(pairs, now_s);
        if (!circuits) return false;
        if (rules_.controller == Controller::parallel) {
            // All open together, also those on ports where nothing is torn down: they carry messages in one order.
            double open_s = 0;
            for (const std::int32_t circuit : *circuits) open_s = std::max(open_s, board_.circuit(circuit).open_s);
            for (const std::int32_t circuit : *circuits) board_.circuit(circuit).open_s = open_s;
        }
        for (std::size_t i = 0; i < circuits->size(); ++i) connected(wanted.to_set_up[i], (*circuits)[i], batch);
        return true;
    }
    std::erase_if(wanted.to_set_up, [&](std::int32_t c) {
        if (at(c).circuit >= 0) return false;
        const auto circuit = board_.connect(at(c).hosts, now_s);
        if (circuit) connected(c, *circuit, batch);
        return circuit.has_value();
    });
    if (!wanted.to_set_up.empty()) return false;
    allow_after(batch);
    return true;
}

void CircuitTransport::leave_batch(const Arrival& arrival) {
    Batches::Batch& batch = batches_.batches[static_cast<std::size_t>(arrival.batch)];
    const auto circuit = std::lower_bound(batch.circuits.begin(), batch.circuits.end(), at(arrival.connection).hosts);
    const std::int32_t left = --batch.messages[static_cast<std::size_t>(circuit - batch.circuits.begin())];
    if (rules_.stop == Stop::circuit) {
        if (left == 0 && at(arrival.connection).owner == arrival.batch) disconnect(arrival.connection, arrival.time_s);
    } else if (state(arrival.batch).messages_left == 1) {
        for (const HostPair& pair : batch.circuits)
            if (const std::int32_t c = connection_of(pair); at(c).owner == arrival.batch) disconnect(c, arrival.time_s);
        allow_after(arrival.batch);
    }
}

/// A message of it has arrived.
void CircuitTransport::count_out(std::int32_t batch) {
    if (--state(batch).messages_left > 0) return;
    const std::int32_t number = batches_.batches[static_cast<std::size_t>(batch)].collective;
    Collective& collective = collectives_.at(number);
    if (--collective.batches_left == 0) downs_.push({collective.down_s, number});
}

/// Whether the message is no end of a call, or its collective has no circuits any more.
bool CircuitTransport::end_call(const TransportMessage& message) {
    if (batches_.of_send.empty()) return true;
    const std::size_t num_ops = batches_.of_send[message.source.at()].size();
    const auto send = static_cast<std::size_t>(message.send);
    if (send < num_ops) return true;
    const auto collective = collectives_.find(batches_.calls[message.source.at()][(send - num_ops) / 2]);
    if (collective == collectives_.end() || collective->second.is_down) return true;
    collective->second.held.push_back(message.number);
    return false;
}

void CircuitTransport::end_calls(double now_s, std::vector<std::int32_t>& ready) {
    for (; !downs_.empty() && downs_.top().first <= now_s; downs_.pop()) {
        Collective& collective = collectives_.at(downs_.top().second);
        collective.is_down = true;
        ready.insert(ready.end(), collective.held.begin(), collective.held.end());
    }
}

}  // namespace hocket::circuits
