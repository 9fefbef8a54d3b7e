// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hocket/base/index.hpp"
#include "hocket/network/circuit_rules.hpp"

namespace hocket {
class Network;
}

namespace hocket::network {

/// What a message does whose circuit cannot be set up.
enum class Blocked : std::uint8_t {
    queue,       ///< wait for a port
    relay,       ///< go over circuits that are up, if they join its ends
    electrical,  ///< go over the links that end at no circuit switch
};
inline constexpr std::array<std::string_view, 3> blocked_names{"queue", "relay", "electrical"};

/// What of a network is switched by circuits: table [circuits] of a network file. A circuit joins two hosts over cables
/// and circuit switches, takes a port of each host and one wavelength, the same on every cable, and is full duplex.
/// Nodes and cables count as in Blueprint.
struct Circuits {
    circuits::Times times = {};
    circuits::Injection injection = circuits::Injection::one;
    circuits::Stop stop = circuits::Stop::all;
    circuits::Controller controller = circuits::Controller::parallel;
    Blocked blocked = Blocked::queue;
    std::vector<std::int32_t> switches = {};       ///< nodes; the other switches are of packets
    std::int32_t ports = 1;                        ///< of a host that node_ports does not name
    std::optional<std::int32_t> wavelengths = {};  ///< of a cable that cable_wavelengths does not name; none = no limit
    std::optional<std::int32_t> max_circuits = {};  ///< in the whole network at a time; none = no limit
    std::vector<std::pair<std::int32_t, std::int32_t>> node_ports = {};         ///< (host, ports), by host
    std::vector<std::pair<std::int32_t, std::int32_t>> cable_wavelengths = {};  ///< (cable, wavelengths), by cable

    /// From a time on a host has other ports, or a cable other wavelengths. Circuits that are up stay.
    struct Change {
        double at_s;
        bool is_cable;
        std::int32_t which;   ///< host, or cable
        std::int32_t number;  ///< of ports or wavelengths, >= 0
        bool operator==(const Change&) const = default;
    };
    std::vector<Change> changes = {};  ///< by time

    bool operator==(const Circuits&) const = default;
};

/// @throws InvalidInput  if they name what the network does not have, a value is out of range, or no circuit can join
///         two of the ranks' hosts and nothing else does
void check(const Circuits&, const Network&);

}  // namespace hocket::network
