// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/interop/simgrid_ti.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "hocket/interop/text_lines.hpp"
#include "hocket/trace/format.h"

namespace hocket::interop {

const std::array<TiType, 60> ti_types = {{{"MPI_DOUBLE", 8},
                                          {"MPI_INT", 4},
                                          {"MPI_CHAR", 1},
                                          {"MPI_SHORT", 2},
                                          {"MPI_LONG", 8},
                                          {"MPI_FLOAT", 4},
                                          {"MPI_BYTE", 1},
                                          {"MPI_LONG_LONG", 8},
                                          {"MPI_SIGNED_CHAR", 1},
                                          {"MPI_UNSIGNED_CHAR", 1},
                                          {"MPI_UNSIGNED_SHORT", 2},
                                          {"MPI_UNSIGNED", 4},
                                          {"MPI_UNSIGNED_LONG", 8},
                                          {"MPI_UNSIGNED_LONG_LONG", 8},
                                          {"MPI_LONG_DOUBLE", 16},
                                          {"MPI_WCHAR", 4},
                                          {"MPI_C_BOOL", 1},
                                          {"MPI_INT8_T", 1},
                                          {"MPI_INT16_T", 2},
                                          {"MPI_INT32_T", 4},
                                          {"MPI_INT64_T", 8},
                                          {"MPI_UINT8_T", 1},
                                          {"MPI_UINT16_T", 2},
                                          {"MPI_UINT32_T", 4},
                                          {"MPI_UINT64_T", 8},
                                          {"MPI_C_FLOAT_COMPLEX", 8},
                                          {"MPI_C_DOUBLE_COMPLEX", 16},
                                          {"MPI_C_LONG_DOUBLE_COMPLEX", 32},
                                          {"MPI_AINT", 8},
                                          {"MPI_OFFSET", 8},
                                          {"MPI_FLOAT_INT", 8},
                                          {"MPI_LONG_INT", 16},
                                          {"MPI_DOUBLE_INT", 16},
                                          {"MPI_SHORT_INT", 8},
                                          {"MPI_2INT", 8},
                                          {"MPI_2FLOAT", 8},
                                          {"MPI_2DOUBLE", 16},
                                          {"MPI_2LONG", 16},
                                          {"MPI_REAL", 4},
                                          {"MPI_REAL4", 4},
                                          {"MPI_REAL8", 8},
                                          {"MPI_REAL16", 16},
                                          {"MPI_COMPLEX8", 8},
                                          {"MPI_COMPLEX16", 16},
                                          {"MPI_COMPLEX32", 16},
                                          {"MPI_INTEGER1", 4},
                                          {"MPI_INTEGER2", 2},
                                          {"MPI_INTEGER4", 4},
                                          {"MPI_INTEGER8", 8},
                                          {"MPI_INTEGER16", 16},
                                          {"MPI_LONG_DOUBLE_INT", 32},
                                          {"MPI_CXX_BOOL", 1},
                                          {"MPI_CXX_FLOAT_COMPLEX", 8},
                                          {"MPI_CXX_DOUBLE_COMPLEX", 16},
                                          {"MPI_CXX_LONG_DOUBLE_COMPLEX", 32},
                                          {"", 0},
                                          {"", 0},
                                          {"MPI_PACKED", 1},
                                          {"", 8},
                                          {"MPI_COUNT", 8}}};

namespace {

constexpr std::int64_t most_ranks = 1 << 24;

using trace::Call;
using Fields = std::span<const std::string_view>;

constexpr std::int64_t most_bytes = std::int64_t{1} << 50;
constexpr std::int32_t any_source = -555;  // SMPI's MPI_ANY_SOURCE; MPI_PROC_NULL is -666, MPI_ANY_TAG -444
constexpr double ns_per_s = 1e9;

class TiRank {
public:
    TiRank(std::int32_t rank, std::int32_t num_ranks, double flops_per_s)
        : recorder(rank, num_ranks), num_ranks_(static_cast<std::size_t>(num_ranks)), flops_per_s_(flops_per_s) {}

