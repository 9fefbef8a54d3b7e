// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/c_status.hpp"
#include "runtime/handles.hpp"

/// What the modules in mpi/fortran call where hocket.h takes handles of MPI, which are integers in Fortran.

using namespace hocket::runtime;

/// As hocket_operation_arguments. MPI's Fortran constants are other addresses than those of C.
struct hocket_fortran_arguments {
    const void* in_place;  ///< where Fortran's MPI_IN_PLACE is
    const void* send_buffer;
    void* recv_buffer;
    int send_count, recv_count;
    MPI_Fint send_type, recv_type, op;
    int contiguous;  ///< whether both buffers are
};

namespace {

/// Calls with the arguments as C has them.
template <class Call>
hocket_status call_with(const hocket_fortran_arguments& from, const Call& call) {
    return guarded([&] {
        const auto address = [&](const void* buffer) {
            return buffer == from.in_place ? MPI_IN_PLACE : const_cast<void*>(buffer);
        };
        const hocket_operation_arguments with{
            sizeof with,
            address(from.send_buffer),
            from.send_count,
            PMPI_Type_f2c(from.send_type),
            address(from.recv_buffer),
            from.recv_count,
            PMPI_Type_f2c(from.recv_type),
            PMPI_Op_f2c(from.op),
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            nullptr,
        };
        // The call counts also when it is wrong, since the other ranks may make a right one.
        const hocket_status status = call(from.contiguous != 0 ? &with : nullptr);
        require_argument(from.contiguous != 0, "a buffer is a section of an array that is not contiguous");
        return status;
    });
}

}  // namespace

extern "C" {

HOCKET_API hocket_status hocket_fortran_communicator_create(MPI_Fint parent, hocket_communicator** communicator) {
    return hocket_communicator_create(PMPI_Comm_f2c(parent), communicator);
}

/// An order of `order_size` ranks, which C's function has to trust.
HOCKET_API hocket_status hocket_fortran_operation_create(hocket_communicator* communicator,
                                                         const hocket_schedule_parameters* parameters, int order_size,
                                                         hocket_operation** operation) {
    return guarded([&] {
        require_argument(communicator != nullptr, "an argument is NULL");
        require_argument(parameters->order == nullptr || order_size == communicator->num_ranks,
                         "the order has not as many ranks as the communicator");
        return hocket_operation_create(communicator, parameters, operation);
    });
}

/// Executes the operation; with an engine makes a request instead, and starts it with `start`.
HOCKET_API hocket_status hocket_fortran_operation_call(hocket_operation* operation,
                                                       const hocket_fortran_arguments* from, hocket_engine* engine,
                                                       hocket_request** request, int start) {
    return call_with(*from, [&](const hocket_operation_arguments* with) {
        if (request == nullptr) return hocket_operation_execute(operation, with);
        return start != 0 ? hocket_operation_start(operation, with, engine, request)
                          : hocket_request_create(operation, with, engine, request);
    });
}

HOCKET_API hocket_status hocket_fortran_selection_start(hocket_selection* selection,
                                                        const hocket_fortran_arguments* from,
                                                        hocket_request** request) {
    return call_with(*from, [&](const hocket_operation_arguments* with) {
        return hocket_selection_start(selection, with, request);
    });
}

}  // extern "C"
