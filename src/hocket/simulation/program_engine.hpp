// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "hocket/simulation/events/event_queue.hpp"
#include "hocket/simulation/events/rounded_time.hpp"
#include "hocket/simulation/make_sharing.hpp"
#include "hocket/simulation/matching.hpp"
#include "hocket/simulation/message_state.hpp"
#include "hocket/simulation/options.hpp"
#include "hocket/simulation/pair_queues.hpp"
#include "hocket/simulation/processors.hpp"
#include "hocket/simulation/progress.hpp"
#include "hocket/simulation/record/flow_recorder.hpp"
#include "hocket/simulation/sharing/token_buckets.hpp"
#include "hocket/simulation/timeline.hpp"
#include "hocket/simulation/transport.hpp"

namespace hocket::simulation {
// Unnamed, and one instance in a file (simulate.cpp, simulate_by_transport.cpp): so the compiler knows that each member
// is called from this file alone and inlines those called once. With two instances in one file bcast was 9 % slower.
namespace {

/// Runs a program once, by a transport: StaticRoutes, or Transport& where messages may wait for it. Everything that
/// happens at one instant happens before rates are looked at again. `Work` has the ops and messages: WholeWork of a
/// Program, StreamedWork of ops that come as time passes.
template <class Work, class AnyTransport>
class ProgramEngine {
public:
    ProgramEngine(Work& work, const Network& network, const SimulationOptions& options, AnyTransport& transport)
        : work_(work),
          network_(network),
          options_(options),
          costs_(*options.costs),
          pairs_(work.num_pairs(), work.num_messages()),
          processors_(work.num_ranks(), costs_.cores, costs_.wake_s, options.start_s),
          has_windows_(costs_.sharing == Sharing::reserve && has_latencies(network)),
          sharing_(make_sharing(costs_.sharing, capacities_of(network, costs_.link_efficiency), options.reference,
                                has_windows_, [this] { return goes_on(); })),
          recorder_(network, options, has_windows_),
          transport_(transport) {
        if (costs_.burst_bytes > 0 || costs_.burst_s > 0) buckets_.emplace(network, costs_);
        timeline_.link_bytes.assign(network.links().size(), 0);
    }

    Timeline run() {
        const std::vector<double>& start_s = options_.start_s;
        work_.begin([&](std::int32_t op) {
            const auto rank = static_cast<std::size_t>(work_.rank_of(op));
            at(rank < start_s.size() ? start_s[rank] : 0, EventKind::ready, op);
        });
        while (true) {
            run_instant();
            update_rates();
            double next_s = std::min(sharing_->next_event_s(), transport_.next_event_s());
            if (!events_.empty()) next_s = std::min(next_s, events_.top().time_s);
            if (!flow_queue_.empty()) next_s = std::min(next_s, flow_queue_.top_time_s());
            if (!stopped_ && !std::isfinite(next_s)) {
                if (!transport_.relieve(now_s_)) break;
                continue;
            }
            timeline_.completed =
                !stopped_ && periodic_progress_.goes_on(num_done_ + num_rates_, [this] { return progress(); });
            if (!timeline_.completed) return take_timeline();
            now_s_ = next_s;
        }
        return take_timeline();
    }

private:
    struct Flow {
        std::int32_t message;
        std::int64_t sequence;
        double bytes_left;
        double rate;  ///< since since_s
        double since_s;
        std::vector<LinkId> links;  ///< the memory of these serves the next flow of this number
        std::vector<std::int32_t> capacities;
        std::vector<double> delays_s;  ///< [of capacities]
    };

    [[nodiscard]] const Message& message(std::int32_t m) const { return work_.message(m); }
    MessageState& state(std::int32_t m) { return work_.state(m); }

    void at_once(EventKind kind, std::int32_t subject) {
        instant_.push_back({now_s_, next_sequence_++, kind, subject});
    }
    void at(double time_s, EventKind kind, std::int32_t subject) {
        if (time_s > now_s_)
            events_.push({time_s, next_sequence_++, kind, subject});
        else
            at_once(kind, subject);
    }

    void run_instant() {
        do run_events();
        while (wake_messages());
    }

    /// What was scheduled for now runs by sequence number, with flows that end a rounding error later; then its
    /// consequences.
    void run_events() {
        while (true) {
            const bool event_due = !events_.empty() && events_.top().time_s <= now_s_;
            const bool flow_due = !flow_queue_.empty() && flow_queue_.top_time_s() <= end_of_instant(now_s_);
            if (!event_due && !flow_due) break;
            if (event_due && (!flow_due || events_.top().sequence < flow_queue_.top_sequence())) {
                const Event event = events_.top();
                events_.pop();
                handle(event);
            } else {
                finish_flow(flow_queue_.top());
            }
        }
        for (std::size_t next = 0; next < instant_.size(); ++next) handle(Event{instant_[next]});
        instant_.clear();
    }

