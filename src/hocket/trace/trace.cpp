// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/trace.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <tuple>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/trace/encode.hpp"

namespace hocket {

namespace {

namespace fs = std::filesystem;
using trace::LocalCommunicator;
using trace::RankFile;

constexpr const char* kRecordHint = "record the program again: hocket record -o FOLDER -- mpiexec -n 8 ./app";

std::string rank_file_name(std::int64_t rank) {
    std::string digits = std::to_string(rank);
    if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
    return "rank-" + digits + ".bin";
}

bool is_rank_file(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.starts_with("rank-") && name.ends_with(".bin");
}

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

/// Gives the tables of all ranks one numbering.
struct Trace::Merger {
    Trace& trace;
    using Key = std::tuple<bool, std::vector<std::int32_t>, std::vector<std::int32_t>, std::int32_t>;
    std::map<Key, std::int32_t> communicators;

    template <class T>
    static std::vector<std::int32_t> merge_table(std::vector<T>& all, std::vector<T>& own) {
        std::vector<std::int32_t> to;
        for (T& entry : own) {
            auto found = std::find(all.begin(), all.end(), entry);
            if (found == all.end()) found = all.insert(all.end(), std::move(entry));
            to.push_back(static_cast<std::int32_t>(found - all.begin()));
        }
        own.clear();
        return to;
    }

    std::vector<std::int32_t> merge_communicators(std::vector<LocalCommunicator>& own,
                                                  const std::vector<std::int32_t>& functions) {
        auto& neighbours = trace.neighbours_of_.emplace_back();
        std::map<Key, std::int32_t> made_before;
        std::vector<std::int32_t> to;
        for (LocalCommunicator& local : own) {
            // Both sides of an inter-communicator must come to the same key.
            const bool swapped = local.inter && local.remote < local.members;
            Key key{local.inter, swapped ? local.remote : local.members, swapped ? local.members : local.remote, 0};
            std::get<3>(key) = made_before[key]++;
            const auto [entry, is_new] =
                communicators.try_emplace(key, static_cast<std::int32_t>(trace.communicators_.size()));
            if (is_new) {
                trace.communicators_.push_back({-1, -1, local.inter, std::get<1>(key), std::get<2>(key)});
            }
            trace::Communicator& merged = trace.communicators_[static_cast<std::size_t>(entry->second)];
            if (merged.made_by < 0 && local.made_by >= 0)
                merged.made_by = functions[static_cast<std::size_t>(local.made_by)];
            if (merged.parent < 0 && local.parent >= 0) merged.parent = to[static_cast<std::size_t>(local.parent)];
            if (local.neighbours) neighbours.emplace(entry->second, std::move(*local.neighbours));
            to.push_back(entry->second);
        }
        own.clear();
        return to;
    }

    void add(RankFile file) {
        const auto functions = merge_table(trace.functions_, file.functions);
        const auto datatypes = merge_table(trace.datatypes_, file.datatypes);
        const auto operators = merge_table(trace.operators_, file.operators);
        const auto comms = merge_communicators(file.communicators, functions);
        const auto replace = [](std::int32_t& id, const std::vector<std::int32_t>& to) {
            if (id >= 0) id = to[static_cast<std::size_t>(id)];
        };
        replace(file.open_function, functions);
        for (trace::Call& call : file.calls) {
            replace(call.function, functions);
            replace(call.communicator, comms);
            replace(call.new_communicator, comms);
            replace(call.datatype, datatypes);
            replace(call.op, operators);
        }
        trace.communicators_of_.push_back(comms);
        trace.ranks_.push_back(std::move(file));
    }
};

Trace Trace::open(const fs::path& folder) {
    const std::vector<fs::path> files = rank_files(folder);
    Trace trace;
    Merger merger{trace, {}};
    for (std::size_t i = 0; i < files.size(); ++i) {
        RankFile file = trace::read_rank_file(files[i]);
        // In order of rank, a gap shows as a name that is not the expected one.
        const std::string expected = rank_file_name(static_cast<std::int64_t>(i));
        if (files[i].filename() != expected || file.rank != static_cast<std::int32_t>(i)) {
            throw InvalidInput(folder.string() + ": found " + files[i].filename().string() + " of rank " +
                                   std::to_string(file.rank) + " where " + expected +
                                   " is expected; accepted: one file for each rank",
                               kRecordHint);
        }
        if (i > 0 && file.num_ranks != trace.ranks_[0].num_ranks) {
            throw InvalidInput(files[i].string() + ": found a run of " + std::to_string(file.num_ranks) +
                                   " ranks; accepted: " + std::to_string(trace.ranks_[0].num_ranks) + ", as in " +
                                   files[0].filename().string(),
                               kRecordHint);
        }
        merger.add(std::move(file));
    }
    if (trace.num_ranks() != trace.ranks_[0].num_ranks) {
        throw InvalidInput(folder.string() + ": found the files of " + std::to_string(trace.num_ranks()) + " ranks, " +
                               rank_file_name(trace.num_ranks()) + " is missing; accepted: all " +
                               std::to_string(trace.ranks_[0].num_ranks) + " ranks of the run",
                           "copy the folder again with all its files, or record the program again");
    }
    return trace;
}

Trace Trace::make(const std::vector<RankFile>& files) {
    if (files.empty()) throw InvalidInput("a trace without ranks", "accepted: at least one");
    Trace trace;
    Merger merger{trace, {}};
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (files[i].rank != static_cast<std::int32_t>(i) ||
            files[i].num_ranks != static_cast<std::int32_t>(files.size()))
            throw InvalidInput("rank " + std::to_string(files[i].rank) + " of " + std::to_string(files[i].num_ranks) +
                                   " at place " + std::to_string(i) + " of a trace of " + std::to_string(files.size()) +
                                   " ranks",
                               "accepted: each rank in its place");
        merger.add(trace::decode_rank_file(trace::encode_rank_file(files[i]), rank_file_name(files[i].rank)));
    }
    return trace;
}

const trace::Neighbours* Trace::neighbours(std::int32_t rank, std::int32_t communicator) const {
    const auto& known = neighbours_of_.at(static_cast<std::size_t>(rank));
    const auto found = known.find(communicator);
    return found == known.end() ? nullptr : &found->second;
}

RankFile Trace::separate(std::int32_t rank) const {
    RankFile file = this->rank(rank);
    file.functions = functions_;
    file.datatypes = datatypes_;
    file.operators = operators_;
    const std::vector<std::int32_t>& known = communicators_of_[static_cast<std::size_t>(rank)];
    // What the rank did not know of, or not yet, it could not name.
    std::vector<std::int32_t> number_of(communicators_.size(), -1);
    const auto number = [&number_of](std::int32_t id) { return id < 0 ? id : number_of[static_cast<std::size_t>(id)]; };
    for (std::size_t i = 0; i < known.size(); ++i) {
        const trace::Communicator& merged = communicators_[static_cast<std::size_t>(known[i])];
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
        if (is_rank_file(entry->path()))
            throw InvalidInput(folder.string() + ": has a trace already: " + entry->path().filename().string(),
                               "name a new folder");
    if (error) throw InvalidInput(folder.string() + ": cannot be written: " + error.message(), "name another folder");
    for (std::int32_t r = 0; r < num_ranks(); ++r) {
        const fs::path path = folder / rank_file_name(r);
        const std::string bytes = trace::encode_rank_file(separate(r));
        std::ofstream out(path, std::ios::binary);
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        if (!out.flush())
            throw InvalidInput(path.string() + ": cannot be written", "check the folder and the space that is left");
    }
}

}  // namespace hocket
