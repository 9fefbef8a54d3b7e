// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/circuits/circuit_schedule.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace hocket::circuits {
namespace {

class Clock {
public:
    Clock(const Draft& draft, const Rules& rules)
        : draft_(draft),
          rules_(rules),
          sender_free_s_(static_cast<std::size_t>(rules.num_nodes), 0),
          receiver_free_s_(sender_free_s_),
          fresh_ports_(static_cast<std::size_t>(rules.num_nodes), rules.ports),
          free_ports_s_(static_cast<std::size_t>(rules.num_nodes)),
          up_(static_cast<std::size_t>(rules.num_nodes)) {}

    /// `alone`: each circuit is torn down by itself, when a port of it is wanted, or at the end.
    CircuitSchedule run(bool alone) {
        result_.block_bytes = draft_.block_bytes;
        for (std::size_t first = 0; first < draft_.messages.size();) {
            std::size_t last = first;
            while (last < draft_.messages.size() &&
                   draft_.messages[last].configuration == draft_.messages[first].configuration)
                ++last;
            alone ? circuits_alone(first, last) : configuration(first, last);
            first = last;
        }
        if (alone) tear_down_all();
        return std::move(result_);
    }

private:
    void configuration(std::size_t first, std::size_t last) {
        const bool serial = rules_.controller == Controller::serial;
        const auto [setup_s, teardown_s, accounting] = rules_.times;
        const std::size_t begin = result_.circuits.size();
        std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> circuits;
        // A serial controller opens first what is used first.
        double next_s = begin == 0 ? 0 : teardown_begin_s_ + rules_.exchange_s() - setup_s;
        if (serial && begin > 0) next_s = result_.makespan_s;
        for (std::size_t i = first; i < last; ++i) {
            const Draft::Send& send = draft_.messages[i];
            const auto ends = std::minmax(send.from, send.to);
            if (!circuits.try_emplace(ends, static_cast<std::int32_t>(result_.circuits.size())).second) continue;
            result_.circuits.push_back({ends.first, ends.second, number_, next_s, next_s + setup_s, 0, 0});
            if (serial) next_s += setup_s;
        }
        direction_free_s_.resize(2 * result_.circuits.size(), 0);
        double end_s = 0;
        for (std::size_t i = first; i < last; ++i) {
            const Draft::Send& send = draft_.messages[i];
            if (i > first && send.step != draft_.messages[i - 1].step) end_step();
            const auto ends = std::minmax(send.from, send.to);
            end_s = std::max(end_s, message(send, circuits.at({ends.first, ends.second})));
        }
        end_step();
        teardown_begin_s_ = end_s;
        for (std::size_t i = begin; i < result_.circuits.size(); ++i) {
            Circuit& circuit = result_.circuits[i];
            circuit.teardown_s = end_s;
            circuit.down_s = end_s + teardown_s;
            if (serial) end_s += teardown_s;
            result_.makespan_s = std::max(result_.makespan_s, circuit.down_s);
        }
        ++number_;
    }

    using Pair = std::pair<std::int32_t, std::int32_t>;

    /// A configuration of which circuits that are up stay, and each other one is set up when its nodes have ports.
    void circuits_alone(std::size_t first, std::size_t last) {
        std::map<Pair, std::int32_t> circuits;
        std::vector<Pair> order;
        for (std::size_t i = first; i < last; ++i) {
            const Pair ends = std::minmax(draft_.messages[i].from, draft_.messages[i].to);
            if (!circuits.try_emplace(ends, -1).second) continue;
            for (const std::int32_t c : up_[static_cast<std::size_t>(ends.first)])
                if (ends_of(c) == ends) circuits[ends] = c;
            if (circuits[ends] < 0) order.push_back(ends);
        }
        for (const Pair& ends : order) {
            for (const std::int32_t node : {ends.first, ends.second})
                if (fresh_ports_[static_cast<std::size_t>(node)] == 0 &&
                    free_ports_s_[static_cast<std::size_t>(node)].empty())
                    tear_down_for(node, circuits);
            circuits[ends] = set_up(ends);
        }
        direction_free_s_.resize(2 * result_.circuits.size(), 0);
        for (std::size_t i = first; i < last; ++i) {
            const Draft::Send& send = draft_.messages[i];
            if (i > first && send.step != draft_.messages[i - 1].step) end_step();
            const std::int32_t c = circuits.at(std::minmax(send.from, send.to));
            double& end_s = result_.circuits[static_cast<std::size_t>(c)].teardown_s;  // not before
            end_s = std::max(end_s, message(send, c));
        }
        end_step();
        ++number_;
    }

