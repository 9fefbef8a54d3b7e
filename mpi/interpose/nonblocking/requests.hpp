// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

namespace hocket::interpose {

// MPI's functions that complete requests, for when the table of requests is not empty. They make pending collectives
// move on, and end the way of the program's own: all of it in the MPI's functions that these are named after.

int wait_one(MPI_Request* request, MPI_Status* status);
int wait_all(int count, MPI_Request* requests, MPI_Status* statuses);
int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status);
int wait_some(int count, MPI_Request* requests, int* num_done, int* indices, MPI_Status* statuses);
int test_one(MPI_Request* request, int* flag, MPI_Status* status);
int test_all(int count, MPI_Request* requests, int* flag, MPI_Status* statuses);
int test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status);
int test_some(int count, MPI_Request* requests, int* num_done, int* indices, MPI_Status* statuses);
int get_status(MPI_Request request, int* flag, MPI_Status* status);
int free_request(MPI_Request* request);
int start(MPI_Request* request);
int start_all(int count, MPI_Request* requests);

}  // namespace hocket::interpose
