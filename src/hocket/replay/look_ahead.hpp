// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "hocket/base/index.hpp"
#include "hocket/replay/function_kind.hpp"
#include "hocket/trace/call_source.hpp"

namespace hocket::replay {

struct ReplayState;

constexpr std::int32_t any_source = -2, any_tag = -1;  // as recorded

/// What only later calls of a rank tell: what its receives with wildcards got, and which of its messages to a window is
/// the last before it waits for the target. A second reader of the rank's calls, ahead of the replay as far as that
/// takes, which keeps this alone.
class LookAhead {
public:
    LookAhead(ReplayState& shared, Rank rank) : shared_(shared), rank_(rank) {}

    static bool has_wildcard(const trace::Call&, FunctionKind);
    /// What the request got this time, if that was recorded.
    std::optional<trace::Completion> came_for(std::uint64_t request);
    /// Of the call with this number among all of the rank, a put or an update: whether its target is waited for, and no
    /// such call to this target comes before that.
    bool is_last_before_flush(std::int64_t call);

private:
    bool read_on();
    void note_one_sided(const trace::Call&, std::int64_t number);

    ReplayState& shared_;
    Rank rank_;
    std::unique_ptr<trace::CallSource::Reader> reader_;  // none before the first wildcard, put or update
    bool is_done_ = false;
    std::unordered_map<std::uint64_t, std::deque<trace::Completion>> came_;  // by request with wildcards
    std::unordered_set<std::uint64_t> persistent_;
    std::int64_t num_calls_ = 0;                                              // that were read
    std::map<std::int32_t, std::map<std::int32_t, std::int64_t>> unflushed_;  // by window and target: its last call
    std::unordered_map<std::int64_t, bool> is_last_;                          // by number of the call
};

}  // namespace hocket::replay
