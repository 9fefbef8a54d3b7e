// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/decision/decider.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "hocket/collectives/textbook.hpp"
#include "hocket/network/depth_first.hpp"
#include "hocket/network/members.hpp"

namespace hocket::decision {

namespace {

using collectives::Algorithm;
using cost::RoundTimes;

constexpr std::int32_t most_members = 1 << 20;
constexpr std::size_t roots_tried = 3;
// Among choices that are predicted to be this close the one of fewer segments is taken: what a message costs beside its
// time on the wire is the least certain.
constexpr double nearly_equal = 0.03;
// Smaller segments drown in the cost of a message; a pipeline of larger ones fills late. The larger ones are for
// messages that would come to too many segments.
constexpr std::int64_t usual_segments[] = {4096, 8192, 16384};
constexpr std::int64_t larger_segments[] = {1 << 18, 1 << 22};
constexpr std::int32_t most_segments = 4096;

/// Segments that do not wait for their receiver, where there are such, and larger ones.
std::vector<std::int64_t> segment_sizes(std::int64_t rendezvous_bytes) {
    std::vector<std::int64_t> sizes;
    for (const std::int64_t size : usual_segments)
        if (size < rendezvous_bytes) sizes.push_back(size);
    if (sizes.empty()) sizes.assign(std::begin(usual_segments), std::end(usual_segments));
    sizes.insert(sizes.end(), std::begin(larger_segments), std::end(larger_segments));
    return sizes;
}

std::vector<NodeId> nodes_of(const Network& network, std::span<const Rank> members) {
    std::vector<NodeId> nodes;
    for (const Rank member : members) nodes.push_back(network.node_of(member));
    return nodes;
}

/// Roots spread over the order.
std::vector<std::int32_t> roots_for(Collective collective, std::int32_t num_ranks) {
    std::vector<std::int32_t> roots{0};
    const auto tried = static_cast<std::int32_t>(roots_tried);
    for (std::int32_t i = 1; is_rooted(collective) && i < tried; ++i)
        if (const std::int32_t root = i * num_ranks / tried; root != roots.back()) roots.push_back(root);
    return roots;
}

double mean_s(const std::vector<RoundTimes>& of_roots, std::int64_t bytes, std::int32_t segments, bool takes_turns) {
    double sum_s = 0;
    for (const RoundTimes& times : of_roots) sum_s += times.seconds(static_cast<double>(bytes), segments, takes_turns);
    return sum_s / static_cast<double>(of_roots.size());
}

/// Sizes within a factor of two share a decision.
std::vector<std::pair<std::int64_t, std::int64_t>> sizes_of(Collective collective) {
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges{{0, 0}};
    for (std::int64_t low = 1; collective != Collective::barrier && low <= most_bytes; low *= 2)
        ranges.emplace_back(low, 2 * low - 1);
    return ranges;
}

}  // namespace

Decider::Decider(const Network& network, const CostModel& costs)
    : network_(network), costs_(costs), segment_bytes_(segment_sizes(costs.rendezvous_limit_bytes())) {}

const std::vector<PlanEntry>& Decider::entries(Collective collective, std::span<const Rank> members) {
    network::check_members(network_, members, most_members);
    const auto [place, is_new] = found_.try_emplace({collective, nodes_of(network_, members)});
    if (is_new) place->second = decide(collective, members);
    return place->second;
}

const cost::Rounds& Decider::rounds(const Algorithm& algorithm, std::int32_t num_ranks) {
    const auto [place, is_new] = rounds_.try_emplace({&algorithm, num_ranks});
    if (is_new) {
        const collectives::Shape shape{num_ranks};
        std::vector<RankSchedule> parts;
        for (std::int32_t v = 0; v < num_ranks; ++v) parts.push_back(algorithm.emit(v, shape));
        place->second = cost::rounds_of(parts, collectives::segments_for(algorithm, shape));
    }
    return place->second;
}

Decider::Ordered Decider::ordered(const Algorithm& algorithm, std::span<const Rank> members, std::vector<Rank> order) {
    const auto num_ranks = static_cast<std::int32_t>(members.size());
    const cost::Rounds& of_algorithm = rounds(algorithm, num_ranks);
    Ordered found{&algorithm, std::move(order), {}};
    std::vector<Rank> walked(members.size());
    for (const std::int32_t first : roots_for(algorithm.collective, num_ranks)) {
        for (std::int32_t v = 0; v < num_ranks; ++v) {
            const auto position = static_cast<std::size_t>((first + v) % num_ranks);
            walked[static_cast<std::size_t>(v)] = members[found.order.empty() ? position : found.order[position].at()];
        }
        found.of_roots.emplace_back(of_algorithm, network_, costs_, walked);
    }
    return found;
}

double Decider::predicted_s(const PlannedSchedule& schedule, std::span<const Rank> members, std::int64_t bytes) {
    return mean_s(ordered(*schedule.algorithm(), members, schedule.order()).of_roots, bytes,
                  segments_of(schedule, bytes), true);
}

double Decider::native_s(Collective collective, std::span<const Rank> members, std::int64_t bytes) {
    const auto num_ranks = static_cast<std::int32_t>(members.size());
    const auto name = collectives::textbook_algorithm(collective, num_ranks, bytes);
    return mean_s(ordered(collectives::find_algorithm(collective, name), members, {}).of_roots, bytes, 1, false);
}

std::vector<std::vector<Rank>> Decider::orders(std::span<const Rank> members) const {
    std::vector<std::vector<Rank>> found{{}};
    for (const network::Branch branch : {network::Branch::listed, network::Branch::fastest_first}) {
        std::vector<Rank> order = network::depth_first_order(network_, members, Rank{0}, branch);
        if (std::is_sorted(order.begin(), order.end())) order.clear();
        if (std::find(found.begin(), found.end(), order) == found.end()) found.push_back(std::move(order));
    }
    return found;
}

Decider::Choice Decider::best(const std::vector<Ordered>& candidates, std::int32_t num_ranks,
                              std::int64_t bytes) const {
    std::vector<Choice> choices;
    for (const Ordered& candidate : candidates) {
        choices.push_back({&candidate, {}, 1, mean_s(candidate.of_roots, bytes, 1, true)});
        if (!candidate.algorithm->pipelines) continue;
        for (const std::int64_t size : segment_bytes_) {
            const auto segments = collectives::segments_of_size(*candidate.algorithm, num_ranks, bytes, size);
            if (segments > 1 && segments <= most_segments)
                choices.push_back({&candidate, size, segments, mean_s(candidate.of_roots, bytes, segments, true)});
        }
    }
    double best_s = std::numeric_limits<double>::infinity();
    for (const Choice& choice : choices) best_s = std::min(best_s, choice.time_s);
    std::erase_if(choices, [&](const Choice& choice) { return choice.time_s > best_s * (1 + nearly_equal); });
    return *std::min_element(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
        return std::pair(a.segments, a.time_s) < std::pair(b.segments, b.time_s);
    });
}

