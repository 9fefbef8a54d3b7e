// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// What CircuitTransport does for Policy::batch. With Stop::all a batch is set up at once when all of its ports are
// free, after the one before it is down; with Stop::circuit each of its circuits when its ports are free, after all of
// the batch before are set up.

#include <algorithm>
#include <set>

#include "hocket/circuits/transport.hpp"

namespace hocket::circuits {

void CircuitTransport::want_batch(std::int32_t batch) {
    if (state(batch).is_wanted) return;
    state(batch).is_wanted = true;
    next_batches_.push_back(batch);
}

/// Messages of a round take circuits of their own.
void CircuitTransport::leave_alone(const Collectives::Round& round) {
    for (const Collectives::Message& message : round)
        batch_of_send_[message.source.at()][static_cast<std::size_t>(message.send)] = alone;
    for (const Collectives::Message& message : round) {
        const std::int32_t c = connection_of(message.hosts);
        if (at(c).circuit >= 0) continue;
        want_circuit(c);
        change(at(c));
    }
}

/// Or one wavelength.
bool CircuitTransport::is_on_one_port(const std::vector<HostPair>& pairs) {
    return std::all_of(pairs.begin(), pairs.end(), [&](const HostPair& pair) {
        if (board_.num_ports(pair.first) == 1 && board_.num_ports(pair.second) == 1) return true;
        if (!board_.has_wavelengths()) return false;
        paths_.find(pair.first, pair.second, path_);
        return std::any_of(path_.begin(), path_.end(), [&](LinkId link) { return board_.num_wavelengths(link) == 1; });
    });
}

/// If the one before does not hinder it: as many rounds as the ports of now hold. A round that they do not hold, and a
/// single one on one port of each host, has no batch.
void CircuitTransport::make_next(std::int32_t collective) {
    Collective& one = collectives_[static_cast<std::size_t>(collective)];
    if (one.current >= 0) return;
    const auto& rounds = plan_.all[static_cast<std::size_t>(collective)].rounds;
    const auto number = static_cast<std::int32_t>(batches_.size());
    std::vector<HostPair> pairs;
    filling_.clear();
    one.first_round = one.next_round;
    for (; one.next_round < rounds.size(); ++one.next_round) {
        const Collectives::Round& round = rounds[one.next_round];
        const bool fits = filling_.add(round);
        if (!fits && !pairs.empty()) {
            if (one.next_round > one.first_round + 1 || !is_on_one_port(pairs)) break;
            // As a circuit a message, but that each would wait for the slowest.
            leave_alone(rounds[one.first_round]);
            one.first_round = one.next_round--;
            pairs.clear();
            filling_.clear();
            continue;
        }
        one.waits_for_ports =
            !fits && std::any_of(round.begin(), round.end(), [&](const Collectives::Message& message) {
                return board_.num_ports(message.hosts.first) == 0 || board_.num_ports(message.hosts.second) == 0;
            });
        if (one.waits_for_ports) return;
        if (!fits) {
            leave_alone(round);
            one.first_round = one.next_round + 1;
            continue;
        }
        for (const Collectives::Message& message : round) {
            batch_of_send_[message.source.at()][static_cast<std::size_t>(message.send)] = number;
            pairs.push_back(message.hosts);
        }
    }
    if (one.next_round == one.first_round + 1 && is_on_one_port(pairs)) {
        leave_alone(rounds[one.first_round++]);
        pairs.clear();
    }
    if (pairs.empty()) return;
    one.current = number;
    std::sort(pairs.begin(), pairs.end());
    Batch& batch = batches_.emplace_back(Batch{.collective = collective});
    batch.all_left = static_cast<std::int32_t>(pairs.size());
    bool is_wanted = false;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (i > 0 && pairs[i] == pairs[i - 1]) {
            ++batch.messages_left.back();
            continue;
        }
        batch.circuits.push_back(pairs[i]);
        batch.messages_left.push_back(1);
        if (is_wanted) continue;
        for (const auto& waiting : at(connection_of(pairs[i])).waiting)
            is_wanted = is_wanted || std::any_of(waiting.begin(), waiting.end(),
                                                 [&](const Message& message) { return *message.batch == number; });
    }
    if (!is_wanted) return;
    want_batch(number);
    change(batch.circuits.front().first);
}

