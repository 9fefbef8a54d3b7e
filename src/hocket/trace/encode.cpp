// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/encode.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>

#include "hocket/base/error.hpp"
#include "hocket/trace/coder.h"
#include "hocket/trace/cpu_times.hpp"
#include "hocket/trace/format.h"

namespace hocket::trace {
namespace {

class Encoder {
public:
    explicit Encoder(const RankFile& file) : file_(file) { coder_->texts = texts_.data(); }

    std::string run() {
        find_clock_offset();
        header();
        if (file_.functions.size() >= HOCKET_TRACE_NONE16)
            throw InvalidInput(std::to_string(file_.functions.size()) + " functions in a trace",
                               "accepted: fewer than " + std::to_string(HOCKET_TRACE_NONE16));
        for (std::size_t i = 0; i < file_.functions.size(); ++i) {
            begin(static_cast<std::uint16_t>(i));
            put_name(file_.functions[i]);
            end(HOCKET_TRACE_FUNCTION);
        }
        for (std::size_t i = 0; i < file_.communicators.size(); ++i)
            communicator(static_cast<std::uint32_t>(i), file_.communicators[i]);
        for (std::size_t i = 0; i < file_.datatypes.size(); ++i) {
            begin(HOCKET_TRACE_NONE16);
            put(static_cast<std::uint32_t>(i));
            put(file_.datatypes[i].bytes);
            put_name(file_.datatypes[i].name);
            end(HOCKET_TRACE_DATATYPE);
        }
        for (std::size_t i = 0; i < file_.operators.size(); ++i) {
            begin(HOCKET_TRACE_NONE16);
            put(static_cast<std::uint32_t>(i));
            put(std::uint32_t{file_.operators[i].commutative});
            put_name(file_.operators[i].name);
            end(HOCKET_TRACE_OPERATOR);
        }
        for (const Call& one : file_.calls) call(one);
        if (file_.end >= 0) {
            begin(HOCKET_TRACE_NONE16);
            put(static_cast<std::uint32_t>(file_.end));
            put(static_cast<std::uint64_t>(file_.calls.size()));
            end(HOCKET_TRACE_FOOTER);
        }
        end_block();
        return std::move(file_bytes_);
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
        file_bytes_.append(reinterpret_cast<const char*>(&header), sizeof header);
    }

    void communicator(std::uint32_t id, const LocalCommunicator& made) {
        begin(made.made_by < 0 ? HOCKET_TRACE_NONE16 : static_cast<std::uint16_t>(made.made_by));
        put(id);
        put(made.parent < 0 ? HOCKET_TRACE_NONE : static_cast<std::uint32_t>(made.parent));
        put(std::uint32_t{made.inter});
        put(made.rank);
        put(static_cast<std::uint32_t>(made.members.size()));
        put(static_cast<std::uint32_t>(made.remote.size()));
        for (const std::int32_t member : made.members) put(member);
        for (const std::int32_t member : made.remote) put(member);
        end(HOCKET_TRACE_COMMUNICATOR);
        if (!made.neighbours) return;
        begin(HOCKET_TRACE_NONE16);
        put(id);
        put(static_cast<std::uint32_t>(made.neighbours->sources.size()));
        put(static_cast<std::uint32_t>(made.neighbours->destinations.size()));
        for (const std::int32_t source : made.neighbours->sources) put(source);
        for (const std::int32_t destination : made.neighbours->destinations) put(destination);
        end(HOCKET_TRACE_NEIGHBOURS);
    }