    /// Asks the transport again for the messages that it names; whether it had anything to do.
    bool wake_messages() {
        if (transport_.next_event_s() > now_s_) return false;
        woken_.clear();
        transport_.update(now_s_, woken_);
        for (const std::int32_t m : woken_) at_once(EventKind::released, m);
        return true;
    }

    void handle(const Event& event) {
        switch (event.kind) {
            case EventKind::ready:
                ready(event.subject);
                break;
            case EventKind::done:
                done(event.subject);
                break;
            case EventKind::injected:
                enqueue(event.subject);
                break;
            case EventKind::released:
                start_flow(event.subject);
                break;
            case EventKind::transmitted:
                transmitted(event.subject);
                break;
            case EventKind::delivered:
                delivered(event.subject);
                break;
        }
    }

    /// Takes the processor of the op's rank; returns when it has done `seconds` of work.
    double occupy_processor(std::int32_t op, double seconds) {
        if (!(seconds > 0)) return now_s_;
        const auto taken = processors_.take(work_.rank_of(op), seconds, now_s_);
        if (work_.op(op).kind != ProgramOpKind::recv) work_.starts(op, taken.start_s);
        return taken.end_s;
    }
    /// Of one end of a message, which costs `overhead_s` if it leaves the host.
    [[nodiscard]] double processing_s(double overhead_s, std::int32_t m) const {
        if (costs_.host_overhead_s) {
            const auto& [source, target] = work_.ends(m);
            if (network_.host_of(source) == network_.host_of(target)) overhead_s = *costs_.host_overhead_s;
        }
        return overhead_s + static_cast<double>(message(m).bytes) / costs_.copy_bytes_per_s;
    }

    void ready(std::int32_t op) {
        work_.starts(op, now_s_);
        const ProgramOp& what = work_.op(op);
        const std::int32_t m = work_.message_of(op);
        double seconds = what.seconds;
        switch (what.kind) {
            case ProgramOpKind::send:
                seconds = processing_s(costs_.send_overhead_s, m);
                if (seconds > 0)
                    at(occupy_processor(op, seconds), EventKind::injected, m);
                else
                    enqueue(m);
                return;
            case ProgramOpKind::recv:
                state(m).posted = true;
                if (state(m).delivered) take(m);
                return;
            case ProgramOpKind::reduce:
                seconds = static_cast<double>(what.bytes) / costs_.reduce_bytes_per_s;
                break;
            case ProgramOpKind::compute:
            case ProgramOpKind::connect:  // refused before
            case ProgramOpKind::disconnect:
                break;
        }
        ++timeline_.num_events;
        at(occupy_processor(op, seconds), EventKind::done, op);
    }

    void done(std::int32_t op) {
        ++num_done_;
        work_.done(op, now_s_, [this](std::int32_t next) { at_once(EventKind::ready, next); });
    }

    void enqueue(std::int32_t m) {
        if constexpr (Work::grows) pairs_.make_room(work_.num_pairs(), work_.num_messages());
        if (!options_.ordered_pairs || pairs_.enter(message(m).pair, m)) start_flow(m);
    }

    [[nodiscard]] TransportMessage for_transport(std::int32_t m) const {
        const auto& [source, target] = work_.ends(m);
        return {m, source, target, work_.place_of_send(m), message(m).bytes};
    }

    /// Of links_: fills capacities_, the finite ones, and delays_s_.
    void find_capacities(std::int32_t m) {
        capacities_.clear();
        delays_s_.clear();
        state(m).latency_s = 0;
        for (const LinkId l : links_) {
            const Link& link = network_.link(l);
            state(m).latency_s += link.latency_s;
            if (!std::isfinite(link.bandwidth_bytes_per_s)) continue;
            capacities_.push_back(link.capacity);
            if (has_windows_) delays_s_.push_back(state(m).latency_s);
        }
    }

    void start_flow(std::int32_t m) {
        links_.clear();
        if (!transport_.begin(for_transport(m), now_s_, links_)) return;
        find_capacities(m);
        auto bytes = static_cast<double>(message(m).bytes);
        for (const LinkId l : links_) timeline_.link_bytes[l.at()] += bytes;
        const double at_once_bytes = capacities_.empty() ? bytes
                                     : buckets_          ? buckets_->take(capacities_, bytes, now_s_)
                                                         : 0;
        recorder_.pass_at_once(links_, now_s_, at_once_bytes);
        bytes -= at_once_bytes;
        if (!(bytes > 0)) {
            at_once(EventKind::transmitted, m);
            return;
        }
        std::int32_t f = static_cast<std::int32_t>(flows_.size());
        if (free_flows_.empty()) {
            flows_.emplace_back();
        } else {
            f = free_flows_.back();
            free_flows_.pop_back();
        }
        Flow& flow = flows_[static_cast<std::size_t>(f)];
        flow.message = m;
        flow.sequence = next_sequence_++;
        flow.bytes_left = bytes;
        flow.rate = 0;
        flow.since_s = now_s_;
        std::swap(flow.links, links_);
        std::swap(flow.capacities, capacities_);
        std::swap(flow.delays_s, delays_s_);
        if (buckets_) buckets_->hold(flow.capacities);
        sharing_->add(f, {flow.capacities, flow.delays_s, bytes});
    }

