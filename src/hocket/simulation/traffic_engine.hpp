// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hocket/base/big_array.hpp"
#include "hocket/network/fabric.hpp"
#include "hocket/simulation/events/calendar.hpp"
#include "hocket/simulation/events/rounded_time.hpp"
#include "hocket/simulation/parts.hpp"
#include "hocket/simulation/paths.hpp"
#include "hocket/simulation/progress.hpp"
#include "hocket/simulation/record/traffic_recorder.hpp"
#include "hocket/simulation/sharing/bandwidths.hpp"
#include "hocket/simulation/sharing/incremental_model.hpp"
#include "hocket/simulation/traffic.hpp"
#include "hocket/traffic/traffic.hpp"

namespace hocket::simulation {

/// What the engines of all parts have in common. They write different elements of the arrays.
struct TrafficRun {
    const Traffic& traffic;
    const network::Fabric& fabric;
    const TrafficOptions& options;
    const Paths& paths;
    const Division& division;
    std::vector<double>& finish_s;    // [source]
    std::vector<double>& link_bytes;  // [link]; empty = not asked for
    TrafficRecorder* recorder;        // or none; then there is one engine at a time
};

/// How far a part has come.
struct PartResult {
    bool completed = true;
    double simulated_s = 0, setup_s = 0;
    std::int64_t num_messages = 0, num_rates = 0;
};

/// Simulates a part. Flow number source * in_flight + k is the k-th message that the source has on the way; sources and
/// capacities have their numbers within the part.
template <IncrementalModel Model>
class TrafficEngine {
public:
    TrafficEngine(const TrafficRun& run, const Part& part, ThreadProgress& progress)
        : run_(run),
          part_(part),
          progress_(progress),
          traffic_(run.traffic),
          in_flight_(run.options.in_flight),
          paths_(run.paths, run.division.is_whole() ? nullptr : run.division.numbers.data()),
          model_(bandwidths(run, part), num_sources(run, part) * run.options.in_flight),
          calendar_(model_.flows()),
          sources_(static_cast<std::size_t>(num_sources(run, part))),
          looks_at_links_(run.recorder != nullptr || !run.link_bytes.empty()) {
        if (!paths_.without_latency()) latency_s_.resize(static_cast<std::size_t>(model_.flows().size()));
        if (run.recorder != nullptr) run.recorder->begin(model_.flows().size());
    }

    PartResult run() {
        for (std::int32_t flow = 0; flow < model_.flows().size(); ++flow) next(flow);
        update_rates();
        calendar_.start(now_s_, num_flows_);
        result_.setup_s = real_time_s() - begin_s_;
        while (num_flows_ > 0 &&
               progress_.goes_on(result_.num_messages, result_.num_messages + result_.num_rates, now_s_)) {
            const auto on_bucket = [this](const auto& due) { prepare(due); };
            if (!model_comes_first(on_bucket)) {
                now_s_ = calendar_.next_time_s(on_bucket);
                const double last_s = end_of_instant(now_s_);
                do {
                    const std::int32_t flow = calendar_.pop();
                    end(flow);
                    next(flow);
                } while (calendar_.is_due(last_s, on_bucket));
            }
            update_rates();
            calendar_.adapt(now_s_, num_flows_);
        }
        progress_.end_part(result_.num_messages, result_.num_messages + result_.num_rates);
        return take_result();
    }

private:
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

    static std::int32_t num_sources(const TrafficRun& run, const Part& part) {
        return run.division.is_whole() ? run.traffic.num_sources() : static_cast<std::int32_t>(part.sources.size());
    }
    static Bandwidths bandwidths(const TrafficRun& run, const Part& part) {
        if (run.division.is_whole())
            return Bandwidths(run.fabric.num_capacities(),
                              [&](std::int32_t c) { return run.fabric.bandwidth_bytes_per_s(c); });
        return Bandwidths(static_cast<std::int32_t>(part.capacities.size()), [&](std::int32_t c) {
            return run.fabric.bandwidth_bytes_per_s(part.capacities[static_cast<std::size_t>(c)]);
        });
    }

    /// A source by its number in the whole traffic.
    [[nodiscard]] Rank rank_of(std::int32_t source) const {
        return run_.division.is_whole() ? Rank{source} : part_.sources[static_cast<std::size_t>(source)];
    }
    Source& source(std::int32_t flow) { return sources_[static_cast<std::size_t>(source_of(flow))]; }
    [[nodiscard]] std::int32_t source_of(std::int32_t flow) const { return in_flight_ == 1 ? flow : flow / in_flight_; }

    /// Whether the model's next event comes before the end of a flow; if so, it is that time now.
    template <class OnBucket>
    bool model_comes_first(OnBucket&& on_bucket) {
        const double event_s = model_.next_event_s();
        if (!std::isfinite(event_s) || calendar_.next_time_s(on_bucket) <= event_s) return false;
        now_s_ = event_s;
        return true;
    }

