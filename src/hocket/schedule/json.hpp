// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "hocket/schedule/schedule.hpp"

namespace hocket {

/// schedule_from_json() for a document that is a part of another one.
Schedule read_schedule(const nlohmann::json& document, std::string_view source_name);

}  // namespace hocket
