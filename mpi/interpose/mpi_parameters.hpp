// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <tuple>

// Parameter lists of MPI functions, made from their number of parameters.

namespace hocket::interpose {

template <class Function>
struct Signature;
template <class... Parameters>
struct Signature<int (*)(Parameters...)> {
    template <std::size_t i>
    using Parameter = std::tuple_element_t<i, std::tuple<Parameters...>>;
};

}  // namespace hocket::interpose

// A parameter has the type that the MPI's header gives it.
#define HOCKET_PARAMETER(name, i) hocket::interpose::Signature<decltype(&PMPI_##name)>::Parameter<i> a##i
#define HOCKET_PARAMETERS_2(name) HOCKET_PARAMETER(name, 0), HOCKET_PARAMETER(name, 1)
#define HOCKET_PARAMETERS_3(name) HOCKET_PARAMETERS_2(name), HOCKET_PARAMETER(name, 2)
#define HOCKET_PARAMETERS_4(name) HOCKET_PARAMETERS_3(name), HOCKET_PARAMETER(name, 3)
#define HOCKET_PARAMETERS_5(name) HOCKET_PARAMETERS_4(name), HOCKET_PARAMETER(name, 4)
#define HOCKET_PARAMETERS_6(name) HOCKET_PARAMETERS_5(name), HOCKET_PARAMETER(name, 5)
#define HOCKET_PARAMETERS_7(name) HOCKET_PARAMETERS_6(name), HOCKET_PARAMETER(name, 6)
#define HOCKET_PARAMETERS_8(name) HOCKET_PARAMETERS_7(name), HOCKET_PARAMETER(name, 7)
#define HOCKET_PARAMETERS_9(name) HOCKET_PARAMETERS_8(name), HOCKET_PARAMETER(name, 8)
#define HOCKET_PARAMETERS_10(name) HOCKET_PARAMETERS_9(name), HOCKET_PARAMETER(name, 9)
#define HOCKET_PARAMETERS_11(name) HOCKET_PARAMETERS_10(name), HOCKET_PARAMETER(name, 10)
#define HOCKET_ARGUMENTS_2 a0, a1
#define HOCKET_ARGUMENTS_3 HOCKET_ARGUMENTS_2, a2
#define HOCKET_ARGUMENTS_4 HOCKET_ARGUMENTS_3, a3
#define HOCKET_ARGUMENTS_5 HOCKET_ARGUMENTS_4, a4
#define HOCKET_ARGUMENTS_6 HOCKET_ARGUMENTS_5, a5
#define HOCKET_ARGUMENTS_7 HOCKET_ARGUMENTS_6, a6
#define HOCKET_ARGUMENTS_8 HOCKET_ARGUMENTS_7, a7
#define HOCKET_ARGUMENTS_9 HOCKET_ARGUMENTS_8, a8
#define HOCKET_ARGUMENTS_10 HOCKET_ARGUMENTS_9, a9
#define HOCKET_ARGUMENTS_11 HOCKET_ARGUMENTS_10, a10
