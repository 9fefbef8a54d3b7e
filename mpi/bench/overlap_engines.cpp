// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/overlap_engines.hpp"

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"

namespace hocket::bench {

namespace {

/// @throws InvalidInput, Error
void require(hocket_status status, const char* what) {
    if (status == HOCKET_OK) return;
    const std::string text = std::string(what) + ": " + hocket_last_error();
    if (status == HOCKET_ERROR_INVALID) throw InvalidInput(text);
    throw Error(text);
}

/// Requests on a communicator of their own, so that the calls of MPI that several engines make are never mixed up.
class Requests final : public Transport {
public:
    Requests(const hocket_schedule_parameters& what, hocket_engine* engine, std::vector<Workload>& workloads,
             MPI_Comm comm)
        : engine_(engine) {
        require(hocket_communicator_create(comm, &communicator_), "hocket_communicator_create");
        for (Workload& workload : workloads) {
            operations_.emplace_back();
            require(hocket_operation_create(communicator_, &what, &operations_.back()), "hocket_operation_create");
            const runtime::Arguments with = workload.arguments();
            const hocket_operation_arguments arguments{
                .struct_size = sizeof arguments,
                .send_buffer = with.send.address,
                .send_count = with.send.count,
                .send_type = with.send.type,
                .recv_buffer = with.recv.address,
                .recv_count = with.recv.count,
                .recv_type = with.recv.type,
                .op = with.op,
            };
            requests_.emplace_back();
            require(hocket_request_create(operations_.back(), &arguments, engine, &requests_.back()),
                    "hocket_request_create");
        }
    }
    ~Requests() override {
        for (auto* request : requests_) hocket_request_free(request);
        for (auto* operation : operations_) hocket_operation_free(operation);
        hocket_communicator_free(communicator_);
    }

    void start() override {
        for (auto* request : requests_) require(hocket_request_start(request), "hocket_request_start");
    }
    void test() override { require(hocket_progress(engine_), "hocket_progress"); }
    void wait() override {
        require(hocket_request_wait_all(static_cast<int>(requests_.size()), requests_.data()),
                "hocket_request_wait_all");
    }

private:
    hocket_engine* engine_;
    hocket_communicator* communicator_ = nullptr;
    std::vector<hocket_operation*> operations_;
    std::vector<hocket_request*> requests_;
};

}  // namespace

Engines::~Engines() {
    for (const auto& [kind, engine] : engines_) hocket_engine_free(engine);
}

std::unique_ptr<Transport> Engines::make_transport(const Carrier& carrier, std::vector<Workload>& workloads,
                                                   const OverlapOptions& options, MPI_Comm comm) {
    hocket_engine*& engine = engines_[carrier.engine];
    if (engine == nullptr) {
        const hocket_engine_parameters how{sizeof how, carrier.engine, options.core, 0};
        require(hocket_engine_create(&how, &engine), "hocket_engine_create");
    }
    const bool native = carrier.operation == Carrier::Operation::native;
    const std::string collective(name_of(options.collective));
    const hocket_schedule_parameters what{
        sizeof what, collective.c_str(), native ? "native" : options.algorithm.c_str(), 0, options.pieces, nullptr};
    return std::make_unique<Requests>(what, engine, workloads, comm);
}

}  // namespace hocket::bench
