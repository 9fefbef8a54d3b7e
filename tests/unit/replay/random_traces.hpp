// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "hocket/base/random.hpp"
#include "hocket/trace/format.h"
#include "hocket/trace/rank_file.hpp"

/// Random programs as their traces: what the ranks do together is drawn step by step, so that most of it matches.
class RandomTrace {
public:
    explicit RandomTrace(std::uint64_t seed) : random_(seed) {
        const auto num_ranks = static_cast<std::int32_t>(2 + random_.below(5));
        files_.resize(static_cast<std::size_t>(num_ranks));
        clocks_.resize(files_.size());
        next_request_.resize(files_.size(), 1);
        open_.resize(files_.size());
        persistent_.resize(files_.size());
        is_lossy_ = random_.below(4) == 0;
        std::vector<std::int32_t> world(files_.size()), odd;
        std::iota(world.begin(), world.end(), 0);
        for (const std::int32_t rank : world)
            if (rank % 2 == 1) odd.push_back(rank);
        for (const std::int32_t rank : world) {
            hocket::trace::RankFile& file = files_[static_cast<std::size_t>(rank)];
            file.rank = rank;
            file.num_ranks = num_ranks;
            file.end = HOCKET_TRACE_END_FINALIZE;
            file.communicators.push_back({-1, -1, false, rank, world, {}});
            file.communicators.push_back({-1, -1, false, 0, {rank}, {}});
            if (rank % 2 == 1) file.communicators.push_back({-1, 0, false, rank / 2, odd, {}});
            call(rank, "MPI_Init");
        }
        for (const std::int32_t rank : world) at(rank, call(rank, "MPI_Win_allocate")).window = 0;
        const std::int64_t steps = 1 + random_.below(60);
        for (std::int64_t i = 0; i < steps; ++i) step();
        for (const std::int32_t rank : world) wait_for_all(rank);
        for (const std::int32_t rank : world) call(rank, "MPI_Finalize");
    }
    [[nodiscard]] const std::vector<hocket::trace::RankFile>& files() const { return files_; }

private:
    using Call = hocket::trace::Call;
    struct Open {
        std::uint64_t request;
        hocket::trace::Completion status;
    };

    std::int32_t any_rank() {
        return static_cast<std::int32_t>(random_.below(static_cast<std::int64_t>(files_.size())));
    }
    std::int64_t any_size() {
        static constexpr std::int64_t sizes[] = {0, 8, 1000, 1000, 65536, 1000000};
        return sizes[random_.below(6)];
    }
    Call& at(std::int32_t rank, std::size_t row) { return files_[static_cast<std::size_t>(rank)].calls[row]; }

    /// A row for a call of MPI_COMM_WORLD, some ns after the last one; often as long for all ranks, so that ranks do
    /// things at one instant.
    std::size_t call(std::int32_t rank, const std::string& name) {
        hocket::trace::RankFile& file = files_[static_cast<std::size_t>(rank)];
        std::size_t function = 0;
        while (function < file.functions.size() && file.functions[function] != name) ++function;
        if (function == file.functions.size()) file.functions.push_back(name);
        Call made{};
        std::int64_t& clock = clocks_[static_cast<std::size_t>(rank)];
        clock += random_.below(3) == 0 ? 0 : 1000 * random_.below(3);
        made.enter_ns = clock;
        clock += 100 * random_.below(2);
        made.exit_ns = clock;
        made.enter_cpu_ns = made.exit_cpu_ns = -1;
        made.function = static_cast<std::int32_t>(function);
        made.bytes = made.receive_bytes = made.root = made.peer = made.tag = made.receive_peer = made.receive_tag = -1;
        made.datatype = made.op = made.new_communicator = made.window = made.file = -1;
        made.blocks = made.completions = -1;
        made.calls = 1;
        file.calls.push_back(made);
        return file.calls.size() - 1;
    }
    bool is_lost() { return is_lossy_ && random_.below(10) == 0; }

    void step() {
        switch (random_.below(8)) {
            case 0:
            case 1:
                return message(false);
            case 2:
                return message(true);
            case 3:
                return wait_for_all(any_rank());
            case 4:
                return collective();
            case 5:
                return one_sided();
            case 6:
                return persistent();
            default:
                return exchange();
        }
    }

    void message(bool nonblocking) {
        const std::int32_t from = any_rank(), to = any_rank();
        if (from == to && !nonblocking) return;
        const auto tag = static_cast<std::int32_t>(random_.below(2));
        const std::int64_t bytes = any_size();
        if (!is_lost()) {
            Call& sent = at(from, call(from, nonblocking ? "MPI_Isend" : "MPI_Send"));
            set(sent, to, tag, bytes);
            if (nonblocking) open(from, sent, {0, -1, -1, -1});
        }
        if (is_lost()) return;
        const bool receives_later = nonblocking || random_.below(2) == 0;
        Call& received = at(to, call(to, receives_later ? "MPI_Irecv" : "MPI_Recv"));
        set(received, from, tag, bytes);
        if (!receives_later) return;
        if (random_.below(2) == 0) received.peer = -2;
        if (random_.below(3) == 0) received.tag = -1;
        open(to, received, {0, from, tag, bytes});
    }
    static void set(Call& call, std::int32_t peer, std::int32_t tag, std::int64_t bytes) {
        call.communicator = 0;
        call.peer = peer;
        call.tag = tag;
        call.bytes = bytes;
    }
    void open(std::int32_t rank, Call& call, hocket::trace::Completion status) {
        call.request = status.request = next_request_[static_cast<std::size_t>(rank)]++;
        open_[static_cast<std::size_t>(rank)].push_back({call.request, status});
    }
    void wait_for_all(std::int32_t rank) {
        auto& open = open_[static_cast<std::size_t>(rank)];
        if (open.empty()) return;
        Call& wait = at(rank, call(rank, "MPI_Waitall"));
        auto& completions = files_[static_cast<std::size_t>(rank)].completions;
        wait.completions = static_cast<std::int64_t>(completions.size());
        wait.num_completions = static_cast<std::int64_t>(open.size());
        wait.request = open.front().request;
        for (const Open& one : open) completions.push_back(one.status);
        open.clear();
    }

