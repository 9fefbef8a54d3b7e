// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <cstddef>

#include "interpose/next.hpp"

namespace hocket::interpose {

/// What starts communication that may progress in the background. A persistent collective counts as its non-blocking one.
enum class Function {
    Ibarrier,
#define HOCKET_ENUMERATOR(X, name, persistent, arity, size) name,
    HOCKET_FOR_EACH_NONBLOCKING(HOCKET_ENUMERATOR, )
#undef HOCKET_ENUMERATOR
#define HOCKET_ENUMERATOR(name) name,
        HOCKET_FOR_EACH_MESSAGE(HOCKET_ENUMERATOR)
#undef HOCKET_ENUMERATOR
            count
};
constexpr std::size_t num_functions = static_cast<std::size_t>(Function::count);

constexpr std::array<const char*, num_functions> function_names{"MPI_Ibarrier",
#define HOCKET_STRING(X, name, persistent, arity, size) "MPI_" #name,
                                                                HOCKET_FOR_EACH_NONBLOCKING(HOCKET_STRING, )
#undef HOCKET_STRING
#define HOCKET_STRING(name) "MPI_" #name,
                                                                    HOCKET_FOR_EACH_MESSAGE(HOCKET_STRING)
#undef HOCKET_STRING
};

}  // namespace hocket::interpose
