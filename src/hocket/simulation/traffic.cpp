// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/traffic.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/simulation/big_array.hpp"
#include "hocket/simulation/calendar.hpp"
#include "hocket/simulation/incremental_equal.hpp"
#include "hocket/simulation/incremental_maxmin.hpp"
#include "hocket/simulation/incremental_reserve.hpp"
#include "hocket/simulation/incremental_unshared.hpp"
#include "hocket/simulation/incremental_windows.hpp"
#include "hocket/simulation/paths.hpp"
#include "hocket/simulation/progress.hpp"
#include "hocket/simulation/reference_traffic.hpp"
#include "hocket/simulation/rounded_time.hpp"

namespace hocket {
namespace {

using namespace simulation;

/// Flow number source * in_flight + k is the k-th message that the source has on the way.
template <class Model>
class TrafficEngine {
public:
    TrafficEngine(const Traffic& traffic, const network::Fabric& fabric, const TrafficOptions& options)
        : traffic_(traffic),
          options_(options),
          paths_(fabric),
          model_(Bandwidths(fabric.num_capacities(), [&](std::int32_t c) { return fabric.bandwidth_bytes_per_s(c); }),
                 traffic.num_sources() * options.in_flight),
          calendar_(model_.flows()),
          sources_(static_cast<std::size_t>(traffic.num_sources())) {
        if (!paths_.without_latency())
            latency_s_.resize(static_cast<std::size_t>(traffic.num_sources() * options.in_flight));
        const bool counts_links = options.record_links || options.link_bins.num_bins != 0;
        if (options.link_bins.num_bins != 0 || !options.record_messages.sources.empty())
            recorder_.emplace(traffic.num_sources(), fabric.num_links(), model_.flows().size(), options.link_bins,
                              options.record_messages);
        looks_at_links_ = counts_links || recorder_;
        if (counts_links) result_.link_bytes.assign(static_cast<std::size_t>(fabric.num_links()), 0);
    }

    TrafficResult run() {
        for (std::int32_t flow = 0; flow < model_.flows().size(); ++flow) next(flow);
        update_rates();
        calendar_.start(now_s_, num_flows_);
        result_.setup_s = real_time_s() - begin_s_;
        while (num_flows_ > 0 && goes_on()) {
            const auto on_day = [this](const auto& due) { prepare(due); };
            if (!a_start_comes_first(on_day)) {
                now_s_ = calendar_.next_time_s(on_day);
                const double last_s = end_of_instant(now_s_);
                do {
                    const std::int32_t flow = calendar_.pop();
                    end(flow);
                    next(flow);
                } while (calendar_.is_due(last_s, on_day));
            }
            update_rates();
            calendar_.adapt(now_s_, num_flows_);
        }
        return take_result();
    }

private:
    static constexpr bool plans_windows = std::is_same_v<Model, IncrementalWindows>;
    struct Source {
        std::int64_t next_message = 0;
        double finish_s = 0;
    };
    /// The next message of a flow that will end soon.
    struct Ahead {
        std::int32_t flow;
        std::int64_t number;
        Traffic::Message message;
        double latency_s;
        std::size_t first_path, path_size;  ///< in ahead_paths_, unless the target remains
    };
    static constexpr std::size_t most_ahead = 64;
    /// Fewer flows, and what they need, stay in the cache, where to prepare an event costs more than it saves.
    static constexpr std::int32_t least_to_prepare = 4096;

    bool goes_on() {
        return teller_.goes_on(result_.num_messages + result_.num_rates, [this] {
            if (num_total_ < 0) num_total_ = total_messages(traffic_);
            return TrafficProgress{result_.num_messages, num_total_, now_s_};
        });
    }

    /// Whether a flow that waits may start before the next one ends; if so, it is that time now.
    template <class OnDay>
    bool a_start_comes_first(OnDay&& on_day) {
        if constexpr (plans_windows) {
            const double start_s = model_.next_start_s();
            if (model_.num_moving() > 0 && calendar_.next_time_s(on_day) <= start_s) return false;
            now_s_ = start_s;
            return true;
        }
        return false;
    }

