// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <string>

namespace hocket::interpose {

/// This process's MPI as network files name it: "Open MPI 4.1.4", "MPICH 5.0.2". Empty for another one.
std::string library_name();

}  // namespace hocket::interpose
