// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <algorithm>
#include <array>
#include <limits>

#include "hocket/base/error.hpp"
#include "hocket/base/format_version.hpp"
#include "hocket/base/json.hpp"
#include "hocket/base/json_writer.hpp"
#include "hocket/schedule/json.hpp"
#include "hocket/schedule/schedule.hpp"

namespace hocket {

namespace {

using nlohmann::json;

constexpr std::string_view format = "hocket.schedule/1";
constexpr std::array<std::string_view, 7> keys = {"format", "collective", "algorithm", "num_ranks",
                                                  "root",   "segments",   "ranks"};
constexpr std::string_view former_segments = "pieces";  // the key in files of earlier versions
constexpr std::array<OpKind, 4> kinds = {OpKind::send, OpKind::recv, OpKind::recv_reduce_left,
                                         OpKind::recv_reduce_right};

[[noreturn]] void refuse(std::string_view source, const std::string& place, const json& found,
                         const std::string& expected) {
    throw InvalidInput(std::string(source) + ": " + place + " is " + base::show_json(found) + ": expected " + expected);
}

std::int32_t integer(std::string_view source, const std::string& place, const json& value) {
    const bool fits =
        value.is_number_unsigned()  ? value.get<std::uint64_t>() <= std::numeric_limits<std::int32_t>::max()
        : value.is_number_integer() ? value.get<std::int64_t>() >= std::numeric_limits<std::int32_t>::min() &&
                                          value.get<std::int64_t>() <= std::numeric_limits<std::int32_t>::max()
                                    : false;
    if (!fits) refuse(source, place, value, "a whole number of 32 bits");
    return value.get<std::int32_t>();
}

std::string text_of(std::string_view source, const std::string& place, const json& value) {
    if (!value.is_string()) refuse(source, place, value, "a text");
    return value.get<std::string>();
}

const json& array_of(std::string_view source, const std::string& place, const json& value) {
    if (!value.is_array()) refuse(source, place, value, "a list");
    return value;
}

void read_op(std::string_view source, const std::string& place, const json& value, RankSchedule& rank) {
    if (!value.is_array() || value.size() != 4)
        refuse(source, place, value, "[kind, peer, [first, count, ...], [dependency, ...]]");
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](OpKind k) { return value[0] == name_of(k); });
    if (kind == kinds.end())
        refuse(source, place + "[0]", value[0], "\"send\", \"recv\", \"recv_reduce_left\" or \"recv_reduce_right\"");
    const json& chunks = array_of(source, place + "[2]", value[2]);
    if (chunks.size() % 2 != 0) refuse(source, place + "[2]", chunks, "pairs first, count");
    std::vector<ChunkRange> ranges;
    for (std::size_t i = 0; i < chunks.size(); i += 2) {
        ranges.push_back({integer(source, place + "[2]", chunks[i]), integer(source, place + "[2]", chunks[i + 1])});
        if (ranges.back().count < 1) refuse(source, place + "[2]", chunks, "counts of at least 1");
    }
    std::vector<std::int32_t> after;
    for (const json& dependency : array_of(source, place + "[3]", value[3]))
        after.push_back(integer(source, place + "[3]", dependency));
    rank.add(*kind, Rank{integer(source, place + "[1]", value[1])}, ranges, after);
}

}  // namespace

std::string to_json(const Schedule& schedule) {
    // One rank a line: people can read it too, and it has a third of the size of one element a line.
    base::JsonWriter json(0, base::JsonWriter::Spaces::none);
    json.begin_object();
    json.field("format", format);
    json.field("collective", name_of(schedule.collective));
    json.field("algorithm", schedule.algorithm);
    json.field("num_ranks", schedule.num_ranks);
    json.field("root", schedule.root.value);
    json.field("segments", schedule.segments);
    json.key("ranks").begin_list(base::JsonWriter::Layout::lines);
    for (const RankSchedule& rank : schedule.ranks) {
        json.begin_list();
        for (const Op& op : rank.ops) {
            json.begin_list();
            json.value(name_of(op.kind));
            json.value(op.peer.value);
            json.begin_list();
            for (const ChunkRange& range : rank.chunks_of(op)) {
                json.value(range.first);
                json.value(range.count);
            }
            json.end_list();
            json.value(rank.dependencies_of(op));
            json.end_list();
        }
        json.end_list();
    }
    json.end_list();
    json.end_object();
    return json.text() + "\n";
}

Schedule schedule_from_json(std::string_view text, std::string_view source) {
    return read_schedule(base::parse_json(text, source), source);
}

Schedule read_schedule(const json& value, std::string_view source) {
    if (!value.is_object())
        throw InvalidInput(std::string(source) + ": " + base::show_json(value) + ": expected an object");
    const bool is_named = value.contains("format") && value["format"].is_string();
    const std::string found = is_named ? value["format"].get<std::string>() : "";
    if (found != format)
        throw InvalidInput(
            std::string(source) + ": format is " +
                (value.contains("format") ? base::show_json(value["format"]) : std::string("missing")) +
                ": expected \"" + std::string(format) + "\"",
            base::hint_for_format(found, format,
                                  "`hocket schedule COLLECTIVE --ranks P --format json` writes this format"));
    const bool is_former = value.contains(former_segments) && !value.contains("segments");
    const std::string segments(is_former ? former_segments : "segments");
    for (const auto& [key, unused] : value.items())
        if (std::find(keys.begin(), keys.end(), key) == keys.end() && key != segments)
            throw InvalidInput(std::string(source) + ": unknown key " + base::show_json(json(key)),
                               "accepted: format, collective, algorithm, num_ranks, root, segments, ranks");
    for (const std::string_view key : keys)
        if (!value.contains(key == "segments" ? segments : key))
            throw InvalidInput(std::string(source) + ": key \"" + std::string(key) + "\" is missing");

    Schedule schedule{};
    try {
        schedule.collective = collective_from(text_of(source, "collective", value["collective"]));
    } catch (const InvalidInput& error) {
        throw InvalidInput(std::string(source) + ": " + error.what(), error.hint());
    }
    schedule.algorithm = text_of(source, "algorithm", value["algorithm"]);
    schedule.num_ranks = integer(source, "num_ranks", value["num_ranks"]);
    schedule.root = Rank{integer(source, "root", value["root"])};
    schedule.segments = integer(source, segments, value[segments]);
    const json& ranks = array_of(source, "ranks", value["ranks"]);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        const std::string place = "ranks[" + std::to_string(r) + "]";
        RankSchedule& rank = schedule.ranks.emplace_back();
        const json& ops = array_of(source, place, ranks[r]);
        for (std::size_t i = 0; i < ops.size(); ++i)
            read_op(source, place + "[" + std::to_string(i) + "]", ops[i], rank);
    }
    const std::vector<std::string> wrong = malformations(schedule);
    if (!wrong.empty()) throw InvalidInput(std::string(source) + ": " + wrong.front());
    return schedule;
}

}  // namespace hocket
