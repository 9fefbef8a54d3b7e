// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "hocket/schedule/validate.hpp"
#include "runtime/c_calls.hpp"
#include "runtime/c_engines.hpp"
#include "runtime/c_status.hpp"
#include "runtime/handles.hpp"

using namespace hocket;
using namespace hocket::runtime;

namespace {

hocket_operation* make(hocket_communicator& communicator, PlannedSchedule schedule, Rank root) {
    const Rank self{communicator.self};
    PlannedPart part = part_of(schedule, root, self, schedule.segments());
    const Role role{schedule.collective(), communicator.num_ranks, root, self, part.segments};
    auto graph = std::make_shared<const RankGraph>(std::move(part.schedule));
    return new hocket_operation{communicator, role, std::move(schedule), std::move(graph), {}, {}, {}};
}

hocket_operation* make_native(hocket_communicator& communicator, NativeCollective collective, int root) {
    require_argument(root >= 0 && root < communicator.num_ranks, "there is no such root");
    // The role holds what is alike in all of them; a schedule has no use for it.
    const auto like =
        collective <= NativeCollective::barrier ? static_cast<Collective>(collective) : Collective::barrier;
    const Role role{like, communicator.num_ranks, Rank{root}, Rank{communicator.self}, 1};
    return new hocket_operation{communicator, role, {}, {}, collective, {}, {}};
}

}  // namespace

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
        require(duplicate(parent, &made->private_comm));
        *communicator = made.release();
        return HOCKET_OK;
    });
}

hocket_status hocket_communicator_free(hocket_communicator* communicator) {
    return guarded([&] {
        const std::unique_ptr<hocket_communicator> owned(communicator);
        if (owned) require(release(&owned->private_comm));
        return HOCKET_OK;
    });
}

hocket_status hocket_operation_create(hocket_communicator* communicator, const hocket_schedule_parameters* parameters,
                                      hocket_operation** operation) {
    return guarded([&] {
        require_argument(communicator != nullptr && parameters != nullptr && operation != nullptr,
                         "an argument is NULL");
        require_argument(parameters->struct_size >= offsetof(hocket_schedule_parameters, starts),
                         "struct_size is too small");
        require_argument(parameters->collective != nullptr && parameters->algorithm != nullptr,
                         "collective or algorithm is NULL");
        const auto native = native_collective_from(parameters->collective);
        if (parameters->algorithm == std::string_view("native") && native) {
            *operation = make_native(*communicator, *native, parameters->root);
            return HOCKET_OK;
        }
        const auto& algorithm =
            collectives::find_algorithm(collective_from(parameters->collective), parameters->algorithm);
        std::vector<Rank> order;
        for (int i = 0; parameters->order != nullptr && i < communicator->num_ranks; ++i) {
            order.emplace_back(parameters->order[i]);
        }
        std::vector<std::int32_t> starts;
        if (parameters->struct_size >= sizeof *parameters && parameters->starts != nullptr) {
            require_argument(parameters->num_starts > 0, "num_starts is not positive");
            starts.assign(parameters->starts, parameters->starts + parameters->num_starts);
        }
        PlannedSchedule schedule(algorithm, communicator->num_ranks, parameters->segments, {}, std::move(order),
                                 std::move(starts));
        *operation = make(*communicator, std::move(schedule), Rank{parameters->root});
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
        const Rank root = schedule.root;
        *operation = make(*communicator, PlannedSchedule(std::move(schedule)), root);
        return HOCKET_OK;
    });
}

hocket_status hocket_operation_free(hocket_operation* operation) {
    delete operation;
    return HOCKET_OK;
}

hocket_status hocket_operation_execute(hocket_operation* operation, const hocket_operation_arguments* arguments) {
    return guarded([&] {
        require_argument(operation != nullptr, "no operation given");
        hocket_communicator& communicator = operation->communicator;
        const std::uint64_t call = ++communicator.num_calls;  // also one that is wrong on this rank alone
        require_argument(arguments != nullptr, "an argument is NULL");
        Arguments given;
        BlockArguments blocks;
        const hocket_status status = read_arguments(*operation, *arguments, given, blocks);
        if (status != HOCKET_OK) return status;
        const Role& role = operation->role;
        // MPI matches native calls by their order, and blocking ones with blocking ones alone: what is pending on this
        // rank may have ended on others, so that it cannot decide.
        const bool helps =
            operation->is_native() ? communicator.has_started && !communicator.native_by_queue : needs_help();
        if (operation->is_native() && communicator.native_by_queue && communicator.num_native_requests > 0)
            drain(*communicator.native_engine);
        if (helps) {
            require(execute_helping(*operation, given, blocks, call));
            return HOCKET_OK;
        }
        if (operation->is_native()) {
            require(call_native(operation->native, given, blocks, role.root.value, communicator.private_comm));
            return HOCKET_OK;
        }
        if (!operation->blocking)
            operation->blocking = std::make_unique<Operation>(role, operation->graph, communicator.private_comm);
        require(operation->blocking->execute(given, call));
        return HOCKET_OK;
    });
}
