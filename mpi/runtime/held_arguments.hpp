// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <vector>

#include "runtime/memory.hpp"

namespace hocket::runtime {

/// Arguments that stay good when the program frees its datatypes, as it may while a call is under way.
class HeldArguments {
public:
    /// Returns an MPI error code.
    int hold(const Arguments& arguments) {
        arguments_ = arguments;
        for (MPI_Datatype* const type : {&arguments_.send.type, &arguments_.recv.type}) {
            if (*type == MPI_DATATYPE_NULL || describe(*type).named) continue;
            MPI_Datatype own = MPI_DATATYPE_NULL;
            const int code = PMPI_Type_dup(*type, &own);
            if (code != MPI_SUCCESS) return code;
            *type = own;
            owned_.push_back(own);
        }
        return MPI_SUCCESS;
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

private:
    Arguments arguments_;
    std::vector<MPI_Datatype> owned_;
};

}  // namespace hocket::runtime
