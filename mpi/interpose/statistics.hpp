// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

namespace hocket::interpose {

/// What became of the program's calls, as lines for people and as a file, as the settings ask. Collective over the
/// world, at its end.
void report_statistics(int world_rank);

}  // namespace hocket::interpose
