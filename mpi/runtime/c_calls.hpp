// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <memory>

#include "runtime/handles.hpp"

/// One call of an operation: its arguments, its number, its task.

namespace hocket::runtime {

/// Reads and checks the arguments of a call of `operation`. HOCKET_ERROR_ORDER if its schedule must not be used for
/// them.
hocket_status read_arguments(const hocket_operation& operation, const hocket_operation_arguments& given,
                             Arguments& arguments, BlockArguments& blocks);
/// The number of the call that begins now, alike on all ranks: it counts also where it is wrong on this rank alone.
std::uint64_t number_call(const hocket_operation& operation, const hocket_engine* engine);
/// One of a request that was freed, or a new one.
std::unique_ptr<CollectiveTask> take_task(hocket_operation& operation);
/// A blocking call, during which what is pending in engines without a thread moves on. Returns an MPI error code.
int execute_helping(hocket_operation& operation, const Arguments& arguments, const BlockArguments& blocks,
                    std::uint64_t call);

}  // namespace hocket::runtime
