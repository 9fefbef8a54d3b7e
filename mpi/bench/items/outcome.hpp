// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>

namespace hocket::bench {

/// How the attempt to run an item ended on this MPI, if not well.
enum class Status { ok, unsupported, error, crash, hang, wrong_data };

[[nodiscard]] const char* status_name(Status status);

/// An attempt that ended badly.
class Failure : public std::runtime_error {
public:
    Failure(Status how, const std::string& message) : std::runtime_error(message), status(how) {}
    Status status;
};

/// @throws Failure  unsupported or error, by the error's class, if `code` is not MPI_SUCCESS
void call(int code, const char* function);

/// As `call`, of a function that makes a window. There is no window yet whose handle could be wrong: Open MPI returns
/// MPI_ERR_WIN where none of its components serves these ranks (open-mpi/ompi issue 11466). That is `unsupported`.
void call_making_window(int code, const char* function);

}  // namespace hocket::bench