std::vector<PlanEntry> Decider::decide(Collective collective, std::span<const Rank> members) {
    const auto num_ranks = static_cast<std::int32_t>(members.size());
    if (num_ranks < 2 || num_blocks(collective, num_ranks) > most_blocks) return {};
    std::vector<Ordered> candidates;
    const auto tried = orders(members);
    for (const Algorithm& algorithm : collectives::all_algorithms()) {
        if (algorithm.collective != collective || algorithm.least_messages(num_ranks) > most_messages) continue;
        for (const auto& order : tried) candidates.push_back(ordered(algorithm, members, order));
    }
    if (candidates.empty()) return {};
    std::vector<std::int32_t> values;
    for (const Rank member : members) values.push_back(member.value);

    std::vector<PlanEntry> found;
    Choice last;
    for (const auto& [low, high] : sizes_of(collective)) {
        const std::int64_t middle = (low + high) / 2;
        const auto name = collectives::textbook_algorithm(collective, num_ranks, middle);
        const auto native = std::find_if(candidates.begin(), candidates.end(), [&](const Ordered& candidate) {
            return candidate.algorithm->name == name && candidate.order.empty();
        });
        if (native == candidates.end()) continue;  // it sends too many messages
        const double own_s = mean_s(native->of_roots, middle, 1, false);
        const Choice choice = best(candidates, num_ranks, middle);
        if (own_s - choice.time_s < std::max(least_gain_s, least_gain * own_s)) continue;
        if (!found.empty() && choice.is_like(last) && found.back().bytes_max == low - 1) {
            found.back().bytes_max = high;
            continue;
        }
        last = choice;
        found.push_back(
            {collective, values, low, high, std::nullopt,
             PlannedSchedule(*choice.ordered->algorithm, num_ranks, 1, choice.segment_bytes, choice.ordered->order)});
    }
    return found;
}

}  // namespace hocket::decision
