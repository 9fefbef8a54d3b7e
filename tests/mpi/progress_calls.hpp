// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Every non-blocking and persistent collective, with the blocking function as the oracle.

#pragma once

#include <mpi.h>

#include <cstddef>
#include <random>
#include <vector>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#else
#define HAS_PERSISTENT 0
#endif

enum Kind {
    barrier,
    bcast,
    reduce,
    allreduce,
    allgather,
    allgatherv,
    alltoall,
    alltoallv,
    alltoallw,
    reduce_scatter,
    reduce_scatter_block,
    scan,
    exscan,
    gather,
    gatherv,
    scatter,
    scatterv,
    num_kinds
};
enum Form { blocking, nonblocking, persistent };

/// A collective of ints on `comm`, all of whose ranks make it from the same random numbers.
class Collective {
public:
    Collective(Kind kind, MPI_Comm comm, std::mt19937& random, int max_block) : kind_(kind), comm_(comm) {
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &size_);
        const auto num = static_cast<std::size_t>(size_);
        block_ = static_cast<int>(random() % static_cast<unsigned>(max_block + 1));
        root_ = static_cast<int>(random() % static_cast<unsigned>(size_));
        in_place_ = random() % 4 == 0 && (kind == allreduce || kind == allgather || kind == alltoall);
        counts_.assign(num, block_);
        for (int& count : counts_) count -= static_cast<int>(random() % 2) * (block_ / 2);
        if (kind == alltoallv || kind == alltoallw) counts_.assign(num, block_);
        for (std::size_t i = 0; i < num; ++i) {
            places_.push_back(static_cast<int>(i) * block_);
            byte_places_.push_back(static_cast<int>(i) * block_ * static_cast<int>(sizeof(int)));
        }
        types_.assign(num, MPI_INT);
        send_.resize(num * static_cast<std::size_t>(block_));
        refill(static_cast<int>(random() % 1000));
    }
    Collective(Collective&&) = default;

    /// New contributions, and what the blocking function makes of them.
    void refill(int seed) {
        for (std::size_t i = 0; i < send_.size(); ++i) send_[i] = seed + 1000 * rank_ + static_cast<int>(i % 997);
        clear();
        call(blocking, nullptr);
        expected_ = recv_;
        clear();
    }
    int start(MPI_Request* request) { return call(nonblocking, request); }
    int make(MPI_Request* request) { return call(persistent, request); }
    [[nodiscard]] bool is_right() const { return recv_ == expected_; }
    [[nodiscard]] Kind kind() const { return kind_; }

private:
    void clear() {
        recv_.assign(send_.size(), -1);
        if (in_place_ || (kind_ == bcast && rank_ == root_)) recv_ = send_;
    }

    int call(Form form, MPI_Request* request) {
        const void* const from = in_place_ ? MPI_IN_PLACE : static_cast<const void*>(send_.data());
        const int own = counts_[static_cast<std::size_t>(rank_)];
        int *const s = send_.data(), *const r = recv_.data();
        const int* const counts = counts_.data();
        const int* const places = places_.data();
        const int* const bytes = byte_places_.data();
        const MPI_Datatype* const types = types_.data();
#if HAS_PERSISTENT
#define CALL(name, iname, ...)                                       \
    return form == blocking      ? MPI_##name(__VA_ARGS__)           \
           : form == nonblocking ? MPI_##iname(__VA_ARGS__, request) \
                                 : MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request)
