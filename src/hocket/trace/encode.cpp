// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/encode.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "hocket/base/error.hpp"
#include "hocket/trace/cpu_times.hpp"
#include "hocket/trace/format.h"

namespace hocket::trace {
namespace {

class Encoder {
public:
    explicit Encoder(const RankFile& file) : file_(file) {}

    std::string run() {
        find_clock_offset();
        header();
        if (file_.functions.size() >= HOCKET_TRACE_NONE16)
            throw InvalidInput(std::to_string(file_.functions.size()) + " functions in a trace",
                               "accepted: fewer than " + std::to_string(HOCKET_TRACE_NONE16));
        for (std::size_t i = 0; i < file_.functions.size(); ++i) {
            begin(HOCKET_TRACE_FUNCTION, static_cast<std::uint16_t>(i));
            put_name(file_.functions[i]);
            end();
        }
        for (std::size_t i = 0; i < file_.communicators.size(); ++i)
            communicator(static_cast<std::uint32_t>(i), file_.communicators[i]);
        for (std::size_t i = 0; i < file_.datatypes.size(); ++i) {
            begin(HOCKET_TRACE_DATATYPE, HOCKET_TRACE_NONE16);
            put(static_cast<std::uint32_t>(i));
            put(file_.datatypes[i].bytes);
            put_name(file_.datatypes[i].name);
            end();
        }
        for (std::size_t i = 0; i < file_.operators.size(); ++i) {
            begin(HOCKET_TRACE_OPERATOR, HOCKET_TRACE_NONE16);
            put(static_cast<std::uint32_t>(i));
            put(std::uint32_t{file_.operators[i].commutative});
            put_name(file_.operators[i].name);
            end();
        }
        for (const Call& one : file_.calls) call(one);
        if (file_.end >= 0) {
            begin(HOCKET_TRACE_FOOTER, HOCKET_TRACE_NONE16);
            put(static_cast<std::uint32_t>(file_.end));
            put(static_cast<std::uint64_t>(file_.calls.size()));
            end();
        }
        return std::move(bytes_);
    }

private:
    /// Instants in the file are from 0 to kMostNs; the offset takes them to where they were.
    void find_clock_offset() {
        std::int64_t first_ns = 0, last_ns = 0;
        for (const Call& one : file_.calls) {
            first_ns = std::min(first_ns, one.enter_ns);
            last_ns = std::max(last_ns, one.exit_ns);
        }
        clock_offset_ns_ = first_ns < 0 ? first_ns : std::max<std::int64_t>(0, last_ns - kMostNs);
        // An open call since 0 would be none.
        if (file_.open_function >= 0 && file_.open_enter_ns == clock_offset_ns_) --clock_offset_ns_;
    }

    void header() {
        hocket_trace_header header{};
        std::memcpy(header.magic, HOCKET_TRACE_MAGIC, sizeof header.magic);
        header.version = HOCKET_TRACE_VERSION;
        header.header_bytes = sizeof header;
        header.rank = file_.rank;
        header.num_ranks = file_.num_ranks;
        header.clock_offset_ns = clock_offset_ns_;
        if (file_.open_function >= 0) {
            header.open_enter_ns = file_.open_enter_ns - clock_offset_ns_;
            header.open_function = static_cast<std::uint32_t>(file_.open_function);
        }
        header.process = file_.process;
        std::copy_n(file_.host.begin(), std::min(file_.host.size(), sizeof header.host), header.host);
        put(header);
    }

    void communicator(std::uint32_t id, const LocalCommunicator& made) {
        begin(HOCKET_TRACE_COMMUNICATOR,
              made.made_by < 0 ? HOCKET_TRACE_NONE16 : static_cast<std::uint16_t>(made.made_by));
        put(id);
        put(made.parent < 0 ? HOCKET_TRACE_NONE : static_cast<std::uint32_t>(made.parent));
        put(std::uint32_t{made.inter});
        put(made.rank);
        put(static_cast<std::uint32_t>(made.members.size()));
        put(static_cast<std::uint32_t>(made.remote.size()));
        for (const std::int32_t member : made.members) put(member);
        for (const std::int32_t member : made.remote) put(member);
        end();
    }

