// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hocket::bench {

extern const char* const usage;

struct Options {
    std::string suite;                ///< a file
    std::string output;               ///< of the results; empty: beside nothing, as in a dry run
    std::string folder;               ///< for the files of items
    std::string known;                ///< a file with outcomes of earlier attempts on this MPI
    std::vector<std::string> beside;  ///< files of results of the same suite by other commands
    bool is_quick = false, is_dry = false, lists_items = false, lists_as_json = false, helps = false, is_quiet = false;
    std::optional<int> launches, rounds;
    std::optional<double> budget_s;
    double timeout_s = 20;
};

/// @throws InvalidInput
Options read_options(int argc, char** argv);

}  // namespace hocket::bench