    [[nodiscard]] Pair ends_of(std::int32_t circuit) const {
        const Circuit& one = result_.circuits[static_cast<std::size_t>(circuit)];
        return {one.a, one.b};
    }

    std::int32_t set_up(const Pair& ends) {
        double begin_s = rules_.controller == Controller::serial ? controller_free_s_ : 0;
        const auto number = static_cast<std::int32_t>(result_.circuits.size());
        for (const std::int32_t node : {ends.first, ends.second}) {
            up_[static_cast<std::size_t>(node)].push_back(number);
            if (fresh_ports_[static_cast<std::size_t>(node)] > 0) {
                --fresh_ports_[static_cast<std::size_t>(node)];
                continue;
            }
            std::vector<double>& ports_s = free_ports_s_[static_cast<std::size_t>(node)];
            const auto port_s = std::ranges::min_element(ports_s);
            begin_s = std::max(begin_s, *port_s);
            ports_s.erase(port_s);
        }
        const double open_s = controller_free_s_ = begin_s + rules_.times.setup_s;
        result_.circuits.push_back({ends.first, ends.second, number_, begin_s, open_s, open_s, 0});
        return number;
    }

    /// Of this node's circuits that the configuration does not have the one that is not used for longest.
    void tear_down_for(std::int32_t node, const std::map<Pair, std::int32_t>& kept) {
        std::int32_t found = -1;
        for (const std::int32_t c : up_[static_cast<std::size_t>(node)])
            if (!kept.contains(ends_of(c)) && (found < 0 || unused_s(c) < unused_s(found))) found = c;
        tear_down(found);
    }
    void tear_down_all() {
        std::vector<std::int32_t> all;
        for (const std::vector<std::int32_t>& of_node : up_) all.insert(all.end(), of_node.begin(), of_node.end());
        std::ranges::sort(all);
        all.erase(std::unique(all.begin(), all.end()), all.end());
        std::ranges::stable_sort(all, {}, [&](std::int32_t c) { return unused_s(c); });
        for (const std::int32_t c : all) tear_down(c);
    }
    [[nodiscard]] double unused_s(std::int32_t circuit) const {
        return result_.circuits[static_cast<std::size_t>(circuit)].teardown_s;
    }
    void tear_down(std::int32_t number) {
        Circuit& circuit = result_.circuits[static_cast<std::size_t>(number)];
        if (rules_.controller == Controller::serial)
            circuit.teardown_s = std::max(circuit.teardown_s, controller_free_s_);
        circuit.down_s = controller_free_s_ = circuit.teardown_s + rules_.times.teardown_s;
        result_.makespan_s = std::max(result_.makespan_s, circuit.down_s);
        for (const std::int32_t node : {circuit.a, circuit.b}) {
            std::erase(up_[static_cast<std::size_t>(node)], number);
            free_ports_s_[static_cast<std::size_t>(node)].push_back(circuit.teardown_s + rules_.exchange_s() -
                                                                    rules_.times.setup_s);
        }
    }

