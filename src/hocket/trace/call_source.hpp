// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <memory>

#include "hocket/trace/tables.hpp"

namespace hocket::trace {

/// The calls of a trace, read forward by any number of readers: those of a Trace in memory, or of its files.
class CallSource {
public:
    /// Reads the calls of a rank once.
    class Reader {
    public:
        virtual ~Reader() = default;
        /// The next calls with their blocks and completions, by the ids of tables(); valid until the next call. Null
        /// behind the last.
        virtual const RankFile* next() = 0;
    };

    virtual ~CallSource() = default;
    [[nodiscard]] virtual std::int32_t num_ranks() const = 0;
    /// As far as they were read.
    [[nodiscard]] virtual const Tables& tables() const = 0;
    [[nodiscard]] virtual std::unique_ptr<Reader> read(std::int32_t rank, CpuReadings) = 0;
    /// Of all that is to be read, the share that readers have, those that came last: 0 to 1.
    [[nodiscard]] virtual double share_read() const = 0;
};

}  // namespace hocket::trace
