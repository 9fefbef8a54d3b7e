// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include "bench/items/pattern.hpp"

namespace hocket::bench {

/// All items, in the order of their families. A new family is a file with a function that adds its items, and a line in
/// registry.cpp.
const Items& items();

// The families.
void add_file_access(Items& items);     // io/file_access.cpp
void add_file_functions(Items& items);  // io/file_functions.cpp
void add_atomic_writes(Items& items);   // io/atomic_write.cpp
void add_fortran_files(Items& items);   // io/fortran_file.cpp
void add_rma_transfers(Items& items);   // rma/transfer.cpp
void add_rma_windows(Items& items);     // rma/window_functions.cpp
void add_messages(Items& items);        // p2p/messages.cpp
void add_partitioned(Items& items);     // p2p/partitioned.cpp

}  // namespace hocket::bench
