// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

namespace hocket::interpose {

/// MPI's own functions may call others by their public names, and so does this library: those calls are not the
/// program's.
inline thread_local int depth = 0;

struct Inside {
    Inside() { ++depth; }
    ~Inside() { --depth; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
};

}  // namespace hocket::interpose
