// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <dlfcn.h>

#include <string>

#include "bench/items/outcome.hpp"

namespace hocket::bench {

/// A function that not every MPI has. What MPI_Get_version returns does not decide it: Open MPI 5.0 returns 3.1 and has much of
/// MPI 4. @throws Failure  unsupported
template <class Function>
Function* later_function(const char* name) {
    void* const found = dlsym(RTLD_DEFAULT, name);
    if (found == nullptr) throw Failure(Status::unsupported, std::string("this MPI has no ") + name);
    return reinterpret_cast<Function*>(found);
}

}  // namespace hocket::bench
