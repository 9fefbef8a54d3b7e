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
#define HOCKET_FIND(name) find(name, "PMPI_" #name);
#define HOCKET_FIND_BOTH(name) HOCKET_BOTH_COUNTS(HOCKET_FIND, name)
    HOCKET_FOR_EACH_COLLECTIVE(HOCKET_FIND_BOTH)
    HOCKET_FOR_EACH_MESSAGE(HOCKET_FIND_BOTH)
    HOCKET_FOR_EACH_NONBLOCKING(HOCKET_NAMES_OF_NONBLOCKING, HOCKET_FIND)
    HOCKET_FOR_EACH_COMPLETION(HOCKET_FIND)
    HOCKET_FOR_EACH_OTHER(HOCKET_FIND)
#define HOCKET_FIND_MAKER(name, arity) HOCKET_FIND(name)
    HOCKET_FOR_EACH_MAKER(HOCKET_FIND_MAKER)
#undef HOCKET_FIND_MAKER
#undef HOCKET_FIND_BOTH
#undef HOCKET_FIND
}

const Next next;

}  // namespace hocket::interpose
