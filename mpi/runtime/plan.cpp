// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/plan.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <numeric>

#include "hocket/base/error.hpp"
#include "hocket/base/json.hpp"
#include "hocket/schedule/validate.hpp"

namespace hocket::runtime {

namespace {

using nlohmann::json;

constexpr std::int64_t max_int = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max();

// Beyond this many ops and chunks the symbolic execution of a whole schedule has no place inside a running program.
constexpr std::int64_t max_validated = 1 << 16;

/// A JSON value and where it stands, so that every message can name the place.
class Place {
public:
    Place(const json& value, std::string where) : value_(value), where_(std::move(where)) {}

    [[nodiscard]] const json& value() const { return value_; }
    [[nodiscard]] const std::string& where() const { return where_; }
    [[noreturn]] void refuse(const std::string& accepted) const {
        throw InvalidInput(where_ + " is " + base::show_json(value_, 40) + "; accepted: " + accepted);
    }

    void expect_keys(std::initializer_list<const char*> required, std::initializer_list<const char*> optional) const {
        if (!value_.is_object()) refuse("an object");
        for (const char* key : required) {
            if (!value_.contains(key)) throw InvalidInput(where_ + ": key \"" + key + "\" is missing");
        }
        for (const auto& [key, ignored] : value_.items()) {
            const auto same = [&](const char* known) { return key == known; };
            if (std::none_of(required.begin(), required.end(), same) &&
                std::none_of(optional.begin(), optional.end(), same)) {
                throw InvalidInput(where_ + ": unknown key \"" + key + "\"");
            }
        }
    }
    [[nodiscard]] bool has(const char* key) const { return value_.contains(key); }
    [[nodiscard]] Place at(const char* key) const { return {value_.at(key), where_ + ": " + key}; }

