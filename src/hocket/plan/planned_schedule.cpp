// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/plan/planned_schedule.hpp"

#include <algorithm>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/plan/checks.hpp"
#include "hocket/schedule/validate.hpp"

namespace hocket {

PlannedSchedule::PlannedSchedule(const collectives::Algorithm& algorithm, std::int32_t num_ranks, std::int64_t segments,
                                 std::optional<std::int64_t> segment_bytes, std::vector<Rank> order,
                                 std::vector<std::int32_t> starts)
    : algorithm_(&algorithm),
      num_ranks_(num_ranks),
      segment_bytes_(segment_bytes),
      order_(std::move(order)),
      starts_(std::move(starts)) {
    plan::require_within("segments", segments, plan::positive);
    segments_ = static_cast<std::int32_t>(segments);
    if (segment_bytes_) {
        plan::require_within("segment_bytes", *segment_bytes_, plan::segment_sizes);
        if (segments_ != 1) throw InvalidInput(std::string(plan::both_given));
    }
    // Now, not inside a call. What is too much for one size is so for all: segments_of_size() keeps to the limit.
    static_cast<void>(collectives::segments_for(algorithm, shape(segments_)));
    in_order_ = algorithm.preserves_order || num_ranks == 1;
    if (order_.empty()) return;
    std::vector<std::int32_t> ranks;
    for (const Rank rank : order_) ranks.push_back(rank.value);
    plan::require_ranks("order", ranks, num_ranks);
    if (ranks.size() != static_cast<std::size_t>(num_ranks))
        throw InvalidInput("order has " + std::to_string(ranks.size()) + " ranks; it must hold each of 0 to " +
                           std::to_string(num_ranks - 1) + " once");
    // With root 0 the order of a rooted collective is rotated to begin there.
    if (is_rooted(algorithm.collective)) std::ranges::rotate(ranks, std::ranges::find(ranks, 0));
    in_order_ = in_order_ && std::ranges::is_sorted(ranks);
}

PlannedSchedule::PlannedSchedule(Schedule custom)
    : custom_(std::make_shared<const Schedule>(std::move(custom))), num_ranks_(custom_->num_ranks) {
    const Validation validation = validate(*custom_);
    if (!validation.ok())
        throw InvalidInput("custom is wrong: " + validation.violations.front(), std::string(plan::remake));
    in_order_ = validation.preserves_order;
}

bool PlannedSchedule::operator==(const PlannedSchedule& other) const {
    const bool same_custom = custom_ == other.custom_ || (custom_ && other.custom_ && *custom_ == *other.custom_);
    return same_custom && algorithm_ == other.algorithm_ && num_ranks_ == other.num_ranks_ &&
           segments_ == other.segments_ && segment_bytes_ == other.segment_bytes_ && order_ == other.order_ &&
           starts_ == other.starts_;
}

std::int32_t segments_of(const PlannedSchedule& planned, std::int64_t bytes) {
    if (!planned.segment_bytes()) return planned.segments();
    return collectives::segments_of_size(*planned.algorithm(), planned.shape(1), bytes, *planned.segment_bytes());
}

std::int32_t schedule_segments(const PlannedSchedule& planned, std::int32_t asked) {
    if (planned.custom() != nullptr) return planned.custom()->segments;
    return collectives::segments_for(*planned.algorithm(), planned.shape(asked));
}

PlannedPart part_of(const PlannedSchedule& planned, Rank root, Rank self, std::int32_t asked) {
    if (const Schedule* const custom = planned.custom()) return {custom->segments, custom->ranks[self.at()]};
    const collectives::Algorithm& algorithm = *planned.algorithm();
    const collectives::Shape shape = planned.shape(asked);
    return {segments_for(algorithm, shape), emit_rank(algorithm, shape, {root, planned.order()}, self)};
}

Schedule whole_schedule(const PlannedSchedule& planned, Rank root, std::int32_t asked) {
    if (planned.custom() != nullptr) return *planned.custom();
    return collectives::emit(*planned.algorithm(), planned.shape(asked), {root, planned.order()});
}

std::string describe(const PlannedSchedule& planned) {
    if (planned.custom() != nullptr) return "a schedule found by search";
    std::string name(planned.algorithm()->name);
    if (!planned.starts().empty()) name += " of " + std::to_string(planned.starts().size()) + " stretches";
    if (planned.segment_bytes()) return name + ", segments of " + std::to_string(*planned.segment_bytes()) + " B";
    return name + (planned.segments() > 1 ? ", " + std::to_string(planned.segments()) + " segments" : "");
}

}  // namespace hocket
