// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/settings.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <numeric>
#include <system_error>

#include "hocket/base/error.hpp"
#include "hocket/network/file.hpp"
#include "hocket/plan/file.hpp"
#include "interpose/library_name.hpp"
#include "interpose/log.hpp"
#include "interpose/next.hpp"

namespace hocket::interpose {

Settings& settings = *new Settings;

namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// Whether a variable that is left out or has the value `usual` has the value `other`; what else it has is reported.
bool is_other(const char* name, const std::string& other, const std::string& usual) {
    const std::string value = environment(name);
    if (!value.empty() && value != other && value != usual)
        log_line(std::string(name) + " is \"" + value + "\"; accepted: " + usual + ", " + other + "; it stays " +
                 usual);
    return value == other;
}

ProgressMode asked_progress() {
    const std::string mode = environment("HOCKET_PROGRESS");
    if (mode == "on") return ProgressMode::on;
    if (mode == "auto") return ProgressMode::automatic;
    if (!mode.empty() && mode != "off")
        log_line("HOCKET_PROGRESS is \"" + mode + "\"; accepted: off, on, auto; it stays off");
    return ProgressMode::off;
}

int asked_core() {
    const std::string core = environment("HOCKET_PROGRESS_CORE");
    if (core == "idle") return runtime::idle_core;
    if (core.empty() || core == "any") return runtime::any_core;
    int number = 0;
    const auto [end, error] = std::from_chars(core.data(), core.data() + core.size(), number);
    if (error == std::errc{} && end == core.data() + core.size() && number >= 0) return number;
    log_line("HOCKET_PROGRESS_CORE is \"" + core + "\"; accepted: any, idle, the number of a core; it stays any");
    return runtime::any_core;
}

std::string what_stays(const Settings& read) {
    const bool has_both = !read.plan_path.empty() && !read.network_path.empty();
    return has_both ? "it serves no call" : "every call stays native";
}

Settings from_environment() {
    Settings read;
    read.plan_path = environment("HOCKET_PLAN");
    read.network_path = environment("HOCKET_NETWORK");
    read.decisions_path = environment("HOCKET_DECISIONS");
    read.statistics_path = environment("HOCKET_STATISTICS");
    read.logs_each = is_other("HOCKET_VERBOSE", "1", "0");
    read.logs_summary = is_other("HOCKET_SUMMARY", "1", "0");
    read.logs = read.logs_each || read.logs_summary;
    read.reports = read.logs || !read.statistics_path.empty();
    const std::string check = environment("HOCKET_SELF_CHECK");
    read.checks_itself = check != "off";
    read.ignores_evidence = is_other("HOCKET_EVIDENCE", "off", "on");
    if (!(read.plan_path + read.network_path).empty() && !check.empty() && check != "off" && check != "on")
        log_line("HOCKET_SELF_CHECK is \"" + check + "\"; accepted: on, off; it stays on");
    read.progress = asked_progress();
    read.progress_core = asked_core();
    const auto read_file = [&read](const std::string& path, std::string& text, const auto& reader) {
        if (path.empty()) return;
        try {
            text = reader(path);
        } catch (const InvalidInput& error) {
            log_line(std::string(error.what()) + "; " + what_stays(read));
        }
    };
    read_file(read.plan_path, read.plan_text, read_plan_file);
    read_file(read.network_path, read.network_text, network::text_of_file);
    return read;
}

/// One exchange for the lengths of the texts and the numbers, and one for the texts if there are any: with thousands of
/// ranks each takes time. Collective over the world.
template <std::size_t num_texts, std::size_t num_numbers>
void share(const std::array<std::string*, num_texts>& texts, std::array<long long, num_numbers>& numbers) {
    std::array<long long, num_texts + num_numbers> first{};
    const auto begin_of_numbers = std::transform(texts.begin(), texts.end(), first.begin(),
                                                 [](const auto* text) { return static_cast<long long>(text->size()); });
    std::copy(numbers.begin(), numbers.end(), begin_of_numbers);
    next.Bcast(first.data(), static_cast<int>(first.size()), MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    std::copy(begin_of_numbers, first.end(), numbers.begin());

    std::string all;
    for (const std::string* text : texts) all += *text;
    all.resize(static_cast<std::size_t>(std::accumulate(first.begin(), begin_of_numbers, 0LL)));
    if (all.empty()) return;
    next.Bcast(all.data(), static_cast<int>(all.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    std::size_t at = 0;
    for (std::size_t i = 0; i < num_texts; ++i) {
        *texts[i] = all.substr(at, static_cast<std::size_t>(first[i]));
        at += texts[i]->size();
    }
}

}  // namespace

Settings read_settings(int world_rank) {
    Settings shared = world_rank == 0 ? from_environment() : Settings{};
    if (!shared.network_text.empty()) shared.mpi = library_name();
    std::array<long long, 6> numbers{shared.checks_itself, shared.ignores_evidence,           shared.logs,
                                     shared.reports,       static_cast<int>(shared.progress), shared.progress_core};
    const std::array texts{&shared.plan_text, &shared.network_text, &shared.network_path, &shared.mpi,
                           &shared.decisions_path};
    share(texts, numbers);
    shared.checks_itself = numbers[0] != 0;
    shared.ignores_evidence = numbers[1] != 0;
    shared.logs = numbers[2] != 0;
    shared.reports = numbers[3] != 0;
    shared.progress = static_cast<ProgressMode>(numbers[4]);
    shared.progress_core = static_cast<int>(numbers[5]);
    return shared;
}

bool wants_progress() {
    const std::string mode = environment("HOCKET_PROGRESS");
    return mode == "on" || mode == "auto";
}

bool asks_for_anything() {
    return wants_progress() || !(environment("HOCKET_PLAN") + environment("HOCKET_NETWORK")).empty();
}

}  // namespace hocket::interpose