    /// These flows will end soon. Their next messages are asked for now, so that all that their start will visit is
    /// fetched while other flows end.
    void prepare(const std::vector<Calendar::Due>& due) {
        if (Model::needs_delays || model_.flows().size() < least_to_prepare) return;
        ahead_.clear();
        ahead_paths_.clear();
        const std::size_t count = std::min<std::size_t>(due.size(), most_ahead);
        for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(&source(due[i].second), 1);
        for (std::size_t i = 0; i < count; ++i) {
            const std::int32_t flow = due[i].second;
            const FlowRecord& record = model_.flows()[flow];
            const Rank rank = rank_of(source_of(flow));
            const std::int64_t number = source(flow).next_message;
            Ahead ahead{flow, number, {}, 0, ahead_paths_.size(), 0};
            if (number < traffic_.num_messages(rank)) {
                ahead.message = traffic_.message(rank, number);
                if (ahead.message.target.value != record.target) {
                    const std::span<const std::int32_t> path = paths_.find(rank, ahead.message.target);
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
        if (run_.recorder != nullptr) run_.recorder->end(flow, now_s_, arrival_s);
        double& finish_s = source(flow).finish_s;
        finish_s = std::max(finish_s, arrival_s);
    }

    /// Gives the flow, which has ended, the next message of its source, or takes it out of the network.
    void next(std::int32_t flow) {
        const Rank rank = rank_of(source_of(flow));
        std::int64_t& number = source(flow).next_message;
        bool was_there = model_.flows()[flow].num_capacities > 0;
        for (const std::int64_t last = traffic_.num_messages(rank); number < last;) {
            FlowRecord* record = &model_.flows()[flow];
            const Ahead* const ahead = find_ahead(flow, number);
            const Traffic::Message message = ahead != nullptr ? ahead->message : traffic_.message(rank, number);
            ++number;
            const bool same_path =
                Model::keeps_rate && was_there && record->target == message.target.value && !looks_at_links_;
            std::span<const std::int32_t> path = record->path();
            if (!same_path && ahead != nullptr && !looks_at_links_ && message.target.value != record->target) {
                path = std::span(ahead_paths_).subspan(ahead->first_path, ahead->path_size);
                if (!latency_s_.empty()) latency_s_[static_cast<std::size_t>(flow)] = ahead->latency_s;
            } else if (!same_path) {
                path = paths_.find(rank, message.target);
                if (!latency_s_.empty()) latency_s_[static_cast<std::size_t>(flow)] = paths_.latency_s();
                if constexpr (Model::needs_delays) paths_.find_delays(delays_);
                if (run_.recorder != nullptr)
                    run_.recorder->start(flow, rank, message, paths_.links(), delays_.of_links_s, now_s_);
                if (!run_.link_bytes.empty())
                    for (const LinkId l : paths_.links()) run_.link_bytes[l.at()] += static_cast<double>(message.bytes);
            }
            if (message.bytes == 0 || path.empty()) {
                if (run_.recorder != nullptr)
                    run_.recorder->pass_at_once(flow, now_s_, static_cast<double>(message.bytes));
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
            enter(flow, {path, delays_.of_capacities_s, static_cast<double>(message.bytes)});
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
    void enter(std::int32_t flow, const Passage& passage) {
        if (model_.flows()[flow].num_capacities > 0) {
            model_.replace(flow, passage);
        } else {
            ++num_flows_;
            model_.add(flow, passage);
        }
    }

    void update_rates() {
        model_.update(now_s_, [this](std::int32_t flow, FlowRecord& record, double rate_before) {
            const double bytes =
                rate_before > 0 ? (record.finish_s_or_bytes - now_s_) * rate_before : record.finish_s_or_bytes;
            record.finish_s_or_bytes = rounded_time(now_s_ + std::max(bytes, 0.0) / record.rate_bytes_per_s);
            calendar_.enter(flow, record);
            if (run_.recorder != nullptr) run_.recorder->change_rate(flow, now_s_, record.rate_bytes_per_s);
            ++result_.num_rates;
        });
    }

    PartResult take_result() {
        if (run_.recorder != nullptr) run_.recorder->stop(now_s_);
        result_.completed = num_flows_ == 0;
        result_.simulated_s = now_s_;
        const auto finish_s = [this](std::int32_t source) -> double& { return run_.finish_s[rank_of(source).at()]; };
        for (std::size_t s = 0; s < sources_.size(); ++s) finish_s(static_cast<std::int32_t>(s)) = sources_[s].finish_s;
        for (std::int32_t flow = 0; flow < model_.flows().size() && !result_.completed; ++flow)
            if (model_.flows()[flow].num_capacities > 0)
                finish_s(source_of(flow)) = std::numeric_limits<double>::quiet_NaN();
        return result_;
    }

    const double begin_s_ = real_time_s();
    const TrafficRun& run_;
    const Part& part_;
    ThreadProgress& progress_;
    const Traffic& traffic_;
    const std::int32_t in_flight_;
    Paths paths_;
    Model model_;
    Calendar calendar_;
    std::vector<Source, base::BigAllocator<Source>> sources_;
    std::vector<double> latency_s_;  // [flow] of its route; empty if there is none
    std::vector<Ahead> ahead_;
    std::array<std::size_t, 256> ahead_of_{};  // [flow, without the bits above] in ahead_; of two flows, the later one
    std::vector<std::int32_t> ahead_paths_;
    Paths::Delays delays_;  // of the route found last, for a model that needs them
    double now_s_ = 0;
    std::int64_t num_flows_ = 0;
    const bool looks_at_links_;  // of every message
    PartResult result_;
};

}  // namespace hocket::simulation
