// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <memory>

#include "hocket/base/format_version.hpp"
#include "hocket/base/json.hpp"
#include "hocket/base/json_text.hpp"
#include "hocket/plan/checks.hpp"
#include "hocket/plan/file.hpp"
#include "hocket/schedule/json.hpp"

namespace hocket {

namespace {

using nlohmann::json;
using plan::Bounds, plan::within;

std::string shown(const json& value) { return base::show_json(value, plan::most_shown); }

/// Refuses all but an object with all of the required keys and no other than the optional ones; both in their order.
void require_object(const json& value, std::initializer_list<std::string_view> required,
                    std::initializer_list<std::string_view> optional = {}) {
    const std::string hint(plan::remake);
    if (!value.is_object()) throw InvalidInput("expected an object, found " + shown(value), hint);
    for (const auto& [key, ignored] : value.get_ref<const json::object_t&>()) {
        if (std::ranges::find(required, key) != required.end() || std::ranges::find(optional, key) != optional.end())
            continue;
        std::vector<std::string_view> known(required);
        known.insert(known.end(), optional.begin(), optional.end());
        std::ranges::sort(known);
        std::string accepted;
        for (const std::string_view name : known) accepted += (accepted.empty() ? "" : ", ") + std::string(name);
        throw InvalidInput("unknown key " + base::shortened(base::json_text(key), plan::most_shown) +
                           "; accepted: " + accepted);
    }
    for (const std::string_view key : required)
        if (!value.contains(key)) throw InvalidInput("key \"" + std::string(key) + "\" is missing", hint);
}

/// Of 64 bits.
std::optional<std::int64_t> integer(const json& value) {
    if (const auto* const natural = value.get_ptr<const std::uint64_t*>())
        return *natural > static_cast<std::uint64_t>(plan::sizes.high) ? std::nullopt
                                                                       : std::optional(std::int64_t(*natural));
    const auto* const whole = value.get_ptr<const std::int64_t*>();
    return whole == nullptr ? std::nullopt : std::optional(*whole);
}

std::int64_t integer_of(const json& object, const char* key, Bounds bounds) {
    const std::optional<std::int64_t> found = integer(object[key]);
    if (!found) plan::refuse(key, shown(object[key]), plan::whole_numbers(bounds));
    plan::require_within(key, *found, bounds);
    return *found;
}

std::int32_t count_of(const json& object, const char* key) {
    return static_cast<std::int32_t>(integer_of(object, key, plan::positive));
}

double number_of(const json& value, const char* key, std::string_view accepted) {
    const double found = value.is_number() ? value.get<double>() : -1;
    if (found < 0) plan::refuse(key, shown(value), accepted);
    return found;
}

std::optional<double> seconds_of(const json& object, const char* key) {
    if (!object.contains(key) || object[key].is_null()) return {};
    return number_of(object[key], key, plan::seconds);
}

const std::string& text_of(const json& value, const char* key, std::string_view accepted) {
    if (!value.is_string()) plan::refuse(key, shown(value), accepted);
    return value.get_ref<const std::string&>();
}

/// Empty if there is none.
std::string text_of(const json& object, const char* key) {
    return object.contains(key) ? text_of(object[key], key, "text") : std::string();
}

std::vector<std::int32_t> ranks_of(const json& value, const std::string& key, std::int64_t limit) {
    if (!value.is_array() || value.empty()) plan::refuse(key, shown(value), "a list of ranks");
    std::vector<std::int32_t> ranks;
    for (const json& item : value) {
        const std::int64_t rank = integer(item).value_or(-1);
        if (rank < 0 || rank >= limit) plan::refuse_rank(key, shown(item), limit);
        ranks.push_back(static_cast<std::int32_t>(rank));
    }
    return ranks;
}

/// The earlier entry that `{"entry": N}` names; null for any other value.
const PlanEntry* earlier_entry(const json& value, const std::vector<PlanEntry>& earlier) {
    if (!value.is_object() || !value.contains("entry")) return nullptr;
    require_object(value, {"entry"});
    if (earlier.empty()) throw InvalidInput("entry: there is no earlier entry");
    const std::int64_t of = integer_of(value, "entry", {0, static_cast<std::int64_t>(earlier.size()) - 1});
    return &earlier[static_cast<std::size_t>(of)];
}

std::vector<std::int32_t> read_members(const json& value, std::int32_t ranks, const std::vector<PlanEntry>& earlier) {
    const PlanEntry* const same = within("members", [&] { return earlier_entry(value, earlier); });
    return same != nullptr ? same->members : ranks_of(value, "members", ranks);
}

std::vector<Rank> read_order(const json& value, std::int32_t num_ranks, const std::vector<PlanEntry>& earlier) {
    if (const PlanEntry* const same = within("order", [&] { return earlier_entry(value, earlier); })) {
        if (same->schedule.order().empty())
            throw InvalidInput("order: entry is " + shown(value["entry"]) + ", which has no order");
        return same->schedule.order();
    }
    std::vector<Rank> order;
    for (const std::int32_t rank : ranks_of(value, "order", num_ranks)) order.emplace_back(rank);
    return order;
}

PlannedSchedule read_schedule(const json& value, Collective collective, std::int32_t num_ranks,
                              const std::vector<PlanEntry>& earlier) {
    if (value.is_object() && value.contains("custom")) {
        require_object(value, {"custom"});
        return PlannedSchedule(hocket::read_schedule(value["custom"], "custom"));
    }
    if (const PlanEntry* const same = earlier_entry(value, earlier)) {
        if (same->schedule.custom() == nullptr)
            throw InvalidInput("entry is " + shown(value["entry"]) + ", which has no custom schedule");
        return same->schedule;
    }
    // "pieces" is the key of earlier versions.
    const bool is_former = value.is_object() && value.contains("pieces") && !value.contains("segments");
    const char* const key = is_former ? "pieces" : "segments";
    require_object(value, {"algorithm"}, {"order", key, "segment_bytes", "starts"});
    const auto& algorithm = plan::algorithm_named(collective, text_of(value["algorithm"], "algorithm", "text"));
    const bool has_segments = value.contains(key), has_segment_bytes = value.contains("segment_bytes");
    if (has_segments && has_segment_bytes) throw InvalidInput(std::string(plan::both_given));
    const std::int64_t segments = has_segments ? integer_of(value, key, plan::positive) : 1;
    std::optional<std::int64_t> segment_bytes;
    if (has_segment_bytes) segment_bytes = integer_of(value, "segment_bytes", plan::segment_sizes);
    std::vector<Rank> order;
    if (value.contains("order")) order = read_order(value["order"], num_ranks, earlier);
    std::vector<std::int32_t> starts;
    if (value.contains("starts")) starts = ranks_of(value["starts"], "starts", num_ranks);
    return PlannedSchedule(algorithm, num_ranks, segments, segment_bytes, std::move(order), std::move(starts));
}

Evidence read_evidence(const json& value) {
    require_object(value, {"launches", "mpi", "ratio", "ratio_interval", "repetitions"});
    const json& interval = value["ratio_interval"];
    if (!interval.is_array() || interval.size() != 2) plan::refuse("ratio_interval", shown(interval), "two numbers");
    const auto end = [&](std::size_t i) { return number_of(interval[i], "ratio_interval", plan::not_negative); };
    return {text_of(value, "mpi"),
            count_of(value, "launches"),
            count_of(value, "repetitions"),
            number_of(value["ratio"], "ratio", plan::not_negative),
            {end(0), end(1)}};
}

std::vector<std::vector<std::int32_t>> read_other_members(const json& entry, std::int32_t ranks,
                                                          const std::vector<PlanEntry>& earlier) {
    std::vector<std::vector<std::int32_t>> found;
    if (!entry.contains("other_members")) return found;
    const json& value = entry["other_members"];
    if (const PlanEntry* const same = within("other_members", [&] { return earlier_entry(value, earlier); }))
        return same->other_members;
    if (!value.is_array()) plan::refuse("other_members", shown(value), "a list of lists of ranks");
    for (const json& item : value)
        found.push_back(ranks_of(item, "other_members[" + std::to_string(found.size()) + "]", ranks));
    return found;
}

PlanEntry read_entry(const json& value, std::int32_t ranks, const std::vector<PlanEntry>& earlier) {
    require_object(
        value, {"bytes_max", "bytes_min", "collective", "members", "root", "schedule"},
        {"calls", "evidence", "lower_bound_s", "native_s", "other_members", "predicted_s", "reproducible", "tuned_s"});
    const Collective collective =
        plan::collective_named(text_of(value["collective"], "collective", plan::accepted_collectives()));
    std::vector<std::int32_t> members = read_members(value["members"], ranks, earlier);
    const auto size = static_cast<std::int32_t>(members.size());
    const std::int64_t bytes_min = integer_of(value, "bytes_min", plan::sizes);
    const std::int64_t bytes_max = integer_of(value, "bytes_max", {bytes_min, plan::sizes.high});
    std::optional<Rank> root;
    if (!value["root"].is_null()) root = Rank{static_cast<std::int32_t>(integer_of(value, "root", {0, size - 1}))};
    PlanEntry entry{
        collective, std::move(members),
        bytes_min,  bytes_max,
        root,       within("schedule", [&] { return read_schedule(value["schedule"], collective, size, earlier); })};
    entry.other_members = read_other_members(value, ranks, earlier);
    entry.predicted_s = seconds_of(value, "predicted_s");
    entry.lower_bound_s = seconds_of(value, "lower_bound_s");
    entry.native_s = seconds_of(value, "native_s");
    entry.tuned_s = seconds_of(value, "tuned_s");
    if (value.contains("calls")) entry.calls = integer_of(value, "calls", plan::sizes);
    if (value.contains("evidence") && !value["evidence"].is_null())
        entry.evidence = within("evidence", [&] { return read_evidence(value["evidence"]); });
    if (value.contains("reproducible")) {
        if (!value["reproducible"].is_boolean())
            plan::refuse("reproducible", shown(value["reproducible"]), "true or false");
        entry.reproducible = *value["reproducible"].get_ptr<const bool*>();
    }
    check(entry, ranks);
    return entry;
}

std::vector<std::string> read_hosts(const json& value, std::int32_t ranks) {
    std::vector<std::string> hosts;
    if (!value.is_array()) plan::refuse("hosts", shown(value), plan::texts_for(ranks));
    for (const json& item : value) {
        if (!item.is_string()) plan::refuse("hosts", shown(value), plan::texts_for(ranks));
        hosts.push_back(item.get_ref<const std::string&>());
    }
    return hosts;
}

/// Whether the text is of the file that people mix up with a plan.
bool is_network(std::string_view text) {
    const std::size_t found = text.find("\"hocket.network/");
    return found != std::string_view::npos && text.substr(text.rfind('\n', found) + 1).starts_with("format");
}

json parse(std::string_view text, const std::string& source) {
    try {
        return base::parse_json(text, source);
    } catch (const InvalidInput& error) {
        const std::string hint(plan::remake);
        if (is_network(text)) throw InvalidInput(source + ": this is a network file, not a plan", hint);
        if (!base::is_utf8(text)) throw InvalidInput(source + ": cannot read the plan: it is not UTF-8 text", hint);
        throw InvalidInput(error.what(), hint);
    }
}

void require_format(const json& document) {
    if (!document.is_object()) return;
    const bool has_format = document.contains("format");
    const auto* const name = has_format ? document["format"].get_ptr<const std::string*>() : nullptr;
    const auto is = [&](std::string_view format) { return name != nullptr && *name == format; };
    if (is(plan::format) || std::ranges::any_of(plan::formats_before, is)) return;
    std::string accepted = base::json_text(plan::format);
    for (const std::string_view format : plan::formats_before) accepted += ", " + base::json_text(format);
    throw InvalidInput(
        "format is " + (has_format ? shown(document["format"]) : std::string("missing")) + "; accepted: " + accepted,
        base::hint_for_format(name != nullptr ? *name : "", plan::format, plan::remake));
}

/// The head of the document and its entries, each of which is right.
Candidates read(const json& document) {
    require_format(document);
    require_object(document, {"entries", "format", "network", "ranks"}, {"created_by", "hosts", "progress"});
    Candidates read{count_of(document, "ranks"), text_of(document, "network"), {}};
    const json& entries = document["entries"];
    if (!entries.is_array()) throw InvalidInput("entries must be a list, not " + shown(entries));
    for (const json& entry : entries)
        within("entries[" + std::to_string(read.entries.size()) + "]",
               [&] { read.entries.push_back(read_entry(entry, read.ranks, read.entries)); });
    return read;
}

}  // namespace

std::string read_plan_file(const std::string& path) {
    const auto refuse = [&](const std::string& why) {
        throw InvalidInput(path + ": cannot read the plan: " + why, std::string(plan::remake));
    };
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
    if (!file) refuse(std::strerror(errno));
    std::string text;
    std::array<char, 1 << 16> block{};
    while (const std::size_t length = std::fread(block.data(), 1, block.size(), file.get())) {
        text.append(block.data(), length);
        if (text.size() > max_plan_bytes) refuse("it is larger than 64 MiB");
    }
    if (std::ferror(file.get()) != 0) refuse(std::strerror(errno));
    if (text.empty()) refuse("it is empty");
    return text;
}

Plan plan_from_json(std::string_view text, std::string_view source) {
    const std::string where(source);
    const json document = parse(text, where);
    return within(where, [&] {
        Candidates read = hocket::read(document);
        std::string progress = "off";
        if (document.contains("progress"))
            progress = text_of(document["progress"], "progress", plan::accepted_progress());
        std::vector<std::string> hosts;
        if (document.contains("hosts")) hosts = read_hosts(document["hosts"], read.ranks);
        return Plan(read.ranks, std::move(read.network), std::move(read.entries), text_of(document, "created_by"),
                    std::move(progress), std::move(hosts));
    });
}

Candidates candidates_from_json(std::string_view text, std::string_view source) {
    const std::string where(source);
    const json document = parse(text, where);
    return within(where, [&] { return read(document); });
}

}  // namespace hocket
