// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/circuits/steps.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "hocket/search/circuits/step_parts.hpp"

namespace hocket::search {
namespace {

/// The circuits of a configuration that grows by steps.
class Circuits {
public:
    Circuits(std::int32_t num_nodes, std::int32_t ports)
        : used_(static_cast<std::size_t>(num_nodes), 0), ports_(ports) {}

    bool add(const Send& send) {
        const std::pair ends{std::min(send.from, send.to), std::max(send.from, send.to)};
        if (circuits_.contains(ends)) return true;
        auto& a = used_[static_cast<std::size_t>(ends.first)];
        auto& b = used_[static_cast<std::size_t>(ends.second)];
        if (a == ports_ || b == ports_) return false;
        ++a;
        ++b;
        circuits_.insert(ends);
        return true;
    }
    bool add(const Step& step) {
        const Circuits before = *this;
        for (const Send& send : step)
            if (!add(send)) {
                *this = before;
                return false;
            }
        return true;
    }

private:
    std::set<std::pair<std::int32_t, std::int32_t>> circuits_;
    std::vector<std::int32_t> used_;
    std::int32_t ports_;
};

/// Parts of a step that each fit in a configuration: first fit.
std::vector<Step> split(const Step& step, std::int32_t num_nodes, std::int32_t ports) {
    std::vector<Step> parts;
    std::vector<Circuits> circuits;
    for (const Send& send : step) {
        std::size_t i = 0;
        while (i < parts.size() && !circuits[i].add(send)) ++i;
        if (i == parts.size()) {
            parts.emplace_back();
            circuits.emplace_back(num_nodes, ports);
            circuits.back().add(send);
        }
        parts[i].push_back(send);
    }
    return parts;
}

}  // namespace

circuits::Draft by_configurations(const Steps& algorithm, std::int32_t num_nodes, std::int32_t ports, bool joins) {
    circuits::Draft draft{algorithm.block_bytes, false, {}};
    Circuits circuits(num_nodes, ports);
    std::int32_t configuration = 0, number = 0;
    for (const Step& whole : algorithm.steps) {
        std::vector<Step> parts{whole};
        if (!Circuits(num_nodes, ports).add(whole)) parts = split(whole, num_nodes, ports);
        // Parts of a step do not wait for each other.
        for (const Step& step : parts) {
            if ((!joins && !draft.messages.empty()) || !circuits.add(step)) {
                circuits = Circuits(num_nodes, ports);
                circuits.add(step);
                ++configuration;
            }
            for (Send send : step) {
                send.configuration = configuration;
                send.step = number;
                draft.messages.push_back(std::move(send));
            }
        }
        ++number;
    }
    return draft;
}

circuits::Draft allreduce_of(const circuits::Draft& allgather) {
    circuits::Draft both{allgather.block_bytes, false, {}};
    if (allgather.messages.empty()) return both;
    const std::int32_t last = allgather.messages.back().configuration;
    std::int32_t steps = 0;
    for (const Send& send : allgather.messages) steps = std::max(steps, send.step + 1);
    // What the first half ends with is what the second one begins with: one configuration.
    for (auto send = allgather.messages.rbegin(); send != allgather.messages.rend(); ++send)
        both.messages.push_back(
            {last - send->configuration, steps - 1 - send->step, send->to, send->from, send->blocks, true});
    for (Send send : allgather.messages) {
        send.configuration += last;
        send.step += steps;
        both.messages.push_back(std::move(send));
    }
    return both;
}

std::vector<Steps> steps_of(Collective collective, std::int32_t p, double bytes) {
    switch (collective) {
        case Collective::bcast:
            return bcast_steps(p, bytes);
        case Collective::allgather:
            return allgather_steps(p, bytes);
        case Collective::allreduce:
            return allreduce_steps(p, bytes);
        case Collective::alltoall:
            return alltoall_steps(p, bytes);
        default:
            return {};
    }
}

}  // namespace hocket::search
