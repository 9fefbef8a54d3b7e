// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/improve.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hocket/base/random.hpp"

namespace hocket::search {
namespace {

/// Who sends to whom, in the order of starts.
using Order = std::vector<std::pair<std::int32_t, std::int32_t>>;

std::size_t below(base::Random& random, std::size_t n) {
    return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(n)));
}

/// Another order, or false if what has been drawn is none.
bool change(Order& order, const State& root, base::Random& random) {
    const std::size_t from = below(random, order.size()), to = below(random, order.size());
    auto [source, target] = order[from];
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
    if (random.below(2) == 0) {  // any source that has the message there
        std::vector<std::int32_t> sources;
        for (std::int32_t c = 0; c < root.tree().num_computers(); ++c)
            if (root.informed(c)) sources.push_back(c);
        for (std::size_t i = 0; i < to; ++i) sources.push_back(order[i].second);
        source = sources[below(random, sources.size())];
    }
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), {source, target});
    const auto place = [&](std::int32_t computer) {
        return std::find_if(order.begin(), order.end(), [&](const auto& one) { return one.second == computer; }) -
               order.begin();
    };
    const auto position = static_cast<std::ptrdiff_t>(to);
    if (!root.informed(source) && place(source) > position) return false;
    return std::none_of(order.begin(), order.begin() + position, [&](const auto& one) { return one.first == target; });
}

}  // namespace

void improve(const State& root, Watch& watch) {
    base::Random random(1);
    State state = root;
    const auto cost_of = [&](const Order& order) {
        while (state.transfers().size() > root.transfers().size()) state.take_back();
        double sum = 0;
        for (const auto& [source, target] : order) {
            state.add(source, target, state.earliest_start(source, target));
            sum += static_cast<double>(state.transfers().back().end_ns);
            if (state.end_ns() > 2 * watch.makespan_ns()) break;
        }
        // The mean end tells orders of the same makespan apart.
        return static_cast<double>(state.end_ns()) + 0.1 * sum / static_cast<double>(order.size());
    };
    Order order;
    for (const Transfer& t : watch.transfers()) order.emplace_back(t.source, t.target);
    if (order.size() < 2) return;
    double cost = cost_of(order);
    const auto size = static_cast<std::int64_t>(order.size());
    const std::int64_t num_steps = std::min<std::int64_t>(60'000, 40'000'000 / (size * size));
    const double hot = 0.05 * cost, cold = 0.0005 * cost;
    for (std::int64_t step = 0; step < num_steps; ++step) {
        if (step * size % 4096 < size && watch.done_and_tell()) return;
        Order other = order;
        if (!change(other, root, random)) continue;
        const double temperature =
            hot * std::pow(cold / hot, static_cast<double>(step) / static_cast<double>(num_steps));
        const double other_cost = cost_of(other);
        if (state.complete()) watch.keep(state);
        if (other_cost > cost && random.uniform() >= std::exp((cost - other_cost) / temperature)) continue;
        order.swap(other);
        cost = other_cost;
    }
}

}  // namespace hocket::search