    double message(const Draft::Send& send, std::int32_t circuit) {
        double& direction_free_s =
            direction_free_s_[2 * static_cast<std::size_t>(circuit) + (send.from < send.to ? 0 : 1)];
        double& sender_free_s = sender_free_s_[static_cast<std::size_t>(send.from)];
        double begin_s = std::max(result_.circuits[static_cast<std::size_t>(circuit)].open_s, direction_free_s);
        double& receiver_free_s = receiver_free_s_[static_cast<std::size_t>(send.to)];
        if (rules_.injection == Injection::one) begin_s = std::max(begin_s, sender_free_s);
        if (draft_.receives_one) begin_s = std::max(begin_s, receiver_free_s);
        for (const std::int32_t block : send.blocks) {
            if (const auto held = held_s_.find(key(send.from, block)); held != held_s_.end())
                begin_s = std::max(begin_s, held->second);
            // What is combined must not be in a message that the receiver was to send before, or sends in this step.
            if (!send.reduces) continue;
            if (const auto sent = sent_s_.find(key(send.to, block)); sent != sent_s_.end())
                begin_s = std::max(begin_s, sent->second);
            if (const auto held = held_s_.find(key(send.to, block)); held != held_s_.end())
                begin_s = std::max(begin_s, held->second);
        }
        const double end_s = begin_s + rules_.message_s(draft_.block_bytes * static_cast<double>(send.blocks.size()));
        ends_.push_back({&send, begin_s, end_s});
        direction_free_s = sender_free_s = receiver_free_s = end_s;
        result_.messages.push_back({circuit, send.from, send.to, send.blocks, send.reduces, begin_s, end_s});
        return end_s;
    }

    void end_step() {
        for (const auto& [send, begin_s, end_s] : ends_) {
            for (const std::int32_t block : send->blocks) {
                double& held_s = held_s_[key(send->to, block)];
                held_s = std::max(held_s, end_s);
                double& sent_s = sent_s_[key(send->from, block)];
                sent_s = std::max(sent_s, begin_s);
            }
        }
        ends_.clear();
    }

    [[nodiscard]] std::int64_t key(std::int32_t node, std::int32_t block) const {
        return std::int64_t{block} * rules_.num_nodes + node;
    }

    const Draft& draft_;
    const Rules& rules_;
    CircuitSchedule result_;
    std::int32_t number_ = 0;  // of the configuration
    double teardown_begin_s_ = 0;
    std::vector<double> sender_free_s_, receiver_free_s_;
    double controller_free_s_ = 0;                     // a serial one
    std::vector<std::int32_t> fresh_ports_;            // [node] that have had no circuit
    std::vector<std::vector<double>> free_ports_s_;    // [node] when a set-up on each other free port may begin
    std::vector<std::vector<std::int32_t>> up_;        // [node] circuits
    std::vector<double> direction_free_s_;             // of each circuit, from the lower node and from the higher one
    std::unordered_map<std::int64_t, double> held_s_;  // since when a node holds a block that it was sent
    std::unordered_map<std::int64_t, double> sent_s_;  // when a node began to send a block last
    struct Sent {
        const Draft::Send* send;
        double begin_s, end_s;
    };
    std::vector<Sent> ends_;  // of this step
};

}  // namespace

CircuitSchedule timed(const Draft& draft, const Rules& rules) {
    if (rules.stop == Stop::all) return Clock(draft, rules).run(false);
    CircuitSchedule alone = Clock(draft, rules).run(true);
    if (rules.controller == Controller::parallel) return alone;  // all begins as early, or earlier
    CircuitSchedule together = Clock(draft, rules).run(false);
    return together.makespan_s < alone.makespan_s ? together : alone;
}

CircuitSchedule reversed(const CircuitSchedule& schedule) {
    CircuitSchedule result = schedule;
    const double end_s = schedule.makespan_s;
    std::int32_t configurations = 0;
    for (const Circuit& circuit : schedule.circuits) configurations = std::max(configurations, circuit.configuration);
    for (Circuit& circuit : result.circuits) {
        const Circuit was = circuit;
        circuit.configuration = configurations - was.configuration;
        circuit.setup_s = end_s - was.down_s;
        circuit.open_s = end_s - was.teardown_s;
        circuit.teardown_s = end_s - was.open_s;
        circuit.down_s = end_s - was.setup_s;
    }
    for (Message& message : result.messages) {
        std::swap(message.from, message.to);
        message.reduces = true;
        const double begin_s = message.begin_s;
        message.begin_s = end_s - message.end_s;
        message.end_s = end_s - begin_s;
    }
    std::reverse(result.messages.begin(), result.messages.end());
    return result;
}

}  // namespace hocket::circuits