    /// The fields in the order of their bits.
    void call(const Call& one) {
        begin(HOCKET_TRACE_CALL, static_cast<std::uint16_t>(one.function));
        put(one.enter_ns - clock_offset_ns_);
        put(one.exit_ns - clock_offset_ns_);
        const std::size_t at_fields = bytes_.size();
        put(std::uint32_t{0});
        put(static_cast<std::uint16_t>(one.thread));
        put(one.flags);
        fields_ = 0;
        field(HOCKET_TRACE_CPU_ENTER, one.enter_cpu_ns >= 0, one.enter_cpu_ns);
        field(HOCKET_TRACE_CPU_EXIT, one.exit_cpu_ns >= 0, one.exit_cpu_ns);
        field(HOCKET_TRACE_COMM, one.communicator >= 0, one.communicator);
        // Where it is missing, the reader takes the sum of the blocks.
        field(HOCKET_TRACE_BYTES, one.bytes != -1 || one.blocks >= 0, one.bytes);
        field(HOCKET_TRACE_TYPE, one.datatype >= 0, one.datatype);
        field(HOCKET_TRACE_ROOT, one.root != -1, one.root);
        field(HOCKET_TRACE_OP, one.op >= 0, one.op);
        field(HOCKET_TRACE_PEER, one.peer != -1 || one.tag != -1, one.peer, one.tag);
        field(HOCKET_TRACE_RECEIVE, one.receive_peer != -1 || one.receive_tag != -1 || one.receive_bytes != -1,
              one.receive_peer, one.receive_tag, one.receive_bytes);
        field(HOCKET_TRACE_REQUEST, one.request != 0, one.request);
        if (one.completions >= 0) completions(one);
        if (one.blocks >= 0) blocks(one);
        field(HOCKET_TRACE_NEW_COMM, one.new_communicator >= 0, one.new_communicator);
        field(HOCKET_TRACE_WINDOW, one.window != -1, one.window);
        field(HOCKET_TRACE_FILE, one.file != -1, one.file);
        field(HOCKET_TRACE_ERROR, one.error != 0, one.error);
        if (one.calls != 1 || one.outside_ns != 0 || one.outside_cpu_ns != 0) fold(one);
        std::memcpy(bytes_.data() + at_fields, &fields_, sizeof fields_);
        end();
    }

    void completions(const Call& one) {
        field(HOCKET_TRACE_REQUESTS, true, static_cast<std::uint32_t>(one.num_completions));
        for (const Completion& each :
             part_of(file_.completions, one.completions, static_cast<std::size_t>(one.num_completions))) {
            put(each.request);
            put(each.source);
            put(each.tag);
            put(each.bytes);
        }
    }

    /// Two vectors, each behind its length.
    void blocks(const Call& one) {
        std::int64_t at = one.blocks;
        for (const std::uint32_t bit : {HOCKET_TRACE_SEND_BYTES, HOCKET_TRACE_RECEIVE_BYTES}) {
            const std::int64_t size = part_of(file_.blocks, at, 1).front();
            const auto sizes = part_of(file_.blocks, at + 1, static_cast<std::size_t>(size));
            // One of them has to be there, even if both are empty.
            if (size > 0 || bit == HOCKET_TRACE_SEND_BYTES) {
                field(bit, true, static_cast<std::uint32_t>(size));
                for (const std::int64_t each : sizes) put(each);
            }
            at += 1 + size;
        }
    }

    void fold(const Call& one) {
        hocket_trace_fold fold{};
        fold.calls = static_cast<std::uint64_t>(one.calls);
        fold.inside_ns = one.exit_ns - one.enter_ns - one.outside_ns;
        fold.outside_ns = one.outside_ns;
        if (one.enter_cpu_ns >= 0 && one.exit_cpu_ns >= 0)
            fold.inside_cpu_ns = one.exit_cpu_ns - one.enter_cpu_ns - one.outside_cpu_ns;
        fold.outside_cpu_ns = one.outside_cpu_ns;
        field(HOCKET_TRACE_FOLDED, true, fold);
    }

    template <class T>
    static std::span<const T> part_of(const std::vector<T>& all, std::int64_t first, std::size_t size) {
        if (first < 0 || static_cast<std::size_t>(first) > all.size() ||
            size > all.size() - static_cast<std::size_t>(first))
            throw InvalidInput("a call of a trace names entries " + std::to_string(first) + " to " +
                                   std::to_string(first) + " + " + std::to_string(size),
                               "accepted: below " + std::to_string(all.size()) + ", those that its rank has");
        return std::span(all).subspan(static_cast<std::size_t>(first), size);
    }

    template <class T>
    void put(const T& value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void put_name(std::string_view name) { bytes_ += name; }
    template <class... Values>
    void field(std::uint32_t bit, bool is_there, const Values&... values) {
        if (!is_there) return;
        fields_ |= bit;
        (put(values), ...);
    }

    void begin(std::uint16_t kind, std::uint16_t function) {
        start_ = bytes_.size();
        put(hocket_trace_record{0, kind, function});
    }
    void end() {
        bytes_.resize((bytes_.size() + 7) / 8 * 8);
        const std::size_t length = bytes_.size() - start_;
        if (length > UINT32_MAX)
            throw InvalidInput("a record of " + std::to_string(length) + " bytes in a trace",
                               "accepted: fewer than 4 GiB");
        const auto stored = static_cast<std::uint32_t>(length);
        std::memcpy(bytes_.data() + start_, &stored, sizeof stored);
    }

    const RankFile& file_;
    std::string bytes_;
    std::int64_t clock_offset_ns_ = 0;
    std::size_t start_ = 0;     // of the record at hand
    std::uint32_t fields_ = 0;  // of the call at hand
};

}  // namespace

std::string encode_rank_file(const RankFile& file) { return Encoder(file).run(); }

}  // namespace hocket::trace
