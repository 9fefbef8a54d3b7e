// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/interop/dumpi.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "hocket/interop/dumpi_file.hpp"
#include "hocket/interop/dumpi_groups.hpp"
#include "hocket/trace/format.h"

namespace hocket::interop {

namespace {

using trace::Call;

// Handles of DUMPI.
constexpr std::int32_t comm_null = 1, comm_world = 2, comm_self = 3;
constexpr std::int32_t first_request = 2;
constexpr std::int32_t any_source = -1, dumpi_root = -2;

constexpr std::array<std::string_view, 28> type_names = {"MPI_DATATYPE_ERROR",
                                                         "MPI_DATATYPE_NULL",
                                                         "MPI_CHAR",
                                                         "MPI_SIGNED_CHAR",
                                                         "MPI_UNSIGNED_CHAR",
                                                         "MPI_BYTE",
                                                         "MPI_WCHAR",
                                                         "MPI_SHORT",
                                                         "MPI_UNSIGNED_SHORT",
                                                         "MPI_INT",
                                                         "MPI_UNSIGNED",
                                                         "MPI_LONG",
                                                         "MPI_UNSIGNED_LONG",
                                                         "MPI_FLOAT",
                                                         "MPI_DOUBLE",
                                                         "MPI_LONG_DOUBLE",
                                                         "MPI_LONG_LONG_INT",
                                                         "MPI_UNSIGNED_LONG_LONG",
                                                         "MPI_LONG_LONG",
                                                         "MPI_PACKED",
                                                         "MPI_LB",
                                                         "MPI_UB",
                                                         "MPI_FLOAT_INT",
                                                         "MPI_DOUBLE_INT",
                                                         "MPI_LONG_INT",
                                                         "MPI_SHORT_INT",
                                                         "MPI_2INT",
                                                         "MPI_LONG_DOUBLE_INT"};
// Where the file does not have them: those of a 64-bit machine.
constexpr std::array<std::int32_t, 28> usual_bytes = {0, 0,  1, 1, 1, 1, 4, 2, 2, 4,  4,  8, 8, 4,
                                                      8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20};
constexpr std::array<std::string_view, 15> op_names = {
    "MPI_OP_ERROR", "MPI_MAX",  "MPI_MIN",  "MPI_SUM",    "MPI_PROD",   "MPI_LAND",    "MPI_BAND",   "MPI_LOR",
    "MPI_BOR",      "MPI_LXOR", "MPI_BXOR", "MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE", "MPI_OP_NULL"};

class DumpiReader {
public:
    DumpiReader(const Source& source, std::int32_t rank, std::int32_t num_ranks)
        : in_(source), out_(rank, num_ranks), groups_(num_ranks) {
        communicators_[comm_world] = RankRecorder::world;
        communicators_[comm_self] = RankRecorder::self;
    }

    void read() {
        out_.file.host = in_.host().substr(0, HOCKET_TRACE_HOST_BYTES - 1);
        DumpiCall call;
        while (in_.next(call)) add(call);
        out_.file.end = HOCKET_TRACE_END_FINALIZE;
    }

    RankRecorder& out() { return out_; }
    [[nodiscard]] const std::map<std::string, std::int64_t>& ignored() const { return in_.ignored(); }
    [[nodiscard]] std::int64_t unknown_types() const { return unknown_types_; }
    [[nodiscard]] bool has_wall_time() const { return has_wall_time_; }

private:
    void add(DumpiCall& call) {
        if (call.enter_ns < 0) {
            call.enter_ns = std::max<std::int64_t>(call.enter_cpu_ns, 0);
            call.exit_ns = std::max<std::int64_t>(call.exit_cpu_ns, 0);
        } else {
            has_wall_time_ = true;
        }
        if (call.exit_ns < call.enter_ns) in_.fail("a call that ends before it begins", "times that grow");
        if (call.thread > INT16_MAX) in_.fail("thread " + std::to_string(call.thread), "0 to 32767");
        Call made = RankRecorder::call(out_.function("MPI_" + std::string(call.function)), call.enter_ns, call.exit_ns);
        if (call.enter_cpu_ns >= 0 && call.exit_cpu_ns >= call.enter_cpu_ns) {
            made.enter_cpu_ns = call.enter_cpu_ns;
            made.exit_cpu_ns = call.exit_cpu_ns;
        }
        made.thread = static_cast<std::int16_t>(call.thread);
        describe(made, call.function, call.arguments);
        out_.file.calls.push_back(made);
    }

