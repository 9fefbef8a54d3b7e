// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/circuits/serial.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "hocket/search/circuits/bounds.hpp"
#include "hocket/search/circuits/one_segment.hpp"

namespace hocket::search {
namespace {

using circuits::Circuit;
using circuits::CircuitSchedule;
using circuits::Draft;
using circuits::Injection;
using circuits::Rules;
using circuits::Stop;

constexpr std::int32_t most_exact_nodes = 8;
constexpr double unknown = std::numeric_limits<double>::infinity();

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/* Depth-first search over the order of set-ups and teardowns; each begins as early as that order allows. It loses
   nothing:
   - Every node but the root gets the message once, by a circuit of its own, so that there are p - 1 of each.
   - A node sends over its circuits in the order of their set-ups. Otherwise let the two receivers change roles,
     with all that they do later: the circuits of each are up for a part of the time in which those of the other
     were.
   - Nodes without a circuit so far are alike.
   A circuit may be set up between nodes that both lack the message. */
class Search {
public:
    Search(const Rules& rules, double bytes, CircuitSchedule best, double bound_s, const std::function<bool()>& go_on)
        : rules_(rules),
          bytes_(bytes),
          message_s_(rules.message_s(bytes)),
          best_(std::move(best)),
          bound_s_(bound_s),
          go_on_(go_on),
          ports_(at(rules.num_nodes), rules.ports),
          held_s_(at(rules.num_nodes), unknown),
          has_source_(at(rules.num_nodes), false) {
        held_s_[0] = 0;
        has_source_[0] = true;
    }

    SerialAnswer run() {
        descend(0, 0, 0);
        return {std::move(best_), !stopped_};
    }

private:
    struct Up {
        std::int32_t from, to, configuration;
        double setup_s, begin_s = unknown, teardown_s = unknown;
    };

    [[nodiscard]] bool hopeless(double free_s, std::int32_t down) const {
        const auto circuits = rules_.num_nodes - 1;
        const auto setups = circuits - static_cast<std::int32_t>(ups_.size());
        double least_s = free_s + setups * rules_.times.setup_s + (circuits - down) * rules_.times.teardown_s;
        // After the last set-up its message is sent, while others may be torn down.
        if (setups > 0) {
            const double meanwhile_s = rules_.stop == Stop::all ? 0 : (circuits - down - 1) * rules_.times.teardown_s;
            least_s += std::max(0.0, message_s_ - meanwhile_s);
        }
        return least_s >= best_.makespan_s * (1 - 1e-12);
    }

    void descend(double free_s, std::int32_t down, std::int32_t configuration) {
        if (stopped_ || best_.makespan_s <= bound_s_ * (1 + 1e-12)) return;
        if (++states_ % 1024 == 0 && !go_on_()) {
            stopped_ = true;
            return;
        }
        if (down == rules_.num_nodes - 1) {
            if (free_s < best_.makespan_s) keep(free_s);
            return;
        }
        if (hopeless(free_s, down)) return;
        set_up(free_s, down, configuration);
        tear_down(free_s, down, configuration);
    }

    void set_up(double free_s, std::int32_t down, std::int32_t configuration) {
        if (std::ssize(ups_) == rules_.num_nodes - 1) return;
        const bool tearing = std::ranges::any_of(
            ups_, [&](const Up& up) { return up.configuration == configuration && up.teardown_s != unknown; });
        if (rules_.stop == Stop::all && tearing) {
            if (down < std::ssize(ups_)) return;
            ++configuration;
        }
        bool fresh_from = false;
        for (std::int32_t from = 0; from < rules_.num_nodes; ++from) {
            if (ports_[at(from)] == 0) continue;
            const bool fresh = is_fresh(from);
            if (fresh && std::exchange(fresh_from, true)) continue;
            bool fresh_to = false;
            for (std::int32_t to = 1; to < rules_.num_nodes; ++to) {
                if (to == from || has_source_[at(to)] || ports_[at(to)] == 0 || top_of(from) == to) continue;
                if (is_fresh(to) && std::exchange(fresh_to, true)) continue;
                --ports_[at(from)];
                --ports_[at(to)];
                has_source_[at(to)] = true;
                ups_.push_back({from, to, configuration, free_s});
                const std::vector<double> before = held_s_;
                const std::vector<Up> ups = ups_;
                send();
                descend(free_s + rules_.times.setup_s, down, configuration);
                ups_ = ups;
                ups_.pop_back();
                held_s_ = before;
                has_source_[at(to)] = false;
                ++ports_[at(from)];
                ++ports_[at(to)];
            }
        }
    }

    void tear_down(double free_s, std::int32_t down, std::int32_t configuration) {
        double all_s = free_s;
        if (rules_.stop == Stop::all)
            for (const Up& up : ups_)
                if (up.teardown_s == unknown) all_s = std::max(all_s, up.begin_s + message_s_);
        if (all_s == unknown) return;
        for (std::size_t i = 0; i < ups_.size(); ++i) {
            if (ups_[i].teardown_s != unknown || ups_[i].begin_s == unknown) continue;
            const double begin_s = std::max(all_s, ups_[i].begin_s + message_s_);
            ups_[i].teardown_s = begin_s;
            ++ports_[at(ups_[i].from)];
            ++ports_[at(ups_[i].to)];
            descend(begin_s + rules_.times.teardown_s, down + 1, configuration);
            --ports_[at(ups_[i].from)];
            --ports_[at(ups_[i].to)];
            ups_[i].teardown_s = unknown;
            if (rules_.stop == Stop::all) return;  // in any order: all ports are free only after the last one
        }
    }

