// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/plan/plan.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "hocket/base/error.hpp"
#include "hocket/base/json_text.hpp"
#include "hocket/plan/checks.hpp"

namespace hocket {

namespace {

using Members = std::vector<std::int32_t>;

constexpr std::array<std::string_view, 3> modes = {"off", "on", "auto"};

void check_schedule(const PlanEntry& entry) {
    const PlannedSchedule& schedule = entry.schedule;
    const std::string what(schedule.algorithm() != nullptr ? schedule.algorithm()->name : "custom");
    if (schedule.collective() != entry.collective || entry.members.size() != std::size_t(schedule.num_ranks()))
        throw InvalidInput("schedule: " + what + " is a " + std::string(name_of(schedule.collective())) + " of " +
                           std::to_string(schedule.num_ranks()) + " ranks; the entry needs a " +
                           std::string(name_of(entry.collective)) + " of " + std::to_string(entry.members.size()));
    if (schedule.custom() == nullptr || !is_rooted(entry.collective) || entry.root == schedule.custom()->root) return;
    throw InvalidInput("schedule: custom has root " + std::to_string(schedule.custom()->root.value) +
                       ", but the entry's root is " + (entry.root ? std::to_string(entry.root->value) : "null"));
}

void check_segments(const PlanEntry& entry) {
    const PlannedSchedule& schedule = entry.schedule;
    if (schedule.custom() != nullptr) return;
    const std::int32_t asked = segments_of(schedule, entry.bytes_max);
    if (asked <= plan::many_segments) return;
    const std::int64_t size =
        schedule.segment_bytes().value_or(entry.bytes_max / std::int64_t{schedule_segments(schedule, asked)});
    if (size >= plan::least_of_many) return;
    const auto given = [&](const char* key, std::int64_t value) { return key + (" is " + std::to_string(value)); };
    throw InvalidInput("schedule: " +
                           (schedule.segment_bytes() ? given("segment_bytes", *schedule.segment_bytes())
                                                     : given("segments", schedule.segments())) +
                           ", which cuts " + std::to_string(entry.bytes_max) + " B into " + std::to_string(asked) +
                           " segments; accepted: at most " + std::to_string(plan::many_segments) +
                           ", or segments of at least " + std::to_string(plan::least_of_many) + " B",
                       "each segment is a message of its own; hocket chooses segments of some kilobytes");
}

void check_evidence(const Evidence& evidence) {
    plan::require_within("launches", evidence.launches, plan::positive);
    plan::require_within("repetitions", evidence.repetitions, plan::positive);
    plan::require_number("ratio", evidence.ratio, plan::not_negative);
    plan::require_number("ratio_interval", evidence.ratio_interval.first, plan::not_negative);
    plan::require_number("ratio_interval", evidence.ratio_interval.second, plan::not_negative);
}

/// Calls that an entry serves on one communicator.
struct Served {
    Collective collective;
    std::optional<Rank> root;
    const Members* members;
    std::int64_t low, high;
    std::size_t entry;
    [[nodiscard]] auto same() const { return std::tie(collective, root, *members); }
};

void refuse_overlaps(const std::vector<PlanEntry>& entries) {
    std::vector<Served> served;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const PlanEntry& entry = entries[i];
        served.push_back({entry.collective, entry.root, &entry.members, entry.bytes_min, entry.bytes_max, i});
        for (const Members& other : entry.other_members)
            served.push_back({entry.collective, entry.root, &other, entry.bytes_min, entry.bytes_max, i});
    }
    std::stable_sort(served.begin(), served.end(), [](const Served& a, const Served& b) {
        const auto order = a.same() <=> b.same();
        return order != 0 ? order < 0 : a.low < b.low;
    });
    // Where any two overlap, so do two neighbours.
    const auto found = std::adjacent_find(served.begin(), served.end(), [](const Served& a, const Served& b) {
        return b.low <= a.high && a.same() == b.same();
    });
    if (found == served.end()) return;
    const auto [first, second] = std::minmax(found->entry, (found + 1)->entry);
    throw InvalidInput("entries[" + std::to_string(second) + "] serves calls that entries[" + std::to_string(first) +
                       "] serves too");
}

std::string list_of(const std::vector<std::string>& texts) {
    std::string list = "[";
    for (const std::string& text : texts) list += (list.size() > 1 ? "," : "") + base::json_text(text);
    return base::shortened(list + "]", plan::most_shown);
}

}  // namespace

