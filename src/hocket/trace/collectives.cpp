// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/collectives.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>

#include "hocket/base/error.hpp"
#include "hocket/trace/format.h"

namespace hocket::trace {

namespace {

// In lower case, as the non-blocking functions have them behind their I.
constexpr std::array<std::string_view, 22> kNames = {"barrier",
                                                     "bcast",
                                                     "reduce",
                                                     "allreduce",
                                                     "scan",
                                                     "exscan",
                                                     "gather",
                                                     "gatherv",
                                                     "scatter",
                                                     "scatterv",
                                                     "allgather",
                                                     "allgatherv",
                                                     "alltoall",
                                                     "alltoallv",
                                                     "alltoallw",
                                                     "reduce_scatter",
                                                     "reduce_scatter_block",
                                                     "neighbor_allgather",
                                                     "neighbor_allgatherv",
                                                     "neighbor_alltoall",
                                                     "neighbor_alltoallv",
                                                     "neighbor_alltoallw"};

bool is_vector(std::string_view name) { return name.ends_with('v') || name.ends_with('w') || name == "reduce_scatter"; }

/// One rank's part in a collective.
struct Part {
    const Call* call;  ///< with what to do: of a persistent collective the call that made the request
    CollectiveName name;
    std::int64_t enter_ns;
    std::int64_t exit_ns;
};

/// All parts of one rank, by communicator, in the order in which they were started.
using Parts = std::map<std::int32_t, std::vector<Part>>;

Parts parts_of(const RankFile& file, const std::vector<CollectiveName>& names,
               const std::vector<std::string>& functions) {
    struct Place {
        std::int32_t communicator;
        std::size_t index;
    };
    Parts parts;
    std::unordered_map<std::uint64_t, Place> running;         // request -> its part
    std::unordered_map<std::uint64_t, const Call*> prepared;  // persistent request -> the call that made it
    const auto start = [&](const Call& what, std::uint64_t request, std::int64_t enter_ns, std::int64_t exit_ns) {
        auto& own = parts[what.communicator];
        own.push_back({&what, names[static_cast<std::size_t>(what.function)], enter_ns, exit_ns});
        if (request != 0) running[request] = {what.communicator, own.size() - 1};
    };
    for (const Call& call : file.calls) {
        if (call.error != 0) continue;
        const CollectiveName& name = names[static_cast<std::size_t>(call.function)];
        if (!name.collective.empty() && call.communicator >= 0) {
            if (name.form == Form::persistent)
                prepared[call.request] = &call;
            else
                start(call, name.form == Form::nonblocking ? call.request : 0, call.enter_ns, call.exit_ns);
            continue;
        }
        if (call.request == 0) continue;
        const bool is_start = functions[static_cast<std::size_t>(call.function)].starts_with("MPI_Start");
        const auto touch = [&](std::uint64_t request) {
            if (is_start) {
                const auto found = prepared.find(request);
                if (found != prepared.end()) start(*found->second, request, call.enter_ns, call.exit_ns);
            } else if (const auto found = running.find(request); found != running.end() && call.num_completions > 0) {
                parts[found->second.communicator][found->second.index].exit_ns = call.exit_ns;
                running.erase(found);
            }
        };
        if (call.num_completions == 0) touch(call.request);
        for (std::int64_t i = 0; i < call.num_completions; ++i) {
            touch(file.completions[static_cast<std::size_t>(call.completions + i)].request);
        }
    }
    return parts;
}

struct Member {
    std::int32_t rank;
    const std::vector<Part>* parts;
};

[[noreturn]] void disagree(std::int32_t communicator, std::size_t number, const std::string& first,
                           const std::string& second) {
    throw InvalidInput(
        "the ranks of communicator " + std::to_string(communicator) + " disagree on collective call number " +
            std::to_string(number + 1) + ": found " + first + " and " + second +
            "; accepted: the same collective with the same root on all ranks",
        "the program breaks the rules of MPI here, or two threads call collectives on one communicator at once");
}

std::string describe(const Part& part, std::int32_t rank) {
    std::string text(part.name.collective);
    if (part.call->root >= 0) text += " from root " + std::to_string(part.call->root);
    return text + " on rank " + std::to_string(rank);
}

Collective match(std::int32_t communicator, std::size_t number, const std::vector<Member>& members) {
    const Part& first = (*members[0].parts)[number];
    Collective row{.collective = first.name.collective,
                   .form = first.name.form,
                   .communicator = communicator,
                   .bytes = 0,
                   .mean_bytes = 0,
                   .uniform = !is_vector(first.name.collective),
                   .root = first.call->root,
                   .op = first.call->op,
                   .datatype = first.call->datatype,
                   .in_place = false,
                   .first_enter_ns = first.enter_ns,
                   .last_enter_ns = first.enter_ns,
                   .last_exit_ns = first.exit_ns,
                   .enter_ns = {},
                   .exit_ns = {}};
    row.bytes = std::max<std::int64_t>(0, first.call->bytes);
    std::int64_t total = 0;
    for (const Member& member : members) {
        const Part& part = (*member.parts)[number];
        if (part.name.collective != row.collective || part.call->root != row.root) {
            disagree(communicator, number, describe(first, members[0].rank), describe(part, member.rank));
        }
        const std::int64_t bytes = std::max<std::int64_t>(0, part.call->bytes);
        if (bytes != row.bytes) row.uniform = false;
        row.bytes = std::max(row.bytes, bytes);
        total += bytes;
        row.in_place = row.in_place || (part.call->flags & HOCKET_TRACE_IN_PLACE) != 0;
        row.first_enter_ns = std::min(row.first_enter_ns, part.enter_ns);
        row.last_enter_ns = std::max(row.last_enter_ns, part.enter_ns);
        row.last_exit_ns = std::max(row.last_exit_ns, part.exit_ns);
        row.enter_ns.push_back(part.enter_ns);
        row.exit_ns.push_back(part.exit_ns);
    }
    const auto num_members = static_cast<std::int64_t>(members.size());
    row.mean_bytes = is_vector(row.collective) ? (total + num_members - 1) / num_members : row.bytes;
    return row;
}

}  // namespace

CollectiveName collective_of(std::string_view function) {
    if (!function.starts_with("MPI_")) return {};
    std::string name(function.substr(4));
    if (name.ends_with("_c")) name.resize(name.size() - 2);
    Form form = Form::blocking;
    if (name.ends_with("_init")) {
        form = Form::persistent;
        name.resize(name.size() - 5);
    }
    for (char& c : name) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    for (const std::string_view known : kNames) {
        if (name == known) return {known, form};
        if (form == Form::blocking && name.size() == known.size() + 1 && name[0] == 'i' && name.ends_with(known)) {
            return {known, Form::nonblocking};
        }
    }
    return {};
}

std::vector<Collective> collectives(const Trace& trace) {
    std::vector<CollectiveName> names;
    for (const std::string& function : trace.functions()) names.push_back(collective_of(function));
    std::vector<Parts> parts;
    bool all_complete = true;
    for (std::int32_t rank = 0; rank < trace.num_ranks(); ++rank) {
        parts.push_back(parts_of(trace.rank(rank), names, trace.functions()));
        all_complete = all_complete && trace.complete(rank);
    }
    static const std::vector<Part> none;
    std::vector<Collective> rows;
    for (std::size_t id = 0; id < trace.communicators().size(); ++id) {
        const Communicator& communicator = trace.communicators()[id];
        const auto number = static_cast<std::int32_t>(id);
        if (communicator.inter || communicator.members.empty() ||
            std::find(communicator.members.begin(), communicator.members.end(), -1) != communicator.members.end()) {
            continue;
        }
        std::vector<Member> members;
        for (const std::int32_t rank : communicator.members) {
            const Parts& own = parts[static_cast<std::size_t>(rank)];
            const auto found = own.find(number);
            members.push_back({rank, found == own.end() ? &none : &found->second});
        }
        const auto by_count = [](const Member& a, const Member& b) { return a.parts->size() < b.parts->size(); };
        const auto [fewest, most] = std::minmax_element(members.begin(), members.end(), by_count);
        if (all_complete && fewest->parts->size() != most->parts->size()) {
            disagree(number, fewest->parts->size(), "nothing on rank " + std::to_string(fewest->rank),
                     describe((*most->parts)[fewest->parts->size()], most->rank));
        }
        for (std::size_t i = 0; i < fewest->parts->size(); ++i) rows.push_back(match(number, i, members));
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Collective& a, const Collective& b) { return a.first_enter_ns < b.first_enter_ns; });
    return rows;
}

}  // namespace hocket::trace
