// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/circuits/switchboard.hpp"

#include <algorithm>

namespace hocket::circuits {

Switchboard::Switchboard(const Network& network, CircuitPaths& paths, std::optional<std::int32_t> most_ports)
    : network_(&network),
      rules_(&circuits_of(network)),
      paths_(&paths),
      ports_(network.nodes().size()),
      fibres_(network.links().size() / 2),
      taken_(network.nodes().size(), 0),
      closing_(network.nodes().size(), 0) {
    for (std::size_t n = 0; n < ports_.size(); ++n)
        if (network.nodes()[n].kind == NodeKind::host) ports_[n].number = rules_->ports;
    for (const auto& [node, number] : rules_->node_ports) ports_[static_cast<std::size_t>(node)].number = number;
    for (Slots& fibre : fibres_) fibre = {{}, rules_->wavelengths.value_or(0), rules_->wavelengths.has_value()};
    for (const auto& [cable, number] : rules_->cable_wavelengths)
        fibres_[static_cast<std::size_t>(cable)] = {{}, number, true};
    for (std::vector<Slots>* all : {&ports_, &fibres_})
        for (Slots& one : *all) one.slots.resize(static_cast<std::size_t>(one.number));
    std::int32_t num_ports = 0;  // no cable has more circuits than all hosts together have ports
    for (const Slots& host : ports_) num_ports += host.number;
    for (const auto& change : rules_->changes) num_ports += change.is_cable ? 0 : change.number;
    for (const auto& change : rules_->changes) {
        Slots& one = (change.is_cable ? fibres_ : ports_)[static_cast<std::size_t>(change.which)];
        if (change.is_cable && !one.has_limit)
            one = {std::vector<Slot>(static_cast<std::size_t>(num_ports)), num_ports, true};
        one.slots.resize(std::max(one.slots.size(), static_cast<std::size_t>(change.number)));
    }
    has_wavelengths_ = std::any_of(fibres_.begin(), fibres_.end(), [](const Slots& fibre) { return fibre.has_limit; });
    if (rules_->max_circuits) {
        all_.number = *rules_->max_circuits;
        all_.slots.resize(static_cast<std::size_t>(std::min(all_.number, num_ports)));
    }
    if (!most_ports) return;
    for (Slots& one : ports_) one.slots.resize(std::min(one.slots.size(), static_cast<std::size_t>(*most_ports)));
}

bool Switchboard::advance(double now_s, std::vector<NodeId>& hosts) {
    now_s_ = now_s;
    while (!freed_.empty() && freed_.top().first <= now_s) {
        const Circuit& circuit = circuits_[static_cast<std::size_t>(freed_.top().second)];
        freed_.pop();
        for (const NodeId host : {NodeId{circuit.a}, NodeId{circuit.b}}) {
            --closing_[host.at()];
            --taken_[host.at()];
            hosts.push_back(host);
        }
    }
    const std::size_t first_change = next_change_;
    for (; next_change_ < rules_->changes.size() && rules_->changes[next_change_].at_s <= now_s; ++next_change_) {
        const auto& change = rules_->changes[next_change_];
        (change.is_cable ? fibres_ : ports_)[static_cast<std::size_t>(change.which)].number = change.number;
        if (!change.is_cable) {
            hosts.push_back(NodeId{change.which});
            continue;
        }
        for (std::size_t n = 0; n < ports_.size(); ++n)  // rare: all that may use the cable
            if (network_->nodes()[n].kind == NodeKind::host) hosts.push_back(NodeId{static_cast<std::int32_t>(n)});
    }
    return next_change_ > first_change;
}

double Switchboard::next_event_s() const {
    double next_s = freed_.empty() ? never : freed_.top().first;
    if (next_change_ < rules_->changes.size()) next_s = std::min(next_s, rules_->changes[next_change_].at_s);
    return next_s;
}

bool Switchboard::can_take(const Slot& slot) const {
    return !slot.used && (rules_->times.accounting == Accounting::hidden || slot.free_s <= now_s_);
}

std::int32_t Switchboard::free_slot(const Slots& slots) const {
    std::int32_t found = -1, taken = 0;
    for (std::size_t i = 0; i < slots.slots.size(); ++i) {
        const Slot& slot = slots.slots[i];
        if (!can_take(slot)) {
            ++taken;
        } else if (found < 0 || slot.released_s < slots.slots[static_cast<std::size_t>(found)].released_s) {
            found = static_cast<std::int32_t>(i);
        }
    }
    return taken < slots.number ? found : -1;
}

std::optional<std::int32_t> Switchboard::free_wavelength() const {
    std::size_t most = 0;
    bool has_limit = false;
    for (const LinkId link : path_) {
        const Slots& fibre = fibre_of(link);
        if (!fibre.has_limit) continue;
        if (free_slot(fibre) < 0) return std::nullopt;
        has_limit = true;
        most = std::max(most, fibre.slots.size());
    }
    if (!has_limit) return 0;
    for (std::size_t w = 0; w < most; ++w)
        if (std::all_of(path_.begin(), path_.end(), [&](LinkId link) {
                const Slots& fibre = fibre_of(link);
                return !fibre.has_limit || (w < fibre.slots.size() && can_take(fibre.slots[w]));
            }))
            return static_cast<std::int32_t>(w);
    return std::nullopt;
}

double Switchboard::controlled_s(double now_s, double takes_s) {
    if (rules_->controller == Controller::parallel) return now_s + takes_s;
    controller_free_s_ = std::max(controller_free_s_, now_s) + takes_s;
    return controller_free_s_;
}

template <class Action>
void Switchboard::for_each_slot(const Circuit& circuit, Action action) {
    action(ports_[static_cast<std::size_t>(circuit.a)].slots[static_cast<std::size_t>(circuit.port_a)]);
    action(ports_[static_cast<std::size_t>(circuit.b)].slots[static_cast<std::size_t>(circuit.port_b)]);
    if (circuit.place >= 0) action(all_.slots[static_cast<std::size_t>(circuit.place)]);
    if (!has_wavelengths_) return;
    paths_->find(NodeId{circuit.a}, NodeId{circuit.b}, path_);
    for (const LinkId link : path_)
        if (Slots& fibre = fibre_of(link); fibre.has_limit)
            action(fibre.slots[static_cast<std::size_t>(circuit.wavelength)]);
}

std::optional<std::int32_t> Switchboard::connect(HostPair hosts, double now_s) {
    const auto circuits = connect_all({&hosts, 1}, now_s);
    return circuits ? std::optional(circuits->front()) : std::nullopt;
}

std::optional<std::vector<std::int32_t>> Switchboard::connect_all(std::span<const HostPair> pairs, double now_s) {
    now_s_ = now_s;
    before_.clear();
    const std::size_t first = circuits_.size();
    const double controller_free_s = controller_free_s_;
    std::vector<std::int32_t> numbers;
    for (const auto& [a, b] : pairs) {
        const bool have_ports = has_port(a) && has_port(b);
        const std::int32_t port_a = have_ports ? free_slot(ports_[a.at()]) : -1;
        const std::int32_t port_b = have_ports ? free_slot(ports_[b.at()]) : -1;
        const std::int32_t place = rules_->max_circuits ? free_slot(all_) : -1;
        std::optional<std::int32_t> wavelength;
        if (rules_->max_circuits && place < 0) {
            wavelength = std::nullopt;
        } else if (port_a >= 0 && port_b >= 0 && has_wavelengths_) {
            paths_->find(a, b, path_);
            wavelength = free_wavelength();
        } else if (port_a >= 0 && port_b >= 0) {
            wavelength = 0;
        }
        if (!wavelength) {
            for (auto one = before_.rbegin(); one != before_.rend(); ++one) *one->first = one->second;
            for (std::size_t i = first; i < circuits_.size(); ++i) {
                --taken_[static_cast<std::size_t>(circuits_[i].a)];
                --taken_[static_cast<std::size_t>(circuits_[i].b)];
            }
            circuits_.resize(first);
            controller_free_s_ = controller_free_s;
            return std::nullopt;
        }
        Circuit circuit{a.value, b.value};
        circuit.setup_s = now_s;
        circuit.open_s = controlled_s(now_s, rules_->times.setup_s);
        circuit.teardown_s = circuit.down_s = never;
        circuit.port_a = port_a;
        circuit.port_b = port_b;
        circuit.wavelength = *wavelength;
        circuit.place = place;
        for_each_slot(circuit, [&](Slot& slot) {
            before_.emplace_back(&slot, slot);
            slot.used = true;
            // A teardown that runs beside this set-up ends before it.
            circuit.open_s = std::max(circuit.open_s, slot.free_s);
        });
        ++taken_[a.at()];
        ++taken_[b.at()];
        numbers.push_back(static_cast<std::int32_t>(circuits_.size()));
        circuits_.push_back(circuit);
    }
    return numbers;
}

void Switchboard::disconnect(std::int32_t number, double now_s) {
    now_s_ = now_s;
    Circuit& closed = circuit(number);
    closed.teardown_s = now_s;
    closed.down_s = controlled_s(now_s, rules_->times.teardown_s);
    for_each_slot(closed, [&](Slot& slot) { slot = {false, now_s, closed.down_s}; });
    if (rules_->times.accounting == Accounting::hidden || !(closed.down_s > now_s)) {
        --taken_[static_cast<std::size_t>(closed.a)];
        --taken_[static_cast<std::size_t>(closed.b)];
        return;
    }
    freed_.push({closed.down_s, number});
    ++closing_[static_cast<std::size_t>(closed.a)];
    ++closing_[static_cast<std::size_t>(closed.b)];
}

bool Switchboard::shares_fibre(HostPair one, HostPair other) {
    paths_->find(one.first, one.second, path_);
    paths_->find(other.first, other.second, other_path_);
    return std::any_of(path_.begin(), path_.end(), [&](LinkId link) {
        return fibre_of(link).has_limit && std::any_of(other_path_.begin(), other_path_.end(),
                                                       [&](LinkId also) { return also.value / 2 == link.value / 2; });
    });
}

}  // namespace hocket::circuits
