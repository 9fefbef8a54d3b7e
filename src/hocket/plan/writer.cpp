// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <map>

#include "hocket/base/json_text.hpp"
#include "hocket/plan/checks.hpp"
#include "hocket/plan/file.hpp"

namespace hocket {

namespace {

using base::json_text;

/// An object with a line for each key. Every rank gets the text from rank 0: a schedule of thousands of operations must
/// not become four times as long by white space.
class Lines {
public:
    explicit Lines(std::string margin) : margin_(std::move(margin)) {}

    void add(std::string_view key, const std::string& value) {
        text_ += (text_.empty() ? "{\n" : ",\n") + margin_ + " \"" + std::string(key) + "\": " + value;
    }
    [[nodiscard]] std::string text() const { return text_ + "\n" + margin_ + "}"; }

private:
    std::string margin_, text_;
};

template <class Values, class Print>
std::string list(const Values& values, const Print& print) {
    std::string text = "[";
    for (const auto& value : values) {
        if (text.size() > 1) text += ",";
        text += print(value);
    }
    return text + "]";
}

std::string ranks_text(const std::vector<std::int32_t>& ranks) {
    return list(ranks, [](std::int32_t rank) { return std::to_string(rank); });
}

std::string or_null(std::optional<double> value) { return value ? plan::number_text(*value) : "null"; }

std::string on_one_line(const Schedule& schedule) {
    std::string text = to_json(schedule);
    std::erase(text, '\n');  // those of its texts are escaped
    return text;
}

std::string schedule_text(const PlannedSchedule& schedule) {
    std::string text = "{\"algorithm\":" + json_text(schedule.algorithm()->name);
    text += schedule.segment_bytes() ? ",\"segment_bytes\":" + std::to_string(*schedule.segment_bytes())
                                     : ",\"pieces\":" + std::to_string(schedule.pieces());
    if (!schedule.order().empty())
        text += ",\"order\":" + list(schedule.order(), [](Rank rank) { return std::to_string(rank.value); });
    return text + "}";
}

std::string evidence_text(const Evidence& evidence) {
    return "{\"mpi\":" + json_text(evidence.mpi) + ",\"launches\":" + std::to_string(evidence.launches) +
           ",\"repetitions\":" + std::to_string(evidence.repetitions) +
           ",\"ratio\":" + plan::number_text(evidence.ratio) + ",\"ratio_interval\":[" +
           plan::number_text(evidence.ratio_interval.first) + "," + plan::number_text(evidence.ratio_interval.second) +
           "]}";
}

std::string entry_text(const PlanEntry& entry, const std::string& schedule) {
    Lines lines("  ");
    lines.add("collective", json_text(name_of(entry.collective)));
    lines.add("members", ranks_text(entry.members));
    if (!entry.other_members.empty()) lines.add("other_members", list(entry.other_members, ranks_text));
    lines.add("bytes_min", std::to_string(entry.bytes_min));
    lines.add("bytes_max", std::to_string(entry.bytes_max));
    lines.add("root", entry.root ? std::to_string(entry.root->value) : "null");
    lines.add("schedule", schedule);
    lines.add("predicted_s", or_null(entry.predicted_s));
    lines.add("lower_bound_s", or_null(entry.lower_bound_s));
    lines.add("native_s", or_null(entry.native_s));
    lines.add("tuned_s", or_null(entry.tuned_s));
    lines.add("calls", std::to_string(entry.calls));
    if (entry.evidence) lines.add("evidence", evidence_text(*entry.evidence));
    if (entry.reproducible) lines.add("reproducible", "true");
    return lines.text();
}

std::string entries_text(const std::vector<PlanEntry>& entries) {
    std::map<std::string, std::size_t> first_with;  // a schedule carried whole
    std::string text;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const PlannedSchedule& schedule = entries[i].schedule;
        std::string written;
        if (schedule.custom() == nullptr) {
            written = schedule_text(schedule);
        } else {
            written = on_one_line(*schedule.custom());
            const std::size_t first = first_with.try_emplace(written, i).first->second;
            written = first == i ? "{\"custom\":" + written + "}" : "{\"entry\":" + std::to_string(first) + "}";
        }
        text += (i == 0 ? "\n  " : ",\n  ") + entry_text(entries[i], written);
    }
    return "[" + text + "\n ]";
}

Lines head(std::int32_t ranks, const std::string& network) {
    Lines lines("");
    lines.add("format", json_text(plan::format));
    lines.add("ranks", std::to_string(ranks));
    lines.add("network", json_text(network));
    return lines;
}

}  // namespace

std::string to_json(const Plan& plan) {
    Lines lines = head(plan.ranks(), plan.network());
    if (!plan.created_by().empty()) lines.add("created_by", json_text(plan.created_by()));
    if (plan.progress() != "off") lines.add("progress", json_text(plan.progress()));
    if (!plan.hosts().empty()) lines.add("hosts", list(plan.hosts(), json_text));
    lines.add("entries", entries_text(plan.entries()));
    return lines.text() + "\n";
}

std::string to_json(const Candidates& candidates) {
    Lines lines = head(candidates.ranks, candidates.network);
    lines.add("entries", entries_text(candidates.entries));
    return lines.text() + "\n";
}

}  // namespace hocket
