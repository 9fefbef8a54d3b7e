// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "runtime/memory.hpp"

namespace hocket::runtime {

/// One message between two ranks; its data may lie in several places.
struct Message {
    const std::vector<Segment>& segments;  ///< none = an empty message
    MPI_Datatype type;
    int peer;
    int tag;
    MPI_Comm comm;
};

/// Starts the message. Return an MPI error code.
int send(const Message& message, MPI_Request* request);
int receive(const Message& message, MPI_Request* request);

/// Makes one of neighbouring segments that lie back to back.
void join(std::vector<Segment>& segments, std::int64_t extent_bytes);

}  // namespace hocket::runtime
