// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <cstdint>
#include <limits>

#include "runtime/collective_task.hpp"

namespace hocket::runtime {

namespace {

#define HOCKET_COUNT int
#define HOCKET_LAST
#define HOCKET_NAME(blocking, immediate) PMPI_##blocking
#define HOCKET_BARRIER PMPI_Barrier
int call(Collective collective, const Arguments& arguments, int root, MPI_Comm comm) {
#include "runtime/native_calls.inc"
}
#undef HOCKET_LAST
#undef HOCKET_NAME
#undef HOCKET_BARRIER

#define HOCKET_LAST , request
#define HOCKET_NAME(blocking, immediate) PMPI_##immediate
#define HOCKET_BARRIER PMPI_Ibarrier
int start(Collective collective, const Arguments& arguments, int root, MPI_Comm comm, MPI_Request* request) {
#include "runtime/native_calls.inc"
}
#undef HOCKET_LAST
#undef HOCKET_NAME
#undef HOCKET_COUNT

#if MPI_VERSION >= 4
#define HOCKET_COUNT MPI_Count
#define HOCKET_LAST , request
#define HOCKET_NAME(blocking, immediate) PMPI_##immediate##_c
int start_large(Collective collective, const Arguments& arguments, int root, MPI_Comm comm, MPI_Request* request) {
#include "runtime/native_calls.inc"
}
#undef HOCKET_LAST
#undef HOCKET_NAME
#undef HOCKET_BARRIER

#define HOCKET_LAST
#define HOCKET_NAME(blocking, immediate) PMPI_##blocking##_c
#define HOCKET_BARRIER PMPI_Barrier
int call_large(Collective collective, const Arguments& arguments, int root, MPI_Comm comm) {
#include "runtime/native_calls.inc"
}
#else  // such an MPI has no functions for counts that no int holds
int call_large(Collective, const Arguments&, int, MPI_Comm) { return MPI_ERR_COUNT; }
int start_large(Collective, const Arguments&, int, MPI_Comm, MPI_Request*) { return MPI_ERR_COUNT; }
#endif

bool is_large(const Arguments& arguments) {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    return arguments.send.count > most || arguments.recv.count > most;
}

class NativeTask final : public CollectiveTask {
public:
    NativeTask(Collective collective, int root, MPI_Comm own) : collective_(collective), root_(root), comm_(own) {}

    void arm(std::uint64_t) override {
        error_ = MPI_SUCCESS;
        begun_ = false;
    }
    State advance() noexcept override {
        int done = 0;
        if (!begun_) {
            const auto begin = is_large(held_.get()) ? start_large : start;
            error_ = begin(collective_, held_.get(), root_, comm_, &request_);
            begun_ = true;
            if (error_ != MPI_SUCCESS) return State::done;
        }
        error_ = PMPI_Test(&request_, &done, MPI_STATUS_IGNORE);
        return done != 0 || error_ != MPI_SUCCESS ? State::done : State::waiting;
    }
    void complete() noexcept override { error_ = call_native(collective_, held_.get(), root_, comm_); }

private:
    Collective collective_;
    int root_;
    MPI_Comm comm_;
    MPI_Request request_ = MPI_REQUEST_NULL;
    bool begun_ = false;
};

}  // namespace

int call_native(Collective collective, const Arguments& arguments, int root, MPI_Comm comm) {
    return (is_large(arguments) ? call_large : call)(collective, arguments, root, comm);
}

std::unique_ptr<CollectiveTask> make_native_task(Collective collective, int root, MPI_Comm own) {
    return std::make_unique<NativeTask>(collective, root, own);
}

}  // namespace hocket::runtime
