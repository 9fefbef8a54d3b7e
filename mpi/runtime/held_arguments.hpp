// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <vector>

#include "runtime/memory.hpp"
#include "runtime/native_call.hpp"

namespace hocket::runtime {

/// Arguments that stay good when the program frees its datatypes, as it may while a call is under way.
class HeldArguments {
public:
    /// Returns an MPI error code. The arrays of `blocks` must last; their types are held for `num_ranks`.
    int hold(const Arguments& arguments, const BlockArguments& blocks, int num_ranks) {
        arguments_ = arguments;
        blocks_ = blocks;
        for (MPI_Datatype* const type : {&arguments_.send.type, &arguments_.recv.type}) {
            if (const int code = hold(type); code != MPI_SUCCESS) return code;
        }
        if (const int code = hold(&blocks_.send_types, send_types_, num_ranks); code != MPI_SUCCESS) return code;
        return hold(&blocks_.recv_types, recv_types_, num_ranks);
    }
    HeldArguments() = default;
    HeldArguments(const HeldArguments&) = delete;
    HeldArguments& operator=(const HeldArguments&) = delete;
    ~HeldArguments() { release(); }

    void release() {
        for (MPI_Datatype& type : owned_) PMPI_Type_free(&type);
        owned_.clear();
    }
    [[nodiscard]] const Arguments& get() const { return arguments_; }
    [[nodiscard]] const BlockArguments& blocks() const { return blocks_; }

private:
    int hold(MPI_Datatype* type) {
        if (*type == MPI_DATATYPE_NULL || describe(*type).named) return MPI_SUCCESS;
        MPI_Datatype own = MPI_DATATYPE_NULL;
        const int code = PMPI_Type_dup(*type, &own);
        if (code != MPI_SUCCESS) return code;
        *type = own;
        owned_.push_back(own);
        return MPI_SUCCESS;
    }
    int hold(const MPI_Datatype** types, std::vector<MPI_Datatype>& held, int num_ranks) {
        if (*types == nullptr) return MPI_SUCCESS;
        held.assign(*types, *types + num_ranks);
        *types = held.data();
        for (MPI_Datatype& type : held) {
            if (const int code = hold(&type); code != MPI_SUCCESS) return code;
        }
        return MPI_SUCCESS;
    }

    Arguments arguments_;
    BlockArguments blocks_;
    std::vector<MPI_Datatype> send_types_, recv_types_;
    std::vector<MPI_Datatype> owned_;
};

}  // namespace hocket::runtime
