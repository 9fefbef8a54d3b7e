// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/decision_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <sstream>
#include <system_error>
#include <utility>

#include "hocket/plan/file.hpp"
#include "selection/self_check.hpp"

namespace hocket::interpose {

namespace {

using selection::SelfCheck;

constexpr std::string_view format = "hocket.standings/1";

/// All of it or nothing, also for those who read it meanwhile.
void write_whole(const std::string& path, const std::string& text) {
    const std::string aside = path + "." + std::to_string(getpid());
    const bool is_written = (std::ofstream(aside, std::ios::binary) << text).flush().good();
    if (!is_written || std::rename(aside.c_str(), path.c_str()) != 0) std::remove(aside.c_str());
}

/// Not of a pipe, which might never end.
std::optional<std::string> text_of(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return {};
    try {
        return read_plan_file(path);
    } catch (const std::exception&) {
        return {};
    }
}

/// 128 bits: two jobs that differ never share a file.
std::string file_of(const std::string& key) {
    std::array<char, 33> name{};
    const std::hash<std::string> hash;
    std::snprintf(name.data(), name.size(), "%016zx%016zx", hash(key + "1"), hash("2" + key));
    return name.data();
}

}  // namespace

DecisionMemory::DecisionMemory(std::string folder, std::string circumstances)
    : folder_(std::move(folder)), circumstances_(std::move(circumstances)) {}

std::string DecisionMemory::path_of(std::string_view what, std::span<const NodeId> nodes,
                                    std::string_view ending) const {
    std::string key(what);
    for (const NodeId node : nodes) key += " " + std::to_string(node.value);
    return folder_ + "/" + file_of(key + "\n" + circumstances_) + std::string(ending);
}

std::optional<std::vector<PlanEntry>> DecisionMemory::decided(Collective collective,
                                                              std::span<const NodeId> nodes) const {
    if (folder_.empty() || nodes.size() < least_ranks) return {};
    const std::string path = path_of(hocket::name_of(collective), nodes, ".plan");
    const std::optional<std::string> text = text_of(path);
    if (!text) return {};
    try {
        const Plan plan = plan_from_json(*text, path);
        const bool is_right = std::all_of(plan.entries().begin(), plan.entries().end(), [&](const PlanEntry& entry) {
            return entry.collective == collective && entry.members.size() == nodes.size();
        });
        if (is_right) return plan.entries();
    } catch (const std::exception&) {  // another program has written it
    }
    return {};
}

void DecisionMemory::keep_decided(Collective collective, std::span<const NodeId> nodes,
                                  const std::vector<PlanEntry>& entries) const {
    if (folder_.empty() || nodes.size() < least_ranks) return;
    std::vector<std::int32_t> members(nodes.size());
    std::iota(members.begin(), members.end(), 0);
    std::vector<PlanEntry> kept = entries;
    for (PlanEntry& entry : kept) entry.members = members;
    try {
        const Plan plan(static_cast<std::int32_t>(nodes.size()), "", std::move(kept), "decisions");
        write_whole(path_of(hocket::name_of(collective), nodes, ".plan"), to_json(plan));
    } catch (const std::exception&) {  // it is only to save time
    }
}

std::vector<std::int64_t> DecisionMemory::standings(CallKind kind, std::span<const NodeId> nodes,
                                                    std::size_t num_entries) const {
    std::vector<std::int64_t> found(num_entries, SelfCheck::unknown);
    if (folder_.empty() || num_entries == 0) return found;
    std::istringstream text(text_of(path_of(name_of(kind), nodes, ".found")).value_or(""));
    std::string of_file;
    std::vector<std::int64_t> read;
    text >> of_file;
    for (std::int64_t one = 0; text >> one;) read.push_back(one);
    const auto is_good = [](std::int64_t one) {
        return one <= SelfCheck::unknown && one >= SelfCheck::shown_faster - most_calls;
    };
    return of_file == format && read.size() == num_entries && std::all_of(read.begin(), read.end(), is_good) ? read
                                                                                                             : found;
}

void DecisionMemory::keep_standings(CallKind kind, std::span<const NodeId> nodes,
                                    const std::vector<std::int64_t>& standings, bool had_some) const {
    if (folder_.empty()) return;
    std::string text(format);
    bool is_any_known = false;
    for (const std::int64_t standing : standings) {
        const bool is_faster = standing < SelfCheck::unknown;
        is_any_known = is_any_known || is_faster;
        text += " " + std::to_string(is_faster ? standing : SelfCheck::unknown);
    }
    const std::string path = path_of(name_of(kind), nodes, ".found");
    if (is_any_known) {
        write_whole(path, text + "\n");
    } else if (had_some) {  // and it was not faster here
        std::remove(path.c_str());
    }
}

}  // namespace hocket::interpose
