// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/reference/traffic.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <omp.h>

#include "hocket/simulation/events/rounded_time.hpp"
#include "hocket/simulation/paths.hpp"
#include "hocket/simulation/progress.hpp"
#include "hocket/simulation/reference/sharing.hpp"
#include "hocket/simulation/reference/spin_barrier.hpp"

namespace hocket::simulation {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

std::vector<double> bandwidths_of(const network::Fabric& fabric) {
    std::vector<double> bandwidths;
    for (std::int32_t c = 0; c < fabric.num_capacities(); ++c) bandwidths.push_back(fabric.bandwidth_bytes_per_s(c));
    return bandwidths;
}

/// Sources and capacities are divided among the threads in equal ranges. What threads combine, numbers of flows and the
/// earliest of times, is exact in any order: the result does not depend on their number.
class Steps {
public:
    Steps(const Traffic& traffic, const network::Fabric& fabric, const TrafficOptions& options)
        : traffic_(traffic),
          fabric_(fabric),
          options_(options),
          bandwidths_(bandwidths_of(fabric)),
          model_(options.sharing == Sharing::equal
                     ? nullptr
                     : make_reference(options.sharing, bandwidths_, [this] { return report_progress(); })),
          flows_(static_cast<std::size_t>(traffic.num_sources() * options.in_flight)),
          next_message_(static_cast<std::size_t>(traffic.num_sources()), 0),
          counts_(bandwidths_.size(), 0),
          shares_(bandwidths_.size(), 0),
          threads_(static_cast<std::size_t>(options.num_threads), Thread{Paths(fabric)}) {
        result_.finish_s.assign(static_cast<std::size_t>(traffic.num_sources()), 0);
        num_total_ = total_messages(traffic);
        result_.setup_s = real_time_s() - begin_s_;
    }

    TrafficResult run() {
#pragma omp parallel num_threads(options_.num_threads)
        {
#pragma omp single
            {
                num_threads_ = static_cast<std::size_t>(omp_get_num_threads());  // may be fewer than asked for
                barrier_.emplace(omp_get_num_threads());
            }
            work(static_cast<std::size_t>(omp_get_thread_num()));
        }
        if (failure_) std::rethrow_exception(failure_);
        return take_result();
    }

private:
    enum class State : std::uint8_t { waits, moves, idle };  ///< for a message; carries one; there are no more
    struct Flow {
        State state = State::waits;
        double bytes_left = 0;
        double rate_bytes_per_s = 0;
        double end_s = 0;
        double latency_s = 0;
        std::vector<std::int32_t> path;
        Paths::Delays delays;  // for the model
    };
    struct alignas(64) Thread {
        Paths paths;
        double next_end_s = never;
        std::int64_t num_messages = 0, num_rates = 0;
    };
    struct Range {
        std::size_t begin, end;
    };

    /// This thread's part of 0 .. size - 1.
    [[nodiscard]] Range part(std::size_t size, std::size_t thread) const {
        return {size * thread / num_threads_, size * (thread + 1) / num_threads_};
    }

    /// The steps of [Suzuki, sec. 2.2.2]; those that need nothing of each other have no barrier between.
    void work(std::size_t thread) {
        Thread& own = threads_[thread];
        const Range links = part(bandwidths_.size(), thread), sources = part(next_message_.size(), thread);
        const auto in_flight = static_cast<std::size_t>(options_.in_flight);
        const Range flows{sources.begin * in_flight, sources.end * in_flight};
        for (double now_s = 0;;) {
            if (!model_)
                guarded([&] { start_messages(flows, now_s, own); });
            else if (thread == 0)
                guarded([&] { start_messages({0, flows_.size()}, now_s, own); });
            for (std::size_t c = links.begin; c < links.end; ++c) counts_[c] = 0;
            barrier_->wait();
            if (!model_) {
                count(flows);
                barrier_->wait();
                for (std::size_t c = links.begin; c < links.end; ++c) shares_[c] = bandwidths_[c] / counts_[c];
            } else if (thread == 0) {
                guarded([&] { model_->update(now_s, [](std::int32_t, double) {}); });
            }
            barrier_->wait();
            find_ends(flows, now_s, own);
            if (thread == 0) guarded([&] { stops_ = stops_ || has_failed_ || !goes_on(); });
            barrier_->wait();
            double next_s = never;
            for (std::size_t t = 0; t < num_threads_; ++t) next_s = std::min(next_s, threads_[t].next_end_s);
            if (model_) next_s = std::min(next_s, model_->next_event_s());
            if (stops_ || !(next_s < never)) return;
            advance(flows, next_s - now_s, next_s, own);
            now_s = next_s;
            if (thread == 0) result_.simulated_s = now_s;
            if (model_) barrier_->wait();  // before one thread starts the messages of all
        }
    }

