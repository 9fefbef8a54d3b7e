// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hocket/trace/byte_reader.hpp"
#include "hocket/trace/cpu_times.hpp"
#include "hocket/trace/format.h"
#include "hocket/trace/rank_file.hpp"

namespace hocket::trace {

/// Puts a RankFile together from the records of its file, of any version.
class RankBuilder {
public:
    /// Reads the header. Returns the version.
    std::uint32_t header(ByteReader&);
    [[nodiscard]] std::uint32_t header_bytes() const { return header_bytes_; }

    /// A definition or the footer; `function`: that of the record.
    void define(std::uint32_t kind, std::uint16_t function, ByteReader& body);
    [[nodiscard]] bool has_footer() const { return file_.end >= 0; }

    /// The rest of a call; its instants are those of the file.
    void add(Call& call, std::uint64_t function, std::uint32_t fields, const hocket_trace_fold*, ByteReader&);

    /// The fields of a call in the order of their bits. `Source` takes numbers of the version at hand.
    template <class Source>
    void take_fields(Call& call, std::uint32_t fields, Source source);

    /// How much there is, so that a record that was cut off leaves nothing.
    struct Mark {
        std::size_t blocks, completions;
    };
    [[nodiscard]] Mark mark() const { return {file_.blocks.size(), file_.completions.size()}; }
    void back_to(const Mark& mark) {
        file_.blocks.resize(mark.blocks);
        file_.completions.resize(mark.completions);
    }

    /// Of the calls that were added since the last time, fills the CPU times that are to be filled.
    void end_part(CpuReadings);
    /// Forgets the calls, so that the next part stands alone.
    void forget_calls();
    /// Behind the last record.
    void finish();

    [[nodiscard]] std::uint64_t num_calls() const { return num_calls_; }
    [[nodiscard]] RankFile& file() { return file_; }
    [[nodiscard]] const RankFile& file() const { return file_; }

private:
    void define_communicator(std::uint16_t maker, ByteReader& body);
    void define_neighbours(ByteReader& body);
    void footer(ByteReader& body);
    void lay_fold(Call& call, const hocket_trace_fold& fold, const ByteReader&);
    [[nodiscard]] std::int32_t function(std::uint64_t id, const ByteReader&) const;
    [[nodiscard]] std::vector<std::int32_t> take_members(std::uint32_t n, ByteReader& body) const;
    /// The id, if fewer than `count` are defined.
    static std::int32_t known(std::uint32_t id, std::size_t count, const char* what, const ByteReader&);
    static void expect_next(std::uint32_t id, std::size_t next, const char* what, const ByteReader&);
    /// What really arrived replaces what was asked for.
    static void arrived(std::int32_t& peer, std::int32_t& tag, std::int64_t& bytes, const Completion& status) {
        peer = status.source;
        tag = status.tag;
        bytes = status.bytes;
    }
    template <class Source>
    void take_completions(Call& call, Source& source);
    template <class Source>
    std::int64_t take_blocks(bool present, Source& source);

