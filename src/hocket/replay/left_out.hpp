// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hocket::replay {

/// Calls of a trace that its Program lacks.
struct LeftOut {
    std::string function;  ///< as recorded, or "messages sent", "messages received"
    std::string reason;
    std::int64_t calls = 0;
    std::int64_t bytes = 0;  ///< as far as they are known
    bool operator==(const LeftOut&) const = default;
};

/// Counts them.
class LeftOutCalls {
public:
    /// @param bytes  -1: not known
    void add(std::string_view function, std::string_view reason, std::int64_t calls, std::int64_t bytes) {
        Counts& counts = counts_[{std::string(function), std::string(reason)}];
        counts.calls += calls;
        if (bytes > 0) counts.bytes += bytes;
    }
    /// A message whose other end is not in the trace.
    void add_unmatched(bool is_send, std::int64_t bytes) {
        add(is_send ? "messages sent" : "messages received",
            is_send ? "their receives were not recorded" : "their sends were not recorded", 1, bytes);
    }
    /// By function, then by reason.
    [[nodiscard]] std::vector<LeftOut> rows() const {
        std::vector<LeftOut> rows;
        for (const auto& [what, counts] : counts_)
            rows.push_back({what.first, what.second, counts.calls, counts.bytes});
        return rows;
    }

private:
    struct Counts {
        std::int64_t calls = 0, bytes = 0;
    };
    std::map<std::pair<std::string, std::string>, Counts> counts_;
};

}  // namespace hocket::replay
