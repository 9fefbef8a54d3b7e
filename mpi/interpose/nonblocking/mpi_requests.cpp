// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// MPI functions that complete requests, or start those that are persistent.

#include <mpi.h>

#include "interpose/inside.hpp"
#include "interpose/mpi_define.hpp"
#include "interpose/next.hpp"
#include "interpose/nonblocking/background.hpp"
#include "interpose/nonblocking/requests.hpp"

using namespace hocket::interpose;

namespace {

bool is_any_tracked() { return background.requests.any() && depth == 0; }

// Wrong arguments are left to the MPI, which reports them to the program.
bool is_good(const MPI_Request* request) { return request != nullptr; }
bool is_good(int count, const MPI_Request* requests) { return count >= 0 && requests != nullptr; }

}  // namespace

#define HOCKET_COMPLETION(name, parameters, ours, given, arguments)          \
    HOCKET_DEFINE(name, parameters) {                                        \
        if (!is_any_tracked() || !is_good given) return next.name arguments; \
        return ours arguments;                                               \
    }

HOCKET_COMPLETION(Wait, (MPI_Request * request, MPI_Status* status), wait_one, (request), (request, status))
HOCKET_COMPLETION(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]), wait_all, (count, requests),
                  (count, requests, statuses))
HOCKET_COMPLETION(Waitany, (int count, MPI_Request requests[], int* index, MPI_Status* status), wait_any,
                  (count, requests), (count, requests, index, status))
HOCKET_COMPLETION(Waitsome, (int count, MPI_Request requests[], int* num_done, int indices[], MPI_Status statuses[]),
                  wait_some, (count, requests), (count, requests, num_done, indices, statuses))
HOCKET_COMPLETION(Test, (MPI_Request * request, int* flag, MPI_Status* status), test_one, (request),
                  (request, flag, status))
HOCKET_COMPLETION(Testall, (int count, MPI_Request requests[], int* flag, MPI_Status statuses[]), test_all,
                  (count, requests), (count, requests, flag, statuses))
HOCKET_COMPLETION(Testany, (int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status), test_any,
                  (count, requests), (count, requests, index, flag, status))
HOCKET_COMPLETION(Testsome, (int count, MPI_Request requests[], int* num_done, int indices[], MPI_Status statuses[]),
                  test_some, (count, requests), (count, requests, num_done, indices, statuses))
HOCKET_COMPLETION(Request_get_status, (MPI_Request request, int* flag, MPI_Status* status), get_status, (&request),
                  (request, flag, status))
HOCKET_COMPLETION(Request_free, (MPI_Request * request), free_request, (request), (request))
HOCKET_COMPLETION(Start, (MPI_Request * request), start, (request), (request))
HOCKET_COMPLETION(Startall, (int count, MPI_Request requests[]), start_all, (count, requests), (count, requests))
