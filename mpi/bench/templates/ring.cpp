// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// A pattern for hocket-bench: each rank sends a message to the next one and receives one from the one before.

#include <mpi.h>

#include <array>
#include <cstddef>
#include <exception>
#include <vector>

#include "hocket_bench.h"

namespace {

class Pattern {
public:
    explicit Pattern(const hocket_bench_setting& setting)
        : setting_(setting),
          comm_(MPI_Comm_f2c(setting.comm)),
          next_((setting.rank + 1) % setting.ranks),
          before_((setting.rank + setting.ranks - 1) % setting.ranks),
          sent_(static_cast<std::size_t>(setting.bytes)),
          received_(sent_.size()) {}

    /// Before a run that is checked: other data with each seed, and nothing right in what is received.
    int32_t prepare(uint64_t seed) {
        seed_ = seed;
        for (std::size_t j = 0; j < sent_.size(); ++j) {
            sent_[j] = byte_of(setting_.rank, j);
            received_[j] = static_cast<unsigned char>(~byte_of(before_, j));
        }
        return HOCKET_BENCH_OK;
    }

    /// What is measured.
    int32_t run() {
        const int count = static_cast<int>(sent_.size());
        std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        if (MPI_Irecv(received_.data(), count, MPI_BYTE, before_, 0, comm_, &requests[0]) != MPI_SUCCESS ||
            MPI_Isend(sent_.data(), count, MPI_BYTE, next_, 0, comm_, &requests[1]) != MPI_SUCCESS ||
            MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
            setting_.report("an MPI function failed");
            return HOCKET_BENCH_ERROR;
        }
        return HOCKET_BENCH_OK;
    }

    /// After a run that is checked.
    int32_t verify() const {
        for (std::size_t j = 0; j < received_.size(); ++j) {
            if (received_[j] == byte_of(before_, j)) continue;
            setting_.report("a message has arrived with other data");
            return HOCKET_BENCH_WRONG_DATA;
        }
        return HOCKET_BENCH_OK;
    }

    int64_t bytes_moved() const { return static_cast<int64_t>(sent_.size()); }

private:
    /// Byte `j` of what `rank` sends.
    unsigned char byte_of(int rank, std::size_t j) const {
        return static_cast<unsigned char>(seed_ + 31 * static_cast<uint64_t>(rank) + 7 * j);
    }

    hocket_bench_setting setting_;
    MPI_Comm comm_;
    int next_, before_;
    std::vector<unsigned char> sent_, received_;
    uint64_t seed_ = 0;
};

Pattern& of(void* state) { return *static_cast<Pattern*>(state); }

int32_t setup(const hocket_bench_setting* setting, void** state) {
    try {
        *state = new Pattern(*setting);
    } catch (const std::exception& error) {
        setting->report(error.what());
        return HOCKET_BENCH_ERROR;
    }
    return HOCKET_BENCH_OK;
}

int32_t finish(void* state) {
    delete &of(state);
    return HOCKET_BENCH_OK;
}

}  // namespace

int32_t hocket_bench_plugin(hocket_bench_item* item) {
    if (item->struct_size < sizeof *item) return HOCKET_BENCH_UNSUPPORTED;
    item->name = "ring";
    item->what = "a message to the next rank";
    item->min_ranks = 2;
    item->is_batched = 1;
    item->setup = setup;
    item->prepare = [](void* state, uint64_t seed) { return of(state).prepare(seed); };
    item->run = [](void* state) { return of(state).run(); };
    item->verify = [](void* state) { return of(state).verify(); };
    item->finish = finish;
    item->bytes_moved = [](void* state) { return of(state).bytes_moved(); };
    return HOCKET_BENCH_OK;
}
