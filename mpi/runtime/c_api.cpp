// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <memory>
#include <new>
#include <string>
#include <vector>

#include "hocket.h"
#include "hocket/base/error.hpp"
#include "hocket/schedule/validate.hpp"
#include "runtime/operation.hpp"
#include "runtime/plan.hpp"

struct hocket_communicator {
    MPI_Comm own;
    int num_ranks;
    int self;
    std::uint64_t num_calls;
};

struct hocket_operation {
    hocket_communicator& communicator;
    hocket::runtime::PlanEntry entry;
    hocket::runtime::Operation operation;
};

namespace {

using namespace hocket;
using namespace hocket::runtime;

thread_local std::string last_error;
thread_local int last_mpi_error = MPI_SUCCESS;

struct MpiFailure {
    int code;
};

void require(int code) {
    if (code != MPI_SUCCESS) throw MpiFailure{code};
}

void require_argument(bool good, const char* what) {
    if (!good) throw InvalidInput(what);
}

/// Turns whatever `work` throws into a status.
template <class Work>
hocket_status guarded(Work work) noexcept {
    try {
        return work();
    } catch (const InvalidInput& error) {
        last_error = error.what();
        return HOCKET_ERROR_INVALID;
    } catch (const MpiFailure& failure) {
        char text[MPI_MAX_ERROR_STRING + 1] = "";
        int length = 0;
        PMPI_Error_string(failure.code, text, &length);
        last_mpi_error = failure.code;
        last_error = text;
        return HOCKET_ERROR_MPI;
    } catch (const std::bad_alloc&) {
        last_error = "out of memory";
        return HOCKET_ERROR_MEMORY;
    } catch (const std::exception& error) {
        last_error = error.what();
        return HOCKET_ERROR_INTERNAL;
    }
}

hocket_operation* make(hocket_communicator& communicator, PlanEntry entry, Rank root) {
    const Rank self{communicator.self};
    const Role role{entry.collective, communicator.num_ranks, root, self, entry.schedule_pieces()};
    RankSchedule part = entry.rank_schedule(root, self);
    return new hocket_operation{communicator, std::move(entry), Operation(role, std::move(part), communicator.own)};
}

}  // namespace

const char* hocket_status_string(hocket_status status) {
    switch (status) {
        case HOCKET_OK:
            return "success";
        case HOCKET_ERROR_INVALID:
            return "an argument is wrong";
        case HOCKET_ERROR_MPI:
            return "MPI returned an error";
        case HOCKET_ERROR_MEMORY:
            return "out of memory";
        case HOCKET_ERROR_ORDER:
            return "the schedule does not keep the order that a non-commutative operator needs";
        case HOCKET_ERROR_INTERNAL:
            return "internal error";
    }
    return "unknown status";
}

const char* hocket_last_error(void) { return last_error.c_str(); }
int hocket_last_mpi_error(void) { return last_mpi_error; }

const char* hocket_algorithm_get(size_t index, const char** collective) {
    const auto all = collectives::all_algorithms();  // names are literals: views of whole C strings
    if (index >= all.size()) return nullptr;
    if (collective != nullptr) *collective = name_of(all[index].collective).data();
    return all[index].name.data();
}

hocket_status hocket_communicator_create(MPI_Comm parent, hocket_communicator** communicator) {
    return guarded([&] {
        require_argument(communicator != nullptr && parent != MPI_COMM_NULL, "no communicator given");
        int inter = 0;
        require(PMPI_Comm_test_inter(parent, &inter));
        require_argument(inter == 0, "an intercommunicator cannot execute schedules");
        auto made = std::make_unique<hocket_communicator>();
        require(PMPI_Comm_size(parent, &made->num_ranks));
        require(PMPI_Comm_rank(parent, &made->self));
        require(duplicate(parent, &made->own));
        *communicator = made.release();
        return HOCKET_OK;
    });
}

hocket_status hocket_communicator_free(hocket_communicator* communicator) {
    return guarded([&] {
        const std::unique_ptr<hocket_communicator> owned(communicator);
        if (owned) require(release(&owned->own));
        return HOCKET_OK;
    });
}

hocket_status hocket_operation_create(hocket_communicator* communicator, const hocket_schedule_parameters* parameters,
                                      hocket_operation** operation) {
    return guarded([&] {
        require_argument(communicator != nullptr && parameters != nullptr && operation != nullptr,
                         "an argument is NULL");
        require_argument(parameters->struct_size >= sizeof(hocket_schedule_parameters), "struct_size is too small");
        require_argument(parameters->collective != nullptr && parameters->algorithm != nullptr,
                         "collective or algorithm is NULL");
        PlanEntry entry;
        entry.collective = collective_from(parameters->collective);
        entry.members.resize(static_cast<std::size_t>(communicator->num_ranks));
        entry.algorithm = &collectives::find_algorithm(entry.collective, parameters->algorithm);
        entry.pieces = parameters->pieces;
        for (int i = 0; parameters->order != nullptr && i < communicator->num_ranks; ++i) {
            entry.order.emplace_back(parameters->order[i]);
        }
        *operation = make(*communicator, std::move(entry), Rank{parameters->root});
        return HOCKET_OK;
    });
}

hocket_status hocket_operation_create_from_json(hocket_communicator* communicator, const char* text, size_t length,
                                                hocket_operation** operation) {
    return guarded([&] {
        require_argument(communicator != nullptr && text != nullptr && operation != nullptr, "an argument is NULL");
        Schedule schedule = schedule_from_json({text, length});
        if (schedule.num_ranks != communicator->num_ranks) {
            throw InvalidInput("the schedule is for " + std::to_string(schedule.num_ranks) +
                               " ranks, the communicator has " + std::to_string(communicator->num_ranks));
        }
        const Validation validation = validate(schedule);
        if (!validation.ok()) throw InvalidInput("the schedule is wrong: " + validation.violations.front());
        PlanEntry entry;
        entry.collective = schedule.collective;
        entry.members.resize(static_cast<std::size_t>(communicator->num_ranks));
        const Rank root = schedule.root;
        entry.custom = std::make_shared<const Schedule>(std::move(schedule));
        *operation = make(*communicator, std::move(entry), root);
        return HOCKET_OK;
    });
}

hocket_status hocket_operation_free(hocket_operation* operation) {
    delete operation;
    return HOCKET_OK;
}

hocket_status hocket_operation_execute(hocket_operation* operation, const hocket_operation_arguments* arguments) {
    return guarded([&] {
        require_argument(operation != nullptr && arguments != nullptr, "an argument is NULL");
        require_argument(arguments->struct_size >= sizeof(hocket_operation_arguments), "struct_size is too small");
        const std::uint64_t call = ++operation->communicator.num_calls;  // also one that is wrong on this rank alone
        require_argument(arguments->send_count >= 0 && arguments->recv_count >= 0, "a count is negative");
        const Role& role = operation->operation.role();
        Arguments given;
        given.send = {const_cast<void*>(arguments->send_buffer), arguments->send_count, arguments->send_type};
        given.recv = {arguments->recv_buffer, arguments->recv_count, arguments->recv_type};
        given.op = arguments->op;
        if (combines(role.collective)) {
            require_argument(given.op != MPI_OP_NULL, "a reduction needs an operator");
            int commutative = 0;
            require(PMPI_Op_commutative(given.op, &commutative));
            if (commutative == 0 && !operation->entry.preserves_order(role.root)) {
                last_error = hocket_status_string(HOCKET_ERROR_ORDER);
                return HOCKET_ERROR_ORDER;
            }
        }
        require(operation->operation.execute(given, call));
        return HOCKET_OK;
    });
}
