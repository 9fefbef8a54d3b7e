// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/rank_builder.hpp"
#include "hocket/base/format_version.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>

namespace hocket::trace {

static_assert(std::endian::native == std::endian::little, "the decoder copies little-endian values as they are");
static_assert(sizeof(hocket_trace_header) == 256);

std::uint32_t RankBuilder::header(ByteReader& in) {
    if (in.left() < sizeof(hocket_trace_header)) {
        in.fail(0, "a file of " + std::to_string(in.left()) + " bytes",
                "a trace of one rank, which begins with a header of 256 bytes");
    }
    const std::size_t size = in.left();
    const auto header = in.take<hocket_trace_header>("header");
    const auto fail = [&in](std::size_t offset, const std::string& found, const std::string& accepted) {
        in.fail(sizeof header - offset, found, accepted);
    };
    if (std::memcmp(header.magic, HOCKET_TRACE_MAGIC, sizeof header.magic) != 0) {
        fail(0, "other bytes", "\"" HOCKET_TRACE_MAGIC "\", with which a trace begins");
    }
    if (header.version < 1 || header.version > HOCKET_TRACE_VERSION) {
        fail(offsetof(hocket_trace_header, version), "format version " + std::to_string(header.version),
             "1 to " + std::to_string(HOCKET_TRACE_VERSION) + ", the versions that this hocket reads" +
                 (header.version > HOCKET_TRACE_VERSION ? "; " + std::string(base::made_by_newer) : ""));
    }
    if (header.header_bytes < sizeof header || header.header_bytes > size || header.header_bytes % 8 != 0) {
        fail(offsetof(hocket_trace_header, header_bytes),
             "a header of " + std::to_string(header.header_bytes) + " bytes", std::to_string(sizeof header));
    }
    if (header.num_ranks < 1 || header.rank < 0 || header.rank >= header.num_ranks) {
        fail(offsetof(hocket_trace_header, rank),
             "rank " + std::to_string(header.rank) + " of " + std::to_string(header.num_ranks),
             "a rank below the number of ranks");
    }
    file_.rank = header.rank;
    file_.num_ranks = header.num_ranks;
    file_.process = header.process;
    file_.host.assign(header.host, strnlen(header.host, sizeof header.host));
    file_.open_enter_ns = header.open_enter_ns;
    open_function_ = header.open_function;
    clock_offset_ns_ = header.clock_offset_ns;
    header_bytes_ = header.header_bytes;
    return header.version;
}

void RankBuilder::define(std::uint32_t kind, std::uint16_t id, ByteReader& body) {
    switch (kind) {
        case HOCKET_TRACE_FUNCTION:
            if (functions_.size() <= id) functions_.resize(std::size_t{id} + 1, -1);
            functions_[id] = static_cast<std::int32_t>(file_.functions.size());
            file_.functions.push_back(body.take_name());
            break;
        case HOCKET_TRACE_COMMUNICATOR:
            define_communicator(id, body);
            break;
        case HOCKET_TRACE_DATATYPE: {
            expect_next(body.take<std::uint32_t>("id"), file_.datatypes.size(), "datatype", body);
            const auto bytes = body.take<std::int64_t>("size");
            file_.datatypes.push_back({body.take_name(), bytes});
            break;
        }
        case HOCKET_TRACE_OPERATOR: {
            expect_next(body.take<std::uint32_t>("id"), file_.operators.size(), "operator", body);
            const auto commutative = body.take<std::uint32_t>("commutative");
            file_.operators.push_back({body.take_name(), commutative != 0});
            break;
        }
        case HOCKET_TRACE_NEIGHBOURS:
            define_neighbours(body);
            break;
        case HOCKET_TRACE_FOOTER:
            footer(body);
            break;
        default:
            break;
    }
}

std::int32_t RankBuilder::function(std::uint64_t id, const ByteReader& in) const {
    if (id >= functions_.size() || functions_[id] < 0) {
        in.fail(0, "function " + std::to_string(id), "functions that were defined before");
    }
    return functions_[id];
}

void RankBuilder::expect_next(std::uint32_t id, std::size_t next, const char* what, const ByteReader& in) {
    if (id != next) in.fail(4, what + (" " + std::to_string(id)), std::to_string(next) + ", the next one");
}

std::int32_t RankBuilder::known(std::uint32_t id, std::size_t count, const char* what, const ByteReader& in) {
    if (id >= count) {
        in.fail(1, what + (" " + std::to_string(id)), "below " + std::to_string(count) + ", those defined before");
    }
    return static_cast<std::int32_t>(id);
}

std::vector<std::int32_t> RankBuilder::take_members(std::uint32_t n, ByteReader& body) const {
    std::vector<std::int32_t> members(n);
    for (auto& member : members) {
        member = body.take<std::int32_t>("a member");
        if (member < -1 || member >= file_.num_ranks) {
            body.fail(4, "member " + std::to_string(member), "-1 to " + std::to_string(file_.num_ranks - 1));
        }
    }
    return members;
}

void RankBuilder::define_communicator(std::uint16_t maker, ByteReader& body) {
    LocalCommunicator made;
    made.made_by = maker == HOCKET_TRACE_NONE16 ? -1 : function(maker, body);
    expect_next(body.take<std::uint32_t>("id"), file_.communicators.size(), "communicator", body);
    const auto parent = body.take<std::uint32_t>("parent");
    made.parent = parent == HOCKET_TRACE_NONE ? -1 : known(parent, file_.communicators.size(), "communicator", body);
    made.inter = body.take<std::uint32_t>("kind") != 0;
    made.rank = body.take<std::int32_t>("rank");
    const auto n = body.take<std::uint32_t>("size");
    const auto m = body.take<std::uint32_t>("remote size");
    if (body.left() / 4 < std::uint64_t{n} + m || made.rank < 0 || static_cast<std::uint32_t>(made.rank) >= n) {
        body.fail(12,
                  "rank " + std::to_string(made.rank) + " of " + std::to_string(n) + " members and " +
                      std::to_string(m) + " remote ones",
                  "what the record holds");
    }
    made.members = take_members(n, body);
    made.remote = take_members(m, body);
    sizes_.push_back(n);
    file_.communicators.push_back(std::move(made));
}

void RankBuilder::define_neighbours(ByteReader& body) {
    const auto id = known(body.take<std::uint32_t>("communicator"), file_.communicators.size(), "communicator", body);
    const std::uint32_t size = sizes_[static_cast<std::size_t>(id)];
    const auto n = body.take<std::uint32_t>("sources");
    const auto m = body.take<std::uint32_t>("destinations");
    if (body.left() / 4 < std::uint64_t{n} + m)
        body.fail(8, std::to_string(n) + " sources and " + std::to_string(m) + " destinations",
                  "what the record holds");
    const auto take = [&](std::uint32_t count) {
        std::vector<std::int32_t> ranks(count);
        for (auto& rank : ranks) {
            rank = body.take<std::int32_t>("a neighbour");
            if (rank < -1 || std::cmp_greater_equal(rank, size))
                body.fail(4, "neighbour " + std::to_string(rank), "-1 to " + std::to_string(size - 1));
        }
        return ranks;
    };
    Neighbours neighbours;
    neighbours.sources = take(n);
    neighbours.destinations = take(m);
    file_.communicators[static_cast<std::size_t>(id)].neighbours = std::move(neighbours);
}

void RankBuilder::footer(ByteReader& body) {
    const auto reason = body.take<std::uint32_t>("reason");
    const auto calls = body.take<std::uint64_t>("number of calls");
    if (reason > HOCKET_TRACE_END_LIMIT) body.fail(12, "end " + std::to_string(reason), "0 to 3");
    if (calls != num_calls_) {
        body.fail(8, "a count of " + std::to_string(calls) + " calls",
                  std::to_string(num_calls_) + ", those in the file");
    }
    file_.end = static_cast<int>(reason);
}

void RankBuilder::add(Call& call, std::uint64_t function_id, std::uint32_t fields, const hocket_trace_fold* fold,
                      ByteReader& in) {
    call.function = function(function_id, in);
    if (call.enter_ns < 0 || call.exit_ns < call.enter_ns || call.exit_ns > kMostNs || clock_offset_ns_ > kMostNs ||
        clock_offset_ns_ < -kMostNs) {
        in.fail(0, "a call from " + std::to_string(call.enter_ns) + " to " + std::to_string(call.exit_ns) + " ns",
                "an exit that is not before the entry");
    }
    if ((fields & HOCKET_TRACE_CPU_ENTER) == 0) call.enter_cpu_ns = -1;
    if ((fields & HOCKET_TRACE_CPU_EXIT) == 0) call.exit_cpu_ns = -1;
    call.calls = 1;
    if (fold != nullptr) lay_fold(call, *fold, in);
    call.enter_ns += clock_offset_ns_;
    call.exit_ns += clock_offset_ns_;
    file_.calls.push_back(call);
    ++num_calls_;
}

/// Folds of polls that a thread made in turns are laid one behind the other.
void RankBuilder::lay_fold(Call& call, const hocket_trace_fold& fold, const ByteReader& in) {
    for (const std::int64_t time : {fold.inside_ns, fold.outside_ns, fold.inside_cpu_ns, fold.outside_cpu_ns}) {
        if (time < 0 || time > kMostNs) in.fail(0, std::to_string(time) + " ns in polls", "0 or more");
    }
    if (fold.calls < 1 || fold.calls > static_cast<std::uint64_t>(kMostNs)) {
        in.fail(0, std::to_string(fold.calls) + " polls", "1 or more");
    }
    call.calls = static_cast<std::int64_t>(fold.calls);
    call.outside_ns = fold.outside_ns;
    call.outside_cpu_ns = fold.outside_cpu_ns;
    std::int64_t& end_ns = fold_ends_ns_[call.thread];
    call.enter_ns = std::max(call.enter_ns, end_ns);
    call.exit_ns = call.enter_ns + fold.inside_ns + fold.outside_ns;
    if (call.exit_ns > kMostNs) in.fail(0, "polls until " + std::to_string(call.exit_ns) + " ns", "less");
    end_ns = call.exit_ns;
    folds_.push_back({file_.calls.size() - first_of_part_, fold.inside_cpu_ns + fold.outside_cpu_ns});
}

void RankBuilder::end_part(CpuReadings wanted) {
    if (wanted == CpuReadings::filled) cpu_times_.fill(std::span(file_.calls).subspan(first_of_part_), folds_);
    folds_.clear();
    first_of_part_ = file_.calls.size();
}

void RankBuilder::forget_calls() {
    file_.calls.clear();
    file_.blocks.clear();
    file_.completions.clear();
    first_of_part_ = 0;
}

void RankBuilder::finish() {
    file_.open_function = -1;
    if (file_.end >= 0 || open_function_ >= functions_.size() || functions_[open_function_] < 0)
        file_.open_enter_ns = 0;
    if (file_.open_enter_ns != 0) {
        file_.open_function = functions_[open_function_];
        file_.open_enter_ns += clock_offset_ns_;
    }
}

}  // namespace hocket::trace