    std::uint32_t header_bytes_ = 0;
    std::int64_t clock_offset_ns_ = 0;
    std::uint32_t open_function_ = 0;
    std::uint64_t num_calls_ = 0;          ///< of all parts
    std::size_t first_of_part_ = 0;        ///< row
    std::vector<std::uint32_t> sizes_;     ///< of communicators, whose members may have been given away
    std::vector<std::int32_t> functions_;  ///< id in the file -> index in file_.functions
    std::unordered_map<std::int16_t, std::int64_t> fold_ends_ns_;  ///< by thread: of its last fold
    std::vector<CpuOfFold> folds_;                                 ///< of this part
    CpuTimes cpu_times_;
    RankFile file_;
};

template <class Source>
void RankBuilder::take_fields(Call& call, std::uint32_t fields, Source source) {
    const auto has = [fields](std::uint32_t bit) { return (fields & bit) != 0; };
    const ByteReader& in = source.reader();
    const auto communicator = [&] {
        return known(source.u32("communicator"), file_.communicators.size(), "communicator", in);
    };
    call.communicator = has(HOCKET_TRACE_COMM) ? communicator() : -1;
    call.bytes = has(HOCKET_TRACE_BYTES) ? source.i64("bytes") : -1;
    if (has(HOCKET_TRACE_COUNT)) source.i64("count");
    call.datatype = has(HOCKET_TRACE_TYPE) ? known(source.u32("datatype"), file_.datatypes.size(), "datatype", in) : -1;
    call.root = has(HOCKET_TRACE_ROOT) ? source.i32("root") : -1;
    call.op = has(HOCKET_TRACE_OP) ? known(source.u32("operator"), file_.operators.size(), "operator", in) : -1;
    call.peer = has(HOCKET_TRACE_PEER) ? source.i32("peer") : -1;
    call.tag = has(HOCKET_TRACE_PEER) ? source.i32("tag") : -1;
    call.receive_peer = has(HOCKET_TRACE_RECEIVE) ? source.i32("peer") : -1;
    call.receive_tag = has(HOCKET_TRACE_RECEIVE) ? source.i32("tag") : -1;
    call.receive_bytes = has(HOCKET_TRACE_RECEIVE) ? source.i64("bytes") : -1;
    if (has(HOCKET_TRACE_STATUS)) {
        Completion status{};
        status.source = source.i32("source");
        status.tag = source.i32("tag");
        status.bytes = source.i64("bytes");
        if (has(HOCKET_TRACE_RECEIVE))
            arrived(call.receive_peer, call.receive_tag, call.receive_bytes, status);
        else
            arrived(call.peer, call.tag, call.bytes, status);
    }
    call.request = has(HOCKET_TRACE_REQUEST) ? source.request("request") : 0;
    call.completions = call.blocks = -1;
    if (has(HOCKET_TRACE_REQUESTS)) take_completions(call, source);
    if (has(HOCKET_TRACE_SEND_BYTES) || has(HOCKET_TRACE_RECEIVE_BYTES)) {
        call.blocks = static_cast<std::int64_t>(file_.blocks.size());
        const auto sent = take_blocks(has(HOCKET_TRACE_SEND_BYTES), source);
        const auto received = take_blocks(has(HOCKET_TRACE_RECEIVE_BYTES), source);
        if (!has(HOCKET_TRACE_BYTES)) call.bytes = has(HOCKET_TRACE_SEND_BYTES) ? sent : received;
    }
    call.new_communicator = has(HOCKET_TRACE_NEW_COMM) ? communicator() : -1;
    call.window = has(HOCKET_TRACE_WINDOW) ? source.i32("window") : -1;
    call.file = has(HOCKET_TRACE_FILE) ? source.i32("file") : -1;
    call.error = has(HOCKET_TRACE_ERROR) ? source.i32("error") : 0;
}

template <class Source>
void RankBuilder::take_completions(Call& call, Source& source) {
    const std::uint32_t n = source.length("requests", Source::kLeastCompletion);
    call.completions = static_cast<std::int64_t>(file_.completions.size());
    call.num_completions = n;
    for (std::uint32_t i = 0; i < n; ++i) {
        Completion completion{};
        completion.request = source.request("request");
        completion.source = source.i32("source");
        completion.tag = source.i32("tag");
        completion.bytes = source.i64("bytes");
        if (i == 0 && call.request == 0) call.request = completion.request;
        file_.completions.push_back(completion);
    }
}

/// Appends one vector and returns its sum.
template <class Source>
std::int64_t RankBuilder::take_blocks(bool present, Source& source) {
    const std::uint32_t n = present ? source.length("sizes", Source::kLeastBlock) : 0;
    std::int64_t sum = 0;
    file_.blocks.push_back(n);
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::int64_t block = source.i64("size");
        if (block < 0 || block > INT64_MAX - sum)
            source.reader().fail(0, "a block of " + std::to_string(block) + " bytes", "0 or more");
        file_.blocks.push_back(block);
        sum += block;
    }
    return sum;
}

}  // namespace hocket::trace