    [[nodiscard]] std::int32_t source_of(std::int32_t flow) const {
        return options_.in_flight == 1 ? flow : flow / options_.in_flight;
    }

    /// These flows will end soon. Their next messages are asked for now, so that all that their start will visit is fetched
    /// while other flows end.
    void prepare(const std::vector<Calendar::Due>& due) {
        if (plans_windows || model_.flows().size() < least_to_prepare) return;
        ahead_.clear();
        ahead_paths_.clear();
        const std::size_t count = std::min<std::size_t>(due.size(), most_ahead);
        for (std::size_t i = 0; i < count; ++i)
            __builtin_prefetch(&sources_[static_cast<std::size_t>(source_of(due[i].second))], 1);
        for (std::size_t i = 0; i < count; ++i) {
            const std::int32_t flow = due[i].second;
            const FlowRecord& record = model_.flows()[flow];
            const Rank source{source_of(flow)};
            const std::int64_t number = sources_[source.at()].next_message;
            Ahead ahead{flow, number, {}, 0, ahead_paths_.size(), 0};
            if (number < traffic_.num_messages(source)) {
                ahead.message = traffic_.message(source, number);
                if (ahead.message.target.value != record.target) {
                    const std::span<const std::int32_t> path = paths_.find(source, ahead.message.target);
                    ahead_paths_.insert(ahead_paths_.end(), path.begin(), path.end());
                    ahead.latency_s = paths_.latency_s();
                    ahead.path_size = path.size();
                }
            }
            ahead_of_[static_cast<std::size_t>(flow) % ahead_of_.size()] = ahead_.size();
            ahead_.push_back(ahead);
        }
        for_changes_ahead([this](std::int32_t c, bool) { model_.fetch(c); });
        for_changes_ahead([this](std::int32_t c, bool) { model_.fetch_flows(c); });
        for_changes_ahead([this](std::int32_t c, bool enters) { model_.fetch_records(c, enters); });
        model_.fetch_further();
    }

    /// `visit(capacity, enters)` for all that flows will leave or enter.
    template <class Visit>
    void for_changes_ahead(Visit&& visit) {
        for (const Ahead& ahead : ahead_) {
            if (ahead.message.target.value == model_.flows()[ahead.flow].target) continue;
            std::span<const std::int32_t> before = model_.flows()[ahead.flow].path();
            std::span<const std::int32_t> after = std::span(ahead_paths_).subspan(ahead.first_path, ahead.path_size);
            trim_common(before, after);
            for (const std::int32_t c : before) visit(c, false);
            for (const std::int32_t c : after) visit(c, true);
        }
    }

    /// What prepare() found out about this message, if it did.
    [[nodiscard]] const Ahead* find_ahead(std::int32_t flow, std::int64_t number) const {
        const std::size_t at = ahead_of_[static_cast<std::size_t>(flow) % ahead_of_.size()];
        if (at >= ahead_.size() || ahead_[at].flow != flow || ahead_[at].number != number) return nullptr;
        return &ahead_[at];
    }

    /// The last byte leaves.
    void end(std::int32_t flow) {
        ++result_.num_messages;
        const double arrival_s = latency_s_.empty() ? now_s_ : now_s_ + latency_s_[static_cast<std::size_t>(flow)];
        if (recorder_) recorder_->end(flow, now_s_, arrival_s);
        double& finish_s = sources_[static_cast<std::size_t>(source_of(flow))].finish_s;
        finish_s = std::max(finish_s, arrival_s);
    }

