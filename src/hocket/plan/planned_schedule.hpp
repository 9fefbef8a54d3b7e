// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hocket/collectives/algorithm.hpp"
#include "hocket/schedule/schedule.hpp"

namespace hocket {

/// How the schedule of a call is made: by an algorithm with a name, or it is carried whole. Checked when it is made.
class PlannedSchedule {
public:
    /// Of `segments` as the algorithm is asked for them, or of as many as no segment above `segment_bytes` needs.
    /// `starts`: as in collectives::Shape.
    /// @throws InvalidInput  for numbers out of range, both of these, or an order that is not empty and no permutation
    PlannedSchedule(const collectives::Algorithm& algorithm, std::int32_t num_ranks, std::int64_t segments = 1,
                    std::optional<std::int64_t> segment_bytes = {}, std::vector<Rank> order = {},
                    std::vector<std::int32_t> starts = {});
    /// @throws InvalidInput  if validate() finds that it is wrong
    explicit PlannedSchedule(Schedule custom);

    [[nodiscard]] Collective collective() const { return custom_ ? custom_->collective : algorithm_->collective; }
    [[nodiscard]] std::int32_t num_ranks() const { return num_ranks_; }
    /// Null if the schedule is carried whole.
    [[nodiscard]] const collectives::Algorithm* algorithm() const { return algorithm_; }
    /// What the algorithm is asked for, unless segments are given in bytes.
    [[nodiscard]] std::int32_t segments() const { return segments_; }
    [[nodiscard]] std::optional<std::int64_t> segment_bytes() const { return segment_bytes_; }
    /// Empty: 0, 1, ...
    [[nodiscard]] const std::vector<Rank>& order() const { return order_; }
    /// Positions in the order at which a stretch of ranks begins. Empty: each, or the algorithm has none.
    [[nodiscard]] const std::vector<std::int32_t>& starts() const { return starts_; }
    /// What the algorithm is asked for with so many segments; as long as this lives.
    [[nodiscard]] collectives::Shape shape(std::int32_t asked_segments) const {
        return {num_ranks_, asked_segments, starts_};
    }
    /// The whole schedule; null if an algorithm makes it.
    [[nodiscard]] const Schedule* custom() const { return custom_.get(); }
    /// Whether a non-commutative operator gives the right result. No for an algorithm that keeps the order of ranks
    /// only for some numbers of ranks, or only with some other order given.
    [[nodiscard]] bool preserves_order(Rank root) const { return in_order_ && (custom_ || root.value == 0); }

    bool operator==(const PlannedSchedule&) const;

private:
    const collectives::Algorithm* algorithm_ = nullptr;
    std::shared_ptr<const Schedule> custom_;
    std::int32_t num_ranks_;
    std::int32_t segments_ = 1;
    std::optional<std::int64_t> segment_bytes_;
    std::vector<Rank> order_;
    std::vector<std::int32_t> starts_;
    bool in_order_ = false;  ///< combines in the order of ranks, an algorithm with root 0
};

/// What the algorithm is asked for in a call of so many bytes.
std::int32_t segments_of(const PlannedSchedule&, std::int64_t bytes);
/// Schedule::segments of that.
std::int32_t schedule_segments(const PlannedSchedule&, std::int32_t asked_segments);
/// What one rank does.
struct PlannedPart {
    std::int32_t segments;  ///< Schedule::segments
    RankSchedule schedule;
};
/// The part of rank `self` when `root` is the root, with the number of segments_of().
PlannedPart part_of(const PlannedSchedule&, Rank root, Rank self, std::int32_t asked_segments);
/// That of all ranks.
Schedule whole_schedule(const PlannedSchedule&, Rank root, std::int32_t asked_segments);
/// "pipelined_chain, 64 segments"
std::string describe(const PlannedSchedule&);

}  // namespace hocket
