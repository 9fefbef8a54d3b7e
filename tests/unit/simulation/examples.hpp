// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <string>
#include <vector>

#include "hocket/base/random.hpp"
#include "hocket/network/blueprint.hpp"
#include "hocket/program/program.hpp"

/// Small programs and networks for the tests of the simulation.
namespace hocket::examples {

inline std::int32_t add(RankProgram& part, ProgramOp op, const std::vector<std::int32_t>& after = {}) {
    op.first_dependency = static_cast<std::int32_t>(part.dependencies.size());
    op.num_dependencies = static_cast<std::int32_t>(after.size());
    part.dependencies.insert(part.dependencies.end(), after.begin(), after.end());
    part.ops.push_back(op);
    return static_cast<std::int32_t>(part.ops.size()) - 1;
}
inline ProgramOp send(std::int32_t to, std::int64_t bytes, std::int32_t tag = 0) {
    return {ProgramOpKind::send, Rank{to}, tag, bytes};
}
inline ProgramOp recv(std::int32_t from, std::int64_t bytes, std::int32_t tag = 0) {
    return {ProgramOpKind::recv, Rank{from}, tag, bytes};
}
inline ProgramOp compute(double seconds) { return {ProgramOpKind::compute, Rank{}, 0, 0, seconds}; }
inline ProgramOp reduce(std::int64_t bytes) { return {ProgramOpKind::reduce, Rank{}, 0, bytes}; }

inline Program empty(std::size_t ranks) {
    Program program;
    program.ranks.resize(ranks);
    return program;
}
/// A message on its own at both ends.
inline void message(Program& program, std::int32_t from, std::int32_t to, std::int64_t bytes) {
    add(program.ranks[static_cast<std::size_t>(from)], send(to, bytes));
    add(program.ranks[static_cast<std::size_t>(to)], recv(from, bytes));
}

/// Hosts and switches in a random tree, with random bandwidths, latencies and duplex; sometimes several ranks on a
/// host.
inline network::Blueprint random_tree(base::Random& random, std::int32_t min_ranks) {
    network::Blueprint blueprint;
    blueprint.name = "random";
    std::int32_t ranks = 0;
    while (ranks < min_ranks) {
        const auto id = static_cast<std::int32_t>(blueprint.nodes.size());
        const bool is_switch = random.below(3) == 0;
        const auto on_host = static_cast<std::int32_t>(random.below(4) == 0 ? 2 : 1);
        blueprint.nodes.push_back(
            {"n" + std::to_string(id), is_switch ? NodeKind::switch_ : NodeKind::host, is_switch ? 0 : on_host});
        if (on_host > 1 && !is_switch) {
            blueprint.nodes.back().memory_bandwidth_bytes_per_s = 1000 + random.uniform() * 1000;
            blueprint.nodes.back().memory_latency_s = random.uniform() * 1e-3;
        }
        if (!is_switch) ranks += on_host;
        if (id == 0) continue;
        const double bandwidth = 100 + random.uniform() * 900, latency = random.uniform() * 0.1;
        const bool half = random.below(4) == 0, symmetric = half || random.below(2) == 0;
        blueprint.cables.push_back({id, static_cast<std::int32_t>(random.below(id)), bandwidth,
                                    symmetric ? bandwidth : 100 + random.uniform() * 900, latency,
                                    symmetric ? latency : random.uniform() * 0.1, half});
    }
    return blueprint;
}

/// A random DAG of messages and work without cycles between ranks: ops are added in one global order, a recv after its
/// send, and depend on earlier ops only. Sizes and times are random, so that nothing happens at the same time.
inline Program random_program(base::Random& random, std::int32_t ranks, std::int32_t steps) {
    Program program = empty(static_cast<std::size_t>(ranks));
    const auto after = [&](const RankProgram& part) {
        std::vector<std::int32_t> dependencies;
        const auto size = static_cast<std::int64_t>(part.ops.size());
        for (auto n = size == 0 ? 0 : random.below(3); n > 0; --n)
            dependencies.push_back(static_cast<std::int32_t>(size - 1 - random.below(std::min<std::int64_t>(size, 4))));
        return dependencies;
    };
    for (std::int32_t i = 0; i < steps; ++i) {
        const auto a = static_cast<std::int32_t>(random.below(ranks));
        const auto b = static_cast<std::int32_t>((a + 1 + random.below(ranks - 1)) % ranks);
        RankProgram& part = program.ranks[static_cast<std::size_t>(a)];
        const std::int64_t bytes = 1 + random.below(1000);
        switch (random.below(6)) {
            case 0:
                add(part, compute(random.uniform()), after(part));
                break;
            case 1:
                add(part, reduce(bytes), after(part));
                break;
            default: {
                RankProgram& other = program.ranks[static_cast<std::size_t>(b)];
                const auto tag = static_cast<std::int32_t>(random.below(2));
                add(part, send(b, bytes, tag), after(part));
                add(other, recv(a, bytes, tag), after(other));
            }
        }
    }
    return program;
}

}  // namespace hocket::examples