    /// `fields`: what comes behind the action.
    void action(std::string_view name, Fields fields, const TextLines& text) {
        fields_ = fields;
        text_ = &text;
        if (name == "compute") return compute(amount(0, "flops"));
        if (name == "sleep") return advance(amount(0, "seconds") * ns_per_s);
        if (name == "location") return;
        if (name == "init") {
            default_type_ = fields.empty() ? 6 : 0;  // as SimGrid does: MPI_BYTE, or MPI_DOUBLE
            return add(call("MPI_Init"));
        }
        if (name == "finalize") {
            recorder.file.end = HOCKET_TRACE_END_FINALIZE;
            return add(call("MPI_Finalize"));
        }
        if (name == "comm_size") return add(call("MPI_Comm_size"));
        if (name == "comm_split") return add(call("MPI_Comm_split"));
        if (name == "comm_dup") return add(call("MPI_Comm_dup"));
        if (name == "send" || name == "isend" || name == "ssend" || name == "issend") return message(name, true);
        if (name == "recv" || name == "irecv") return message(name, false);
        if (name == "sendRecv") return sendrecv();
        if (name == "wait" || name == "test") return wait(name == "test");
        if (name == "waitall") return waitall();
        if (!collective(name)) text.fail(name, "an action", "an action of SimGrid's time-independent traces");
    }

    RankRecorder recorder;

private:
    Call call(const char* function) {
        Call made = RankRecorder::call(recorder.function(function), now_ns_, now_ns_);
        made.communicator = RankRecorder::world;
        return made;
    }
    void add(const Call& call) { recorder.file.calls.push_back(call); }

