// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>

#include "hocket/base/index.hpp"

namespace hocket {

/// What each rank sends, in which order: a queue of messages for each source, produced on demand, so that a million
/// sources need no table of messages. Immutable; any number of threads may ask at once.
class Traffic {
public:
    struct Message {
        Rank target;
        std::int64_t bytes = 0;
    };

    virtual ~Traffic() = default;
    /// The sources are the ranks 0 .. num_sources - 1, and so are the targets.
    [[nodiscard]] virtual std::int32_t num_sources() const = 0;
    [[nodiscard]] virtual std::int64_t num_messages(Rank source) const = 0;
    /// 0 <= i < num_messages(source)
    [[nodiscard]] virtual Message message(Rank source, std::int64_t i) const = 0;
    /// After so many messages of a source their targets repeat: who wants to know them all need not ask for more.
    [[nodiscard]] virtual std::int64_t num_targets(Rank source) const { return num_messages(source); }
};

inline std::int64_t total_messages(const Traffic& traffic) {
    std::int64_t total = 0;
    for (std::int32_t s = 0; s < traffic.num_sources(); ++s) total += traffic.num_messages(Rank{s});
    return total;
}

}  // namespace hocket
