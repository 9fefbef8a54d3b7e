// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Circuits that a program connects and disconnects itself.

#include "hocket/circuits/program_circuits.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/circuits/transport.hpp"
#include "hocket/simulation/handshakes.hpp"
#include "hocket/simulation/matching.hpp"

namespace hocket::circuits {
namespace {

using Place = std::pair<Rank, std::int32_t>;  // rank, op

void check_circuits(const Program& program) {
    std::map<std::pair<Rank, Rank>, std::vector<Place>> of_pair;  // (rank, peer)
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const Rank rank{static_cast<std::int32_t>(r)};
        const auto& ops = program.ranks[r].ops;
        for (std::size_t i = 0; i < ops.size(); ++i) {
            if (!is_of_circuit(ops[i].kind)) continue;
            const auto op = static_cast<std::int32_t>(i);
            const auto refuse = [&](const std::string& why) {
                throw InvalidInput(simulation::describe(program, rank, op) + ": " + why);
            };
            if (ops[i].peer == rank) refuse("a rank needs no circuit to itself");
            auto& before = of_pair[{rank, ops[i].peer}];
            const bool connects = ops[i].kind == ProgramOpKind::connect;
            if (connects && before.size() % 2 == 1) refuse("the circuit is there: no disconnect comes before it");
            if (!connects && before.size() % 2 == 0) refuse("the circuit is not there: no connect comes before it");
            before.emplace_back(rank, op);
        }
    }
    for (const auto& [pair, places] : of_pair) {
        const auto other = of_pair.find({pair.second, pair.first});
        const std::size_t there = other == of_pair.end() ? 0 : other->second.size();
        if (places.size() <= there) continue;
        const auto& [rank, op] = places[there];
        throw InvalidInput(simulation::describe(program, rank, op) + " waits for ever: rank " +
                               std::to_string(pair.second.value) + " has no counterpart",
                           "both ends of a circuit connect it, and both disconnect it");
    }
}

}  // namespace

Program with_circuit_messages(const Program& program) {
    check_circuits(program);
    const std::int32_t tag = simulation::free_tags(program)[0];
    Program result = program;
    for (std::size_t r = 0; r < program.ranks.size(); ++r)
        for (std::size_t i = 0; i < program.ranks[r].ops.size(); ++i) {
            ProgramOp& op = result.ranks[r].ops[i];
            if (!is_of_circuit(op.kind)) continue;
            op.kind = ProgramOpKind::send;
            op.tag = tag;
            op.bytes = 0;
            result.ranks[op.peer.at()].add({ProgramOpKind::recv, Rank{static_cast<std::int32_t>(r)}, tag});
        }
    return result;
}

ProgramOpKind CircuitTransport::kind_of(const TransportMessage& message) const {
    if (program_ == nullptr) return ProgramOpKind::send;
    const auto& ops = program_->ranks[message.source.at()].ops;
    return ops[static_cast<std::size_t>(message.send)].kind;
}

/// A rank connects or disconnects: it waits for the rank at the other end, and for the circuit.
void CircuitTransport::request(const TransportMessage& message, ProgramOpKind kind, double now_s) {
    const NodeId from = network_.host_of(message.source), to = network_.host_of(message.target);
    const std::int32_t c = connection_of(pair_of(from, to));
    const bool connects = kind == ProgramOpKind::connect;
    const auto [low, high] = std::minmax(message.source, message.target);
    Agreement& agreement = agreements_[{low, high}];
    if (connects == agreement.is_connected)
        throw InvalidInput(
            simulation::describe(*program_, message.source, message.send) +
                (connects ? " begins before its circuit is disconnected" : " begins before its circuit is connected"),
            "let it depend on the op before it that names the same peer");
    ++num_waiting_;
    next_s_ = now_s;
    agreement.held.push_back({message.number, message.source, message.send});
    if (agreement.held.size() < 2) return;
    Connection& connection = at(c);
    auto& granted = connects ? connection.connecting : connection.disconnecting;
    for (const Request& one : agreement.held) granted.push_back(one.number);
    agreement.held.clear();
    agreement.is_connected = connects;
    connection.users += connects ? 1 : -1;
    if (connects && connection.users == 1) connection.asked = sequence_++;
    want_circuit(c);
    change(connection);
}

/// Of hosts that have changed: tears down what all its ranks have disconnected, and ends connects and disconnects.
void CircuitTransport::serve_requests(const std::vector<NodeId>& hosts, double now_s,
                                      std::vector<std::int32_t>& ready) {
    for (const NodeId host : hosts) {
        const std::vector<std::int32_t> live = hosts_[host.at()].live;
        for (const std::int32_t c : live) {
            if (!at(c).is_open) continue;
            finish_requests(at(c).connecting, ready);
            const bool is_wanted = at(c).users > 0;
            if (!is_wanted && is_in_use(at(c))) continue;
            if (!is_wanted) disconnect(c, now_s);
            finish_requests(at(c).disconnecting, ready);
        }
    }
}

void CircuitTransport::finish_requests(std::vector<std::int32_t>& numbers, std::vector<std::int32_t>& ready) {
    for (const std::int32_t number : numbers) {
        sent_[static_cast<std::size_t>(number)].is_cleared = true;
        ready.push_back(number);
    }
    num_waiting_ -= static_cast<std::int64_t>(numbers.size());
    numbers.clear();
}

/// Nothing goes on: names what the program forgot.
void CircuitTransport::refuse_requests() const {
    for (const Connection& connection : connections_)
        for (const std::size_t direction : {0U, 1U}) {
            if (connection.waiting[direction].empty() || connection.users > 0) continue;
            auto [from, to] = connection.hosts;
            if (direction == 1) std::swap(from, to);
            throw InvalidInput("circuits: a message from " + base::quoted(network_.node(from).name) + " to " +
                                   base::quoted(network_.node(to).name) +
                                   " waits for ever: the program does not connect them",
                               "connect them before, and disconnect them after the message");
        }
    for (const auto& [ranks, agreement] : agreements_)
        for (const Request& one : agreement.held)
            throw InvalidInput(simulation::describe(*program_, one.rank, one.op) + " waits for ever: rank " +
                                   std::to_string((one.rank == ranks.first ? ranks.second : ranks.first).value) +
                                   " does not come to its own",
                               "look for a cycle of waits");
}

}  // namespace hocket::circuits
