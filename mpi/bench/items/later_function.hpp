// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <dlfcn.h>

#include <string>

#include "bench/items/outcome.hpp"

namespace hocket::bench {

/// A function MPI_`name` that not every MPI has. What MPI_Get_version returns does not decide it: Open MPI 5.0 returns
/// 3.1 and has much of MPI 4; Open MPI 4.1 has some as MPIX_. @throws Failure  unsupported
template <class Function>
Function* later_function(const std::string& name) {
    void* found = dlsym(RTLD_DEFAULT, ("MPI_" + name).c_str());
    if (found == nullptr) found = dlsym(RTLD_DEFAULT, ("MPIX_" + name).c_str());
    if (found == nullptr) throw Failure(Status::unsupported, "this MPI has no MPI_" + name);
    return reinterpret_cast<Function*>(found);
}

}  // namespace hocket::bench
