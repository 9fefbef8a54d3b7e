// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>

namespace hocket::runtime {

/// An argument triple of an MPI call.
struct Buffer {
    void* address = nullptr;
    std::int64_t count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;

    [[nodiscard]] bool in_place() const { return address == MPI_IN_PLACE; }
};

/// What the runtime needs to know of a datatype.
struct TypeInfo {
    std::int64_t size_bytes;
    std::int64_t extent_bytes;
    std::int64_t true_lower_bytes;
    std::int64_t true_upper_bytes;
    /// Memory holds the elements back to back in the order of the type's signature, so that MPI_Pack would copy it as
    /// it is.
    bool contiguous;
    bool named;  ///< one of MPI's own, whose handle never means another one
};

/// Bytes of one element; negative if MPI does not know it.
std::int64_t size_of(MPI_Datatype type);
TypeInfo describe(MPI_Datatype type);
/// What is known of a type of MPI's own that this thread has described of late, else null. Takes no call of MPI.
const TypeInfo* find_known(MPI_Datatype type);

/// The buffer `count` elements long that begins `first` elements into `buffer`.
Buffer part_of(const Buffer& buffer, std::int64_t first, std::int64_t count);

/// Copies to, from and between buffers of any datatype, messages above 2 GiB included. Return an MPI error code.
int pack(const Buffer& from, char* to, MPI_Comm comm);
int unpack(const char* from, const Buffer& to, MPI_Comm comm);
/// Same count and type on both sides.
int copy(const Buffer& from, const Buffer& to, MPI_Comm comm);

/// Frees what the functions above cache. Call before MPI_Finalize.
void forget_datatypes();

}  // namespace hocket::runtime
