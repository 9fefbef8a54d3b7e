// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/runner/plan.hpp"

#include <map>

#include "hocket/base/random_order.hpp"

namespace hocket::bench {

namespace {

constexpr std::int64_t most_probed_bytes = 64 * 1024;

std::string name_of(const Point& point) {
    std::string name = point.item->name;
    for (std::size_t i = 0; i < point.options.size(); ++i) {
        const auto& [key, value] = point.options[i];
        if (value != point.item->options[i].initial) name += ' ' + key + '=' + value;
    }
    return name + " ranks=" + std::to_string(point.ranks);
}

/// All combinations of the options from the `i`-th on.
void add_combinations(const Selection& selection, std::size_t i, Point& point, std::vector<Point>& points) {
    if (i == selection.options.size()) {
        points.push_back(point);
        return;
    }
    for (const std::string& value : selection.options[i].second) {
        point.options.resize(i);
        point.options.emplace_back(selection.options[i].first, value);
        add_combinations(selection, i + 1, point, points);
    }
}

std::string obstacle_of(const Point& point, int ranks) {
    const auto needs = [](int number) {
        return "needs " + std::to_string(number) + (number == 1 ? " rank" : " ranks");
    };
    if (point.ranks > ranks) return needs(point.ranks) + "; the launch has " + std::to_string(ranks);
    if (point.ranks < point.item->min_ranks) return needs(point.item->min_ranks);
    return {};
}

}  // namespace

Plan make_plan(const Suite& suite, int ranks) {
    Plan plan;
    for (const Selection& selection : suite.selections) {
        const auto counts = selection.ranks.empty() ? std::vector<int>{ranks} : selection.ranks;
        for (const int count : counts) {
            for (const std::int64_t bytes : selection.bytes) {
                Point point{selection.item, selection.number, bytes, count, {}, 0};
                add_combinations(selection, 0, point, plan.points);
            }
        }
    }
    std::map<std::string, int> known;
    for (std::size_t i = 0; i < plan.points.size(); ++i) {
        Point& point = plan.points[i];
        const std::string name = name_of(point);
        const auto [place, is_new] = known.emplace(name, static_cast<int>(plan.variants.size()));
        point.variant = place->second;
        if (is_new) plan.variants.push_back({name, {static_cast<int>(i)}, obstacle_of(point, ranks)});
        auto& probed = plan.variants[static_cast<std::size_t>(point.variant)].probed;
        const auto bytes_of = [&](int of) { return plan.points[static_cast<std::size_t>(of)].bytes; };
        if (point.bytes < bytes_of(probed.front())) probed.front() = static_cast<int>(i);
        if (point.bytes > most_probed_bytes) continue;
        if (probed.size() == 1 && point.bytes != bytes_of(probed[0])) probed.push_back(static_cast<int>(i));
        if (probed.size() == 2 && point.bytes > bytes_of(probed[1])) probed[1] = static_cast<int>(i);
    }
    return plan;
}

void write_fields(base::JsonWriter& json, const Point& point) {
    json.field("item", point.item->name);
    json.field("number", point.number);
    json.field("bytes", point.item->has_bytes() ? std::optional(point.bytes) : std::nullopt);
    json.field("ranks", point.ranks);
    json.key("options").begin_object();
    for (const auto& [name, value] : point.options) json.field(name, value);
    json.end_object();
}

std::vector<int> order_of_round(const Suite& suite, std::size_t num_points, int launch, int round) {
    const std::uint64_t of_launch = base::random_bits(suite.seed, static_cast<std::uint64_t>(launch));
    const base::RandomOrder order(static_cast<std::int32_t>(num_points),
                                  base::random_bits(of_launch, static_cast<std::uint64_t>(round)));
    std::vector<int> points;
    for (std::size_t i = 0; i < num_points; ++i) points.push_back(order.at(static_cast<std::int32_t>(i)));
    return points;
}

}  // namespace hocket::bench