    std::int64_t size_of(std::int32_t type) {
        const auto place = static_cast<std::size_t>(type);
        if (type >= 0 && place < in_.sizes().size()) return std::max(0, in_.sizes()[place]);
        if (type >= 0 && place < usual_bytes.size()) return usual_bytes[place];
        ++unknown_types_;
        return 1;
    }

    void message(Call& call, std::int32_t count, std::int32_t type) {
        const std::int64_t size = size_of(type);
        call.bytes = std::max(0, count) * size;
        const auto place = static_cast<std::size_t>(type);
        const bool is_named = type >= 0 && place < type_names.size();
        call.datatype = out_.datatype(is_named ? type_names[place] : "user", size);
    }

    std::int32_t communicator(std::int32_t handle) {
        const auto found = communicators_.find(handle);
        return found == communicators_.end() ? -1 : found->second;
    }

    static std::int32_t source(std::int32_t peer) { return peer == any_source ? -2 : std::max(peer, -1); }

    static std::uint64_t handle_of(std::int32_t request) { return static_cast<std::uint32_t>(request); }

    /// What arrived, where it was asked for and the file has it.
    static RankRecorder::Status arrived(const DumpiArguments& a, std::size_t i) {
        if (i >= a.statuses.size()) return {};
        const DumpiStatus& status = a.statuses[i];
        return {status.source < 0 ? -1 : status.source, status.tag, std::max(0, status.bytes)};
    }

    void describe(Call& call, std::string_view name, DumpiArguments& a) {
        if (a.has('c')) call.communicator = communicator(a['c']);
        if (a.has('r')) call.root = a['r'] == dumpi_root ? -3 : std::max(a['r'], -1);
        if (a.has('o') && a['o'] >= 0) {
            const auto place = static_cast<std::size_t>(a['o']);
            call.op = place < op_names.size() ? out_.op(op_names[place], true) : out_.op("user", commutes_[a['o']]);
        }
        if (a.has('w')) call.window = a['w'];
        if (a.has('F')) call.file = a['F'];
        if (a.has('n') && a.has('t') && a['t'] >= 0) message(call, a['n'], a['t']);
        if (a.has('p') && !a.has('P') && !name.starts_with("Cart")) {
            const bool receives = name.ends_with("ecv") || name.ends_with("ecv_init") || name.ends_with("robe");
            call.peer = receives ? source(a['p']) : std::max(a['p'], -1);
            if (a.has('g')) call.tag = a['g'];
        }
        if (name == "Op_create") commutes_[a['o']] = a['f'] != 0;
        requests(call, name, a);
        receives(call, name, a);
        sizes_of_ranks(call, name, a);
        groups(name, a);
        creations(call, name, a);
    }

    void receives(Call& call, std::string_view name, const DumpiArguments& a) {
        if (name.starts_with("Sendrecv")) {
            call.peer = std::max(a['p'], -1);
            call.tag = a['g'];
            call.receive_peer = source(a['P']);
            call.receive_tag = a['G'];
            call.receive_bytes = a.has('N') ? std::max(0, a['N']) * size_of(a['T']) : call.bytes;
            take_status(call.receive_peer, call.receive_tag, call.receive_bytes, arrived(a, 0));
        } else if (name == "Recv" || name == "Probe" || (name == "Iprobe" && a['f'] != 0)) {
            if (name != "Recv") call.bytes = INT64_MAX;
            take_status(call.peer, call.tag, call.bytes, arrived(a, 0));
            if (call.bytes == INT64_MAX) call.bytes = -1;
        }
    }