    /// Gives the next message of its source to each of the flows that wait for one.
    void start_messages(const Range& flows, double now_s, Thread& own) {
        for (std::size_t f = flows.begin; f < flows.end; ++f) {
            Flow& flow = flows_[f];
            if (flow.state != State::waits) continue;
            if (model_ && !flow.path.empty()) model_->remove(static_cast<std::int32_t>(f));
            flow.path.clear();
            flow.state = State::idle;
            const Rank source{source_of(f)};
            for (std::int64_t& number = next_message_[source.at()]; number < traffic_.num_messages(source);) {
                const Traffic::Message message = traffic_.message(source, number++);
                const std::span<const std::int32_t> path = own.paths.find(source, message.target);
                flow.latency_s = own.paths.latency_s();
                if (message.bytes == 0 || path.empty()) {
                    end(f, now_s, own);
                    continue;
                }
                flow.path.assign(path.begin(), path.end());
                flow.bytes_left = static_cast<double>(message.bytes);
                flow.rate_bytes_per_s = 0;
                flow.state = State::moves;
                if (model_) {
                    own.paths.find_delays(flow.delays);
                    model_->add(static_cast<std::int32_t>(f),
                                {flow.path, flow.delays.of_capacities_s, flow.bytes_left});
                }
                break;
            }
        }
    }

    /// The last byte leaves.
    void end(std::size_t f, double now_s, Thread& own) {
        double& finish_s = result_.finish_s[static_cast<std::size_t>(source_of(f))];
        finish_s = std::max(finish_s, now_s + flows_[f].latency_s);
        ++own.num_messages;
    }

    void count(const Range& flows) {
        for (std::size_t f = flows.begin; f < flows.end; ++f) {
            for (const std::int32_t c : flows_[f].path) {
                std::int32_t& count = counts_[static_cast<std::size_t>(c)];
                if (num_threads_ == 1)
                    ++count;
                else
                    std::atomic_ref(count).fetch_add(1, std::memory_order_relaxed);
            }
        }
    }

    void find_ends(const Range& flows, double now_s, Thread& own) {
        own.next_end_s = never;
        for (std::size_t f = flows.begin; f < flows.end; ++f) {
            Flow& flow = flows_[f];
            if (flow.state != State::moves) continue;
            double rate = never;
            if (model_) rate = model_->rate(static_cast<std::int32_t>(f));
            if (!model_)
                for (const std::int32_t c : flow.path) rate = std::min(rate, shares_[static_cast<std::size_t>(c)]);
            if (rate != flow.rate_bytes_per_s) ++own.num_rates;
            flow.rate_bytes_per_s = rate;
            flow.end_s = never;
            if (!(rate > 0)) continue;  // it waits for room
            flow.end_s = rounded_time(now_s + flow.bytes_left / rate);
            own.next_end_s = std::min(own.next_end_s, flow.end_s);
        }
    }

