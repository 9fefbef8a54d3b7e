// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/place.hpp"

#include <algorithm>
#include <string>

#include "hocket/base/error.hpp"

namespace hocket::replay {

Program place(const Program& program, std::span<const Rank> members, std::int32_t num_ranks) {
    const Program* const one = &program;
    const std::vector<Rank> list(members.begin(), members.end());
    return place_all({&one, 1}, {&list, 1}, num_ranks);
}

Program place_all(std::span<const Program* const> programs, std::span<const std::vector<Rank>> members,
                  std::int32_t num_ranks) {
    HOCKET_ASSERT(programs.size() == members.size(), "each program has its members");
    Program placed{std::vector<RankProgram>(static_cast<std::size_t>(num_ranks))};
    std::vector<bool> taken(placed.ranks.size());
    std::int32_t num_collectives = 0;  // of the programs before: a collective has a number of its own
    for (std::size_t j = 0; j < programs.size(); ++j) {
        const Program& program = *programs[j];
        if (members[j].size() != program.ranks.size())
            throw InvalidInput("a program of " + std::to_string(program.ranks.size()) + " ranks cannot be placed on " +
                               std::to_string(members[j].size()) + " members");
        std::int32_t most = -1;
        for (std::size_t i = 0; i < members[j].size(); ++i) {
            const Rank rank = members[j][i];
            if (rank.value < 0 || rank.value >= num_ranks)
                throw InvalidInput("member " + std::to_string(rank.value) + ": accepted are ranks 0 to " +
                                   std::to_string(num_ranks - 1));
            if (taken[rank.at()]) throw InvalidInput("member " + std::to_string(rank.value) + " occurs twice");
            taken[rank.at()] = true;
            RankProgram& part = placed.ranks[rank.at()];
            part = program.ranks[i];
            for (ProgramOp& op : part.ops)
                if (op.kind == ProgramOpKind::send || op.kind == ProgramOpKind::recv)
                    op.peer = members[j].at(op.peer.at());
            for (RankProgram::Call& call : part.calls) {
                most = std::max(most, call.collective);
                call.collective += num_collectives;
            }
        }
        num_collectives += most + 1;
    }
    return placed;
}

}  // namespace hocket::replay