    std::string_view field(std::size_t i, const char* what) const {
        if (i >= fields_.size()) text_->fail("the end of the line", what, "more");
        return fields_[i];
    }
    double amount(std::size_t i, const char* what) const {
        const double value = text_->real(field(i, what), what);
        if (value < 0) text_->fail(field(i, what), what, "0 or more");
        return value;
    }
    std::int64_t whole(std::size_t i, const char* what, std::int64_t least = 0, std::int64_t most = most_bytes) const {
        return text_->whole(field(i, what), what, least, most);
    }
    std::size_t type(std::size_t i) const {
        if (i >= fields_.size()) return default_type_;
        return static_cast<std::size_t>(whole(i, "a datatype", 0, static_cast<std::int64_t>(ti_types.size()) - 1));
    }
    std::int32_t rank(std::size_t i) const {
        // Negative ones are MPI_ANY_SOURCE and the like.
        const std::int64_t found = whole(i, "a rank", -1000, most_ranks);
        if (found >= static_cast<std::int64_t>(num_ranks_)) {
            text_->fail(field(i, "a rank"), "a rank",
                        "those that there are files of, 0 to " + std::to_string(num_ranks_ - 1));
        }
        return static_cast<std::int32_t>(found);
    }
    std::int32_t tag(std::size_t i) const {
        return static_cast<std::int32_t>(
            whole(i, "a tag", std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
    }
    std::int64_t bytes(std::size_t i, std::size_t type) const {
        return whole(i, "a size", -1, most_bytes / 64) * ti_types[type].bytes;
    }
    void set_type(Call& call, std::size_t type) {
        call.datatype = recorder.datatype(ti_types[type].name, ti_types[type].bytes);
    }

    void compute(double flops) { advance(flops / flops_per_s_ * ns_per_s); }
    void advance(double ns) {
        constexpr double most_ns = 2.5e17;  // 8 years
        if (!(static_cast<double>(now_ns_) + ns < most_ns))
            text_->fail(text_->line(), "a time", "fewer than 8 years in all: check the flops each second");
        now_ns_ += std::llround(ns);
    }

    void message(std::string_view name, bool sends) {
        const char* function = name == "send"     ? "MPI_Send"
                               : name == "isend"  ? "MPI_Isend"
                               : name == "ssend"  ? "MPI_Ssend"
                               : name == "issend" ? "MPI_Issend"
                               : name == "recv"   ? "MPI_Recv"
                                                  : "MPI_Irecv";
        Call made = call(function);
        const std::int32_t partner = rank(0);
        made.peer = partner >= 0 ? partner : !sends && partner == any_source ? -2 : -1;
        made.tag = std::max(tag(1), -1);
        const std::size_t kind = type(3);
        made.bytes = std::max<std::int64_t>(0, bytes(2, kind));
        set_type(made, kind);
        if (name[0] == 'i') {
            recorder.make_request(made, ++last_handle_, !sends, false);
            const std::int32_t own = recorder.file.rank;
            pending_[sends ? Key{own, partner, tag(1)} : Key{partner, own, tag(1)}].push_back(
                {last_handle_, made.bytes});
        }
        add(made);
    }

    void sendrecv() {
        Call made = call("MPI_Sendrecv");
        const std::size_t sent = type(4), received = type(5);
        made.bytes = std::max<std::int64_t>(0, bytes(0, sent));
        made.peer = std::max(rank(1), -1);
        made.receive_bytes = std::max<std::int64_t>(0, bytes(2, received));
        made.receive_peer = rank(3) == any_source ? -2 : std::max(rank(3), -1);
        made.tag = made.receive_tag = 0;
        set_type(made, sent);
        add(made);
    }

    void wait(bool tests) {
        Call made = call(tests ? "MPI_Test" : "MPI_Wait");
        made.communicator = -1;
        const Key key{rank(0), rank(1), tag(2)};
        const auto found = pending_.find(key);
        // Whether a test succeeded is not in the file: its requests are complete with the wait that follows.
        if (!tests && found != pending_.end()) {
            recorder.begin_completions(made);
            complete(made, key, found->second.front());
            found->second.pop_front();
            if (found->second.empty()) pending_.erase(found);
        }
        add(made);
    }

    void waitall() {
        Call made = call("MPI_Waitall");
        made.communicator = -1;
        recorder.begin_completions(made);
        for (const auto& [key, requests] : pending_)
            for (const Pending& request : requests) complete(made, key, request);
        pending_.clear();
        add(made);
    }

    struct Pending {
        std::uint64_t handle;
        std::int64_t bytes;
    };
    using Key = std::tuple<std::int32_t, std::int32_t, std::int32_t>;  // source, target, tag
    void complete(Call& call, const Key& key, const Pending& request) {
        recorder.complete(call, request.handle, {std::get<0>(key), std::get<2>(key), request.bytes});
    }

    std::vector<std::int64_t> sizes(std::size_t first, std::size_t type) const {
        std::vector<std::int64_t> found;
        for (std::size_t i = 0; i < num_ranks_; ++i) found.push_back(std::max<std::int64_t>(0, bytes(first + i, type)));
        return found;
    }

    bool collective(std::string_view name) {
        const std::size_t p = num_ranks_;
        const auto own = static_cast<std::size_t>(recorder.file.rank);
        double flops = 0;
        Call made{};
        const auto plain = [&](const char* function, std::size_t size_at, std::size_t type_at) {
            made = call(function);
            const std::size_t kind = type(type_at);
            made.bytes = std::max<std::int64_t>(0, bytes(size_at, kind));
            set_type(made, kind);
        };
        const auto rooted = [&](std::size_t at) { made.root = at < fields_.size() ? rank(at) : 0; };
        if (name == "barrier") {
            made = call("MPI_Barrier");
        } else if (name == "bcast") {
            plain("MPI_Bcast", 0, 2);
            rooted(1);
        } else if (name == "reduce") {
            plain("MPI_Reduce", 0, 3);
            rooted(2);
            flops = amount(1, "flops");
        } else if (name == "allreduce" || name == "scan" || name == "exscan") {
            plain(name == "allreduce" ? "MPI_Allreduce" : name == "scan" ? "MPI_Scan" : "MPI_Exscan", 0, 2);
            flops = amount(1, "flops");
        } else if (name == "alltoall" || name == "allgather") {
            plain(name == "alltoall" ? "MPI_Alltoall" : "MPI_Allgather", 0, 2);
            whole(1, "a size", -1);
        } else if (name == "gather") {
            plain("MPI_Gather", 0, 3);
            rooted(2);
        } else if (name == "scatter") {
            plain("MPI_Scatter", 1, 4);
            rooted(2);
        } else if (name == "allgatherv" || name == "gatherv") {
            const bool all = name == "allgatherv";
            plain(all ? "MPI_Allgatherv" : "MPI_Gatherv", 0, p + (all ? 1 : 2));
            if (!all) rooted(p + 1);
            // Displacements may stand where the datatypes are: then there are more fields than with datatypes alone.
            const std::size_t kind =
                all && fields_.size() > p + 3 && fields_.size() < 2 * p + 3 ? default_type_ : type(p + (all ? 2 : 3));
            if (all || made.root == recorder.file.rank) recorder.blocks(made, {}, sizes(1, kind));
        } else if (name == "scatterv") {
            plain("MPI_Scatterv", p, p + 3);
            rooted(p + 1);
            if (made.root == recorder.file.rank) recorder.blocks(made, sizes(0, type(p + 2)), {});
        } else if (name == "reducescatter") {
            plain("MPI_Reduce_scatter", own, p + 1);
            flops = amount(p, "flops");
            recorder.blocks(made, {}, sizes(0, type(p + 1)));
        } else if (name == "alltoallv") {
            plain("MPI_Alltoallv", 0, 2 * p + 2);
            const auto sent = sizes(1, type(2 * p + 2));
            recorder.blocks(made, sent, sizes(p + 2, type(2 * p + 3)));
            made.bytes = 0;
            for (const std::int64_t one : sent) made.bytes += one;
        } else {
            return false;
        }
        add(made);
        compute(flops);
        return true;
    }

    std::size_t num_ranks_;
    double flops_per_s_;
    std::size_t default_type_ = 6;
    std::int64_t now_ns_ = 0;
    std::uint64_t last_handle_ = 0;
    std::map<Key, std::deque<Pending>> pending_;
    Fields fields_;
    const TextLines* text_ = nullptr;
};

std::int32_t rank_of(std::string_view field, const TextLines& text) {
    return static_cast<std::int32_t>(text.whole(field, "a rank", 0, most_ranks));
}

/// The ranks that have lines, which have to be all of them.
std::int32_t count_ranks(std::span<const Source> files) {
    std::set<std::int32_t> seen;
    std::vector<std::string_view> fields;
    for (const Source& file : files) {
        TextLines text(file);
        while (text.next()) {
            text.split_at_blanks(fields);
            if (!fields.empty() && fields[0][0] != '#') seen.insert(rank_of(fields[0], text));
        }
    }
    std::int32_t next = 0;
    for (const std::int32_t rank : seen) {
        if (rank != next)
            throw InvalidInput(files[0].name + ": found no action of rank " + std::to_string(next) + ", but of rank " +
                                   std::to_string(rank) + "; accepted: actions of all ranks",
                               "import the folder with the files of all ranks, or the file that lists them");
        ++next;
    }
    return next;
}

}  // namespace

ForeignTrace read_simgrid_ti(std::span<const Source> files, double flops_per_s) {
    if (!(flops_per_s > 0) || !std::isfinite(flops_per_s))
        throw InvalidInput("flops each second: found " + std::to_string(flops_per_s) + "; accepted: above 0");
    const std::int32_t num_ranks = files.empty() ? 0 : count_ranks(files);
    if (num_ranks == 0)
        throw InvalidInput((files.empty() ? std::string("no file") : files[0].name) + ": found no action",
                           "accepted: lines such as \"0 send 1 0 1000\"");
    std::vector<TiRank> ranks;
    ranks.reserve(static_cast<std::size_t>(num_ranks));
    for (std::int32_t r = 0; r < num_ranks; ++r) ranks.emplace_back(r, num_ranks, flops_per_s);
    std::vector<std::string_view> fields;
    std::int64_t made = 0;
    for (const Source& file : files) {
        TextLines text(file);
        while (text.next()) {
            text.split_at_blanks(fields);
            if (fields.empty() || fields[0][0] == '#') continue;
            if (fields.size() < 2) text.fail(text.line(), "a line", "a rank and an action");
            made += fields[1] == "comm_split" || fields[1] == "comm_dup" ? 1 : 0;
            ranks[static_cast<std::size_t>(rank_of(fields[0], text))].action(fields[1], Fields(fields).subspan(2),
                                                                             text);
        }
    }
    std::vector<RankRecorder*> recorders;
    for (TiRank& rank : ranks) recorders.push_back(&rank.recorder);
    ForeignTrace result = finish(recorders, false);
    if (made > 0)
        result.notes.push_back(
            std::to_string(made) +
            " communicators were made; the format does not record which calls are on them: all count as "
            "on MPI_COMM_WORLD");
    return result;
}

}  // namespace hocket::interop