void check(const PlanEntry& entry, std::int64_t limit) {
    plan::require_ranks("members", entry.members, limit);
    for (std::size_t i = 0; i < entry.other_members.size(); ++i) {
        const std::string key = "other_members[" + std::to_string(i) + "]";
        const Members& other = entry.other_members[i];
        plan::require_ranks(key, other, limit);
        if (other.size() != entry.members.size())
            throw InvalidInput(key + " has " + std::to_string(other.size()) + " ranks; members has " +
                               std::to_string(entry.members.size()));
    }
    plan::require_within("bytes_min", entry.bytes_min, plan::sizes);
    plan::require_within("bytes_max", entry.bytes_max, {entry.bytes_min, plan::sizes.high});
    if (entry.root) {
        plan::require_within("root", entry.root->value, {0, static_cast<std::int64_t>(entry.members.size()) - 1});
        if (!is_rooted(entry.collective))
            throw InvalidInput(std::string(name_of(entry.collective)) + " has no root, but root is " +
                               std::to_string(entry.root->value) + "; use null");
    }
    check_schedule(entry);
    check_segments(entry);
    for (const auto& [key, figure] : {std::pair{"predicted_s", entry.predicted_s},
                                      {"lower_bound_s", entry.lower_bound_s},
                                      {"native_s", entry.native_s},
                                      {"tuned_s", entry.tuned_s}})
        if (figure) plan::require_number(key, *figure, plan::seconds);
    plan::require_within("calls", entry.calls, plan::sizes);
    if (entry.evidence) plan::within("evidence", [&] { check_evidence(*entry.evidence); });
}

std::string describe(const PlanEntry& entry) {
    std::string text = std::string(name_of(entry.collective)) + " of " + std::to_string(entry.bytes_min);
    if (entry.bytes_max != entry.bytes_min) text += " to " + std::to_string(entry.bytes_max);
    return text + " B on " + std::to_string(entry.num_ranks()) + " ranks: " + describe(entry.schedule);
}

bool serves_members(const PlanEntry& entry, std::span<const std::int32_t> members) {
    const auto same = [&](const Members& own) { return std::ranges::equal(own, members); };
    return same(entry.members) || std::ranges::any_of(entry.other_members, same);
}

std::span<const std::string_view> progress_modes() { return modes; }

Plan::Plan(std::int32_t ranks, std::string network, std::vector<PlanEntry> entries, std::string created_by,
           std::string progress, std::vector<std::string> hosts)
    : ranks_(ranks),
      network_(std::move(network)),
      entries_(std::move(entries)),
      created_by_(std::move(created_by)),
      progress_(std::move(progress)),
      hosts_(std::move(hosts)) {
    plan::require_within("ranks", ranks_, plan::positive);
    for (std::size_t i = 0; i < entries_.size(); ++i)
        plan::within("entries[" + std::to_string(i) + "]", [&] { check(entries_[i], ranks_); });
    refuse_overlaps(entries_);
    if (std::ranges::find(modes, progress_) == modes.end())
        plan::refuse("progress", base::json_text(progress_), plan::accepted_progress());
    if (!hosts_.empty() && hosts_.size() != static_cast<std::size_t>(ranks_))
        plan::refuse("hosts", list_of(hosts_), plan::texts_for(ranks_));
}

const PlanEntry* entry_for(const Plan& plan, Collective collective, std::span<const std::int32_t> members,
                           std::int64_t bytes, std::int32_t root) {
    const PlanEntry* found = nullptr;
    for (const PlanEntry& entry : plan.entries()) {
        if (entry.collective != collective || !serves_call(entry, bytes, root)) continue;
        if (found != nullptr && !goes_before(entry, *found)) continue;
        if (serves_members(entry, members)) found = &entry;
    }
    return found;
}

void require_ranks_of_program(std::int32_t planned, std::int32_t started, std::string_view source) {
    if (planned == started) return;
    throw InvalidInput(std::string(source) + " is for " + std::to_string(planned) + " ranks, but the command starts " +
                           std::to_string(started),
                       "start " + std::to_string(planned) + " ranks, or " + std::string(plan::remake) + " for " +
                           std::to_string(started) + " ranks");
}

}  // namespace hocket
