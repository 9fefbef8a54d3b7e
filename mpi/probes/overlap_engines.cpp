// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "probes/overlap_engines.hpp"

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"

namespace hocket::probes {

namespace {

/// @throws InvalidInput, Error
void require_ok(hocket_status status, const char* what) {
    if (status == HOCKET_OK) return;
    const std::string text = std::string(what) + ": " + hocket_last_error();
    if (status == HOCKET_ERROR_INVALID) throw InvalidInput(text);
    throw Error(text);
}

hocket_operation_arguments arguments_of(Workload& workload) {
    const runtime::Arguments with = workload.arguments();
    hocket_operation_arguments arguments{};
    arguments.struct_size = sizeof arguments;
    arguments.send_buffer = with.send.address;
    arguments.send_count = with.send.count;
    arguments.send_type = with.send.type;
    arguments.recv_buffer = with.recv.address;
    arguments.recv_count = with.recv.count;
    arguments.recv_type = with.recv.type;
    arguments.op = with.op;
    return arguments;
}

/// Requests on a communicator of their own, so that the calls of MPI that several engines make are never mixed up.
class Requests final : public Transport {
public:
    Requests(const hocket_schedule_parameters& what, hocket_engine* engine, std::vector<Workload>& workloads,
             MPI_Comm comm)
        : engine_(engine) {
        require_ok(hocket_communicator_create(comm, &communicator_), "hocket_communicator_create");
        for (Workload& workload : workloads) {
            operations_.emplace_back();
            require_ok(hocket_operation_create(communicator_, &what, &operations_.back()), "hocket_operation_create");
            const hocket_operation_arguments arguments = arguments_of(workload);
            requests_.emplace_back();
            require_ok(hocket_request_create(operations_.back(), &arguments, engine, &requests_.back()),
                       "hocket_request_create");
        }
    }
    ~Requests() override {
        for (auto* request : requests_) hocket_request_free(request);
        for (auto* operation : operations_) hocket_operation_free(operation);
        hocket_communicator_free(communicator_);
    }

    void start() override {
        for (auto* request : requests_) require_ok(hocket_request_start(request), "hocket_request_start");
    }
    void test() override { require_ok(hocket_progress(engine_), "hocket_progress"); }
    void wait() override {
        require_ok(hocket_request_wait_all(static_cast<int>(requests_.size()), requests_.data()),
                   "hocket_request_wait_all");
    }

private:
    hocket_engine* engine_;
    hocket_communicator* communicator_ = nullptr;
    std::vector<hocket_operation*> operations_;
    std::vector<hocket_request*> requests_;
};

/// Whatever a selection takes of the ways that Requests and the MPI have.
class Selected final : public Transport {
public:
    struct Way {
        const char* name;
        const char* algorithm;
        hocket_engine* engine;
    };
    Selected(const std::vector<Way>& ways, hocket_schedule_parameters what, hocket_engine* helped,
             std::vector<Workload>& workloads, MPI_Comm comm)
        : helped_(helped) {
        std::vector<hocket_arm> arms;
        for (const Way& way : ways) {
            communicators_.emplace_back();
            operations_.emplace_back();
            require_ok(hocket_communicator_create(comm, &communicators_.back()), "hocket_communicator_create");
            what.algorithm = way.algorithm;
            require_ok(hocket_operation_create(communicators_.back(), &what, &operations_.back()),
                       "hocket_operation_create");
            arms.push_back({way.name, operations_.back(), way.engine, 0});
        }
        for (Workload& workload : workloads) arguments_.push_back(arguments_of(workload));
        require_ok(hocket_selection_create(communicators_.front(), static_cast<int>(arms.size()), arms.data(),
                                           static_cast<int>(workloads.size()), &selection_),
                   "hocket_selection_create");
    }
    ~Selected() override {
        hocket_selection_free(selection_);
        for (auto* operation : operations_) hocket_operation_free(operation);
        for (auto* communicator : communicators_) hocket_communicator_free(communicator);
    }

    void start() override {
        for (const auto& arguments : arguments_) {
            requests_.emplace_back();
            require_ok(hocket_selection_start(selection_, &arguments, &requests_.back()), "hocket_selection_start");
        }
    }
    void test() override { require_ok(hocket_progress(helped_), "hocket_progress"); }
    void wait() override {
        for (auto* request : requests_) {
            require_ok(hocket_request_wait(request), "hocket_request_wait");
            hocket_request_free(request);
        }
        requests_.clear();
    }
    [[nodiscard]] bool is_settled() const override { return report().find("\"settled\": true") != std::string::npos; }
    [[nodiscard]] std::string report() const override { return hocket_selection_get_report(selection_); }

private:
    hocket_engine* helped_;
    std::vector<hocket_communicator*> communicators_;  // of each arm: MPI matches native calls by their order
    std::vector<hocket_operation*> operations_;
    std::vector<hocket_operation_arguments> arguments_;
    std::vector<hocket_request*> requests_;
    hocket_selection* selection_ = nullptr;
};

}  // namespace

Engines::~Engines() {
    for (const auto& [kind, engine] : engines_) hocket_engine_free(engine);
}

std::unique_ptr<Transport> Engines::make_transport(const Carrier& carrier, std::vector<Workload>& workloads,
                                                   const OverlapOptions& options, MPI_Comm comm) {
    const std::string collective(name_of(options.collective));
    const char* const schedule = options.algorithm.c_str();
    const auto get = [&](const char* kind) { return engine(kind, options.core); };
    hocket_schedule_parameters what{sizeof what, collective.c_str(), schedule, 0, options.segments, nullptr};
    if (carrier.operation == Carrier::Operation::selection) {
        const std::vector<Selected::Way> ways{{"blocking", "native", nullptr},
                                              {"native, function", "native", get("function")},
                                              {"native, thread", "native", get("thread")},
                                              {"native, queue", "native", get("queue")},
                                              {"schedule, function", schedule, get("function")},
                                              {"schedule, thread", schedule, get("thread")},
                                              {"schedule, queue", schedule, get("queue")}};
        return std::make_unique<Selected>(ways, what, get("function"), workloads, comm);
    }
    if (carrier.operation == Carrier::Operation::native) what.algorithm = "native";
    return std::make_unique<Requests>(what, get(carrier.engine), workloads, comm);
}

hocket_engine* Engines::engine(const std::string& kind, int core) {
    hocket_engine*& engine = engines_[kind];
    if (engine == nullptr) {
        const hocket_engine_parameters how{sizeof how, kind.c_str(), core, 0};
        require_ok(hocket_engine_create(&how, &engine), "hocket_engine_create");
    }
    return engine;
}

}  // namespace hocket::probes
