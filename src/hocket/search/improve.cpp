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
    if (random.below(3) == 0) {  // two computers exchange their parts
        const std::int32_t a = order[from].second, b = order[to].second;
        const auto exchanged = [&](std::int32_t c) { return c == a ? b : c == b ? a : c; };
        for (auto& [source, target] : order) {
            source = exchanged(source);
            target = exchanged(target);
        }
        return a != b;
    }
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

/// Schedules of orders.
class Decoder {
public:
    explicit Decoder(const State& root) : root_(&root), state_(root), any_start_(!root.tree().has_delays()) {}

    /// By how much the transfers end after `aim_ns`, all together; or something above `most` if it is more than that.
    /// Without delays each transfer starts as early as what is before it in the order leaves room for, maybe before
    /// them.
    std::int64_t late_ns(const Order& order, std::int64_t aim_ns, std::int64_t most) {
        const std::size_t first = root_->transfers().size();
        std::size_t same = 0;  // the last order may have begun alike
        const auto done = state_.transfers().subspan(first);
        while (same < done.size() && std::pair(done[same].source, done[same].target) == order[same]) ++same;
        while (state_.transfers().size() > first + same) state_.take_back();
        std::int64_t late = 0;
        for (const Transfer& t : state_.transfers()) late += std::max<std::int64_t>(0, t.end_ns - aim_ns);
        for (std::size_t i = same; i < order.size() && late <= most; ++i) {
            const auto [source, target] = order[i];
            state_.add(source, target, state_.earliest_start(source, target, any_start_ ? 0 : state_.now_ns()));
            late += std::max<std::int64_t>(0, state_.transfers().back().end_ns - aim_ns);
        }
        return late;
    }
    void keep(Watch& watch) const {
        if (!state_.complete() || state_.end_ns() >= watch.makespan_ns()) return;
        if (!any_start_) return watch.keep(state_);
        std::vector<Transfer> transfers(state_.transfers().begin(), state_.transfers().end());
        std::stable_sort(transfers.begin(), transfers.end(),
                         [](const Transfer& a, const Transfer& b) { return a.start_ns < b.start_ns; });
        watch.keep(transfers, state_.end_ns());
    }

private:
    const State* root_;
    State state_;
    bool any_start_;
};

}  // namespace

void improve(const State& root, Watch& watch, const Annealing& annealing) {
    base::Random random(annealing.seed);
    Decoder decoder(root);
    Order order;
    for (const Transfer& t : watch.transfers()) order.emplace_back(t.source, t.target);
    if (order.size() < 2) return;
    const auto size = static_cast<std::int64_t>(order.size());
    std::int64_t late = decoder.late_ns(order, annealing.aim_ns, never);
    const double hot = annealing.hot * static_cast<double>(annealing.aim_ns), cold = 0.01 * hot;
    for (std::int64_t step = 0; step < annealing.num_steps && late > 0; ++step) {
        if (step * size % 4096 < size && watch.done_and_report()) return;
        Order other = order;
        if (!change(other, root, random)) continue;
        const double temperature =
            hot * std::pow(cold / hot, static_cast<double>(step) / static_cast<double>(annealing.num_steps));
        const double worse = -temperature * std::log(std::max(random.uniform(), 1e-12));
        const std::int64_t most = late + static_cast<std::int64_t>(worse);
        const std::int64_t other_late = decoder.late_ns(other, annealing.aim_ns, most);
        if (other_late > most) continue;
        decoder.keep(watch);
        order.swap(other);
        late = other_late;
    }
}

}  // namespace hocket::search
