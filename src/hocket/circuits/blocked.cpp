// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// What becomes of messages whose circuit cannot be set up.

#include <limits>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/circuits/transport.hpp"

namespace hocket::circuits {

/// Messages that want a circuit which cannot be set up now.
void CircuitTransport::take_electrical(const std::vector<NodeId>& hosts, std::vector<std::int32_t>& ready) {
    for (const NodeId host : hosts) {
        const auto wishes = hosts_[host.at()].wishes;
        for (const Wish& wish : wishes) {
            Connection& connection = at(wish.connection);
            for (auto& waiting : connection.waiting) {
                for (const Message& message : waiting) {
                    sent_[static_cast<std::size_t>(message.number)].is_cleared = true;
                    by_electrical_.insert(message.number);
                    waiting_s_ += now_s_ - message.ready_s;
                    ready.push_back(message.number);
                }
                num_waiting_ -= static_cast<std::int64_t>(waiting.size());
                waiting.clear();
            }
            forget_wish(wish.connection);
        }
    }
}

bool CircuitTransport::relieve(double now_s) {
    if (num_waiting_ == 0) return false;
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

/// Messages wait, and nothing goes on: names the circuit of the first, and what it lacks.
void CircuitTransport::refuse_wait() const {
    const Connection* found = nullptr;
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const Connection& connection : connections_)
        for (const auto& waiting : connection.waiting)
            if (connection.circuit < 0 && !waiting.empty() && waiting.front().sequence < first) {
                first = waiting.front().sequence;
                found = &connection;
            }
    if (found == nullptr) return;
    const auto name_of = [&](NodeId host) { return base::quoted(network_.node(host).name); };
    std::string what = "circuits: that of " + name_of(found->hosts.first) + " and " + name_of(found->hosts.second) +
                       " can never be set up, and a message waits for it: ";
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
        throw InvalidInput(what, policy_ == Policy::pinned && !live.empty()
                                     ? "pin fewer circuits, or give it more ports in the table [circuits]"
                                     : "give it more ports in the table [circuits] of the network");
    }
    throw InvalidInput(what + "no wavelength is left on their cables",
                       "give the cables more wavelengths in the table [circuits] of the network");
}

}  // namespace hocket::circuits
