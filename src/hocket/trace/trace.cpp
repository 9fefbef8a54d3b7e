// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/trace.hpp"

#include <algorithm>
#include <fstream>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/trace/encode.hpp"
#include "hocket/trace/folder.hpp"

namespace hocket {

namespace {

namespace fs = std::filesystem;
using trace::LocalCommunicator;
using trace::RankFile;

}  // namespace

void Trace::add(trace::TableMerger& merger, RankFile&& file) {
    trace::TableMerger::Numbers numbers;
    merger.merge(numbers, file);
    if (file.open_function >= 0) file.open_function = numbers.functions[static_cast<std::size_t>(file.open_function)];
    file.functions.clear();
    file.datatypes.clear();
    file.operators.clear();
    file.communicators.clear();
    communicators_of_.push_back(std::move(numbers.communicators));
    ranks_.push_back(std::move(file));
}

Trace Trace::open(const fs::path& folder) {
    Trace trace;
    trace::TableMerger merger(trace.tables_);
    for (trace::RankFileStream& stream : trace::open_rank_files(folder)) {
        while (stream.append()) {
        }
        trace.add(merger, stream.take());
    }
    return trace;
}

Trace Trace::make(const std::vector<RankFile>& files) {
    if (files.empty()) throw InvalidInput("a trace without ranks", "accepted: at least one");
    Trace trace;
    trace::TableMerger merger(trace.tables_);
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (files[i].rank != static_cast<std::int32_t>(i) ||
            files[i].num_ranks != static_cast<std::int32_t>(files.size()))
            throw InvalidInput("rank " + std::to_string(files[i].rank) + " of " + std::to_string(files[i].num_ranks) +
                                   " at place " + std::to_string(i) + " of a trace of " + std::to_string(files.size()) +
                                   " ranks",
                               "accepted: each rank in its place");
        trace.add(merger,
                  trace::decode_rank_file(trace::encode_rank_file(files[i]), trace::rank_file_name(files[i].rank)));
    }
    return trace;
}

RankFile Trace::separate(std::int32_t rank) const {
    RankFile file = this->rank(rank);
    file.functions = tables_.functions;
    file.datatypes = tables_.datatypes;
    file.operators = tables_.operators;
    const std::vector<std::int32_t>& known = communicators_of_[static_cast<std::size_t>(rank)];
    // What the rank did not know of, or not yet, it could not name.
    std::vector<std::int32_t> number_of(tables_.communicators.size(), -1);
    const auto number = [&number_of](std::int32_t id) { return id < 0 ? id : number_of[static_cast<std::size_t>(id)]; };
    for (std::size_t i = 0; i < known.size(); ++i) {
        const trace::Communicator& merged = tables_.communicators[static_cast<std::size_t>(known[i])];
        LocalCommunicator local{merged.made_by, number(merged.parent), merged.inter, 0, merged.members, merged.remote};
        if (const trace::Neighbours* own = neighbours(rank, known[i])) local.neighbours = *own;
        auto own = std::find(local.members.begin(), local.members.end(), rank);
        if (own == local.members.end() &&
            std::find(local.remote.begin(), local.remote.end(), rank) != local.remote.end()) {
            std::swap(local.members, local.remote);
            own = std::find(local.members.begin(), local.members.end(), rank);
        }
        if (own != local.members.end()) local.rank = static_cast<std::int32_t>(own - local.members.begin());
        number_of[static_cast<std::size_t>(known[i])] = static_cast<std::int32_t>(i);
        file.communicators.push_back(std::move(local));
    }
    for (trace::Call& call : file.calls) {
        call.communicator = number(call.communicator);
        call.new_communicator = number(call.new_communicator);
    }
    return file;
}

void Trace::write(const fs::path& folder) const {
    std::error_code error;
    fs::create_directories(folder, error);
    fs::directory_iterator entry;
    if (!error) entry = fs::directory_iterator(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error))
        if (trace::is_rank_file(entry->path()))
            throw InvalidInput(folder.string() + ": has a trace already: " + entry->path().filename().string(),
                               "name a new folder");
    if (error) throw InvalidInput(folder.string() + ": cannot be written: " + error.message(), "name another folder");
    for (std::int32_t r = 0; r < num_ranks(); ++r) {
        const fs::path path = folder / trace::rank_file_name(r);
        const std::string bytes = trace::encode_rank_file(separate(r));
        std::ofstream out(path, std::ios::binary);
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        if (!out.flush())
            throw InvalidInput(path.string() + ": cannot be written", "check the folder and the space that is left");
    }
}

}  // namespace hocket
