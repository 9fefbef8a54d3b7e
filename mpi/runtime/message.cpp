// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/message.hpp"

#include <limits>

namespace hocket::runtime {

namespace {

// Several segments travel by a datatype that lists them, so that nothing is copied here and 2^31 elements are no limit.
// MPI keeps a datatype that is freed until the messages that use it are done.
template <class Start>
int start(const Message& message, Start start_one) {
    if (message.segments.empty()) return start_one(nullptr, 0, MPI_BYTE);
    const Segment& front = message.segments.front();
    if (message.segments.size() == 1) return start_one(front.address, front.count, message.type);
    std::vector<int> counts;
    std::vector<MPI_Aint> offsets;
    for (const Segment& segment : message.segments) {
        counts.push_back(segment.count);
        offsets.push_back(segment.address - front.address);
    }
    MPI_Datatype all = MPI_DATATYPE_NULL;
    int code =
        PMPI_Type_create_hindexed(static_cast<int>(counts.size()), counts.data(), offsets.data(), message.type, &all);
    if (code != MPI_SUCCESS) return code;
    code = PMPI_Type_commit(&all);
    if (code == MPI_SUCCESS) code = start_one(front.address, 1, all);
    PMPI_Type_free(&all);
    return code;
}

}  // namespace

int send(const Message& message, MPI_Request* request) {
    return start(message, [&](const void* address, int count, MPI_Datatype type) {
        return PMPI_Isend(address, count, type, message.peer, message.tag, message.comm, request);
    });
}

int receive(const Message& message, MPI_Request* request) {
    return start(message, [&](void* address, int count, MPI_Datatype type) {
        return PMPI_Irecv(address, count, type, message.peer, message.tag, message.comm, request);
    });
}

void join(std::vector<Segment>& segments, std::int64_t extent_bytes) {
    std::size_t last = 0;
    for (std::size_t i = 1; i < segments.size(); ++i) {
        Segment& before = segments[last];
        const bool follows = before.address + before.count * extent_bytes == segments[i].address;
        if (follows && segments[i].count <= std::numeric_limits<int>::max() - before.count) {
            before.count += segments[i].count;
        } else {
            segments[++last] = segments[i];
        }
    }
    if (!segments.empty()) segments.resize(last + 1);
}

}  // namespace hocket::runtime