    /// Only what was left open: a status that the program ignored may hold anything.
    static void take_status(std::int32_t& peer, std::int32_t& tag, std::int64_t& bytes,
                            const RankRecorder::Status& status) {
        if (status.bytes < 0 || (peer >= 0 && status.source != peer)) return;
        if (peer == -2) peer = status.source;
        if (tag < 0) tag = status.tag;
        bytes = std::min(bytes, status.bytes);
    }

    void requests(Call& call, std::string_view name, const DumpiArguments& a) {
        const bool persistent = name.ends_with("_init");
        if (name.ends_with("send") || name == "Irecv" || persistent) {
            if (a.has('R') && a['R'] >= first_request)
                out_.make_request(call, handle_of(a['R']), name.find("ecv") != std::string_view::npos, persistent);
        } else if (name == "Start") {
            out_.name_request(call, handle_of(a['R']));
        } else if (name == "Startall") {
            out_.begin_completions(call);
            for (const std::uint32_t request : a.requests) out_.start(call, request);
        } else if (name == "Request_free" || name == "Cancel") {
            out_.name_request(call, handle_of(a['R']));
        } else if (name == "Wait" || (name == "Test" && a['f'] != 0)) {
            out_.begin_completions(call);
            out_.complete(call, handle_of(a['R']), arrived(a, 0));
        } else if (name == "Waitall" || (name == "Testall" && a['f'] != 0)) {
            out_.begin_completions(call);
            for (std::size_t i = 0; i < a.requests.size(); ++i) out_.complete(call, a.requests[i], arrived(a, i));
        } else if (name == "Waitany" || (name == "Testany" && a['f'] != 0)) {
            out_.begin_completions(call);
            if (a['x'] >= 0 && static_cast<std::size_t>(a['x']) < a.requests.size())
                out_.complete(call, a.requests[static_cast<std::size_t>(a['x'])], arrived(a, 0));
        } else if (name == "Waitsome" || (name == "Testsome" && !a.indices.empty())) {
            out_.begin_completions(call);
            for (std::size_t i = 0; i < a.indices.size(); ++i)
                if (a.indices[i] >= 0 && static_cast<std::size_t>(a.indices[i]) < a.requests.size())
                    out_.complete(call, a.requests[static_cast<std::size_t>(a.indices[i])], arrived(a, i));
        }
        if (name.starts_with("Test") && call.completions >= 0) call.flags |= HOCKET_TRACE_COMPLETED;
        if (name == "Iprobe" && a['f'] != 0) call.flags |= HOCKET_TRACE_COMPLETED;
    }

    void sizes_of_ranks(Call& call, std::string_view name, const DumpiArguments& a) {
        const bool at_root = a['m'] == a['r'];
        if ((name == "Gather" && at_root) || (name == "Scatter" && !at_root)) return message(call, a['N'], a['T']);
        if (name == "Scatterv" && !at_root) return message(call, a['N'], a['T']);
        const bool has_sizes = name == "Allgatherv" || name == "Alltoallv" || name == "Alltoallw" ||
                               name == "Reduce_scatter" || ((name == "Gatherv" || name == "Scatterv") && at_root);
        if (!has_sizes) return;
        const auto bytes = [&](const std::vector<std::int32_t>& counts, std::int32_t type, const auto& types) {
            std::vector<std::int64_t> found;
            for (std::size_t i = 0; i < counts.size(); ++i)
                found.push_back(std::max(0, counts[i]) * size_of(i < types.size() ? types[i] : type));
            return found;
        };
        const auto sent = bytes(a.send, a['t'], a.send_types);
        const auto received = bytes(a.receive, name == "Reduce_scatter" ? a['t'] : a['T'], a.receive_types);
        if (name.starts_with("Alltoall")) {
            call.bytes = 0;
            for (const std::int64_t one : sent) call.bytes += one;
        } else if (name != "Allgatherv") {
            const auto& own = name == "Scatterv" ? sent : received;
            const auto place = static_cast<std::size_t>(std::max(0, a['m']));
            call.bytes = a['m'] >= 0 && place < own.size() ? own[place] : 0;
        }
        out_.blocks(call, sent, received);
    }

