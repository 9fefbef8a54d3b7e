// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <vector>

#include "probes/circuit_runs.hpp"

namespace hocket::probes {

/// The blocks that one node holds. Messages may arrive sooner than in the schedule: each reads and changes blocks when
/// those before it have, in the order of the schedule.
class CircuitBlocks {
public:
    CircuitBlocks(const CircuitRun& run, int node);

    /// The turn of a message that is sent or received here.
    struct Access {
        std::vector<int> versions;  ///< of each of its blocks: how often it has changed before
    };
    /// In the order of the schedule, all sends when they begin and all receives when they end.
    Access send_follows(const CircuitMessage&);
    Access receive_follows(const CircuitMessage&);

    /// As at the start of the collective.
    void fill();
    [[nodiscard]] bool can_read(const CircuitMessage&, const Access&) const;
    void read(const CircuitMessage&, const Access&, std::vector<char>& buffer);
    [[nodiscard]] bool can_change(const CircuitMessage&, const Access&) const;
    void change(const CircuitMessage&, const Access&, const std::vector<char>& buffer);
    /// @throws Error  if a block that belongs here at the end has a wrong byte
    void check() const;

private:
    [[nodiscard]] unsigned char wanted(int block, std::int64_t byte) const;
    [[nodiscard]] bool belongs_here(int block) const;
    [[nodiscard]] char* at(int block) { return data_.data() + block * run_.block_bytes; }
    [[nodiscard]] const char* at(int block) const { return data_.data() + block * run_.block_bytes; }

    const CircuitRun& run_;
    int node_;
    std::vector<char> data_;
    std::vector<std::vector<int>> readers_;  // of each version of each block, in the schedule
    std::vector<std::vector<int>> left_;     // of these, those that have not read it
    std::vector<int> version_;
};

}  // namespace hocket::probes
