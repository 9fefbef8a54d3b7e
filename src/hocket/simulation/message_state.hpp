// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

namespace hocket::simulation {

/// How far a message has come.
struct MessageState {
    bool posted = false;  ///< its recv
    bool delivered = false;
    bool forwarded = false;  ///< has left its source for a host that stores it
    double latency_s = 0;    ///< of its route, once it has started
};

}  // namespace hocket::simulation
