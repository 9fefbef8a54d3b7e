// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>

#include "runtime/handles.hpp"

namespace hocket::runtime {

/// hocket_request_create and hocket_request_start; `engine` may be null.
hocket_status create_request(hocket_operation* operation, const hocket_operation_arguments* arguments,
                             hocket_engine* engine, hocket_request** request);
void start_request(hocket_request& request, std::uint64_t call);

}  // namespace hocket::runtime
