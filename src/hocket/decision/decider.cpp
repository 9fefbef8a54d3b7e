// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/decision/decider.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/collectives/open_mpi.hpp"
#include "hocket/collectives/textbook.hpp"
#include "hocket/decision/large_rounds.hpp"
#include "hocket/decision/node_rounds.hpp"
#include "hocket/network/depth_first.hpp"
#include "hocket/network/members.hpp"
#include "hocket/network/slow_links.hpp"

namespace hocket::decision {

namespace {

using collectives::Algorithm;
using cost::RoundTimes;

constexpr std::int32_t most_members = 1 << 20;
constexpr std::int64_t most_pipelined = 1 << 22;  // chunks, as segments_for() accepts them
constexpr std::size_t roots_tried = 3;
// Among choices that are predicted to be this close one is taken whose messages wait for no receiver (it may be late),
// and of these the one of fewer segments: what a message costs beside its time on the wire is the least certain.
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

/// Of several nodes some have several members.
bool shares_nodes(std::vector<NodeId> nodes) {
    std::sort(nodes.begin(), nodes.end());
    const auto last = std::unique(nodes.begin(), nodes.end());
    return last != nodes.end() && last - nodes.begin() > 1;
}

/// Whether the MPI serves nodes that several ranks share by a component of its own: Open MPI's coll/han, on by default
/// from 5.0 on.
bool has_leaders(std::string_view mpi) { return mpi.starts_with("Open MPI 5."); }

/// The algorithm that an MPI is taken to choose; the textbook's of one that is not known.
const Algorithm& assumed(std::string_view mpi, Collective collective, std::int32_t num_ranks, std::int64_t bytes) {
    std::string_view name = collectives::open_mpi_algorithm(mpi, collective, num_ranks, bytes);
    if (name.empty()) name = collectives::textbook_algorithm(collective, num_ranks, bytes);
    return collectives::find_algorithm(collective, name);
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

/// Whether schedules of it can be made.
bool fits(const Algorithm& algorithm, const collectives::Shape& shape) {
    const std::int64_t chunks = std::int64_t{algorithm.cuts(shape)} * num_blocks(algorithm.collective, shape.num_ranks);
    return chunks <= (algorithm.pipelines ? most_pipelined : std::int64_t{std::numeric_limits<std::int32_t>::max()});
}

/// Of the messages of all ranks in one segment.
cost::Rounds emitted_rounds(const Algorithm& algorithm, const collectives::Shape& shape) {
    std::vector<RankSchedule> parts;
    for (std::int32_t v = 0; v < shape.num_ranks; ++v) parts.push_back(algorithm.emit(v, shape));
    return cost::rounds_of(parts, collectives::segments_for(algorithm, shape));
}

/// Sizes within a factor of two share a decision.
std::vector<std::pair<std::int64_t, std::int64_t>> sizes_of(Collective collective) {
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges{{0, 0}};
    for (std::int64_t low = 1; collective != Collective::barrier && low <= most_bytes; low *= 2)
        ranges.emplace_back(low, 2 * low - 1);
    return ranges;
}

}  // namespace

Decider::Decider(const Network& network, const CostModel& costs, std::string_view mpi)
    : network_(network),
      costs_(costs),
      mpi_(mpi),
      segment_bytes_(segment_sizes(costs.rendezvous_limit_bytes())),
      of_links_(static_cast<std::size_t>(network.num_capacities())) {
    if (network.calibration() == nullptr) return;
    for (const network::NativeTimes& times : network.calibration()->natives) {
        const Collective collective = collective_from(times.collective);
        const Algorithm* const algorithm =
            times.algorithm.empty() ? nullptr : &collectives::find_algorithm(collective, times.algorithm);
        if (times.mpi == mpi)
            natives_[collective].push_back({times.bytes_max, algorithm, times.segment_bytes, times.factor,
                                            times.schedule_factor, true, algorithm != nullptr});
    }
    for (auto& [_, natives] : natives_) {
        std::stable_sort(natives.begin(), natives.end(),
                         [](const Native& a, const Native& b) { return a.bytes_max < b.bytes_max; });
        double below = 1;
        for (Native& one : natives) {
            const auto up_to = static_cast<double>(one.bytes_max);
            one.measured_bytes = std::sqrt(std::exchange(below, up_to) * up_to);
        }
    }
}

/// Beyond the largest size that was measured it is taken to be as there.
Decider::Native Decider::native(Collective collective, std::int32_t num_ranks, std::int64_t bytes,
                                std::string_view assumed_mpi) const {
    Native found{bytes, &assumed(assumed_mpi, collective, num_ranks, bytes)};
    if (const auto known = natives_.find(collective); known != natives_.end()) {
        const auto& all = known->second;
        const auto first =
            std::find_if(all.begin(), all.end(), [&](const Native& one) { return bytes <= one.bytes_max; });
        found = first != all.end() ? *first : all.back();
        found.is_measured = first != all.end();
    }
    // Factors without an algorithm were measured beside the textbook's.
    if (found.algorithm == nullptr) found.algorithm = &assumed({}, collective, num_ranks, bytes);
    return found;
}

std::string_view Decider::assumed_mpi(std::span<const Rank> members) const {
    return has_leaders(mpi_) && shares_nodes(nodes_of(network_, members)) ? std::string_view{} : mpi_;
}

double Decider::native_s(const Native& native, const Ordered& on_members, std::int32_t num_ranks, std::int64_t bytes) {
    const auto seconds = [&](std::int64_t of_bytes, bool takes_turns) {
        const std::int32_t segments =
            native.segment_bytes
                ? collectives::segments_of_size(*native.algorithm, {num_ranks}, of_bytes, *native.segment_bytes)
                : 1;
        return mean_s(on_members.of_roots, of_bytes, segments, takes_turns);
    };
    // An algorithm that was fitted to measured times has the turns in them, unless messages were too small for turns.
    bool takes_turns = native.takes_turns;
    if (const auto measured = std::llround(native.measured_bytes); takes_turns && bytes > measured)
        takes_turns = seconds(measured, true) > seconds(measured, false);
    return native.factor * seconds(bytes, takes_turns);
}

const std::vector<PlanEntry>& Decider::entries(Collective collective, std::span<const Rank> members) {
    return found(collective, members).entries;
}

const std::vector<PlanEntry>& Decider::contenders(Collective collective, std::span<const Rank> members) {
    return found(collective, members).contenders;
}

const Decider::Found& Decider::found(Collective collective, std::span<const Rank> members) {
    network::check_members(network_, members, most_members);
    const auto [place, is_new] = found_.try_emplace({collective, nodes_of(network_, members)});
    if (is_new) place->second = decide(collective, members);
    return place->second;
}

const cost::Rounds* Decider::rounds(const Algorithm& algorithm, std::int32_t num_ranks) {
    const auto known = rounds_.find({&algorithm, num_ranks});
    if (known != rounds_.end()) return &known->second;
    std::optional<cost::Rounds> found;
    found = large_rounds(algorithm, num_ranks);
    if (!found && algorithm.least_messages({num_ranks}) <= most_messages)
        found = emitted_rounds(algorithm, {num_ranks});
    return found ? &rounds_.emplace(Key{&algorithm, num_ranks}, std::move(*found)).first->second : nullptr;
}

Decider::Ordered Decider::ordered(const Algorithm& algorithm, std::span<const Rank> members, std::vector<Rank> order) {
    const auto num_ranks = static_cast<std::int32_t>(members.size());
    const cost::Rounds* const of_algorithm = rounds(algorithm, num_ranks);
    if (of_algorithm == nullptr)
        throw InvalidInput(std::string(algorithm.name) + " on " + std::to_string(num_ranks) +
                           " ranks sends too many messages to be predicted");
    return ordered(algorithm, *of_algorithm, members, std::move(order));
}

Decider::Ordered Decider::ordered(const Algorithm& algorithm, const cost::Rounds& rounds, std::span<const Rank> members,
                                  std::vector<Rank> order, std::vector<std::int32_t> starts) {
    const auto num_ranks = static_cast<std::int32_t>(members.size());
    Ordered found{&algorithm, std::move(order), std::move(starts), {}};
    std::vector<Rank> walked(members.size());
    for (const std::int32_t first : roots_for(algorithm.collective, num_ranks)) {
        for (std::int32_t v = 0; v < num_ranks; ++v) {
            const auto position = static_cast<std::size_t>((first + v) % num_ranks);
            walked[static_cast<std::size_t>(v)] = members[found.order.empty() ? position : found.order[position].at()];
        }
        found.of_roots.emplace_back(rounds, network_, costs_, walked, of_links_);
    }
    return found;
}

double Decider::predicted_s(const PlannedSchedule& schedule, std::span<const Rank> members, std::int64_t bytes) {
    const Algorithm& algorithm = *schedule.algorithm();
    const Ordered found = schedule.starts().empty() ? ordered(algorithm, members, schedule.order())
                                                    : ordered(algorithm, emitted_rounds(algorithm, schedule.shape(1)),
                                                              members, schedule.order());
    return mean_s(found.of_roots, bytes, segments_of(schedule, bytes), true);
}

double Decider::native_s(Collective collective, std::span<const Rank> members, std::int64_t bytes) {
    const auto num_ranks = static_cast<std::int32_t>(members.size());
    const Native own = native(collective, num_ranks, bytes, assumed_mpi(members));
    return native_s(own, ordered(*own.algorithm, members, {}), num_ranks, bytes);
}

const std::vector<std::vector<Rank>>& Decider::orders(std::span<const Rank> members) {
    auto& [those, found] = orders_;
    if (std::equal(members.begin(), members.end(), those.begin(), those.end())) return found;
    those.assign(members.begin(), members.end());
    found.assign(1, {});
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
    choices.reserve(candidates.size() * (1 + segment_bytes_.size()));
    for (const Ordered& candidate : candidates) {
        const collectives::Shape shape{num_ranks, 1, candidate.starts};
        if (!fits(*candidate.algorithm, shape)) continue;
        choices.push_back({&candidate, {}, 1, mean_s(candidate.of_roots, bytes, 1, true)});
        if (!candidate.algorithm->pipelines) continue;
        for (const std::int64_t size : segment_bytes_) {
            if (bytes <= size) continue;  // in one segment
            const auto segments = collectives::segments_of_size(*candidate.algorithm, shape, bytes, size);
            if (segments > 1 && segments <= most_segments)
                choices.push_back({&candidate, size, segments, mean_s(candidate.of_roots, bytes, segments, true)});
        }
    }
    if (choices.empty()) return {};
    double best_s = std::numeric_limits<double>::infinity();
    for (const Choice& choice : choices) best_s = std::min(best_s, choice.time_s);
    std::erase_if(choices, [&](const Choice& choice) { return choice.time_s > best_s * (1 + nearly_equal); });
    const auto waits = [&](const Choice& choice) {
        return choice.ordered->of_roots.front().waits(static_cast<double>(bytes), choice.segments);
    };
    return *std::min_element(choices.begin(), choices.end(), [&](const Choice& a, const Choice& b) {
        return std::tuple(waits(a), a.segments, a.time_s) < std::tuple(waits(b), b.segments, b.time_s);
    });
}

std::vector<Decider::Ordered> Decider::candidates(Collective collective, std::span<const Rank> members) {
    std::vector<Ordered> found;
    const auto& tried = orders(members);
    for (const Algorithm& algorithm : collectives::all_algorithms()) {
        if (algorithm.collective != collective) continue;
        if (algorithm.has_starts) {
            add_with_starts(algorithm, members, tried, found);
            continue;
        }
        if (rounds(algorithm, static_cast<std::int32_t>(members.size())) == nullptr) continue;
        for (const auto& order : tried) {
            Ordered candidate = ordered(algorithm, members, order);
            const bool is_known = std::any_of(found.begin(), found.end(), [&](const Ordered& other) {
                return other.algorithm == &algorithm && other.of_roots == candidate.of_roots;
            });
            if (!is_known) found.push_back(std::move(candidate));
        }
    }
    return found;
}

void Decider::add_with_starts(const Algorithm& algorithm, std::span<const Rank> members,
                              const std::vector<std::vector<Rank>>& orders, std::vector<Ordered>& found) {
    const auto num_ranks = static_cast<std::int32_t>(members.size());
    if (num_ranks > most_emitted) return;
    const bool among_nodes = algorithm.collective == Collective::alltoall;
    for (const auto& order : orders) {
        if (among_nodes && order.empty() && orders.size() > 1) continue;  // another order keeps nodes together
        std::vector<Rank> walked = order;
        for (std::int32_t v = 0; order.empty() && v < num_ranks; ++v) walked.emplace_back(v);
        std::vector<std::vector<std::int32_t>> all{network::behind_slow_links(network_, members, walked)};
        // Only these gather what goes far. They need no slow links to gain.
        if (among_nodes)
            if (auto longer = network::behind_longer_routes(network_, members, walked); longer != all.front())
                all.push_back(std::move(longer));
        for (std::vector<std::int32_t>& starts : all) {
            const collectives::Shape shape{num_ranks, 1, starts};
            if (starts.empty() || algorithm.least_messages(shape) > most_messages) continue;
            const cost::Rounds rounds = among_nodes ? node_rounds(algorithm, shape) : emitted_rounds(algorithm, shape);
            found.push_back(ordered(algorithm, rounds, members, order, std::move(starts)));
        }
    }
}

PlannedSchedule Decider::Ordered::schedule(std::int32_t num_ranks, std::optional<std::int64_t> segment_bytes) const {
    return PlannedSchedule(*algorithm, num_ranks, 1, segment_bytes, order, starts);
}

std::pair<PlannedSchedule, double> Decider::fastest(Collective collective, std::span<const Rank> members,
                                                    std::int64_t bytes) {
    network::check_members(network_, members, most_members);
    const auto num_ranks = static_cast<std::int32_t>(members.size());
    const std::vector<Ordered> all = candidates(collective, members);
    const Choice choice = best(all, num_ranks, bytes);
    if (choice.ordered == nullptr)
        throw InvalidInput(std::string(name_of(collective)) + " on " + std::to_string(num_ranks) +
                               " ranks: every algorithm sends too many messages",
                           "use fewer ranks");
    return {choice.ordered->schedule(num_ranks, choice.segment_bytes), choice.time_s};
}

Decider::Found Decider::decide(Collective collective, std::span<const Rank> members) {
    const auto num_ranks = static_cast<std::int32_t>(members.size());
    if (num_ranks < 2) return {};
    const std::vector<Ordered> all = candidates(collective, members);
    std::vector<std::int32_t> values;
    for (const Rank member : members) values.push_back(member.value);

    const std::string_view own_mpi = assumed_mpi(members);
    Found found;
    Choice last;
    for (const auto& [low, high] : sizes_of(collective)) {
        const std::int64_t middle = (low + high) / 2;
        const Native own = native(collective, num_ranks, middle, own_mpi);
        const auto like_own = std::find_if(all.begin(), all.end(), [&](const Ordered& candidate) {
            return candidate.algorithm == own.algorithm && candidate.order.empty();
        });
        if (like_own == all.end()) continue;  // it sends too many messages
        const double own_s = native_s(own, *like_own, num_ranks, middle);
        const Choice choice = best(all, num_ranks, middle);
        if (choice.ordered == nullptr) continue;
        const double gain = own.is_measured ? least_gain : least_gain_unknown;
        const bool gains = own_s - own.schedule_factor * choice.time_s >= std::max(least_gain_s, gain * own_s);
        if (!gains && (own.is_measured || choice.time_s < least_contender_s)) continue;
        std::vector<PlanEntry>& those = gains ? found.entries : found.contenders;
        if (!those.empty() && choice.is_like(last) && those.back().bytes_max == low - 1) {
            those.back().bytes_max = high;
            continue;
        }
        last = choice;
        those.push_back(
            {collective, values, low, high, std::nullopt, choice.ordered->schedule(num_ranks, choice.segment_bytes)});
    }
    return found;
}

}  // namespace hocket::decision
