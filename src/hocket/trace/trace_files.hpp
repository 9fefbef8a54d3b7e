// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hocket/trace/call_source.hpp"

namespace hocket::trace {

/// How the recording of a rank ended, once all its calls were read.
struct RankEnd {
    int end = -1;                     ///< enum hocket_trace_end; -1: the file has no footer, recording was cut off
    std::int32_t open_function = -1;  ///< that the main thread was in when recording was cut off; -1: none
    std::int64_t first_enter_ns = 0, last_exit_ns = 0;  ///< of all calls
};

/// A trace folder whose files are read forward: one part of the calls of each rank is in memory at a time.
class TraceFiles : public CallSource {
public:
    /// Reads the headers.
    /// @throws InvalidInput  naming the file: none there, one missing, of another run or format. Readers throw it for
    ///         damaged files.
    explicit TraceFiles(std::filesystem::path folder);

    [[nodiscard]] std::int32_t num_ranks() const override { return static_cast<std::int32_t>(ends_.size()); }
    [[nodiscard]] const Tables& tables() const override { return tables_; }
    [[nodiscard]] std::unique_ptr<Reader> read(std::int32_t rank, CpuReadings) override;
    [[nodiscard]] double share_read() const override;
    /// Known once a reader has come to the end of the rank's calls.
    [[nodiscard]] const RankEnd& end(std::int32_t rank) const { return ends_.at(static_cast<std::size_t>(rank)); }

private:
    class FileReader;

    std::filesystem::path folder_;
    Tables tables_;
    TableMerger merger_{tables_};
    std::vector<RankEnd> ends_;              ///< [rank]
    std::vector<std::uint64_t> bytes_read_;  ///< [rank] by the reader that came last
    std::uint64_t num_bytes_ = 0;            ///< of all files
};

}  // namespace hocket::trace
