// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// hocket-overlap: a program that starts collectives, computes, and waits for them, in each of several ways in turns;
// also each way of communication alone, and the computation alone. Checks that all ways leave the data of the MPI's own
// collective, and prints one JSON object on rank 0.

#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/common_start.hpp"
#include "common/errors.hpp"
#include "hocket/base/json_writer.hpp"
#include "probes/measuring.hpp"
#include "probes/overlap_compute.hpp"
#include "probes/overlap_engines.hpp"
#include "probes/overlap_options.hpp"
#include "probes/overlap_transport.hpp"
#include "probes/workload.hpp"

namespace {

using namespace hocket;
using probes::Carrier, probes::Mode, probes::OverlapOptions;
using probes::require, probes::wait_aside;

constexpr int min_repetitions = 3;
constexpr int calibrating_calls = 5;
constexpr int most_starts = 4;
constexpr int most_trials = 200;  // of what finds out how to communicate
constexpr long settle_ns = 1'000'000;

/// Of one run of the program, in seconds.
struct Times {
    std::vector<double> whole;    ///< from the common start until the last rank was done
    std::vector<double> compute;  ///< within the computation, tests included; mean over the ranks
    std::vector<double> cpu;      ///< of all threads of a rank; mean over the ranks
};

double cpu_s() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

class Bench {
public:
    Bench(const OverlapOptions& options, MPI_Comm comm, bool threads)
        : options_(options), comm_(comm), compute_(probes::make_compute(options.compute)), start_(comm) {
        int rank = 0, ranks = 0;
        PMPI_Comm_rank(comm, &rank);
        PMPI_Comm_size(comm, &ranks);
        const runtime::Role role{options.collective, ranks, Rank{0}, Rank{rank}, 1};
        for (int i = 0; i < options.in_flight; ++i) {
            workloads_.emplace_back(role, options.bytes, static_cast<std::uint32_t>(1 + i * ranks));
        }
        for (const Mode& mode : options.modes) {
            if (mode.carrier.has_thread() && !threads) continue;
            modes_.push_back({mode, &carrier(mode.carrier), {}});
        }
    }

    /// Checks, calibrates and measures.
    void run() {
        probes::Transport& native = *carrier({Carrier::Operation::blocking}).transport;
        expected_ = received_by([&] { native.wait(); });
        std::vector<double> native_s;
        for (int i = 0; i < calibrating_calls; ++i)
            native_s.push_back(measure(&native, Mode::Order::overlap, false).whole);
        const double target_s = options_.ratio * median(native_s);
        compute_->set(target_s, comm_);
        for (Timed& mode : modes_) {
            check(mode);
            for (int i = 0; i < most_trials && !mode.known->transport->is_settled(); ++i)
                measure(mode.known->transport.get(), mode.mode.order, true);
        }

        std::vector<std::function<void()>> turns{
            [this] { add(compute_alone_, measure(nullptr, Mode::Order::overlap, true)); }};
        for (auto& known : carriers_) {
            turns.emplace_back(
                [this, &known] { add(known->alone, measure(known->transport.get(), Mode::Order::overlap, false)); });
        }
        for (Timed& mode : modes_) {
            turns.emplace_back(
                [this, &mode] { add(mode.times, measure(mode.known->transport.get(), mode.mode.order, true)); });
        }
        const double begin_s = now_s();
        std::minstd_rand random;
        for (int i = 0; i < options_.repetitions; ++i) {
            if (!goes_on(now_s() - begin_s < options_.seconds || i < min_repetitions)) break;
            // What runs before leaves its mark on queues and caches. std::shuffle differs between libraries, and so
            // between hosts.
            for (std::size_t k = turns.size(); k > 1; --k) std::swap(turns[k - 1], turns[random() % k]);
            for (const auto& turn : turns) turn();
        }
    }

    void write(base::JsonWriter& json) const;

private:
    struct KnownCarrier {
        Carrier carrier;
        std::unique_ptr<probes::Transport> transport;
        Times alone;
    };
    struct Timed {
        Mode mode;
        KnownCarrier* known;
        Times times;
    };
    struct Sample {
        double whole, compute, cpu;
    };

    KnownCarrier& carrier(const Carrier& wanted) {
        for (auto& known : carriers_) {
            if (known->carrier == wanted) return *known;
        }
        auto transport =
            wanted.engine[0] == '\0'
                ? probes::make_mpi_transport(wanted.operation == Carrier::Operation::blocking, workloads_, comm_)
                : engines_.make_transport(wanted, workloads_, options_, comm_);
        carriers_.push_back(std::make_unique<KnownCarrier>(KnownCarrier{wanted, std::move(transport), {}}));
        return *carriers_.back();
    }

    /// The program of the benchmark. Returns the seconds within the computation.
    double program(probes::Transport* transport, Mode::Order order, bool computes) {
        if (transport != nullptr) transport->start();
        if (transport != nullptr && order == Mode::Order::wait_first) transport->wait();
        double compute_s = 0;
        if (computes) {
            const double begin_s = now_s();
            if (transport != nullptr && order == Mode::Order::overlap_test) {
                compute_->run([transport] { transport->test(); });
            } else {
                compute_->run([] {});
            }
            compute_s = now_s() - begin_s;
        }
        if (transport != nullptr && order != Mode::Order::wait_first) transport->wait();
        return compute_s;
    }

