// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Writes the trace of a program that never ran: long_trace FOLDER RANKS CALLS makes a rank-*.bin for each rank, with
// CALLS calls of all ranks together, about. The ranks of a ring exchange halos with both neighbours without blocking,
// wait, and every tenth time take part in an allreduce, with some microseconds of computation between.

#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "hocket/base/random.hpp"
#include "hocket/trace/encode.hpp"
#include "hocket/trace/folder.hpp"
#include "hocket/trace/format.h"

using namespace hocket;

namespace {

enum Function : std::int32_t { init, irecv, isend, waitall, allreduce, finalize };

class Rank {
public:
    Rank(std::int32_t rank, std::int32_t num_ranks) : random_(static_cast<std::uint64_t>(rank)) {
        std::vector<std::int32_t> world(static_cast<std::size_t>(num_ranks));
        std::iota(world.begin(), world.end(), 0);
        file_.rank = rank;
        file_.num_ranks = num_ranks;
        file_.host = "nowhere";
        file_.end = HOCKET_TRACE_END_FINALIZE;
        file_.functions = {"MPI_Init", "MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce", "MPI_Finalize"};
        file_.communicators.push_back({-1, -1, false, rank, world, {}});
        file_.communicators.push_back({-1, -1, false, 0, {rank}, {}});
    }

    trace::RankFile run(std::int64_t steps) {
        const std::int32_t p = file_.num_ranks, left = (file_.rank + p - 1) % p, right = (file_.rank + 1) % p;
        call(init);
        for (std::int64_t step = 0; step < steps; ++step) {
            const std::uint64_t first = next_request_;
            begin(irecv, left, 0);
            begin(irecv, right, 1);
            begin(isend, right, 0);
            begin(isend, left, 1);
            trace::Call& wait = call(waitall);
            wait.completions = static_cast<std::int64_t>(file_.completions.size());
            wait.num_completions = 4;
            wait.request = first;
            file_.completions.push_back({first, left, 0, halo_bytes});
            file_.completions.push_back({first + 1, right, 1, halo_bytes});
            file_.completions.push_back({first + 2, -1, -1, -1});
            file_.completions.push_back({first + 3, -1, -1, -1});
            if (step % 10 != 9) continue;
            trace::Call& reduced = call(allreduce);
            reduced.communicator = 0;
            reduced.bytes = 8;
        }
        call(finalize);
        return std::move(file_);
    }

private:
    static constexpr std::int64_t halo_bytes = 8000;

    trace::Call& call(Function function) {
        trace::Call made{};
        made.enter_ns = clock_ns_ += function == irecv || function == isend ? 50 : 1000 + random_.below(2000);
        made.exit_ns = clock_ns_ += 100;
        made.enter_cpu_ns = made.exit_cpu_ns = -1;
        made.function = function;
        made.bytes = made.receive_bytes = made.root = made.peer = made.tag = made.receive_peer = made.receive_tag = -1;
        made.communicator = made.datatype = made.op = made.new_communicator = made.window = made.file = -1;
        made.blocks = made.completions = -1;
        made.calls = 1;
        return file_.calls.emplace_back(made);
    }
    void begin(Function function, std::int32_t peer, std::int32_t tag) {
        trace::Call& made = call(function);
        made.communicator = 0;
        made.peer = peer;
        made.tag = tag;
        made.bytes = halo_bytes;
        made.request = next_request_++;
    }

    base::Random random_;
    trace::RankFile file_;
    std::int64_t clock_ns_ = 0;
    std::uint64_t next_request_ = 1;
};

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 4) {
        std::fprintf(stderr, "usage: long_trace FOLDER RANKS CALLS\n");
        return 2;
    }
    const auto num_ranks = static_cast<std::int32_t>(std::stoi(argv[2]));
    const std::int64_t steps = std::stoll(argv[3]) * 10 / (51 * std::int64_t{num_ranks});
    long long bytes = 0;
    for (std::int32_t rank = 0; rank < num_ranks; ++rank) {
        const std::string text = trace::encode_rank_file(Rank(rank, num_ranks).run(steps));
        std::ofstream out(std::filesystem::path(argv[1]) / trace::rank_file_name(rank), std::ios::binary);
        out.write(text.data(), static_cast<std::streamsize>(text.size()));
        if (!out.flush()) throw std::runtime_error("cannot write into " + std::string(argv[1]));
        bytes += static_cast<long long>(text.size());
    }
    std::printf("%lld calls, %lld bytes\n", static_cast<long long>(num_ranks * (steps * 5 + steps / 10 + 2)), bytes);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
}
