// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <string>

#include "hocket/base/json_writer.hpp"

namespace hocket::bench {

/// Writes what the times depend on and the reader of a result wants to know: time, hosts, MPI, processor, load, the
/// file system of `folder`, variables that steer an MPI. Collective over MPI_COMM_WORLD; rank 0 has the whole.
void write_machine(base::JsonWriter& json, const std::string& folder);

}  // namespace hocket::bench
