// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/interop/recorder.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "hocket/trace/format.h"

namespace hocket::interop {

using trace::Call;

RankRecorder::RankRecorder(std::int32_t rank, std::int32_t num_ranks) {
    file.rank = rank;
    file.num_ranks = num_ranks;
    trace::LocalCommunicator all{-1, -1, false, rank, {}, {}};
    for (std::int32_t r = 0; r < num_ranks; ++r) all.members.push_back(r);
    file.communicators.push_back(std::move(all));
    file.communicators.push_back({-1, -1, false, 0, {rank}, {}});
}

namespace {

template <class Map, class Key, class Make>
std::int32_t number_in(Map& map, const Key& key, Make make) {
    const auto found = map.find(key);
    if (found != map.end()) return found->second;
    const auto number = static_cast<std::int32_t>(map.size());
    map.emplace(key, number);
    make();
    return number;
}

}  // namespace

std::int32_t RankRecorder::function(std::string_view name) {
    return number_in(functions_, name, [&] { file.functions.emplace_back(name); });
}

std::int32_t RankRecorder::datatype(std::string_view name, std::int64_t bytes) {
    const std::pair key(std::string(name), bytes);
    return number_in(datatypes_, key, [&] { file.datatypes.push_back({key.first, bytes}); });
}

std::int32_t RankRecorder::op(std::string_view name, bool commutative) {
    return number_in(operators_, name, [&] { file.operators.push_back({std::string(name), commutative}); });
}

Call RankRecorder::call(std::int32_t function, std::int64_t enter_ns, std::int64_t exit_ns) {
    Call call{};
    call.enter_ns = enter_ns;
    call.exit_ns = exit_ns;
    call.function = function;
    for (std::int64_t* field :
         {&call.enter_cpu_ns, &call.exit_cpu_ns, &call.bytes, &call.receive_bytes, &call.blocks, &call.completions})
        *field = -1;
    for (std::int32_t* field :
         {&call.communicator, &call.root, &call.peer, &call.tag, &call.receive_peer, &call.receive_tag, &call.datatype,
          &call.op, &call.new_communicator, &call.window, &call.file})
        *field = -1;
    call.calls = 1;
    return call;
}

void RankRecorder::make_request(Call& call, std::uint64_t handle, bool receives, bool persistent) {
    call.request = ++last_request_;
    if (persistent) call.flags |= HOCKET_TRACE_PERSISTENT;
    requests_[handle] = {last_request_, receives, persistent};
}

void RankRecorder::name_request(Call& call, std::uint64_t handle) {
    if (const auto found = requests_.find(handle); found != requests_.end()) call.request = found->second.number;
}

void RankRecorder::begin_completions(Call& call) {
    call.completions = static_cast<std::int64_t>(file.completions.size());
    call.num_completions = 0;
}

void RankRecorder::complete(Call& call, std::uint64_t handle, const Status& status) {
    const auto found = requests_.find(handle);
    if (found == requests_.end()) return;
    const Request request = found->second;
    file.completions.push_back(request.receives
                                   ? trace::Completion{request.number, status.source, status.tag, status.bytes}
                                   : trace::Completion{request.number, -1, -1, -1});
    if (call.num_completions++ == 0) call.request = request.number;
    if (!request.persistent) requests_.erase(found);
}

void RankRecorder::start(Call& call, std::uint64_t handle) {
    const auto found = requests_.find(handle);
    if (found == requests_.end()) return;
    file.completions.push_back({found->second.number, -1, -1, -1});
    if (call.num_completions++ == 0) call.request = found->second.number;
}

bool RankRecorder::is_receive(std::uint64_t handle) const {
    const auto found = requests_.find(handle);
    return found != requests_.end() && found->second.receives;
}

void RankRecorder::blocks(Call& call, std::span<const std::int64_t> sent, std::span<const std::int64_t> received) {
    call.blocks = static_cast<std::int64_t>(file.blocks.size());
    for (const auto& part : {sent, received}) {
        file.blocks.push_back(static_cast<std::int64_t>(part.size()));
        file.blocks.insert(file.blocks.end(), part.begin(), part.end());
    }
}

std::int32_t RankRecorder::make_communicator(Creation creation) {
    const auto number = static_cast<std::int32_t>(file.communicators.size());
    file.communicators.push_back({creation.made_by, creation.parent, false, -1, {}, {}});
    creation.made = number;
    creations.push_back(std::move(creation));
    return number;
}

void shift_clocks(std::vector<trace::RankFile>& ranks, bool align) {
    std::int64_t first_ns = std::numeric_limits<std::int64_t>::max(), longest_ns = 0;
    for (const trace::RankFile& rank : ranks) {
        if (rank.calls.empty()) continue;
        first_ns = std::min(first_ns, rank.calls.front().enter_ns);
        longest_ns = std::max(longest_ns, rank.calls.front().exit_ns - rank.calls.front().enter_ns);
    }
    for (trace::RankFile& rank : ranks) {
        if (rank.calls.empty()) continue;
        const std::int64_t by_ns = align ? rank.calls.front().exit_ns - longest_ns : first_ns;
        for (Call& call : rank.calls) {
            call.enter_ns -= by_ns;
            call.exit_ns -= by_ns;
        }
    }
}

namespace {

/// A trace holds no communicator without members: calls on one that has none are on none. Counts them by function.
void leave_out_unknown(trace::RankFile& rank, std::map<std::string, std::int64_t>& calls) {
    const auto is_unknown = [&rank](std::int32_t number) {
        return number >= 0 && rank.communicators[static_cast<std::size_t>(number)].members.empty();
    };
    for (Call& call : rank.calls) {
        if (is_unknown(call.communicator)) {
            ++calls[rank.functions[static_cast<std::size_t>(call.function)]];
            call.communicator = -1;
        }
        if (is_unknown(call.new_communicator)) call.new_communicator = -1;
    }
    for (trace::LocalCommunicator& one : rank.communicators) {
        if (!one.members.empty()) continue;
        one.members = {rank.rank};
        one.rank = 0;
    }
}

/// Receives from any rank of which no completion names the sender.
std::int64_t unknown_senders(const trace::RankFile& rank) {
    std::set<std::uint64_t> known;
    for (const trace::Completion& one : rank.completions)
        if (one.source >= 0) known.insert(one.request);
    return std::ranges::count_if(rank.calls, [&](const Call& call) {
        const std::string& name = rank.functions[static_cast<std::size_t>(call.function)];
        const bool receives = name.ends_with("ecv") || name.ends_with("ecv_init");
        return receives && (call.peer == -2 || call.receive_peer == -2) &&
               (call.request == 0 || !known.contains(call.request));
    });
}

void own_blocks(trace::RankFile& rank) {
    for (Call& call : rank.calls) {
        if (call.blocks < 0 || call.communicator < 0) continue;
        if (rank.functions[static_cast<std::size_t>(call.function)] != "MPI_Reduce_scatter") continue;
        const auto own = rank.communicators[static_cast<std::size_t>(call.communicator)].rank;
        const auto first =
            static_cast<std::size_t>(call.blocks + 1 + rank.blocks[static_cast<std::size_t>(call.blocks)]);
        call.bytes = own >= 0 && own < rank.blocks[first] ? rank.blocks[first + 1 + static_cast<std::size_t>(own)] : 0;
    }
}

}  // namespace

ForeignTrace finish(const std::vector<RankRecorder*>& recorders, bool align) {
    std::vector<RankCreations> creations;
    creations.reserve(recorders.size());
    for (RankRecorder* recorder : recorders) creations.push_back({&recorder->file, recorder->creations});
    find_members(creations);
    ForeignTrace result;
    for (RankRecorder* recorder : recorders) {
        own_blocks(recorder->file);
        result.ranks.push_back(std::move(recorder->file));
    }
    shift_clocks(result.ranks, align);
    std::int64_t unknown = 0;
    for (const trace::RankFile& rank : result.ranks) unknown += unknown_senders(rank);
    if (unknown > 0)
        result.notes.push_back(std::to_string(unknown) +
                               " receives are from any rank, and the trace does not record from which");
    std::map<std::string, std::int64_t> without_members;
    for (trace::RankFile& rank : result.ranks) leave_out_unknown(rank, without_members);
    for (const auto& [name, calls] : without_members)
        result.notes.push_back(std::to_string(calls) + " calls of " + name +
                               " act on a communicator whose members the trace does not name");
    return result;
}

}  // namespace hocket::interop
