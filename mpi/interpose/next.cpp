// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/next.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace hocket::interpose {

namespace {

template <class Function>
void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
    if (function == nullptr) {
        std::fprintf(stderr, "hocket: no %s behind libhocket_interpose.so: the library was built for another MPI\n",
                     name);
        std::_Exit(1);
    }
}

}  // namespace

Next::Next() {
#define HOCKET_FUNCTION(name) find(name, "PMPI_" #name);
#include "pmpi/next_functions.inc"
}

const Next next;

}  // namespace hocket::interpose
