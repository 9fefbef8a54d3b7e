// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hocket::probes {

/// How collectives are carried out.
struct Carrier {
    enum class Operation {
        blocking,     ///< the MPI's own function, which returns at the end
        nonblocking,  ///< the MPI's own MPI_I* and its requests
        native,       ///< the MPI's own, in an engine
        schedule,     ///< a schedule of ours, in an engine
        selection,    ///< whichever of these has been found to be the fastest
    };
    Operation operation;
    const char* engine = "";  ///< as in hocket_engine_parameters

    bool operator==(const Carrier& other) const;
    [[nodiscard]] bool has_thread() const;
    /// "schedule, thread"
    [[nodiscard]] std::string name() const;
};

/// A row of the comparison: one way to write and to run the program.
struct Mode {
    enum class Order {
        wait_first,    ///< the collectives end before the computation begins
        overlap,       ///< they are waited for after it
        overlap_test,  ///< and tested after each iteration of its outer loop
    };
    const char* name;
    Carrier carrier;
    Order order;
};

/// With the names of [Nanri15] where it has the same.
std::span<const Mode> all_modes();

/// Those in a list such as "MPI,TCC-ovlp"; "MPI", which all are compared with, always is one of them. @throws
/// InvalidInput
std::vector<Mode> modes_in(std::string_view list);

}  // namespace hocket::probes
