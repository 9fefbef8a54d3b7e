// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/trace_files.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "hocket/trace/folder.hpp"

namespace hocket::trace {

class TraceFiles::FileReader : public CallSource::Reader {
public:
    FileReader(TraceFiles& files, std::int32_t rank, CpuReadings cpu_times)
        : files_(files),
          rank_(static_cast<std::size_t>(rank)),
          stream_(files.folder_ / rank_file_name(rank), cpu_times),
          found_{.first_enter_ns = std::numeric_limits<std::int64_t>::max(),
                 .last_exit_ns = std::numeric_limits<std::int64_t>::min()} {}

    const RankFile* next() override {
        if (!stream_.next()) {
            finish();
            return nullptr;
        }
        RankFile& part = stream_.part();
        files_.merger_.merge(numbers_, part);
        for (; forgotten_ < part.communicators.size(); ++forgotten_) {  // the merged tables have their members
            part.communicators[forgotten_].members = std::vector<std::int32_t>();
            part.communicators[forgotten_].remote = std::vector<std::int32_t>();
        }
        for (const Call& call : part.calls) {
            found_.first_enter_ns = std::min(found_.first_enter_ns, call.enter_ns);
            found_.last_exit_ns = std::max(found_.last_exit_ns, call.exit_ns);
        }
        files_.bytes_read_[rank_] = stream_.bytes_read();
        return &part;
    }

private:
    void finish() {
        const RankFile& last = stream_.part();
        found_.end = last.end;
        found_.open_function =
            last.open_function < 0 ? -1 : numbers_.functions[static_cast<std::size_t>(last.open_function)];
        if (found_.first_enter_ns > found_.last_exit_ns) found_.first_enter_ns = found_.last_exit_ns = 0;
        files_.ends_[rank_] = found_;
    }

    TraceFiles& files_;
    std::size_t rank_;
    RankFileStream stream_;
    TableMerger::Numbers numbers_;
    std::size_t forgotten_ = 0;  // communicators
    RankEnd found_;
};

TraceFiles::TraceFiles(std::filesystem::path folder) : folder_(std::move(folder)) {
    const std::vector<RankFileStream> files = open_rank_files(folder_);
    for (const RankFileStream& file : files) num_bytes_ += file.bytes();
    ends_.resize(files.size());
    bytes_read_.resize(files.size());
    tables_.neighbours.resize(files.size());
}

std::unique_ptr<CallSource::Reader> TraceFiles::read(std::int32_t rank, CpuReadings cpu_times) {
    return std::make_unique<FileReader>(*this, rank, cpu_times);
}

double TraceFiles::share_read() const {
    const std::uint64_t read = std::accumulate(bytes_read_.begin(), bytes_read_.end(), std::uint64_t{0});
    return static_cast<double>(read) / static_cast<double>(std::max<std::uint64_t>(1, num_bytes_));
}

}  // namespace hocket::trace