    void collective() {
        const bool is_odd = files_.size() > 3 && random_.below(3) == 0;
        static const char* const names[] = {"MPI_Bcast",   "MPI_Allreduce", "MPI_Alltoall", "MPI_Barrier",
                                            "MPI_Reduce",  "MPI_Allgather", "MPI_Ibcast",   "MPI_Scan",
                                            "MPI_Gatherv", "MPI_Alltoallv"};
        const std::string name = names[random_.below(10)];
        const std::int64_t bytes = any_size();
        const auto size = static_cast<std::int64_t>(is_odd ? files_.size() / 2 : files_.size());
        const auto root = static_cast<std::int32_t>(random_.below(size));
        for (std::int32_t rank = is_odd ? 1 : 0; rank < static_cast<std::int32_t>(files_.size());
             rank += is_odd ? 2 : 1) {
            const std::size_t row = call(rank, name);
            Call& made = at(rank, row);
            made.communicator = is_odd ? 2 : 0;
            if (name != "MPI_Barrier") made.bytes = bytes;
            if (name == "MPI_Bcast" || name == "MPI_Ibcast" || name == "MPI_Reduce" || name == "MPI_Gatherv")
                made.root = root;
            if (name == "MPI_Ibcast") open(rank, made, {0, -1, -1, -1});
            if (name == "MPI_Alltoallv" || name == "MPI_Gatherv") {
                auto& blocks = files_[static_cast<std::size_t>(rank)].blocks;
                made.blocks = static_cast<std::int64_t>(blocks.size());
                const std::int64_t sent = name == "MPI_Alltoallv" ? size : 0;
                for (const std::int64_t count : {sent, size}) {
                    blocks.push_back(count);
                    blocks.insert(blocks.end(), static_cast<std::size_t>(count), bytes);
                }
            }
        }
    }

    void one_sided() {
        const std::int64_t puts = random_.below(4);
        static const char* const names[] = {"MPI_Put", "MPI_Get", "MPI_Accumulate"};
        for (std::int64_t i = 0; i < puts; ++i) {
            const std::int32_t rank = any_rank();
            Call& made = at(rank, call(rank, names[random_.below(3)]));
            made.window = 0;
            made.peer = any_rank();
            made.bytes = any_size();
        }
        for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(files_.size()); ++rank) {
            Call& fence = at(rank, call(rank, "MPI_Win_fence"));
            fence.window = 0;
        }
    }

    /// Of a pair of ranks that always exchange with the same requests.
    void persistent() {
        for (const std::int32_t rank : {0, 1}) {
            auto& requests = persistent_[static_cast<std::size_t>(rank)];
            if (requests.empty())
                for (const char* const name : {"MPI_Send_init", "MPI_Recv_init"}) {
                    Call& made = at(rank, call(rank, name));
                    set(made, 1 - rank, 7, 1000);
                    if (std::string(name) == "MPI_Recv_init") made.peer = -2;
                    made.request = next_request_[static_cast<std::size_t>(rank)]++;
                    made.flags = HOCKET_TRACE_PERSISTENT;
                    requests.push_back(made.request);
                }
            auto& completions = files_[static_cast<std::size_t>(rank)].completions;
            Call& start = at(rank, call(rank, "MPI_Startall"));
            start.completions = static_cast<std::int64_t>(completions.size());
            start.num_completions = 2;
            start.request = requests[0];
            for (const std::uint64_t request : requests) completions.push_back({request, -1, -1, -1});
            auto& open = open_[static_cast<std::size_t>(rank)];
            open.push_back({requests[0], {requests[0], -1, -1, -1}});
            open.push_back({requests[1], {requests[1], 1 - rank, 7, 1000}});
            wait_for_all(rank);
        }
    }

    void exchange() {
        const std::int32_t a = any_rank(), b = any_rank();
        if (a == b) return;
        const std::int64_t bytes = any_size();
        for (const auto& [rank, peer] : {std::pair(a, b), std::pair(b, a)}) {
            Call& made = at(rank, call(rank, "MPI_Sendrecv"));
            set(made, peer, 3, bytes);
            made.receive_peer = peer;
            made.receive_tag = 3;
            made.receive_bytes = bytes;
        }
    }

    hocket::base::Random random_;
    std::vector<hocket::trace::RankFile> files_;
    std::vector<std::int64_t> clocks_;
    std::vector<std::uint64_t> next_request_;
    std::vector<std::vector<Open>> open_;
    std::vector<std::vector<std::uint64_t>> persistent_;
    bool is_lossy_ = false;
};