    /// One run from a common start; again if a rank has missed the start, but not for ever.
    Sample measure(probes::Transport* transport, Mode::Order order, bool computes) {
        int ranks = 0;
        PMPI_Comm_size(comm_, &ranks);
        const timespec nap{0, settle_ns};
        for (int i = 1;; ++i) {
            clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr);
            const double begin_s = start_.wait(), cpu_begin_s = cpu_s();
            const double compute_s = program(transport, order, computes);
            const double took_s = now_s() - begin_s;
            double mine[2] = {compute_s, cpu_s() - cpu_begin_s}, sum[2] = {};
            const auto [longest_s, together] = start_.time(took_s);
            MPI_Request request = MPI_REQUEST_NULL;
            require(PMPI_Iallreduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, comm_, &request), "MPI_Iallreduce");
            wait_aside(request);
            if (together || i == most_starts) return {longest_s, sum[0] / ranks, sum[1] / ranks};
        }
    }

    static void add(Times& times, const Sample& sample) {
        times.whole.push_back(sample.whole);
        times.compute.push_back(sample.compute);
        times.cpu.push_back(sample.cpu);
    }

    std::vector<std::vector<char>> received_by(const std::function<void()>& communicate) {
        for (auto& workload : workloads_) workload.refill();
        communicate();
        std::vector<std::vector<char>> received;
        for (const auto& workload : workloads_) received.push_back(workload.received());
        return received;
    }

    /// @throws Error  on the ranks that have other data than the MPI's own collective leaves
    void check(Timed& mode) {
        const auto received = received_by([&] { program(mode.known->transport.get(), mode.mode.order, true); });
        if (received != expected_) {
            throw Error(std::string(mode.mode.name) + " left data that differ from those of the MPI's own collective");
        }
    }

    /// What rank 0 decides.
    bool goes_on(bool go_on) {
        int word = go_on ? 1 : 0;
        require(PMPI_Bcast(&word, 1, MPI_INT, 0, comm_), "MPI_Bcast");
        return word != 0;
    }

    const OverlapOptions& options_;
    MPI_Comm comm_;
    std::unique_ptr<probes::Compute> compute_;
    std::vector<probes::Workload> workloads_;
    std::vector<std::vector<char>> expected_;
    CommonStart start_;
    probes::Engines engines_;
    std::vector<std::unique_ptr<KnownCarrier>> carriers_;
    std::vector<Timed> modes_;
    Times compute_alone_;
};

void write_fields(base::JsonWriter& json, const Times& times) {
    json.field("time_s", times.whole);
    json.field("compute_s", times.compute);
    json.field("cpu_s", times.cpu);
}

void write_object(base::JsonWriter& json, const Times& times) {
    json.begin_object();
    write_fields(json, times);
    json.end_object();
}

void Bench::write(base::JsonWriter& json) const {
    json.field("outer_iterations", compute_->num_iterations());
    write_object(json.key("compute"), compute_alone_);
    json.key("communication").begin_object(base::JsonWriter::Layout::lines);
    for (const auto& known : carriers_) write_object(json.key(known->carrier.name()), known->alone);
    json.end_object();
    json.key("modes").begin_list(base::JsonWriter::Layout::lines);
    for (const auto& mode : modes_) {
        json.begin_object();
        json.field("mode", mode.mode.name);
        json.field("communication", mode.known->carrier.name());
        write_fields(json, mode.times);
        const std::string report = mode.known->transport->report();
        if (!report.empty()) json.key("selection").raw(report);
        json.end_object();
    }
    json.end_list();
}

int run(int argc, char** argv, int rank, bool threads) {
    const OverlapOptions options = probes::read_overlap_options(argc, argv);
    const int compute_threads = probes::num_compute_threads();
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    Bench bench(options, MPI_COMM_WORLD, threads);
    bench.run();
    if (rank != 0) return 0;
    int ranks = 0, length = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    PMPI_Get_library_version(version, &length);
    base::JsonWriter json;
    json.begin_object();
    json.field("format", "hocket.overlap-times/1");
    json.field("mpi", std::string_view(version, strcspn(version, "\n")));
    json.field("ranks", ranks);
    json.field("compute_threads", compute_threads);
    json.field("thread_multiple", threads);
    bench.write(json);
    json.end_object();
    std::puts(json.text().c_str());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
        std::fputs(probes::overlap_usage, stdout);
        return 0;
    }
    // The engines with a thread need it; all modes run with it, so that they can be compared.
    int provided = MPI_THREAD_SINGLE;
    if (PMPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) return 1;
    const int status =
        run_reporting_errors([&](int rank) { return run(argc, argv, rank, provided >= MPI_THREAD_MULTIPLE); });
    PMPI_Finalize();
    return status;
}