    /// Gives the flow, which has ended, the next message of its source, or takes it out of the network.
    void next(std::int32_t flow) {
        const Rank source{source_of(flow)};
        std::int64_t& number = sources_[source.at()].next_message;
        bool was_there = model_.flows()[flow].num_capacities > 0;
        for (const std::int64_t last = traffic_.num_messages(source); number < last;) {
            FlowRecord* record = &model_.flows()[flow];
            const Ahead* const ahead = find_ahead(flow, number);
            const Traffic::Message message = ahead != nullptr ? ahead->message : traffic_.message(source, number);
            ++number;
            const bool same_path =
                Model::keeps_rate && was_there && record->target == message.target.value && !looks_at_links_;
            std::span<const std::int32_t> path = record->path();
            if (!same_path && ahead != nullptr && !looks_at_links_ && message.target.value != record->target) {
                path = std::span(ahead_paths_).subspan(ahead->first_path, ahead->path_size);
                if (!latency_s_.empty()) latency_s_[static_cast<std::size_t>(flow)] = ahead->latency_s;
            } else if (!same_path) {
                path = paths_.find(source, message.target);
                if (!latency_s_.empty()) latency_s_[static_cast<std::size_t>(flow)] = paths_.latency_s();
                if constexpr (plans_windows) paths_.find_delays(delays_);
                if (recorder_) recorder_->start(flow, source, message, paths_.links(), delays_.of_links_s, now_s_);
                if (!result_.link_bytes.empty())
                    for (const LinkId l : paths_.links())
                        result_.link_bytes[l.at()] += static_cast<double>(message.bytes);
            }
            if (message.bytes == 0 || path.empty()) {
                end(flow);
                continue;
            }
            if (same_path) {
                // Nothing changes on any link, so that the flow keeps its rate.
                record->finish_s_or_bytes =
                    rounded_time(now_s_ + static_cast<double>(message.bytes) / record->rate_bytes_per_s);
                calendar_.enter(flow, *record);
                return;
            }
            enter(flow, path, message.bytes);
            record = &model_.flows()[flow];  // the table may have moved
            record->target = message.target.value;
            record->finish_s_or_bytes = static_cast<double>(message.bytes);
            return;
        }
        if (!was_there) return;
        model_.remove(flow);
        --num_flows_;
    }

    /// Of a flow that has ended or not begun.
    void enter(std::int32_t flow, std::span<const std::int32_t> path, std::int64_t bytes) {
        const bool was_there = model_.flows()[flow].num_capacities > 0;
        if (!was_there) ++num_flows_;
        if constexpr (plans_windows) {
            if (was_there) model_.remove(flow);
            model_.add(flow, {path, delays_.of_capacities_s, static_cast<double>(bytes)});
        } else if (was_there) {
            model_.replace(flow, path);
        } else {
            model_.add(flow, path);
        }
    }

    void update_rates() {
        const auto on_change = [this](std::int32_t flow, FlowRecord& record, double rate_before) {
            const double bytes =
                rate_before > 0 ? (record.finish_s_or_bytes - now_s_) * rate_before : record.finish_s_or_bytes;
            record.finish_s_or_bytes = rounded_time(now_s_ + std::max(bytes, 0.0) / record.rate_bytes_per_s);
            calendar_.enter(flow, record);
            if (recorder_) recorder_->change_rate(flow, now_s_, record.rate_bytes_per_s);
            ++result_.num_rates;
        };
        if constexpr (plans_windows)
            model_.update(now_s_, on_change);
        else
            model_.update(on_change);
    }

    TrafficResult take_result() {
        if (recorder_) {
            recorder_->stop(now_s_);
            result_.link_bins = recorder_->take_bins();
            result_.messages = recorder_->take_messages();
            result_.num_left_out = recorder_->num_left_out();
        }
        result_.completed = num_flows_ == 0;
        result_.simulated_s = now_s_;
        for (const Source& source : sources_) result_.finish_s.push_back(source.finish_s);
        for (std::int32_t flow = 0; flow < model_.flows().size() && !result_.completed; ++flow)
            if (model_.flows()[flow].num_capacities > 0)
                result_.finish_s[static_cast<std::size_t>(source_of(flow))] = std::numeric_limits<double>::quiet_NaN();
        return std::move(result_);
    }

