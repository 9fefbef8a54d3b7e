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

using Ranks = std::vector<std::int32_t>;

constexpr std::size_t short_list = 16;  ///< ranks, which are written again and again: easier to read

/// The first entries that have what is written once.
struct FirstWith {
    std::map<std::string, std::size_t> custom{};  ///< schedules that are carried whole
    std::map<Ranks, std::size_t> members{}, order{};
    std::map<std::vector<Ranks>, std::size_t> other_members{};
};

/// The value, or where it stands.
template <class Value>
void write_once(JsonWriter& json, const Value& value, bool is_short, std::size_t entry,
                std::map<Value, std::size_t>& first_with) {
    const std::size_t first = first_with.try_emplace(value, entry).first->second;
    if (is_short || first == entry) {
        json.value(value);
    } else {
        json.begin_object();
        json.field("entry", first);
        json.end_object();
    }
}

void write_schedule(JsonWriter& json, const PlannedSchedule& schedule, std::size_t entry, FirstWith& first_with) {
    json.begin_object();
    if (schedule.custom() == nullptr) {
        json.field("algorithm", schedule.algorithm()->name);
        if (schedule.segment_bytes()) {
            json.field("segment_bytes", *schedule.segment_bytes());
        } else {
            json.field("segments", schedule.segments());
        }
        if (!schedule.order().empty()) {
            Ranks order;
            for (const Rank rank : schedule.order()) order.push_back(rank.value);
            write_once(json.key("order"), order, order.size() <= short_list, entry, first_with.order);
        }
        if (!schedule.starts().empty()) json.field("starts", schedule.starts());
    } else {
        const std::string whole = on_one_line(*schedule.custom());
        const std::size_t first = first_with.custom.try_emplace(whole, entry).first->second;
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
    FirstWith first_with;
    json.key("entries").begin_list(Layout::lines);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const PlanEntry& entry = entries[i];
        json.begin_object(Layout::lines);
        json.field("collective", name_of(entry.collective));
        write_once(json.key("members"), entry.members, entry.members.size() <= short_list, i, first_with.members);
        if (!entry.other_members.empty()) {
            const bool is_short = entry.other_members.size() * entry.members.size() <= short_list;
            write_once(json.key("other_members"), entry.other_members, is_short, i, first_with.other_members);
        }
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
