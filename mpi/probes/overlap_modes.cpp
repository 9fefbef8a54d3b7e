// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "probes/overlap_modes.hpp"

#include <algorithm>

#include "hocket/base/error.hpp"

namespace hocket::probes {

namespace {

using enum Carrier::Operation;
using enum Mode::Order;

// As hocket-overlap's other half lists them: python/hocket/bench/overlap/modes.py.
constexpr Mode modes[] = {
    {"MPI", {blocking}, wait_first},
    {"NBCF-noovlp", {schedule, "function"}, wait_first},
    {"NBCF-ovlp-test", {schedule, "function"}, overlap_test},
    {"NBCF-ovlp-notest", {schedule, "function"}, overlap},
    {"NBCT-ovlp", {schedule, "spin"}, overlap},
    {"TCC-ovlp", {native, "queue"}, overlap},
    {"TCC-schedule", {schedule, "queue"}, overlap},
    {"nap-ovlp", {schedule, "thread"}, overlap},
    {"nap-native", {native, "thread"}, overlap},
    {"native-ovlp-test", {nonblocking}, overlap_test},
    {"native-ovlp-notest", {nonblocking}, overlap},
    {"adaptive", {selection, "thread"}, overlap_test},
};

std::string names() {
    std::string text;
    for (const Mode& mode : modes) text += (text.empty() ? "" : ", ") + std::string(mode.name);
    return text;
}

}  // namespace

bool Carrier::operator==(const Carrier& other) const {
    return operation == other.operation && std::string_view(engine) == other.engine;
}

bool Carrier::has_thread() const { return engine[0] != '\0' && std::string_view(engine) != "function"; }

std::string Carrier::name() const {
    switch (operation) {
        case blocking:
            return "blocking";
        case nonblocking:
            return "non-blocking";
        case native:
            return std::string("native, ") + engine;
        case schedule:
            return std::string("schedule, ") + engine;
        case selection:
            return "selection";
    }
    return "";
}

std::span<const Mode> all_modes() { return modes; }

std::vector<Mode> modes_in(std::string_view list) {
    std::vector<Mode> chosen{modes[0]};
    while (!list.empty()) {
        const std::string_view name = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), name.size() + 1));
        const auto* const found =
            std::find_if(std::begin(modes), std::end(modes), [&](auto& m) { return m.name == name; });
        if (found == std::end(modes)) {
            throw InvalidInput("--modes: \"" + std::string(name) + "\" is none; accepted: " + names());
        }
        const auto is_found = [&](const Mode& mode) { return mode.name == found->name; };
        if (std::none_of(chosen.begin(), chosen.end(), is_found)) chosen.push_back(*found);
    }
    return chosen;
}

}  // namespace hocket::probes
