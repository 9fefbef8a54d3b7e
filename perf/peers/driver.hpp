// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

// What the drivers of all simulators share: the case from the command line, its traffic from hocket's seeded patterns,
// so that every simulator gets the same sources, targets and bytes (the checksum proves it), and the JSON object that
// each prints.

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "hocket/base/json_writer.hpp"
#include "hocket/patterns/patterns.hpp"

namespace peers {

/// A fat tree of three levels with full bisection, cables all alike, and a traffic on it.
struct Case {
    std::array<std::int32_t, 3> children{};  ///< of each level, from the hosts up
    double bandwidth_bytes_per_s = 0, latency_s = 0;
    std::unique_ptr<hocket::Traffic> traffic;
    std::map<std::string, std::string> options;  ///< what only one driver knows

    [[nodiscard]] std::int32_t num_hosts() const { return children[0] * children[1] * children[2]; }
    [[nodiscard]] std::string shape() const {
        return std::to_string(children[0]) + "x" + std::to_string(children[1]) + "x" + std::to_string(children[2]);
    }
    /// Takes an option out of those not yet read.
    std::string option(const std::string& name, const std::string& otherwise) {
        const auto found = options.find(name);
        if (found == options.end()) return otherwise;
        std::string value = found->second;
        options.erase(found);
        return value;
    }
    /// To be called when all options are read.
    void refuse_others() const {
        if (!options.empty()) throw std::invalid_argument("unknown option " + options.begin()->first);
    }
};

/// The number that an option says.
inline double number(Case& c, const std::string& name, const std::string& otherwise) {
    const std::string text = c.option(name, otherwise);
    std::size_t end = 0;
    try {
        const double value = std::stod(text, &end);
        if (end == text.size()) return value;
    } catch (const std::exception&) {
        end = 0;  // as below
    }
    throw std::invalid_argument(name + "=" + text + "; expected a number");
}

/// From arguments NAME=VALUE: network, pattern, messages, bytes, spread, seed, bandwidth, latency; others are options.
inline Case read_case(int argc, char** argv) {
    Case result;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        const std::size_t equals = argument.find('=');
        if (equals == std::string::npos) throw std::invalid_argument("expected NAME=VALUE, found " + argument);
        result.options[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
    const std::string network = result.option("network", "8x8x16");
    auto& children = result.children;
    char rest = 0;
    if (std::sscanf(network.c_str(), "%dx%dx%d%c", &children[0], &children[1], &children[2], &rest) != 3 ||
        std::min({children[0], children[1], children[2]}) < 1)
        throw std::invalid_argument("network=" + network + "; expected three numbers, such as 8x8x16");
    result.bandwidth_bytes_per_s = number(result, "bandwidth", "1e6");
    result.latency_s = number(result, "latency", "0");
    const std::int64_t messages = static_cast<std::int64_t>(number(result, "messages", "10"));
    const hocket::patterns::MessageSizes sizes{static_cast<std::int64_t>(number(result, "bytes", "1000000")),
                                               number(result, "spread", "0"),
                                               static_cast<std::uint64_t>(number(result, "seed", "1"))};
    const std::string pattern = result.option("pattern", "random-ring");
    const std::int32_t ranks = result.num_hosts();
    if (pattern == "random-ring") {
        result.traffic = hocket::patterns::random_ring(ranks, messages, sizes, sizes.seed);
    } else if (pattern == "random-permutation") {
        result.traffic = hocket::patterns::random_permutation(ranks, messages, sizes, sizes.seed);
    } else if (pattern == "incast") {
        result.traffic = hocket::patterns::incast(ranks, hocket::Rank{0}, messages, sizes);
    } else {
        throw std::invalid_argument("pattern=" + pattern + "; known: random-ring, random-permutation, incast");
    }
    return result;
}

/// Of all messages: FNV-1a over source, target, bytes in order.
inline std::uint64_t checksum(const hocket::Traffic& traffic) {
    std::uint64_t hash = 0xCBF29CE484222325U;
    const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 0x100000001B3U; };
    for (std::int32_t s = 0; s < traffic.num_sources(); ++s) {
        for (std::int64_t i = 0; i < traffic.num_messages(hocket::Rank{s}); ++i) {
            const auto message = traffic.message(hocket::Rank{s}, i);
            add(static_cast<std::uint64_t>(s));
            add(static_cast<std::uint64_t>(message.target.value));
            add(static_cast<std::uint64_t>(message.bytes));
        }
    }
    return hash;
}

inline double user_s() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}
inline double system_s() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_stime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_stime.tv_usec);
}
/// User and system time together, which the system knows to the nanosecond; it splits them by clock ticks.
inline double cpu_s() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
/// Of this program alone: ru_maxrss would count what the caller had before exec.
inline std::int64_t peak_rss_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.rfind("VmHWM:", 0) == 0) return std::stoll(line.substr(6)) * 1024;
    return 0;
}

struct Outcome {
    std::int64_t num_messages = 0;  ///< that have arrived
    std::vector<double> finish_s;   ///< [source]; 0 = sends nothing
    double setup_user_s = 0;        ///< until the first message could start
    double setup_cpu_s = 0;
    std::chrono::steady_clock::time_point started;
    std::int64_t num_rates = 0;  ///< how often a message got a rate, if the simulator tells
    bool cut_off = false;        ///< stopped before the end

    /// To be called when the first message could start.
    void setup_done() {
        setup_user_s = user_s();
        setup_cpu_s = cpu_s();
        started = std::chrono::steady_clock::now();
    }
};

/// One JSON object on a line. Times are taken here, before the checksum.
inline void print(const Case& c, const Outcome& outcome) {
    const double user = user_s(), system = system_s(), cpu = cpu_s();
    const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - outcome.started).count();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const std::int64_t peak = peak_rss_bytes();
    double makespan_s = 0, sum_s = 0;
    std::int64_t senders = 0;
    for (std::int32_t s = 0; s < c.traffic->num_sources(); ++s) {
        if (c.traffic->num_messages(hocket::Rank{s}) == 0) continue;
        ++senders;
        sum_s += outcome.finish_s[static_cast<std::size_t>(s)];
        makespan_s = std::max(makespan_s, outcome.finish_s[static_cast<std::size_t>(s)]);
    }
    hocket::base::JsonWriter json;
    json.begin_object();
    json.field("nodes", c.num_hosts());
    json.field("messages", outcome.num_messages);
    json.field("cut_off", outcome.cut_off);
    json.field("traffic", std::to_string(checksum(*c.traffic)));
    json.field("setup_user_s", outcome.setup_user_s);
    json.field("run_user_s", user - outcome.setup_user_s);
    json.field("run_cpu_s", cpu - outcome.setup_cpu_s);
    json.field("run_wall_s", wall_s);
    json.field("user_s", user);
    json.field("system_s", system);
    json.field("peak_rss_bytes", peak);
    json.field("rates", outcome.num_rates);
    json.field("page_faults", usage.ru_minflt + usage.ru_majflt);
    json.field("makespan_s", makespan_s);
    json.field("mean_finish_s", senders > 0 ? sum_s / static_cast<double>(senders) : 0);
    json.end_object();
    std::puts(json.text().c_str());
    std::fflush(stdout);
}

/// What is wrong, on one line of standard error.
template <class Body>
int run_driver(Body&& body) {
    try {
        body();
        return 0;
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 1;
    }
}

}  // namespace peers