    void finish_flow(std::int32_t f) {
        Flow& flow = flows_[static_cast<std::size_t>(f)];
        record(flow, 0);
        flow.rate = 0;
        flow_queue_.pop();
        sharing_->remove(f);
        if (buckets_) buckets_->release(flow.capacities, now_s_);
        free_flows_.push_back(f);
        transmitted(flow.message);
    }

    void update_rates() {
        sharing_->update(now_s_, [this](std::int32_t f, double rate) {
            Flow& flow = flows_[static_cast<std::size_t>(f)];
            ++num_rates_;
            if (!(rate < flow.rate) && !(flow.rate < rate)) return;  // keeps its finish time to the last bit
            record(flow, rate);
            flow.bytes_left = std::max(0.0, flow.bytes_left - flow.rate * (now_s_ - flow.since_s));
            flow.rate = rate;
            flow.since_s = now_s_;
            flow_queue_.set(f, now_s_ + flow.bytes_left / rate, flow.sequence);
        });
    }

    [[nodiscard]] SimulationProgress progress() const { return {num_done_, work_.num_total(num_done_), now_s_}; }
    bool goes_on() { return !(stopped_ = options_.on_progress && !options_.on_progress(progress())); }

    void record(const Flow& flow, double rate) { recorder_.change(flow.links, flow.since_s, now_s_, flow.rate, rate); }

    void transmitted(std::int32_t m) {
        const bool is_at_target = transport_.end(for_transport(m), now_s_);
        const bool leaves_source = !state(m).forwarded;
        if (leaves_source) at_once(EventKind::done, message(m).send);
        if (is_at_target)
            at(now_s_ + state(m).latency_s, EventKind::delivered, m);
        else
            state(m).forwarded = true;
        if (!options_.ordered_pairs || !leaves_source) return;
        const std::int32_t next = pairs_.leave(message(m).pair);
        if (next != PairQueues::none) at_once(EventKind::released, next);
    }

    void delivered(std::int32_t m) {
        state(m).delivered = true;
        if (state(m).posted) take(m);
    }

    void take(std::int32_t m) {
        ++timeline_.num_events;
        const std::int32_t op = message(m).recv;
        at(occupy_processor(op, processing_s(costs_.receive_overhead_s, m)), EventKind::done, op);
    }

    Timeline take_timeline() {
        timeline_.makespan_s = timeline_.completed ? 0 : now_s_;
        work_.take(timeline_);
        for (const double finish_s : timeline_.finish_s)
            if (!std::isnan(finish_s)) timeline_.makespan_s = std::max(timeline_.makespan_s, finish_s);
        for (const Flow& flow : flows_) recorder_.count(flow.links, flow.since_s, now_s_, flow.rate);  // if stopped
        recorder_.take(now_s_, timeline_);
        return std::move(timeline_);
    }

    Work& work_;
    const Network& network_;
    const SimulationOptions& options_;
    const CostParameters& costs_;
    PairQueues pairs_;
    Processors processors_;
    bool has_windows_;  // flows are on each link at another time
    std::unique_ptr<SharingModel> sharing_;
    FlowRecorder recorder_;
    AnyTransport transport_;

    double now_s_ = 0;
    std::int64_t next_sequence_ = 0;
    std::int64_t num_done_ = 0;
    std::int64_t num_rates_ = 0;
    bool stopped_ = false;
    PeriodicProgress periodic_progress_{options_.on_progress, std::int64_t{1} << 15U};
    EventQueue events_;           // later than now
    std::vector<Event> instant_;  // now, in order
    FlowQueue flow_queue_;
    std::vector<Flow> flows_;
    std::vector<std::int32_t> free_flows_, woken_;
    std::vector<LinkId> links_;             // of the message that began last
    std::vector<std::int32_t> capacities_;  // and the finite ones among its capacities
    std::vector<double> delays_s_;          // and, with windows, their delays
    std::optional<TokenBuckets> buckets_;
    Timeline timeline_;
};

}  // namespace
}  // namespace hocket::simulation
