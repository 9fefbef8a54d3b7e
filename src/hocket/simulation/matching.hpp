// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hocket/program/program.hpp"

namespace hocket::simulation {

/// A send with the recv that takes it. Ops are numbered through all ranks.
struct Message {
    std::int32_t send, recv;
    std::int32_t pair;  ///< of (source, target)
    std::int64_t bytes;
};

/// A Program ready to run: ops numbered through, messages matched, dependencies turned round.
struct Matched {
    std::vector<std::int32_t> first_op;          ///< [rank], and the number of ops at the end
    std::vector<std::int32_t> message_of;        ///< [op] or -1
    std::vector<Message> messages;               ///< in the order of their sends
    std::vector<std::pair<Rank, Rank>> pairs;    ///< different (source, target)
    std::vector<std::int32_t> num_dependencies;  ///< [op]
    std::vector<std::int32_t> first_dependent;   ///< [op] into dependents, and their number at the end
    std::vector<std::int32_t> dependents;
};

/// @throws InvalidInput  for a rank, dependency, size or duration out of range, or a message without its counterpart.
Matched match(const Program&);

/// "rank 2, op 5 (recv of 100 bytes from rank 1, tag 0)"
std::string describe(const Program&, Rank, std::int32_t op);

}  // namespace hocket::simulation
