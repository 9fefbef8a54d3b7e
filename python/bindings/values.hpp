// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"

namespace bindings {

/// The enumerator with this name, `names` being those of all in their order.
/// @throws hocket::InvalidInput  for another name, listing these
template <class Value>
Value value_from(std::string_view key, std::string_view name, std::span<const std::string_view> names) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
        throw hocket::InvalidInput(
            std::string(key) + " is " + hocket::base::quoted(name) + "; accepted: " + hocket::base::list_of(names),
            hocket::base::did_you_mean(name, names));
    return static_cast<Value>(found - names.begin());
}

}  // namespace bindings
