// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/folder.hpp"

#include <algorithm>

#include "hocket/base/error.hpp"

namespace hocket::trace {

namespace fs = std::filesystem;

namespace {

constexpr const char* kRecordHint = "record the program again: hocket record -o FOLDER -- mpiexec -n 8 ./app";

std::vector<fs::path> rank_files(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (is_rank_file(entry->path())) files.push_back(entry->path());
    }
    if (error)
        throw InvalidInput(folder.string() + ": cannot be read as a trace folder: " + error.message(), kRecordHint);
    if (files.empty()) {
        throw InvalidInput(
            folder.string() + ": found no rank file; accepted: a trace folder, with rank-000000.bin and so on",
            kRecordHint);
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

std::string rank_file_name(std::int64_t rank) {
    std::string digits = std::to_string(rank);
    if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
    return "rank-" + digits + ".bin";
}

bool is_rank_file(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.starts_with("rank-") && name.ends_with(".bin");
}

std::vector<RankFileStream> open_rank_files(const fs::path& folder, CpuReadings cpu_times) {
    const std::vector<fs::path> files = rank_files(folder);
    std::vector<RankFileStream> streams;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const RankFile& file = streams.emplace_back(files[i], cpu_times).part();
        // In order of rank, a gap shows as a name that is not the expected one.
        const std::string expected = rank_file_name(static_cast<std::int64_t>(i));
        if (files[i].filename() != expected || file.rank != static_cast<std::int32_t>(i)) {
            throw InvalidInput(folder.string() + ": found " + files[i].filename().string() + " of rank " +
                                   std::to_string(file.rank) + " where " + expected +
                                   " is expected; accepted: one file for each rank",
                               kRecordHint);
        }
        const std::int32_t num_ranks = streams.front().part().num_ranks;
        if (file.num_ranks != num_ranks) {
            throw InvalidInput(files[i].string() + ": found a run of " + std::to_string(file.num_ranks) +
                                   " ranks; accepted: " + std::to_string(num_ranks) + ", as in " +
                                   files[0].filename().string(),
                               kRecordHint);
        }
    }
    const auto found = static_cast<std::int32_t>(streams.size()), expected = streams.front().part().num_ranks;
    if (found != expected) {
        throw InvalidInput(folder.string() + ": found the files of " + std::to_string(found) + " ranks, " +
                               rank_file_name(found) + " is missing; accepted: all " + std::to_string(expected) +
                               " ranks of the run",
                           "copy the folder again with all its files, or record the program again");
    }
    return streams;
}

}  // namespace hocket::trace