/// The number of ports or wavelengths has changed: the batches of which no circuit is up yet are made of what is there.
void CircuitTransport::make_anew() {
    for (std::size_t c = 0; c < collectives_.size(); ++c) {
        Collective& one = collectives_[c];
        if (one.waits_for_ports) make_next(static_cast<std::int32_t>(c));
        if (one.current < 0 || state(one.current).is_begun) continue;
        std::erase(next_batches_, one.current);
        for (std::size_t i = one.first_round; i < one.next_round; ++i)
            for (const Collectives::Message& message : plan_.all[c].rounds[i])
                batch_of_send_[message.source.at()][static_cast<std::size_t>(message.send)] = later;
        one.next_round = one.first_round;
        one.current = -1;
        make_next(static_cast<std::int32_t>(c));
    }
}

void CircuitTransport::allow_after(std::int32_t batch) {
    const std::int32_t collective = state(batch).collective;
    collectives_[static_cast<std::size_t>(collective)].current = -1;
    make_next(collective);
}

/// One that waits for ports is not overtaken by another that wants ports of the same hosts.
void CircuitTransport::set_up_batches(double now_s) {
    std::set<NodeId> taken;
    for (std::size_t i = 0; i < next_batches_.size();) {
        const std::int32_t batch = next_batches_[i];
        const std::vector<HostPair> pairs = state(batch).circuits;  // more batches may be made
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
    Batch& wanted = state(batch);
    const auto& pairs = wanted.circuits;
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
        wanted.is_begun = true;
        return true;
    }
    std::erase_if(wanted.to_set_up, [&](std::int32_t c) {
        if (at(c).circuit >= 0) return false;
        const auto circuit = board_.connect(at(c).hosts, now_s);
        if (circuit) connected(c, *circuit, batch);
        wanted.is_begun = wanted.is_begun || circuit.has_value();
        return circuit.has_value();
    });
    if (!wanted.to_set_up.empty()) return false;
    allow_after(batch);
    return true;
}

/// A message of no batch that is on its way keeps the circuit.
void CircuitTransport::release(std::int32_t c, double now_s) {
    if (at(c).is_busy[0] || at(c).is_busy[1])
        at(c).owner = nobody;
    else
        disconnect(c, now_s);
}

void CircuitTransport::leave_batch(const Arrival& arrival) {
    Batch& batch = state(arrival.batch);
    const auto circuit = std::lower_bound(batch.circuits.begin(), batch.circuits.end(), at(arrival.connection).hosts);
    const std::int32_t left = --batch.messages_left[static_cast<std::size_t>(circuit - batch.circuits.begin())];
    --batch.all_left;
    if (rules_.stop == Stop::circuit) {
        if (left == 0 && at(arrival.connection).owner == arrival.batch) release(arrival.connection, arrival.time_s);
    } else if (batch.all_left == 0) {
        for (const HostPair& pair : batch.circuits)
            if (const std::int32_t c = connection_of(pair); at(c).owner == arrival.batch) release(c, arrival.time_s);
        allow_after(arrival.batch);
    }
}

/// A message of it has arrived.
void CircuitTransport::count_out(std::int32_t number) {
    Collective& collective = collectives_[static_cast<std::size_t>(number)];
    if (--collective.messages_left == 0) downs_.push({collective.down_s, number});
}

/// Whether the message is not the end of a call, or its collective has no circuits any more.
bool CircuitTransport::end_call(const TransportMessage& message) {
    if (plan_.of_send.empty()) return true;
    const std::size_t num_ops = plan_.of_send[message.source.at()].size();
    const auto send = static_cast<std::size_t>(message.send);
    if (send < num_ops) return true;
    const std::int32_t number = plan_.calls[message.source.at()][(send - num_ops) / 2];
    Collective& collective = collectives_[static_cast<std::size_t>(number)];
    if (plan_.all[static_cast<std::size_t>(number)].num_messages == 0 || collective.is_down) return true;
    collective.held.push_back(message.number);
    return false;
}

void CircuitTransport::end_calls(double now_s, std::vector<std::int32_t>& ready) {
    for (; !downs_.empty() && downs_.top().first <= now_s; downs_.pop()) {
        Collective& collective = collectives_[static_cast<std::size_t>(downs_.top().second)];
        collective.is_down = true;
        ready.insert(ready.end(), collective.held.begin(), collective.held.end());
    }
}

}  // namespace hocket::circuits