    void advance(const Range& flows, double step_s, double next_s, Thread& own) {
        for (std::size_t f = flows.begin; f < flows.end; ++f) {
            Flow& flow = flows_[f];
            if (flow.state != State::moves) continue;
            flow.bytes_left = std::max(0.0, flow.bytes_left - flow.rate_bytes_per_s * step_s);
            if (flow.end_s > end_of_instant(next_s)) continue;
            flow.state = State::waits;
            end(f, next_s, own);
        }
    }

    [[nodiscard]] bool goes_on() {
        work_ += static_cast<std::int64_t>(flows_.size());
        return periodic_progress_.goes_on(work_, [this] { return progress(); });
    }

    /// In the midst of a step that takes long; whether to go on.
    bool report_progress() {
        if (options_.on_progress && !options_.on_progress(progress())) stops_ = true;
        return !stops_;
    }

    [[nodiscard]] TrafficProgress progress() const {
        std::int64_t num_messages = 0;
        for (std::size_t t = 0; t < num_threads_; ++t) num_messages += threads_[t].num_messages;
        return {num_messages, num_total_, result_.simulated_s};
    }

    /// An exception must not leave a thread: it waits for the end of all.
    template <class Work>
    void guarded(Work&& work) {
        try {
            work();
        } catch (...) {
            const std::lock_guard lock(failure_mutex_);
            if (!failure_) failure_ = std::current_exception();
            has_failed_ = true;
        }
    }

    [[nodiscard]] std::int32_t source_of(std::size_t flow) const {
        return static_cast<std::int32_t>(flow / static_cast<std::size_t>(options_.in_flight));
    }

    TrafficResult take_result() {
        result_.num_threads = static_cast<std::int32_t>(num_threads_);
        for (const Thread& thread : threads_) {
            result_.num_messages += thread.num_messages;
            result_.num_rates += thread.num_rates;
        }
        for (std::size_t f = 0; f < flows_.size(); ++f) {
            if (flows_[f].state != State::moves) continue;
            result_.completed = false;
            result_.finish_s[static_cast<std::size_t>(source_of(f))] = std::numeric_limits<double>::quiet_NaN();
        }
        if (options_.record_links) add_link_bytes();
        return std::move(result_);
    }

    /// In the order of the messages, so that sums are the same for any number of threads.
    void add_link_bytes() {
        result_.link_bytes.assign(static_cast<std::size_t>(fabric_.num_links()), 0);
        std::vector<LinkId> links;
        for (std::int32_t s = 0; s < traffic_.num_sources(); ++s)
            for (std::int64_t i = 0; i < next_message_[static_cast<std::size_t>(s)]; ++i) {
                const Traffic::Message message = traffic_.message(Rank{s}, i);
                fabric_.route(Rank{s}, message.target, links);
                for (const LinkId l : links) result_.link_bytes[l.at()] += static_cast<double>(message.bytes);
            }
    }

    const double begin_s_ = real_time_s();
    const Traffic& traffic_;
    const network::Fabric& fabric_;
    const TrafficOptions& options_;
    std::vector<double> bandwidths_;
    std::unique_ptr<SharingModel> model_;  // none: the equal shares of counts_
    std::vector<Flow> flows_;              // [source * in_flight + k]
    std::vector<std::int64_t> next_message_;
    std::vector<std::int32_t> counts_;  // [capacity] flows that cross it
    std::vector<double> shares_;        // [capacity] bandwidth for each of them
    std::vector<Thread> threads_;
    std::size_t num_threads_ = 1;
    std::optional<SpinBarrier> barrier_;
    std::int64_t num_total_ = 0, work_ = 0;
    PeriodicProgress periodic_progress_{options_.on_progress, std::int64_t{1} << 22U};
    bool stops_ = false;
    std::atomic<bool> has_failed_ = false;
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
    TrafficResult result_;
};

}  // namespace

TrafficResult simulate_reference_traffic(const Traffic& traffic, const network::Fabric& fabric,
                                         const TrafficOptions& options) {
    return Steps(traffic, fabric, options).run();
}

}  // namespace hocket::simulation