    const double begin_s_ = real_time_s();
    const Traffic& traffic_;
    const TrafficOptions& options_;
    Paths paths_;
    Model model_;
    Calendar calendar_;
    std::vector<Source, BigAllocator<Source>> sources_;
    std::vector<double> latency_s_;  // [flow] of its route; empty if there is none
    std::vector<Ahead> ahead_;
    std::array<std::size_t, 256> ahead_of_{};  // [flow, without the bits above] in ahead_; of two flows, the later one
    std::vector<std::int32_t> ahead_paths_;
    Paths::Delays delays_;  // of the route found last, for a model that plans windows
    double now_s_ = 0;
    std::int64_t num_flows_ = 0;
    std::int64_t num_total_ = -1;  // messages; counted when first asked for
    ProgressTeller teller_{options_.on_progress, std::int64_t{1} << 15U};
    bool looks_at_links_ = false;  // of every message
    std::optional<TrafficRecorder> recorder_;
    TrafficResult result_;
};

template <class Model>
TrafficResult run(const Traffic& traffic, const network::Fabric& fabric, const TrafficOptions& options) {
    return TrafficEngine<Model>(traffic, fabric, options).run();
}

TrafficResult run(const Traffic& traffic, const network::Fabric& fabric, const TrafficOptions& options) {
    if (options.reference) return simulate_reference_traffic(traffic, fabric, options);
    switch (options.sharing) {
        case Sharing::none:
            return run<IncrementalUnshared>(traffic, fabric, options);
        case Sharing::equal:
            return run<IncrementalEqual>(traffic, fabric, options);
        case Sharing::maxmin:
            return run<IncrementalMaxMin>(traffic, fabric, options);
        case Sharing::reserve:
            return Paths(fabric).without_latency() ? run<IncrementalReserve>(traffic, fabric, options)
                                                   : run<IncrementalWindows>(traffic, fabric, options);
    }
    throw InvalidInput("sharing is not one of none, equal, maxmin, reserve");
}

}  // namespace

TrafficResult simulate_traffic(const Traffic& traffic, const network::Fabric& fabric, const TrafficOptions& options) {
    constexpr std::int64_t most_flows = std::int64_t{1} << 29;
    if (traffic.num_sources() > fabric.num_ranks())
        throw InvalidInput("the traffic has " + std::to_string(traffic.num_sources()) + " ranks, the network has " +
                               std::to_string(fabric.num_ranks()),
                           "use a network with at least as many ranks");
    if (options.in_flight < 1 || std::int64_t{options.in_flight} * traffic.num_sources() > most_flows)
        throw InvalidInput(std::to_string(options.in_flight) + " messages in flight from each of " +
                               std::to_string(traffic.num_sources()) + " sources",
                           "accepted: at least 1, and together at most 2^29");
    if (options.num_threads < 1 || options.num_threads > 1024)
        throw InvalidInput(std::to_string(options.num_threads) + " threads", "accepted: 1 to 1024");
    if (options.reference && (options.link_bins.num_bins != 0 || !options.record_messages.sources.empty()))
        throw InvalidInput("the reference records neither links over time nor messages",
                           "simulate without it: the result is the same");
    const double begin_s = real_time_s();
    TrafficResult result = run(traffic, fabric, options);
    std::int32_t senders = 0;
    // What rounding loses is added up too: a plain sum of millions of times can make a mean above the makespan.
    double sum_s = 0, lost_s = 0;
    for (std::int32_t s = 0; s < traffic.num_sources(); ++s) {
        const double finish_s = result.finish_s[static_cast<std::size_t>(s)];
        if (std::isnan(finish_s) || traffic.num_messages(Rank{s}) == 0) continue;
        result.makespan_s = std::max(result.makespan_s, finish_s);
        const double more_s = sum_s + finish_s;
        lost_s += sum_s >= finish_s ? (sum_s - more_s) + finish_s : (finish_s - more_s) + sum_s;
        sum_s = more_s;
        ++senders;
    }
    if (senders > 0) result.mean_finish_s = std::min(result.makespan_s, (sum_s + lost_s) / senders);
    result.solve_s = real_time_s() - begin_s - result.setup_s;
    return result;
}

}  // namespace hocket
