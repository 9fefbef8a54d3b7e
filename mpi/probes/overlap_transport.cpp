// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "probes/overlap_transport.hpp"

#include "probes/measuring.hpp"

namespace hocket::probes {

namespace {

class Blocking final : public Transport {
public:
    Blocking(std::vector<Workload>& workloads, MPI_Comm comm) : workloads_(workloads), comm_(comm) {}

    void start() override {}
    void test() override {}
    void wait() override {
        for (Workload& workload : workloads_) require(workload.call_native(comm_), "the MPI's collective");
    }

private:
    std::vector<Workload>& workloads_;
    MPI_Comm comm_;
};

class NonBlocking final : public Transport {
public:
    NonBlocking(std::vector<Workload>& workloads, MPI_Comm comm)
        : workloads_(workloads), requests_(workloads.size(), MPI_REQUEST_NULL), comm_(comm) {}

    void start() override {
        for (std::size_t i = 0; i < workloads_.size(); ++i) {
            require(workloads_[i].start_native(comm_, &requests_[i]), "the MPI's non-blocking collective");
        }
    }
    void test() override {
        int done = 0;
        require(PMPI_Testall(count(), requests_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    }
    void wait() override { require(PMPI_Waitall(count(), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall"); }

private:
    [[nodiscard]] int count() const { return static_cast<int>(requests_.size()); }

    std::vector<Workload>& workloads_;
    std::vector<MPI_Request> requests_;
    MPI_Comm comm_;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(bool blocking, std::vector<Workload>& workloads, MPI_Comm comm) {
    if (blocking) return std::make_unique<Blocking>(workloads, comm);
    return std::make_unique<NonBlocking>(workloads, comm);
}

}  // namespace hocket::probes
