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

void check_number(double value, const std::string& what) {
    if (!(value >= 0) || !std::isfinite(value))
        throw InvalidInput(what + " is " + std::to_string(value), "accepted: 0 or more, and finite");
}

void check_rank(std::int32_t rank, const Program& program, const std::string& what) {
    if (rank < 0 || std::cmp_greater_equal(rank, program.ranks.size()))
        throw InvalidInput(what + ": there is no rank " + std::to_string(rank),
                           "accepted: 0 to " + std::to_string(program.ranks.size() - 1));
}

class Factors {
public:
    explicit Factors(const Noise& noise) : noise_(noise), random_(noise.seed) {}

    double next() {
        const double x = noise_.spread;
        switch (noise_.kind) {
            case NoiseKind::normal:
                return std::max(0.0, 1 + x * normal());
            case NoiseKind::lognormal:
                return std::exp(x * normal() - x * x / 2);
            case NoiseKind::exponential:
                return 1 - x * std::log1p(-random_.uniform());
            case NoiseKind::uniform:
                return 1 + x * (2 * random_.uniform() - 1);
        }
        HOCKET_ASSERT(false, "unknown noise");
    }

private:
    /// [BoxMuller58]
    double normal() {
        const double radius = std::sqrt(-2 * std::log1p(-random_.uniform()));
        return radius * std::cos(2 * std::numbers::pi * random_.uniform());
    }
    const Noise& noise_;
    base::Random random_;
};

void scale(RankProgram& part, double factor) {
    if (factor == 1) return;
    for (ProgramOp& op : part.ops)
        if (op.kind == ProgramOpKind::compute) op.seconds *= factor;
}

/// The computation that the rank is in when it has computed for so long; of no length ones the last that is reached.
ProgramOp* computation_at(RankProgram& part, double at_s) {
    double computed_s = 0;
    for (ProgramOp& op : part.ops) {
        if (op.kind != ProgramOpKind::compute || !(op.seconds > 0)) continue;
        computed_s += op.seconds;
        if (computed_s > at_s) return &op;
    }
    return nullptr;
}

void delay(Program& program, const std::vector<Delay>& delays) {
    std::vector<std::pair<ProgramOp*, double>> found;
    for (const Delay& one : delays) {
        check_rank(one.rank.value, program, "a delay");
        check_number(one.seconds, "a delay in s");
        check_number(one.at_s, "the time of a delay in s");
        ProgramOp* op = computation_at(program.ranks[one.rank.at()], one.at_s);
        if (op == nullptr)
            throw InvalidInput("a delay of rank " + std::to_string(one.rank.value) + " after " +
                                   std::to_string(one.at_s) + " s of its computation: it does not compute for so long",
                               "give an earlier time");
        found.emplace_back(op, one.seconds);
    }
    for (const auto& [op, seconds] : found) op->seconds += seconds;
}

void add_noise(Program& program, const Noise& noise) {
    check_number(noise.spread, "the spread of noise");
    if (noise.kind == NoiseKind::uniform && noise.spread > 1)
        throw InvalidInput("the spread of uniform noise is " + std::to_string(noise.spread), "accepted: 0 to 1");
    Factors factors(noise);
    for (RankProgram& part : program.ranks)
        for (ProgramOp& op : part.ops)
            if (op.kind == ProgramOpKind::compute && op.seconds > 0) op.seconds *= factors.next();
}

}  // namespace

Program changed(Program program, const WhatIf& what_if) {
    check_number(what_if.cpu_scale, "the CPU scale");
    for (const auto& [rank, factor] : what_if.cpu_scale_of) {
        check_rank(rank, program, "a CPU scale");
        check_number(factor, "the CPU scale of rank " + std::to_string(rank));
    }
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const auto own = what_if.cpu_scale_of.find(static_cast<std::int32_t>(r));
        scale(program.ranks[r], own == what_if.cpu_scale_of.end() ? what_if.cpu_scale : own->second);
    }
    delay(program, what_if.delays);
    for (const Noise& noise : what_if.noise) add_noise(program, noise);
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
