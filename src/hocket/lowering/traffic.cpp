// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/lowering/traffic.hpp"

#include <span>
#include <string>

#include "hocket/base/error.hpp"

namespace hocket {

Program program_of(const Traffic& traffic, bool all_at_once) {
    constexpr std::int64_t most_messages = std::int64_t{1} << 30;
    const std::int64_t num_messages = total_messages(traffic);
    if (num_messages > most_messages)
        throw InvalidInput("the traffic has " + std::to_string(num_messages) + " messages; a program may have " +
                               std::to_string(most_messages),
                           "simulate the traffic itself, which needs no program");
    Program program;
    program.ranks.resize(static_cast<std::size_t>(traffic.num_sources()));
    for (std::int32_t s = 0; s < traffic.num_sources(); ++s) {
        RankProgram& source = program.ranks[static_cast<std::size_t>(s)];
        std::int32_t before = -1;
        for (std::int64_t i = 0; i < traffic.num_messages(Rank{s}); ++i) {
            const Traffic::Message message = traffic.message(Rank{s}, i);
            const bool waits = before >= 0 && !all_at_once;
            before =
                source.add({ProgramOpKind::send, message.target, 0, message.bytes}, std::span(&before, waits ? 1 : 0));
            program.ranks[message.target.at()].add({ProgramOpKind::recv, Rank{s}, 0, message.bytes});
        }
    }
    return program;
}

}  // namespace hocket
