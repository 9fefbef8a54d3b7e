// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/rank_file.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <memory>
#include <unordered_map>

#include "hocket/base/error.hpp"
#include "hocket/trace/cpu_times.hpp"
#include "hocket/trace/format.h"

namespace hocket::trace {

namespace {

static_assert(std::endian::native == std::endian::little, "the decoder copies little-endian values as they are");
static_assert(sizeof(hocket_trace_header) == 256);
static_assert(sizeof(Completion) == sizeof(hocket_trace_completion));

constexpr const char* kHint = "record the program again, or delete the damaged trace";

class Decoder {
public:
    Decoder(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

    RankFile run() {
        header();
        // Address space only: pages that are never reached are never there.
        file_.calls.reserve(bytes_.size() / HOCKET_TRACE_CALL_BYTES);
        while (record()) {
        }
        fill_cpu_times(file_.calls, folds_);
        return std::move(file_);
    }

private:
    [[noreturn]] void fail(std::size_t offset, const std::string& found, const std::string& accepted) const {
        throw InvalidInput(name_ + ": byte " + std::to_string(offset) + ": found " + found + "; accepted: " + accepted,
                           kHint);
    }

    /// Takes the next value of the record; its end is a hard border.
    template <class T>
    T take(const char* what) {
        if (end_ - at_ < sizeof(T)) fail(at_, "the end of the record", std::string(what) + " inside the record");
        T value;
        std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }

    std::string take_name() {
        std::string_view rest = bytes_.substr(at_, end_ - at_);
        at_ = end_;
        return std::string(rest.substr(0, rest.find('\0')));
    }

    std::uint32_t take_length(const char* what, std::size_t each) {
        const auto n = take<std::uint32_t>(what);
        if (n > (end_ - at_) / each) {
            fail(at_ - 4, std::to_string(n) + " entries of " + what, "no more than the record holds");
        }
        return n;
    }

    void header() {
        hocket_trace_header header{};
        if (bytes_.size() < sizeof header) {
            fail(0, "a file of " + std::to_string(bytes_.size()) + " bytes",
                 "a trace of one rank, which begins with a header of 256 bytes");
        }
        std::memcpy(&header, bytes_.data(), sizeof header);
        if (std::memcmp(header.magic, HOCKET_TRACE_MAGIC, sizeof header.magic) != 0) {
            fail(0, "other bytes", "\"" HOCKET_TRACE_MAGIC "\", with which a trace begins");
        }
        if (header.version < 1 || header.version > HOCKET_TRACE_VERSION) {
            fail(offsetof(hocket_trace_header, version), "format version " + std::to_string(header.version),
                 "1 to " + std::to_string(HOCKET_TRACE_VERSION) + ", the versions that this hocket reads");
        }
        if (header.header_bytes < sizeof header || header.header_bytes > bytes_.size() ||
            header.header_bytes % 8 != 0) {
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
        at_ = header.header_bytes;
    }

    /// Decodes one record; false at the end of what was recorded.
    bool record() {
        const std::size_t start = at_;
        if (bytes_.size() - start < HOCKET_TRACE_RECORD_BYTES) return finish();
        hocket_trace_record head{};
        std::memcpy(&head, bytes_.data() + start, sizeof head);
        if (head.length == 0) return finish();
        if (head.length % 8 != 0) {
            fail(start, "a record of " + std::to_string(head.length) + " bytes", "multiples of 8");
        }
        if (head.length > bytes_.size() - start) return finish();
        at_ = start + sizeof head;
        end_ = start + head.length;
        switch (head.kind) {
            case HOCKET_TRACE_FUNCTION:
                define_function(head.function);
                break;
            case HOCKET_TRACE_COMMUNICATOR:
                define_communicator(head.function);
                break;
            case HOCKET_TRACE_DATATYPE:
                define_datatype();
                break;
            case HOCKET_TRACE_OPERATOR:
                define_operator();
                break;
            case HOCKET_TRACE_CALL:
                call(head.function);
                break;
            case HOCKET_TRACE_FOOTER:
                footer(start);
                return finish();
            default:
                break;
        }
        at_ = end_;
        return true;
    }

    bool finish() {
        file_.open_function = -1;
        if (file_.end >= 0 || open_function_ >= functions_.size()) file_.open_enter_ns = 0;
        if (file_.open_enter_ns != 0) {
            file_.open_function = functions_[open_function_];
            file_.open_enter_ns += clock_offset_ns_;
        }
        return false;
    }

    void define_function(std::uint16_t id) {
        if (functions_.size() <= id) functions_.resize(std::size_t{id} + 1, -1);
        functions_[id] = static_cast<std::int32_t>(file_.functions.size());
        file_.functions.push_back(take_name());
    }

    std::int32_t function(std::uint16_t id) const {
        if (id >= functions_.size() || functions_[id] < 0) {
            fail(at_ - HOCKET_TRACE_RECORD_BYTES, "function " + std::to_string(id),
                 "functions that were defined before");
        }
        return functions_[id];
    }

    void expect_next(std::uint32_t id, std::size_t next, const char* what) const {
        if (id != next) fail(at_ - 4, what + (" " + std::to_string(id)), std::to_string(next) + ", the next one");
    }

    std::int32_t known(std::uint32_t id, std::size_t count, const char* what) const {
        if (id >= count) {
            fail(at_ - 4, what + (" " + std::to_string(id)),
                 "below " + std::to_string(count) + ", those defined before");
        }
        return static_cast<std::int32_t>(id);
    }

    std::vector<std::int32_t> take_members(std::uint32_t n) {
        std::vector<std::int32_t> members(n);
        for (auto& member : members) {
            member = take<std::int32_t>("a member");
            if (member < -1 || member >= file_.num_ranks) {
                fail(at_ - 4, "member " + std::to_string(member), "-1 to " + std::to_string(file_.num_ranks - 1));
            }
        }
        return members;
    }

    void define_communicator(std::uint16_t maker) {
        LocalCommunicator made;
        made.made_by = maker == HOCKET_TRACE_NONE16 ? -1 : function(maker);
        expect_next(take<std::uint32_t>("id"), file_.communicators.size(), "communicator");
        const auto parent = take<std::uint32_t>("parent");
        made.parent = parent == HOCKET_TRACE_NONE ? -1 : known(parent, file_.communicators.size(), "communicator");
        made.inter = take<std::uint32_t>("kind") != 0;
        made.rank = take<std::int32_t>("rank");
        const auto n = take<std::uint32_t>("size");
        const auto m = take<std::uint32_t>("remote size");
        if ((end_ - at_) / 4 < std::uint64_t{n} + m || made.rank < 0 || static_cast<std::uint32_t>(made.rank) >= n) {
            fail(at_ - 12,
                 "rank " + std::to_string(made.rank) + " of " + std::to_string(n) + " members and " +
                     std::to_string(m) + " remote ones",
                 "what the record holds");
        }
        made.members = take_members(n);
        made.remote = take_members(m);
        file_.communicators.push_back(std::move(made));
    }

    void define_datatype() {
        expect_next(take<std::uint32_t>("id"), file_.datatypes.size(), "datatype");
        const auto bytes = take<std::int64_t>("size");
        file_.datatypes.push_back({take_name(), bytes});
    }

    void define_operator() {
        expect_next(take<std::uint32_t>("id"), file_.operators.size(), "operator");
        const auto commutative = take<std::uint32_t>("commutative");
        file_.operators.push_back({take_name(), commutative != 0});
    }

    void footer(std::size_t start) {
        const auto reason = take<std::uint32_t>("reason");
        const auto calls = take<std::uint64_t>("number of calls");
        if (reason > HOCKET_TRACE_END_LIMIT) fail(start + 8, "end " + std::to_string(reason), "0 to 3");
        if (calls != file_.calls.size()) {
            fail(start + 12, "a count of " + std::to_string(calls) + " calls",
                 std::to_string(file_.calls.size()) + ", those in the file");
        }
        file_.end = static_cast<int>(reason);
    }

    void call(std::uint16_t function_id) {
        Call call{};
        call.function = function(function_id);
        call.enter_ns = take<std::int64_t>("enter");
        call.exit_ns = take<std::int64_t>("exit");
        if (call.enter_ns < 0 || call.exit_ns < call.enter_ns || call.exit_ns > kMostNs || clock_offset_ns_ > kMostNs ||
            clock_offset_ns_ < -kMostNs) {
            fail(at_ - 16,
                 "a call from " + std::to_string(call.enter_ns) + " to " + std::to_string(call.exit_ns) + " ns",
                 "an exit that is not before the entry");
        }
        const auto fields = take<std::uint32_t>("fields");
        call.thread = static_cast<std::int16_t>(take<std::uint16_t>("thread"));
        call.flags = take<std::uint16_t>("flags");
        take_fields(call, fields);
        call.calls = 1;
        if ((fields & HOCKET_TRACE_FOLDED) != 0) take_fold(call);
        call.enter_ns += clock_offset_ns_;
        call.exit_ns += clock_offset_ns_;
        file_.calls.push_back(call);
    }

    /// Folds of polls that a thread made in turns are laid one behind the other.
    void take_fold(Call& call) {
        hocket_trace_fold fold{};
        fold.calls = take<std::uint64_t>("calls");
        for (auto* time : {&fold.inside_ns, &fold.outside_ns, &fold.inside_cpu_ns, &fold.outside_cpu_ns}) {
            *time = take<std::int64_t>("time");
            if (*time < 0 || *time > kMostNs) fail(at_ - 8, std::to_string(*time) + " ns in polls", "0 or more");
        }
        if (fold.calls < 1 || fold.calls > static_cast<std::uint64_t>(kMostNs)) {
            fail(at_ - sizeof fold, std::to_string(fold.calls) + " polls", "1 or more");
        }
        call.calls = static_cast<std::int64_t>(fold.calls);
        call.outside_ns = fold.outside_ns;
        call.outside_cpu_ns = fold.outside_cpu_ns;
        std::int64_t& end_ns = fold_ends_ns_[call.thread];
        call.enter_ns = std::max(call.enter_ns, end_ns);
        call.exit_ns = end_ns = call.enter_ns + fold.inside_ns + fold.outside_ns;
        if (call.exit_ns > kMostNs) fail(at_, "polls until " + std::to_string(call.exit_ns) + " ns", "less");
        folds_.push_back({file_.calls.size(), fold.inside_cpu_ns + fold.outside_cpu_ns});
    }

    void take_fields(Call& call, std::uint32_t fields) {
        const auto has = [fields](std::uint32_t bit) { return (fields & bit) != 0; };
        call.enter_cpu_ns = has(HOCKET_TRACE_CPU_ENTER) ? take<std::int64_t>("CPU time") : -1;
        call.exit_cpu_ns = has(HOCKET_TRACE_CPU_EXIT) ? take<std::int64_t>("CPU time") : -1;
        call.communicator = has(HOCKET_TRACE_COMM)
                                ? known(take<std::uint32_t>("communicator"), file_.communicators.size(), "communicator")
                                : -1;
        call.bytes = has(HOCKET_TRACE_BYTES) ? take<std::int64_t>("bytes") : -1;
        if (has(HOCKET_TRACE_COUNT)) take<std::int64_t>("count");
        call.datatype =
            has(HOCKET_TRACE_TYPE) ? known(take<std::uint32_t>("datatype"), file_.datatypes.size(), "datatype") : -1;
        call.root = has(HOCKET_TRACE_ROOT) ? take<std::int32_t>("root") : -1;
        call.op =
            has(HOCKET_TRACE_OP) ? known(take<std::uint32_t>("operator"), file_.operators.size(), "operator") : -1;
        call.peer = has(HOCKET_TRACE_PEER) ? take<std::int32_t>("peer") : -1;
        call.tag = has(HOCKET_TRACE_PEER) ? take<std::int32_t>("tag") : -1;
        call.receive_peer = has(HOCKET_TRACE_RECEIVE) ? take<std::int32_t>("peer") : -1;
        call.receive_tag = has(HOCKET_TRACE_RECEIVE) ? take<std::int32_t>("tag") : -1;
        call.receive_bytes = has(HOCKET_TRACE_RECEIVE) ? take<std::int64_t>("bytes") : -1;
        if (has(HOCKET_TRACE_STATUS)) take_status(call, has(HOCKET_TRACE_RECEIVE));
        call.request = has(HOCKET_TRACE_REQUEST) ? take<std::uint64_t>("request") : 0;
        call.completions = call.blocks = -1;
        if (has(HOCKET_TRACE_REQUESTS)) take_completions(call);
        if (has(HOCKET_TRACE_SEND_BYTES) || has(HOCKET_TRACE_RECEIVE_BYTES)) {
            call.blocks = static_cast<std::int64_t>(file_.blocks.size());
            const auto sent = take_blocks(has(HOCKET_TRACE_SEND_BYTES));
            const auto received = take_blocks(has(HOCKET_TRACE_RECEIVE_BYTES));
            if (!has(HOCKET_TRACE_BYTES)) call.bytes = has(HOCKET_TRACE_SEND_BYTES) ? sent : received;
        }
        call.new_communicator = has(HOCKET_TRACE_NEW_COMM) ? known(take<std::uint32_t>("communicator"),
                                                                   file_.communicators.size(), "communicator")
                                                           : -1;
        call.window = has(HOCKET_TRACE_WINDOW) ? take<std::int32_t>("window") : -1;
        call.file = has(HOCKET_TRACE_FILE) ? take<std::int32_t>("file") : -1;
        call.error = has(HOCKET_TRACE_ERROR) ? take<std::int32_t>("error") : 0;
    }

    /// What really arrived replaces what was asked for.
    static void arrived(std::int32_t& peer, std::int32_t& tag, std::int64_t& bytes, const Completion& status) {
        peer = status.source;
        tag = status.tag;
        bytes = status.bytes;
    }

    void take_status(Call& call, bool is_second_half) {
        Completion status{};
        status.source = take<std::int32_t>("source");
        status.tag = take<std::int32_t>("tag");
        status.bytes = take<std::int64_t>("bytes");
        if (is_second_half)
            arrived(call.receive_peer, call.receive_tag, call.receive_bytes, status);
        else
            arrived(call.peer, call.tag, call.bytes, status);
    }

    void take_completions(Call& call) {
        const auto n = take_length("requests", sizeof(Completion));
        call.completions = static_cast<std::int64_t>(file_.completions.size());
        call.num_completions = n;
        for (std::uint32_t i = 0; i < n; ++i) {
            Completion completion{};
            completion.request = take<std::uint64_t>("request");
            completion.source = take<std::int32_t>("source");
            completion.tag = take<std::int32_t>("tag");
            completion.bytes = take<std::int64_t>("bytes");
            if (i == 0 && call.request == 0) call.request = completion.request;
            file_.completions.push_back(completion);
        }
    }

    /// Appends one vector and returns its sum.
    std::int64_t take_blocks(bool present) {
        const std::uint32_t n = present ? take_length("sizes", 8) : 0;
        std::int64_t sum = 0;
        file_.blocks.push_back(n);
        for (std::uint32_t i = 0; i < n; ++i) {
            const auto block = take<std::int64_t>("size");
            if (block < 0 || block > INT64_MAX - sum)
                fail(at_ - 8, "a block of " + std::to_string(block) + " bytes", "0 or more");
            file_.blocks.push_back(block);
            sum += block;
        }
        return sum;
    }

    std::string_view bytes_;
    const std::string& name_;
    std::size_t at_ = 0;
    std::size_t end_ = 0;
    std::int64_t clock_offset_ns_ = 0;
    std::uint32_t open_function_ = 0;
    std::vector<std::int32_t> functions_;                          ///< id in the file -> index in file_.functions
    std::unordered_map<std::int16_t, std::int64_t> fold_ends_ns_;  ///< by thread: of its last fold
    std::vector<CpuOfFold> folds_;
    RankFile file_;
};

}  // namespace

RankFile decode_rank_file(std::string_view bytes, const std::string& name) { return Decoder(bytes, name).run(); }

RankFile read_rank_file(const std::filesystem::path& path) {
    if (std::filesystem::is_directory(path))
        throw InvalidInput(path.string() + ": is a folder", "the file of a rank is expected there");
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    std::unique_ptr<char[]> bytes;
    std::streamsize size = 0;
    if (in) {
        size = std::max<std::streamoff>(0, in.tellg());
        bytes = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(size));
        in.seekg(0);
        in.read(bytes.get(), size);
    }
    if (!in)
        throw InvalidInput(path.string() + ": cannot be read", "check that the file exists and that you may read it");
    return decode_rank_file({bytes.get(), static_cast<std::size_t>(size)}, path.string());
}

}  // namespace hocket::trace