    /// The signature, with the fields in the order of their bits, and then the times.
    void call(const Call& one) {
        const bool folded = one.calls != 1 || one.outside_ns != 0 || one.outside_cpu_ns != 0;
        record_.clear();
        fields_ = 0;
        field(HOCKET_TRACE_COMM, one.communicator >= 0, unsigned_of(one.communicator));
        // Where it is missing, the reader takes the sum of the blocks.
        field(HOCKET_TRACE_BYTES, one.bytes != -1 || one.blocks >= 0, one.bytes);
        field(HOCKET_TRACE_TYPE, one.datatype >= 0, unsigned_of(one.datatype));
        field(HOCKET_TRACE_ROOT, one.root != -1, one.root);
        field(HOCKET_TRACE_OP, one.op >= 0, unsigned_of(one.op));
        field(HOCKET_TRACE_PEER, one.peer != -1 || one.tag != -1, one.peer, one.tag);
        field(HOCKET_TRACE_RECEIVE, one.receive_peer != -1 || one.receive_tag != -1 || one.receive_bytes != -1,
              one.receive_peer, one.receive_tag, one.receive_bytes);
        if (field(HOCKET_TRACE_REQUEST, one.request != 0)) number_of_request(one.request);
        if (one.completions >= 0) completions(one);
        if (one.blocks >= 0) blocks(one);
        field(HOCKET_TRACE_NEW_COMM, one.new_communicator >= 0, unsigned_of(one.new_communicator));
        field(HOCKET_TRACE_WINDOW, one.window != -1, one.window);
        field(HOCKET_TRACE_FILE, one.file != -1, one.file);
        field(HOCKET_TRACE_ERROR, one.error != 0, one.error);
        std::string signature;
        for (const std::uint64_t value : {std::uint64_t{static_cast<std::uint16_t>(one.function)},
                                          std::uint64_t{one.flags}, std::uint64_t{fields_}})
            number(signature, value);
        signature += record_;
        if (signature.size() > UINT32_MAX / 2)
            throw InvalidInput("a record of " + std::to_string(signature.size()) + " bytes in a trace",
                               "accepted: fewer than 2 GiB");
        times(one, folded, signature);
        add_requests(one);
        ++num_calls_;
    }

    void times(const Call& one, bool folded, const std::string& signature) {
        const hocket_trace_fold polls = fold(one);
        hocket_trace_times times{};
        times.enter_ns = one.enter_ns - clock_offset_ns_;
        times.exit_ns = one.exit_ns - clock_offset_ns_;
        times.cpu_enter_ns = one.enter_cpu_ns;
        times.cpu_exit_ns = one.exit_cpu_ns;
        times.thread = static_cast<std::uint16_t>(one.thread);
        times.fold = &polls;
        times.fields = folded ? HOCKET_TRACE_FOLDED : 0;
        if (is_news(one.thread, one.enter_ns, one.enter_cpu_ns)) times.fields |= HOCKET_TRACE_CPU_ENTER;
        if (is_news(one.thread, one.exit_ns, one.exit_cpu_ns) && !folded) times.fields |= HOCKET_TRACE_CPU_EXIT;
        record_.resize(signature.size() + HOCKET_TRACE_MOST_BESIDE);
        auto* const to = reinterpret_cast<unsigned char*>(record_.data());
        const auto* const end =
            hocket_trace_put_call(coder_.get(), to, &times, reinterpret_cast<const unsigned char*>(signature.data()),
                                  static_cast<std::uint32_t>(signature.size()));
        record_.resize(static_cast<std::size_t>(end - to));
        end_record();
    }

    /// Not what the reader takes it to be, CPU time having run on since the last reading.
    bool is_news(std::int16_t thread, std::int64_t wall_ns, std::int64_t cpu_ns) {
        const auto [last, is_first] = readings_.try_emplace(thread);
        const bool news = cpu_ns >= 0 && (is_first || cpu_ns - last->second.second != wall_ns - last->second.first);
        if (is_first || news) last->second = {wall_ns, std::max<std::int64_t>(0, cpu_ns)};
        return news;
    }

    void add_requests(const Call& one) {
        if (one.request != 0) hocket_trace_add_request(&coder_->requests, one.request, one.flags);
        if (one.completions < 0) return;
        for (const Completion& each :
             part_of(file_.completions, one.completions, static_cast<std::size_t>(one.num_completions)))
            hocket_trace_add_request(&coder_->requests, each.request, 0);
    }

