// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <array>
#include <map>
#include <string>
#include <vector>

#include "hocket/base/json_writer.hpp"
#include "hocket/plan/checks.hpp"
#include "hocket/plan/file.hpp"

namespace hocket {

namespace {

using base::JsonWriter;
using Layout = JsonWriter::Layout;

// A line for each key, but not for each operation of a schedule: every rank gets the text from rank 0, and a schedule
// of thousands of operations must not become four times as long by white space.
JsonWriter begin_plan(std::int32_t ranks, const std::string& network) {
    JsonWriter json(1, JsonWriter::Spaces::none);
    json.begin_object(Layout::lines);
    json.field("format", plan::format);
    json.field("ranks", ranks);
    json.field("network", network);
    return json;
}

std::string on_one_line(const Schedule& schedule) {
    std::string text = to_json(schedule);
    std::erase(text, '\n');  // those of its texts are escaped
    return text;
}

/// A schedule that is carried whole is written once; `first_with` is the entry that has it.
void write_schedule(JsonWriter& json, const PlannedSchedule& schedule, std::size_t entry,
                    std::map<std::string, std::size_t>& first_with) {
    json.begin_object();
    if (schedule.custom() == nullptr) {
        json.field("algorithm", schedule.algorithm()->name);
        if (schedule.segment_bytes()) {
            json.field("segment_bytes", *schedule.segment_bytes());
        } else {
            json.field("segments", schedule.segments());
        }
        if (!schedule.order().empty()) {
            json.key("order").begin_list();
            for (const Rank rank : schedule.order()) json.value(rank.value);
            json.end_list();
        }
    } else {
        const std::string whole = on_one_line(*schedule.custom());
        const std::size_t first = first_with.try_emplace(whole, entry).first->second;
        if (first == entry) {
            json.key("custom").raw(whole);
        } else {
            json.field("entry", first);
        }
    }
    json.end_object();
}

void write_evidence(JsonWriter& json, const Evidence& evidence) {
    json.begin_object();
    json.field("mpi", evidence.mpi);
    json.field("launches", evidence.launches);
    json.field("repetitions", evidence.repetitions);
    json.field("ratio", evidence.ratio);
    json.field("ratio_interval", std::array{evidence.ratio_interval.first, evidence.ratio_interval.second});
    json.end_object();
}

void write_entries(JsonWriter& json, const std::vector<PlanEntry>& entries) {
    std::map<std::string, std::size_t> first_with;
    json.key("entries").begin_list(Layout::lines);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const PlanEntry& entry = entries[i];
        json.begin_object(Layout::lines);
        json.field("collective", name_of(entry.collective));
        json.field("members", entry.members);
        if (!entry.other_members.empty()) json.field("other_members", entry.other_members);
        json.field("bytes_min", entry.bytes_min);
        json.field("bytes_max", entry.bytes_max);
        json.key("root");
        if (entry.root) {
            json.value(entry.root->value);
        } else {
            json.value(nullptr);
        }
        write_schedule(json.key("schedule"), entry.schedule, i, first_with);
        json.field("predicted_s", entry.predicted_s);
        json.field("lower_bound_s", entry.lower_bound_s);
        json.field("native_s", entry.native_s);
        json.field("tuned_s", entry.tuned_s);
        json.field("calls", entry.calls);
        if (entry.evidence) write_evidence(json.key("evidence"), *entry.evidence);
        if (entry.reproducible) json.field("reproducible", true);
        json.end_object();
    }
    json.end_list();
}

}  // namespace

std::string to_json(const Plan& plan) {
    JsonWriter json = begin_plan(plan.ranks(), plan.network());
    if (!plan.created_by().empty()) json.field("created_by", plan.created_by());
    if (plan.progress() != "off") json.field("progress", plan.progress());
    if (!plan.hosts().empty()) json.field("hosts", plan.hosts());
    write_entries(json, plan.entries());
    json.end_object();
    return json.text() + "\n";
}

std::string to_json(const Candidates& candidates) {
    JsonWriter json = begin_plan(candidates.ranks, candidates.network);
    write_entries(json, candidates.entries);
    json.end_object();
    return json.text() + "\n";
}

}  // namespace hocket