    void groups(std::string_view name, const DumpiArguments& a) {
        if (name == "Comm_group") return groups_.of_communicator(a['u'], communicator(a['c']));
        if (name == "Group_incl") return groups_.include(a['u'], a['v'], a.numbers);
        if (name == "Group_excl") return groups_.exclude(a['u'], a['v'], a.numbers);
        if (name == "Group_range_incl") return groups_.include(a['u'], a['v'], DumpiGroups::ranks_in(a.ranges));
        if (name == "Group_range_excl") return groups_.exclude(a['u'], a['v'], DumpiGroups::ranks_in(a.ranges));
        if (name == "Group_union") return groups_.combine(a['u'], a['v'], a['V'], DumpiGroups::Both::either);
        if (name == "Group_intersection") return groups_.combine(a['u'], a['v'], a['V'], DumpiGroups::Both::both);
        if (name == "Group_difference") return groups_.combine(a['u'], a['v'], a['V'], DumpiGroups::Both::first_alone);
    }

    void creations(Call& call, std::string_view name, DumpiArguments& a) {
        if (!a.has('C')) return;
        using enum Creation::Kind;
        Creation creation{unknown, communicator(a['c'])};
        creation.made_by = call.function;
        if (name == "Comm_dup") creation.kind = dup;
        if (name == "Comm_split") {
            creation.kind = split;
            creation.color = a['y'];
            creation.key = a['Y'];
        } else if (name == "Comm_create") {
            if (const auto group = groups_.find(a['v'])) {
                creation.kind = Creation::Kind::group;
                creation.base = group->communicator;
                creation.ranks = group->ranks;
            }
        } else if (name == "Cart_create") {
            creation.kind = grid;
            creation.dims = std::move(a.numbers);
        } else if (name == "Graph_create") {
            creation.kind = grid;
            creation.dims = {a['n']};
        } else if (name == "Cart_sub") {
            creation.kind = slice;
            creation.keeps = std::move(a.numbers);
        }
        if (a['C'] == comm_null) return out_.take_part(std::move(creation));
        call.new_communicator = out_.make_communicator(std::move(creation));
        communicators_[a['C']] = call.new_communicator;
    }

    DumpiFile in_;
    RankRecorder out_;
    DumpiGroups groups_;
    bool has_wall_time_ = false;
    std::int64_t unknown_types_ = 0;
    std::map<std::int32_t, std::int32_t> communicators_;  // handle -> number
    std::map<std::int32_t, bool> commutes_;
};

}  // namespace

ForeignTrace read_dumpi(std::span<const Source> files, bool align) {
    std::vector<DumpiReader> readers;
    readers.reserve(files.size());
    for (std::size_t rank = 0; rank < files.size(); ++rank) {
        readers.emplace_back(files[rank], static_cast<std::int32_t>(rank), static_cast<std::int32_t>(files.size()));
        readers.back().read();
    }
    std::vector<RankRecorder*> recorders;
    std::map<std::string, std::int64_t> ignored;
    std::int64_t unknown_types = 0;
    bool has_wall_time = true;
    for (DumpiReader& reader : readers) {
        recorders.push_back(&reader.out());
        for (const auto& [name, calls] : reader.ignored()) ignored[name] += calls;
        unknown_types += reader.unknown_types();
        has_wall_time = has_wall_time && (reader.has_wall_time() || reader.out().file.calls.empty());
    }
    ForeignTrace result = finish(recorders, align);
    for (const auto& [name, calls] : ignored)
        result.notes.push_back(std::to_string(calls) + " calls of " + name + " were counted and not recorded");
    if (unknown_types > 0)
        result.notes.push_back(std::to_string(unknown_types) +
                               " sizes of datatypes are not in the file: an element counts as 1 byte");
    if (!has_wall_time) result.notes.emplace_back("wall time was not recorded: CPU time stands for it");
    return result;
}

}  // namespace hocket::interop
