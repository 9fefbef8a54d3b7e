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
void add_views(Items& items);           // io/view_access.cpp
void add_transfers(Items& items);       // io/transfers.cpp
void add_hand_over(Items& items);       // io/hand_over.cpp
void add_special_access(Items& items);  // io/special_access.cpp
void add_posix_files(Items& items);     // io/posix.cpp
void add_rma_transfers(Items& items);   // rma/transfer.cpp
void add_rma_windows(Items& items);     // rma/window_functions.cpp
void add_rma_scattered(Items& items);   // rma/scattered.cpp
void add_rma_contention(Items& items);  // rma/contention.cpp
void add_notifications(Items& items);   // rma/notify.cpp
void add_messages(Items& items);        // p2p/messages.cpp
void add_pingpongs(Items& items);       // p2p/pingpong.cpp
void add_exchanges(Items& items);       // p2p/exchange.cpp
void add_streams(Items& items);         // p2p/streams.cpp
void add_queues(Items& items);          // p2p/queues.cpp
void add_datatypes(Items& items);       // p2p/datatypes.cpp
void add_partitioned(Items& items);     // p2p/partitioned.cpp
void add_collectives(Items& items);     // collective/collective.cpp
void add_mockups(Items& items);         // collective/mockups.cpp
void add_communicators(Items& items);   // communicators/functions.cpp

}  // namespace hocket::bench
