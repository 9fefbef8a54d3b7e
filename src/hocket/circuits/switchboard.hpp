// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "hocket/circuits/circuit.hpp"
#include "hocket/circuits/circuit_paths.hpp"
#include "hocket/network/network.hpp"

namespace hocket::circuits {

/// Which ports and wavelengths are taken. Sets circuits up and tears them down by the rules of network::Circuits. The
/// calls come in the order of time.
class Switchboard {
public:
    /// With `most_ports` a host uses no more than so many.
    Switchboard(const Network&, CircuitPaths&, std::optional<std::int32_t> most_ports = {});

    /// Goes on to `now_s`: appends the hosts that got ports, or whose cables got wavelengths, to `hosts`. Whether the
    /// number of ports or wavelengths has changed anywhere.
    bool advance(double now_s, std::vector<NodeId>& hosts);
    /// When advance() has something to do; infinity = not before another circuit is torn down.
    [[nodiscard]] double next_event_s() const;

    /// Ports of a host now, taken or not.
    [[nodiscard]] std::int32_t num_ports(NodeId host) const { return ports_[host.at()].number; }
    /// Whether any cable has a limit of wavelengths.
    [[nodiscard]] bool has_wavelengths() const { return has_wavelengths_; }
    /// Of a link's cable now, taken or not; none: no limit.
    [[nodiscard]] std::optional<std::int32_t> num_wavelengths(LinkId link) const {
        const Slots& fibre = fibre_of(link);
        return fibre.has_limit ? std::optional(fibre.number) : std::nullopt;
    }
    /// Whether a host has a port that can be taken.
    [[nodiscard]] bool has_port(NodeId host) const {
        const Slots& ports = ports_[host.at()];
        return taken_[host.at()] < std::min(ports.number, static_cast<std::int32_t>(ports.slots.size()));
    }
    /// Whether one of its ports becomes free by itself.
    [[nodiscard]] bool is_closing(NodeId host) const { return closing_[host.at()] > 0; }
    /// Begins to set up a circuit, if each of both hosts has a port and the cables between have a wavelength.
    std::optional<std::int32_t> connect(HostPair, double now_s);
    /// All of them, or none.
    std::optional<std::vector<std::int32_t>> connect_all(std::span<const HostPair>, double now_s);
    void disconnect(std::int32_t circuit, double now_s);

    [[nodiscard]] const std::vector<Circuit>& circuits() const { return circuits_; }
    Circuit& circuit(std::int32_t c) { return circuits_[static_cast<std::size_t>(c)]; }
    /// In the whole network at a time; none: no limit.
    [[nodiscard]] std::optional<std::int32_t> max_circuits() const { return rules_->max_circuits; }
    /// Whether there are as many circuits as the network may have at a time.
    [[nodiscard]] bool is_full() const { return rules_->max_circuits && free_slot(all_) < 0; }
    /// Whether the two have a cable in common that has a limit of wavelengths.
    bool shares_fibre(HostPair, HostPair);

private:
    static constexpr double never = std::numeric_limits<double>::infinity();
    /// A port, or a wavelength of a cable.
    struct Slot {
        bool used = false;
        double released_s = -never;
        double free_s = -never;
    };
    /// Of a host or a cable. Circuits that are up stay when there are fewer slots than before.
    struct Slots {
        std::vector<Slot> slots;  ///< as many as there ever are
        std::int32_t number = 0;  ///< that may be used now
        bool has_limit = true;    ///< false: of a cable with any number of wavelengths, which are not counted
    };

    [[nodiscard]] bool can_take(const Slot&) const;
    /// Of those that can be taken the one that was released first; -1: none, or as many are taken as there are.
    [[nodiscard]] std::int32_t free_slot(const Slots&) const;
    /// On path_; without a limit it is 0.
    [[nodiscard]] std::optional<std::int32_t> free_wavelength() const;
    Slots& fibre_of(LinkId link) { return fibres_[link.at() / 2]; }
    [[nodiscard]] const Slots& fibre_of(LinkId link) const { return fibres_[link.at() / 2]; }
    /// The slots that the circuit has. Sets path_.
    template <class Action>
    void for_each_slot(const Circuit&, Action);
    /// When the controller has done what takes `takes_s`, if it begins when it can, and not before `now_s`.
    double controlled_s(double now_s, double takes_s);

    const Network* network_;
    const network::Circuits* rules_;
    CircuitPaths* paths_;
    double now_s_ = 0;
    bool has_wavelengths_ = false;
    std::vector<Slots> ports_;           ///< [node]
    std::vector<Slots> fibres_;          ///< [cable]
    Slots all_;                          ///< a slot for each circuit that may be there, if there is a limit
    std::vector<std::int32_t> taken_;    ///< [node] ports that have a circuit or are being torn down
    std::vector<std::int32_t> closing_;  ///< [node] ports that are being torn down
    std::vector<Circuit> circuits_;
    using Freed = std::pair<double, std::int32_t>;  // when, circuit
    std::priority_queue<Freed, std::vector<Freed>, std::greater<>> freed_;
    std::size_t next_change_ = 0;
    double controller_free_s_ = 0;
    std::vector<LinkId> path_, other_path_;       // of the circuit at hand
    std::vector<std::pair<Slot*, Slot>> before_;  // slots before connect_all() took them
};

}  // namespace hocket::circuits
