// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <functional>

namespace hocket::base {

/// Calls work(0) in the calling thread, work(1), work(2), ... in others, and returns when all have ended. Where the
/// system has no more threads to give, there are fewer calls. Returns how many there were. While it waits for others
/// the calling thread calls `meanwhile` again and again. Throws the first exception of any of these, once all have
/// ended.
std::int32_t run_on_threads(std::int32_t num_threads, const std::function<void(std::int32_t)>& work,
                            const std::function<void()>& meanwhile);

}  // namespace hocket::base