    [[nodiscard]] std::int64_t integer(std::int64_t low, std::int64_t high) const {
        const bool whole = value_.is_number_unsigned()
                               ? value_.get<std::uint64_t>() <= static_cast<std::uint64_t>(max_bytes)
                               : value_.is_number_integer();
        if (!whole || value_.get<std::int64_t>() < low || value_.get<std::int64_t>() > high) {
            refuse("a whole number from " + std::to_string(low) + " to " + std::to_string(high));
        }
        return value_.get<std::int64_t>();
    }
    [[nodiscard]] double number() const {
        if (!value_.is_number() || !(value_.get<double>() >= 0)) refuse("a number, not negative");
        return value_.get<double>();
    }
    [[nodiscard]] bool truth() const {
        if (!value_.is_boolean()) refuse("true or false");
        return value_.get<bool>();
    }
    [[nodiscard]] std::string text() const {
        if (!value_.is_string()) refuse("text");
        return value_.get<std::string>();
    }
    [[nodiscard]] std::vector<std::string> texts(std::int32_t count) const {
        if (!value_.is_array() || value_.size() != static_cast<std::size_t>(count))
            refuse("a list of " + std::to_string(count) + " texts, one for each rank");
        std::vector<std::string> found;
        for (const json& item : value_) found.push_back(Place(item, where_ + ": a host").text());
        return found;
    }
    /// Different ranks below `limit`, in the order listed.
    [[nodiscard]] std::vector<std::int32_t> ranks(std::int64_t limit) const {
        if (!value_.is_array() || value_.empty()) refuse("a list of ranks");
        std::vector<std::int32_t> found;
        for (const json& item : value_) {
            found.push_back(static_cast<std::int32_t>(Place(item, where_ + ": a rank").integer(0, limit - 1)));
        }
        std::vector<std::int32_t> sorted = found;
        std::sort(sorted.begin(), sorted.end());
        const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
        if (twice != sorted.end()) throw InvalidInput(where_ + " holds rank " + std::to_string(*twice) + " twice");
        return found;
    }

private:
    const json& value_;
    std::string where_;
};

void read_custom(const Place& place, PlanEntry& entry) {
    Schedule schedule = schedule_from_json(base::print_json(place.value()), place.where());
    if (schedule.collective != entry.collective || schedule.num_ranks != entry.num_ranks()) {
        throw InvalidInput(place.where() + " is a " + std::string(name_of(schedule.collective)) + " of " +
                           std::to_string(schedule.num_ranks) + " ranks; the entry needs a " +
                           std::string(name_of(entry.collective)) + " of " + std::to_string(entry.num_ranks()));
    }
    if (is_rooted(entry.collective) && entry.root != schedule.root) {
        throw InvalidInput(place.where() + " has root " + std::to_string(schedule.root.value) +
                           "; the entry must name that root");
    }
    const Validation validation = validate(schedule);
    if (!validation.ok()) throw InvalidInput(place.where() + " is wrong: " + validation.violations.front());
    entry.custom = std::make_shared<const Schedule>(std::move(schedule));
    entry.pieces = entry.custom->pieces;
}

/// That of an earlier entry.
void read_shared(const Place& place, PlanEntry& entry, const std::vector<PlanEntry>& earlier) {
    if (earlier.empty()) throw InvalidInput(place.where() + ": there is no earlier entry");
    const PlanEntry& of =
        earlier[static_cast<std::size_t>(place.integer(0, static_cast<std::int64_t>(earlier.size()) - 1))];
    const bool same = of.collective == entry.collective && of.num_ranks() == entry.num_ranks();
    if (!same || !of.custom || (is_rooted(entry.collective) && of.custom->root != entry.root)) {
        place.refuse(
            "the number of an earlier entry with a custom schedule for the same collective, number of ranks and root");
    }
    entry.custom = of.custom;
    entry.pieces = of.pieces;
}

void read_schedule(const Place& place, PlanEntry& entry, const std::vector<PlanEntry>& earlier) {
    if (place.value().is_object() && place.has("custom")) {
        place.expect_keys({"custom"}, {});
        return read_custom(place.at("custom"), entry);
    }
    if (place.value().is_object() && place.has("entry")) {
        place.expect_keys({"entry"}, {});
        return read_shared(place.at("entry"), entry, earlier);
    }
    place.expect_keys({"algorithm"}, {"pieces", "segment_bytes", "order"});
    entry.algorithm = &collectives::find_algorithm(entry.collective, place.at("algorithm").text());
    if (place.has("pieces")) entry.pieces = static_cast<std::int32_t>(place.at("pieces").integer(1, max_int));
    if (place.has("segment_bytes")) {
        if (place.has("pieces")) throw InvalidInput(place.where() + " has both pieces and segment_bytes; give one");
        entry.segment_bytes = place.at("segment_bytes").integer(1, max_bytes);
    }
    if (place.has("order")) {
        for (const std::int32_t rank : place.at("order").ranks(entry.num_ranks())) entry.order.emplace_back(rank);
        if (entry.order.size() != entry.members.size()) place.at("order").refuse("each rank of the members once");
    }
    try {  // now, not inside a call; what one rank can be given, all can
        static_cast<void>(entry.rank_schedule(entry.root.value_or(Rank{0}), Rank{0}, entry.pieces));
    } catch (const InvalidInput& error) {
        throw InvalidInput(place.where() + ": " + error.what());
    }
}

void read_evidence(const Place& place, PlanEntry& entry) {
    place.expect_keys({"mpi", "launches", "repetitions", "ratio", "ratio_interval"}, {});
    static_cast<void>(place.at("mpi").text());
    static_cast<void>(place.at("launches").integer(1, max_int));
    static_cast<void>(place.at("repetitions").integer(1, max_int));
    entry.native_per_tuned = place.at("ratio").number();
    const Place interval = place.at("ratio_interval");
    if (!interval.value().is_array() || interval.value().size() != 2) interval.refuse("two numbers");
    for (const json& end : interval.value()) static_cast<void>(Place(end, interval.where()).number());
}

void read_other_members(const Place& place, PlanEntry& entry, std::int32_t num_ranks) {
    if (!place.value().is_array()) place.refuse("a list of lists of ranks");
    for (const json& item : place.value()) {
        const Place other(item, place.where() + "[" + std::to_string(entry.other_members.size()) + "]");
        entry.other_members.push_back(other.ranks(num_ranks));
        if (entry.other_members.back().size() != entry.members.size())
            throw InvalidInput(other.where() + " has " + std::to_string(entry.other_members.back().size()) +
                               " ranks; members has " + std::to_string(entry.members.size()));
    }
}

PlanEntry read_entry(const Place& place, std::int32_t num_ranks, const std::vector<PlanEntry>& earlier) {
    place.expect_keys(
        {"collective", "members", "bytes_min", "bytes_max", "root", "schedule"},
        {"other_members", "predicted_s", "lower_bound_s", "native_s", "tuned_s", "calls", "evidence", "reproducible"});
    PlanEntry entry;
    entry.collective = collective_from(place.at("collective").text());
    entry.members = place.at("members").ranks(num_ranks);
    if (place.has("other_members")) read_other_members(place.at("other_members"), entry, num_ranks);
    entry.bytes_min = place.at("bytes_min").integer(0, max_bytes);
    entry.bytes_max = place.at("bytes_max").integer(entry.bytes_min, max_bytes);
    if (!place.at("root").value().is_null()) {
        if (!is_rooted(entry.collective)) place.at("root").refuse("null, since the collective has no root");
        entry.root = Rank{static_cast<std::int32_t>(place.at("root").integer(0, entry.num_ranks() - 1))};
    }
    if (place.has("evidence") && !place.at("evidence").value().is_null()) read_evidence(place.at("evidence"), entry);
    if (place.has("reproducible")) entry.reproducible = place.at("reproducible").truth();
    read_schedule(place.at("schedule"), entry, earlier);
    return entry;
}

Plan read(const json& document, std::string_view source) {
    const Place place(document, std::string(source));
    place.expect_keys({"format", "ranks", "network", "entries"}, {"created_by", "progress", "hosts"});
    if (place.has("progress")) static_cast<void>(place.at("progress").text());  // `hocket run` follows it
    const std::string format = place.at("format").text();
    if (format != "hocket.plan/2" && format != "hocket.plan/1")
        place.at("format").refuse("\"hocket.plan/2\", \"hocket.plan/1\"");
    Plan plan{static_cast<std::int32_t>(place.at("ranks").integer(1, max_int)), {}};
    if (place.has("hosts")) plan.hosts = place.at("hosts").texts(plan.num_ranks);
    if (!document["entries"].is_array()) place.at("entries").refuse("a list");
    for (const json& entry : document["entries"]) {
        const std::string where = std::string(source) + ": entries[" + std::to_string(plan.entries.size()) + "]";
        try {
            plan.entries.push_back(read_entry({entry, where}, plan.num_ranks, plan.entries));
        } catch (const InvalidInput& error) {
            const std::string what = error.what();
            throw InvalidInput(what.starts_with(where) ? what : where + ": " + what);
        }
    }
    return plan;
}

}  // namespace

std::string PlanEntry::description() const {
    std::string text = std::string(name_of(collective)) + " of " + std::to_string(bytes_min);
    if (bytes_max != bytes_min) text += " to " + std::to_string(bytes_max);
    text += " B on " + std::to_string(members.size()) + " ranks: ";
    if (custom) return text + "a schedule found by search";
    text += algorithm->name;
    if (segment_bytes > 0) return text + ", segments of " + std::to_string(segment_bytes) + " B";
    return text + (pieces > 1 ? ", " + std::to_string(pieces) + " pieces" : "");
}

bool PlanEntry::serves_members(const std::vector<int>& of) const {
    return of == members || std::find(other_members.begin(), other_members.end(), of) != other_members.end();
}

std::int32_t PlanEntry::pieces_of(std::int64_t bytes) const {
    if (custom || segment_bytes == 0) return pieces;
    return collectives::pieces_of_segments(*algorithm, num_ranks(), bytes, segment_bytes);
}

RankSchedule PlanEntry::rank_schedule(Rank chosen, Rank self, std::int32_t asked_pieces) const {
    if (custom) return custom->ranks[self.at()];
    return collectives::emit_rank(*algorithm, {num_ranks(), asked_pieces}, {chosen, order}, self);
}

std::int32_t PlanEntry::schedule_pieces(std::int32_t asked_pieces) const {
    return custom ? custom->pieces : collectives::pieces_for(*algorithm, {num_ranks(), asked_pieces});
}

bool PlanEntry::preserves_order(Rank chosen) const {
    if (custom) return validate(*custom).preserves_order;
    if (algorithm->preserves_order && chosen.value == 0 && order.empty()) return true;
    // The pieces of a message are combined alike.
    if (std::int64_t{num_ranks()} * num_ranks() * schedule_pieces(pieces) > max_validated) return false;
    return validate(collectives::emit(*algorithm, {num_ranks(), pieces}, {chosen, order})).preserves_order;
}

std::string read_plan_file(const std::string& path) {
    const auto refuse = [&](const std::string& why) { throw InvalidInput(path + ": cannot read the plan: " + why); };
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

Plan parse_plan(std::string_view text, std::string_view source) { return read(base::parse_json(text, source), source); }

}  // namespace hocket::runtime