    void completions(const Call& one) {
        field(HOCKET_TRACE_REQUESTS, true, static_cast<std::uint64_t>(one.num_completions));
        for (const Completion& each :
             part_of(file_.completions, one.completions, static_cast<std::size_t>(one.num_completions))) {
            number_of_request(each.request);
            number(each.source);
            number(each.tag);
            number(each.bytes);
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
                field(bit, true, static_cast<std::uint64_t>(size));
                for (const std::int64_t each : sizes) number(each);
            }
            at += 1 + size;
        }
    }

    static hocket_trace_fold fold(const Call& one) {
        hocket_trace_fold fold{};
        fold.calls = static_cast<std::uint64_t>(one.calls);
        fold.inside_ns = one.exit_ns - one.enter_ns - one.outside_ns;
        fold.outside_ns = one.outside_ns;
        if (one.enter_cpu_ns >= 0 && one.exit_cpu_ns >= 0)
            fold.inside_cpu_ns = one.exit_cpu_ns - one.enter_cpu_ns - one.outside_cpu_ns;
        fold.outside_cpu_ns = one.outside_cpu_ns;
        return fold;
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
        record_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void put_name(std::string_view name) { record_ += name; }

    static void number(std::string& to, std::uint64_t value) {
        unsigned char bytes[HOCKET_TRACE_MOST_VARINT];
        to.append(reinterpret_cast<const char*>(bytes),
                  static_cast<std::size_t>(hocket_trace_put(bytes, value) - bytes));
    }
    void number(std::uint64_t value) { number(record_, value); }
    void number(std::int64_t value) { number(hocket_trace_zigzag(value)); }
    void number(std::int32_t value) { number(std::int64_t{value}); }
    static std::uint64_t unsigned_of(std::int32_t value) { return static_cast<std::uint32_t>(value); }
    void number_of_request(std::uint64_t request) {
        unsigned char bytes[1 + HOCKET_TRACE_MOST_VARINT];
        record_.append(reinterpret_cast<const char*>(bytes),
                       static_cast<std::size_t>(hocket_trace_put_request(&coder_->requests, bytes, request) - bytes));
    }
    template <class... Values>
    bool field(std::uint32_t bit, bool is_there, const Values&... values) {
        if (!is_there) return false;
        fields_ |= bit;
        (number(values), ...);
        return true;
    }

    void begin(std::uint16_t function) {
        record_.clear();
        put(function);
    }
    void end(unsigned kind) {
        std::string head(1, static_cast<char>(kind << 2U));
        number(head, record_.size());
        record_.insert(0, head);
        end_record();
    }

    /// Puts record_ into the block at hand, or into a new one.
    void end_record() {
        if (block_.size() + record_.size() > HOCKET_TRACE_BLOCK_BYTES - sizeof(hocket_trace_block)) end_block();
        if (block_.empty()) calls_before_block_ = num_calls_;
        block_ += record_;
    }
    void end_block() {
        if (block_.empty()) return;
        if (block_.size() > UINT32_MAX / 2)
            throw InvalidInput("a record of " + std::to_string(block_.size()) + " bytes in a trace",
                               "accepted: fewer than 2 GiB");
        const auto used = static_cast<std::uint32_t>(block_.size());
        const hocket_trace_block head{static_cast<std::uint32_t>(sizeof head) + used, used, calls_before_block_};
        file_bytes_.append(reinterpret_cast<const char*>(&head), sizeof head);
        file_bytes_ += block_;
        block_.clear();
    }

    const RankFile& file_;
    std::string file_bytes_;
    std::string block_;   // its records
    std::string record_;  // at hand, or a part of it
    std::int64_t clock_offset_ns_ = 0;
    std::uint64_t num_calls_ = 0, calls_before_block_ = 0;
    std::uint32_t fields_ = 0;  // of the call at hand
    std::vector<unsigned char> texts_ = std::vector<unsigned char>(HOCKET_TRACE_TEXTS);
    std::unique_ptr<hocket_trace_coder> coder_ = std::make_unique<hocket_trace_coder>();
    std::unordered_map<std::int16_t, std::pair<std::int64_t, std::int64_t>> readings_;  // wall and CPU, by thread
};

}  // namespace

std::string encode_rank_file(const RankFile& file) { return Encoder(file).run(); }

}  // namespace hocket::trace
