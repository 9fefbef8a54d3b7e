// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <string>

#include "bench/items/pattern.hpp"

namespace hocket::bench {

/// The item "plugin.NAME" of a shared library of hocket_bench.h. @throws Error  what is wrong with the file
Item load_plugin(const std::string& path);

}  // namespace hocket::bench
