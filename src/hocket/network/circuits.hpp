// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hocket/base/index.hpp"

namespace hocket {
class Network;
}

namespace hocket::network {

/// When a port is free again.
enum class Accounting : std::uint8_t {
    equations,  ///< after its teardown: b batches cost b (s + d), as equations 1 to 8 of [Takizawa]
    hidden,     ///< a teardown runs behind the next set-up: s + (b - 1) max(s, d) + d (table 4, s = d = 10 ms)
};
/// How a node sends.
enum class Injection : std::uint8_t {
    one,  ///< one message after another (equations 2 and 8)
    all,  ///< on all its circuits at once (section 2)
};
/// What is torn down together.
enum class Stop : std::uint8_t {
    all,      ///< a batch of circuits (the paper)
    circuit,  ///< each circuit by itself
};
/// How many circuits the switch changes at a time.
enum class Controller : std::uint8_t { parallel, serial };
/// What a message does whose circuit cannot be set up.
enum class Blocked : std::uint8_t {
    queue,       ///< wait for a port
    relay,       ///< go over circuits that are up, if they join its ends
    electrical,  ///< go over the links that end at no circuit switch
};

/// What of a network is switched by circuits: table [circuits] of a network file. A circuit joins two hosts over cables and
/// circuit switches, takes a port of each host and one wavelength, the same on every cable, and is full duplex.
/// Nodes and cables count as in Blueprint.
struct Circuits {
    double setup_s = 0;     ///< from the request to the first bit
    double teardown_s = 0;  ///< from the release to the free port
    Accounting accounting = Accounting::equations;
    Injection injection = Injection::one;
    Stop stop = Stop::circuit;
    Controller controller = Controller::parallel;
    Blocked blocked = Blocked::queue;
    std::vector<std::int32_t> switches;       ///< nodes; the other switches are of packets
    std::int32_t ports = 1;                   ///< of a host that node_ports does not name
    std::optional<std::int32_t> wavelengths;  ///< of a cable that cable_wavelengths does not name; none = no limit
    std::vector<std::pair<std::int32_t, std::int32_t>> node_ports;         ///< (host, ports), by host
    std::vector<std::pair<std::int32_t, std::int32_t>> cable_wavelengths;  ///< (cable, wavelengths), by cable

    /// From a time on a host has other ports, or a cable other wavelengths. Circuits that are up stay.
    struct Change {
        double at_s;
        bool is_cable;
        std::int32_t which;   ///< host, or cable
        std::int32_t number;  ///< of ports or wavelengths, >= 0
        bool operator==(const Change&) const = default;
    };
    std::vector<Change> changes;  ///< by time

    bool operator==(const Circuits&) const = default;
};

/// @throws InvalidInput  if they name what the network does not have, a value is out of range, or no circuit can join two of
///         the ranks' hosts and nothing else does
void check(const Circuits&, const Network&);

}  // namespace hocket::network
