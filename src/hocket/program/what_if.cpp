// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/program/what_if.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/base/random.hpp"

namespace hocket {

namespace {

constexpr std::array<std::pair<std::string_view, NoiseKind>, 4> noise_names{{
    {"normal", NoiseKind::normal},
    {"lognormal", NoiseKind::lognormal},
    {"exponential", NoiseKind::exponential},
    {"uniform", NoiseKind::uniform},
}};

/// Of one computation: some 30 million years. Beyond, sums and products of times leave the range of a double.
constexpr double most_s = 1e15;

std::string text_of(double value) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

void check_number(double value, const std::string& what) {
    if (!(value >= 0) || !std::isfinite(value))
        throw InvalidInput(what + " is " + text_of(value), "accepted: 0 or more, and finite");
}

void check_rank(std::int32_t rank, std::size_t num_ranks, const std::string& what) {
    if (rank < 0 || std::cmp_greater_equal(rank, num_ranks))
        throw InvalidInput(what + ": there is no rank " + std::to_string(rank),
                           "accepted: 0 to " + std::to_string(num_ranks - 1));
}

/// [BoxMuller58]
double normal(base::Random& random) {
    const double radius = std::sqrt(-2 * std::log1p(-random.uniform()));
    return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

double factor(const Noise& noise, base::Random& random) {
    const double x = noise.spread;
    switch (noise.kind) {
        case NoiseKind::normal:
            return std::max(0.0, 1 + x * normal(random));
        case NoiseKind::lognormal:
            return std::exp(x * normal(random) - x * x / 2);
        case NoiseKind::exponential:
            return 1 - x * std::log1p(-random.uniform());
        case NoiseKind::uniform:
            return 1 + x * (2 * random.uniform() - 1);
    }
    HOCKET_ASSERT(false, "unknown noise");
}

}  // namespace

ComputationChanges::ComputationChanges(const WhatIf& what_if, std::int32_t num_ranks)
    : ranks_(static_cast<std::size_t>(num_ranks)), noise_(what_if.noise) {
    check_number(what_if.cpu_scale, "the CPU scale");
    for (RankChanges& rank : ranks_) rank.scale = what_if.cpu_scale;
    for (const auto& [rank, scale] : what_if.cpu_scale_of) {
        check_rank(rank, ranks_.size(), "a CPU scale");
        check_number(scale, "the CPU scale of rank " + std::to_string(rank));
        ranks_[static_cast<std::size_t>(rank)].scale = scale;
    }
    for (const Delay& one : what_if.delays) {
        check_rank(one.rank.value, ranks_.size(), "a delay");
        check_number(one.seconds, "a delay in s");
        check_number(one.at_s, "the time of a delay in s");
        ranks_[one.rank.at()].delays.push_back(one);
    }
    for (const Noise& noise : noise_) {
        check_number(noise.spread, "the spread of noise");
        if (noise.kind == NoiseKind::uniform && noise.spread > 1)
            throw InvalidInput("the spread of uniform noise is " + text_of(noise.spread), "accepted: 0 to 1");
        // Each rank has numbers of its own, so that they do not depend on what the others compute.
        base::Random seeds(noise.seed);
        for (RankChanges& rank : ranks_) rank.random.emplace_back(seeds.bits());
    }
}

double ComputationChanges::changed(Rank rank, double seconds) {
    RankChanges& own = ranks_[rank.at()];
    seconds *= own.scale;
    if (!(seconds > 0)) return seconds;
    if (!own.delays.empty()) {
        own.computed_s += seconds;
        std::erase_if(own.delays, [&](const Delay& one) {
            const bool is_reached = own.computed_s > one.at_s;
            if (is_reached) seconds += one.seconds;
            return is_reached;
        });
    }
    for (std::size_t i = 0; i < noise_.size(); ++i) seconds *= factor(noise_[i], own.random[i]);
    if (!(seconds <= most_s))
        throw InvalidInput("a computation of rank " + std::to_string(rank.value) + " takes " + text_of(seconds) + " s",
                           "accepted: up to " + text_of(most_s) + " s: give smaller scales, delays or spreads");
    return seconds;
}

void ComputationChanges::finish(Rank rank) const {
    for (const Delay& one : ranks_[rank.at()].delays)
        throw InvalidInput("a delay of rank " + std::to_string(rank.value) + " after " + text_of(one.at_s) +
                               " s of its computation: it does not compute for so long",
                           "give an earlier time");
}

Program changed(Program program, const WhatIf& what_if) {
    ComputationChanges changes(what_if, static_cast<std::int32_t>(program.ranks.size()));
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const Rank rank{static_cast<std::int32_t>(r)};
        for (ProgramOp& op : program.ranks[r].ops)
            if (op.kind == ProgramOpKind::compute && op.seconds > 0) op.seconds = changes.changed(rank, op.seconds);
        changes.finish(rank);
    }
    return program;
}

Noise noise_from(std::string_view text, std::uint64_t seed) {
    const auto colon = std::min(text.find(':'), text.size());
    const auto* const kind =
        std::ranges::find(noise_names, text.substr(0, colon), [](const auto& one) { return one.first; });
    const std::string_view number = text.substr(std::min(colon + 1, text.size()));
    double spread = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), spread);
    if (kind == noise_names.end() || error != std::errc() || end != number.data() + number.size() || !(spread >= 0) ||
        !std::isfinite(spread))
        throw InvalidInput("noise \"" + std::string(text) + "\"",
                           "accepted: normal:X, lognormal:X, exponential:X, uniform:X, with a spread X of 0 or more, "
                           "such as normal:0.1");
    return {kind->second, spread, seed};
}

}  // namespace hocket
