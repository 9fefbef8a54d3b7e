// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hocket/network/network.hpp"

/// Network files: TOML of format "hocket.network/1", described in docs/reference/network-format.md.
namespace hocket::network {

/// @throws InvalidInput  if it cannot be read, or is longer than 64 MiB
std::string text_of_file(const std::filesystem::path&);
/// @throws InvalidInput  with file and line, key, value found and values accepted, for anything that is not a network.
Network from_file(const std::filesystem::path&);
/// `source_name` stands for the file in messages; a network without a name takes its stem.
Network from_text(std::string_view text, std::string_view source_name = "network");

/// A file that reads back as an equal network. Networks whose routes do not follow from nodes and links (fat trees) are
/// written as their `[generate]` table. The table `[calibration]` is kept; comments are not.
/// @throws InvalidInput  if the network has links that are not the two directions of cables.
std::string to_toml(const Network&);

}  // namespace hocket::network
