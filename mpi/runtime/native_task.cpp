// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/collective_task.hpp"

namespace hocket::runtime {

namespace {

class NativeTask final : public CollectiveTask {
public:
    NativeTask(NativeCollective collective, int root, MPI_Comm private_comm)
        : collective_(collective), root_(root), comm_(private_comm) {}

    void arm(std::uint64_t) override {
        error_ = MPI_SUCCESS;
        begun_ = false;
    }
    State advance() noexcept override {
        int done = 0;
        if (!begun_) {
            error_ = start_native(collective_, held_.get(), held_.blocks(), root_, comm_, &request_);
            begun_ = true;
            if (error_ != MPI_SUCCESS) return State::done;
        }
        error_ = PMPI_Test(&request_, &done, MPI_STATUS_IGNORE);
        return done != 0 || error_ != MPI_SUCCESS ? State::done : State::waiting;
    }
    void complete() noexcept override { error_ = call_native(collective_, held_.get(), held_.blocks(), root_, comm_); }

private:
    NativeCollective collective_;
    int root_;
    MPI_Comm comm_;
    MPI_Request request_ = MPI_REQUEST_NULL;
    bool begun_ = false;
};

}  // namespace

std::unique_ptr<CollectiveTask> make_native_task(NativeCollective collective, int root, MPI_Comm private_comm) {
    return std::make_unique<NativeTask>(collective, root, private_comm);
}

}  // namespace hocket::runtime
