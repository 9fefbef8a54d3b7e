// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/check.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/simulation/matching.hpp"

namespace hocket::simulation {

void check(const Program& program, const Network& network) { check_ranks(program.ranks.size(), network); }

void check_ranks(std::size_t num_ranks, const Network& network) {
    if (num_ranks > static_cast<std::size_t>(network.num_ranks()))
        throw InvalidInput("the program has " + std::to_string(num_ranks) + " ranks, the network \"" + network.name() +
                               "\" has " + std::to_string(network.num_ranks()),
                           "use a network with at least as many ranks");
}

void refuse_circuits(const Program& program, const Network& network) {
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const auto& ops = program.ranks[r].ops;
        const auto found =
            std::find_if(ops.begin(), ops.end(), [](const ProgramOp& op) { return is_of_circuit(op.kind); });
        if (found == ops.end()) continue;
        throw InvalidInput(
            describe(program, Rank{static_cast<std::int32_t>(r)}, static_cast<std::int32_t>(found - ops.begin())) +
                ": the network \"" + network.name() + "\" has no circuits",
            "use a network file with a table [circuits]");
    }
}

void check_finished(const Program& program, const std::vector<std::vector<Timeline::Interval>>& ranks,
                    bool with_rendezvous) {
    struct Place {
        std::size_t rank, op;
    };
    std::optional<Place> waits, blocked;  // an op waits itself if its dependencies are done
    std::size_t num_ops = 0, num_left = 0;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        const RankProgram& part = program.ranks[r];
        const auto is_left = [&](std::size_t op) { return std::isnan(ranks[r][op].end_s); };
        num_ops += ranks[r].size();
        for (std::size_t i = 0; i < ranks[r].size(); ++i) {
            if (!is_left(i)) continue;
            ++num_left;
            if (!blocked) blocked = {r, i};
            const auto before = part.dependencies_of(part.ops[i]);
            if (!waits && std::none_of(before.begin(), before.end(),
                                       [&](std::int32_t op) { return is_left(static_cast<std::size_t>(op)); }))
                waits = {r, i};
        }
    }
    if (!blocked) return;
    // If all are blocked, they wait for each other within a rank.
    const Place first = waits.value_or(*blocked);
    throw InvalidInput(
        describe(program, Rank{static_cast<std::int32_t>(first.rank)}, static_cast<std::int32_t>(first.op)) +
            " waits for ever: " + (waits ? "its counterpart never becomes ready" : "its dependencies form a cycle"),
        std::to_string(num_left) + " of " + std::to_string(num_ops) + " ops did not finish: look for a cycle of waits" +
            (with_rendezvous ? "; messages of the rendezvous size or more wait for their receivers" : ""));
}

}  // namespace hocket::simulation
