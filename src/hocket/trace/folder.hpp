// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hocket/trace/rank_file.hpp"

namespace hocket::trace {

/// "rank-000007.bin"
std::string rank_file_name(std::int64_t rank);
bool is_rank_file(const std::filesystem::path&);

/// The files of a trace folder, one for each rank in their order, whose headers were read.
/// @throws InvalidInput  naming the file: none there, one missing, of another run or format.
std::vector<RankFileStream> open_rank_files(const std::filesystem::path& folder, CpuReadings = CpuReadings::filled);

}  // namespace hocket::trace