#else
#define CALL(name, iname, ...) return form == blocking ? MPI_##name(__VA_ARGS__) : MPI_##iname(__VA_ARGS__, request)
#endif
        switch (kind_) {
            case barrier:
                CALL(Barrier, Ibarrier, comm_);
            case bcast:
                CALL(Bcast, Ibcast, r, block_, MPI_INT, root_, comm_);
            case reduce:
                CALL(Reduce, Ireduce, s, r, block_, MPI_INT, MPI_SUM, root_, comm_);
            case allreduce:
                CALL(Allreduce, Iallreduce, from, r, block_, MPI_INT, MPI_MAX, comm_);
            case allgather:
                CALL(Allgather, Iallgather, from, block_, MPI_INT, r, block_, MPI_INT, comm_);
            case allgatherv:
                CALL(Allgatherv, Iallgatherv, s, own, MPI_INT, r, counts, places, MPI_INT, comm_);
            case alltoall:
                CALL(Alltoall, Ialltoall, from, block_, MPI_INT, r, block_, MPI_INT, comm_);
            case alltoallv:
                CALL(Alltoallv, Ialltoallv, s, counts, places, MPI_INT, r, counts, places, MPI_INT, comm_);
            case alltoallw:
                CALL(Alltoallw, Ialltoallw, s, counts, bytes, types, r, counts, bytes, types, comm_);
            case reduce_scatter:
                CALL(Reduce_scatter, Ireduce_scatter, s, r, counts, MPI_INT, MPI_SUM, comm_);
            case reduce_scatter_block:
                CALL(Reduce_scatter_block, Ireduce_scatter_block, s, r, block_, MPI_INT, MPI_SUM, comm_);
            case scan:
                CALL(Scan, Iscan, s, r, block_, MPI_INT, MPI_SUM, comm_);
            case exscan:
                CALL(Exscan, Iexscan, s, r, block_, MPI_INT, MPI_SUM, comm_);
            case gather:
                CALL(Gather, Igather, s, block_, MPI_INT, r, block_, MPI_INT, root_, comm_);
            case gatherv:
                CALL(Gatherv, Igatherv, s, own, MPI_INT, r, counts, places, MPI_INT, root_, comm_);
            case scatter:
                CALL(Scatter, Iscatter, s, block_, MPI_INT, r, block_, MPI_INT, root_, comm_);
            case scatterv:
                CALL(Scatterv, Iscatterv, s, counts, places, MPI_INT, r, own, MPI_INT, root_, comm_);
            default:
                return MPI_ERR_OTHER;
        }
    }

    Kind kind_;
    MPI_Comm comm_;
    int rank_ = 0, size_ = 0, block_ = 0, root_ = 0;
    bool in_place_ = false;
    std::vector<int> counts_, places_, byte_places_;
    std::vector<MPI_Datatype> types_;
    std::vector<int> send_, recv_, expected_;
};

/// Completes all of `requests` (active, null or inactive ones too) by one of MPI's functions. Returns the number of
/// wrong answers.
inline int complete(std::vector<MPI_Request>& requests, unsigned way, std::mt19937& random) {
    const int num = static_cast<int>(requests.size());
    std::vector<int> indices(requests.size());
    std::vector<MPI_Status> statuses(requests.size());
    int flag = 0, index = 0, done = 0, wrong = 0;
    switch (way % 10) {
        case 0:
            return wrong + (MPI_Waitall(num, requests.data(), statuses.data()) != MPI_SUCCESS);
        case 1:
            return wrong + (MPI_Waitall(num, requests.data(), MPI_STATUSES_IGNORE) != MPI_SUCCESS);
        case 2: {
            std::vector<MPI_Request*> order;
            for (MPI_Request& request : requests) order.push_back(&request);
            std::shuffle(order.begin(), order.end(), random);
            for (MPI_Request* request : order) wrong += MPI_Wait(request, statuses.data()) != MPI_SUCCESS;
            return wrong;
        }
        case 3:
            for (MPI_Request& request : requests)
                for (flag = 0; flag == 0;) wrong += MPI_Test(&request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS;
            return wrong;
        case 4:
            for (int i = 0; i <= num; ++i) {
                wrong += MPI_Waitany(num, requests.data(), &index, statuses.data()) != MPI_SUCCESS;
                if (index == MPI_UNDEFINED) return wrong;
            }
            return wrong + 1;
        case 5:
            for (int i = 0; i <= num;) {
                wrong += MPI_Testany(num, requests.data(), &index, &flag, statuses.data()) != MPI_SUCCESS;
                if (flag != 0 && index == MPI_UNDEFINED) return wrong;
                i += flag;
            }
            return wrong + 1;
        case 6:
            for (int i = 0; i <= num; ++i) {
                wrong += MPI_Waitsome(num, requests.data(), &done, indices.data(), statuses.data()) != MPI_SUCCESS;
                if (done == MPI_UNDEFINED) return wrong;
                wrong += done < 1;
            }
            return wrong + 1;
        case 7:
            for (int i = 0; i <= num;) {
                wrong += MPI_Testsome(num, requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE) != MPI_SUCCESS;
                if (done == MPI_UNDEFINED) return wrong;
                i += done;
            }
            return wrong + 1;
        case 8:
            while (flag == 0) wrong += MPI_Testall(num, requests.data(), &flag, statuses.data()) != MPI_SUCCESS;
            return wrong;
        default:
            for (MPI_Request& request : requests) {
                if (request == MPI_REQUEST_NULL) continue;
                for (flag = 0; flag == 0;)
                    wrong += MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS;
                wrong += MPI_Test(&request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag == 0;
            }
            return wrong;
    }
}