    /// Times of the messages that now have one. A message is after those of its sender that were set up before.
    void send() {
        for (bool more = true; more;) {
            more = false;
            for (std::size_t i = 0; i < ups_.size(); ++i) {
                Up& up = ups_[i];
                if (up.begin_s != unknown || held_s_[at(up.from)] == unknown) continue;
                up.begin_s = std::max(held_s_[at(up.from)], up.setup_s + rules_.times.setup_s);
                for (std::size_t j = 0; rules_.injection == Injection::one && j < i; ++j)
                    if (ups_[j].from == up.from) up.begin_s = std::max(up.begin_s, ups_[j].begin_s + message_s_);
                held_s_[at(up.to)] = up.begin_s + message_s_;
                more = true;
            }
        }
    }

    [[nodiscard]] bool is_fresh(std::int32_t node) const {
        return node != 0 && !has_source_[at(node)] && ports_[at(node)] == rules_.ports &&
               std::ranges::none_of(ups_, [&](const Up& up) { return up.from == node; });
    }
    /// Where the circuits that lead to this node begin.
    [[nodiscard]] std::int32_t top_of(std::int32_t node) const {
        while (true) {
            const auto up = std::ranges::find(ups_, node, &Up::to);
            if (up == ups_.end()) return node;
            node = up->from;
        }
    }

    void keep(double makespan_s) {
        best_ = {bytes_, {}, {}, makespan_s};
        std::vector<std::size_t> order(ups_.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::sort(order, {}, [&](std::size_t i) { return ups_[i].begin_s; });
        for (const Up& up : ups_)
            best_.circuits.push_back({std::min(up.from, up.to), std::max(up.from, up.to), up.configuration, up.setup_s,
                                      up.setup_s + rules_.times.setup_s, up.teardown_s,
                                      up.teardown_s + rules_.times.teardown_s});
        for (const std::size_t i : order)
            best_.messages.push_back({static_cast<std::int32_t>(i),
                                      ups_[i].from,
                                      ups_[i].to,
                                      {0},
                                      false,
                                      ups_[i].begin_s,
                                      ups_[i].begin_s + message_s_});
    }

    const Rules& rules_;
    double bytes_, message_s_;
    CircuitSchedule best_;
    double bound_s_;
    const std::function<bool()>& go_on_;
    std::vector<std::int32_t> ports_;
    std::vector<double> held_s_;
    std::vector<bool> has_source_;
    std::vector<Up> ups_;  // and those that are down again, in the order of set-ups
    std::int64_t states_ = 0;
    bool stopped_ = false;
};

/// One configuration: each new circuit at the node that can use it first.
Draft one_configuration(const Rules& rules, double bytes) {
    Draft draft{bytes, false, {}};
    std::vector<std::int32_t> ports(at(rules.num_nodes), rules.ports - 1);
    std::vector<double> ready_s(at(rules.num_nodes), 0);
    ports[0] = rules.ports;
    for (std::int32_t to = 1; to < rules.num_nodes; ++to) {
        std::int32_t from = -1;
        for (std::int32_t node = 0; node < to; ++node)
            if (ports[at(node)] > 0 && (from < 0 || ready_s[at(node)] < ready_s[at(from)])) from = node;
        const double end_s = std::max(ready_s[at(from)], to * rules.times.setup_s) + rules.message_s(bytes);
        --ports[at(from)];
        if (rules.injection == Injection::one) ready_s[at(from)] = end_s;
        ready_s[at(to)] = end_s;
        draft.messages.push_back({0, to, from, to, {0}});
    }
    return draft;
}

/// Of one configuration: each circuit is torn down when it has carried its message.
void tear_down_early(CircuitSchedule& schedule, double teardown_s) {
    std::vector<circuits::Message> messages = schedule.messages;
    std::ranges::stable_sort(messages, {}, &circuits::Message::end_s);
    double free_s = 0;
    for (const Circuit& circuit : schedule.circuits) free_s = std::max(free_s, circuit.open_s);
    for (const circuits::Message& message : messages) {
        Circuit& circuit = schedule.circuits[at(message.circuit)];
        circuit.teardown_s = std::max(free_s, message.end_s);
        circuit.down_s = free_s = circuit.teardown_s + teardown_s;
    }
    schedule.makespan_s = free_s;
}

}  // namespace

SerialAnswer broadcast_serially(const Rules& rules, double bytes, const std::function<bool()>& go_on) {
    CircuitSchedule best = broadcast_by_configurations(rules, bytes);
    if (rules.ports > 1 || rules.num_nodes == 2) {
        CircuitSchedule other = circuits::timed(one_configuration(rules, bytes), rules);
        if (rules.stop == Stop::circuit) tear_down_early(other, rules.times.teardown_s);
        if (other.makespan_s < best.makespan_s) best = std::move(other);
    }
    const double bound_s = circuit_bound_s(Collective::bcast, rules, bytes, 1);
    const bool proven = best.makespan_s <= bound_s * (1 + 1e-12);
    if (proven || rules.num_nodes > most_exact_nodes) return {std::move(best), proven};
    return Search(rules, bytes, std::move(best), bound_s, go_on).run();
}

}  // namespace hocket::search
