// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/rank_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/trace/byte_reader.hpp"
#include "hocket/trace/coder.h"
#include "hocket/trace/format.h"
#include "hocket/trace/rank_builder.hpp"

namespace hocket::trace {

namespace {

static_assert(sizeof(Completion) == sizeof(hocket_trace_completion));

/// `n`, if the record has room for so many of `each` bytes; `back`: bytes from there to `n`.
std::uint32_t checked_length(std::uint32_t n, const char* what, std::size_t each, std::size_t back,
                             const ByteReader& in) {
    if (n > in.left() / each) in.fail(back, std::to_string(n) + " entries of " + what, "no more than the record holds");
    return n;
}

/// Numbers as versions 1 and 2 have them, each of its size.
class FixedNumbers {
public:
    static constexpr std::size_t kLeastCompletion = sizeof(Completion), kLeastBlock = 8;
    explicit FixedNumbers(ByteReader& in) : in_(in) {}
    [[nodiscard]] const ByteReader& reader() const { return in_; }
    std::int32_t i32(const char* what) { return in_.take<std::int32_t>(what); }
    std::uint32_t u32(const char* what) { return in_.take<std::uint32_t>(what); }
    std::int64_t i64(const char* what) { return in_.take<std::int64_t>(what); }
    std::uint64_t request(const char* what) { return in_.take<std::uint64_t>(what); }
    std::uint32_t length(const char* what, std::size_t each) { return checked_length(u32(what), what, each, 4, in_); }

private:
    ByteReader& in_;
};

/// Numbers of a signature of version 3.
class PackedNumbers {
public:
    static constexpr std::size_t kLeastCompletion = 4, kLeastBlock = 1;
    PackedNumbers(ByteReader& in, const hocket_trace_requests& requests) : in_(in), requests_(requests) {}
    [[nodiscard]] const ByteReader& reader() const { return in_; }
    std::int64_t i64(const char* what) { return in_.take_signed(what); }
    std::int32_t i32(const char* what) { return narrow<std::int32_t>(in_.take_signed(what), what); }
    std::uint32_t u32(const char* what) { return narrow<std::uint32_t>(in_.take_varint(what), what); }
    std::uint64_t request(const char* what) {
        const std::uint64_t coded = in_.take_varint(what);
        if (coded == 0) return in_.take_varint(what);
        return requests_.highest + static_cast<std::uint64_t>(ByteReader::unzigzag(coded - 1));
    }
    std::uint32_t length(const char* what, std::size_t each) { return checked_length(u32(what), what, each, 1, in_); }

private:
    template <class T, class Wide>
    T narrow(Wide value, const char* what) {
        if (!std::in_range<T>(value)) in_.fail(1, std::to_string(value), std::string(what) + " of 32 bits");
        return static_cast<T>(value);
    }
    ByteReader& in_;
    const hocket_trace_requests& requests_;
};

/// Decodes one record of versions 1 and 2; false at the end of what was recorded.
bool fixed_record(RankBuilder& to, ByteReader& in) {
    if (in.left() < HOCKET_TRACE_RECORD_BYTES) return false;
    const std::size_t start = in.at();
    const auto head = in.take<hocket_trace_record>("record");
    if (head.length == 0) return false;
    if (head.length % 8 != 0)
        in.fail(sizeof head, "a record of " + std::to_string(head.length) + " bytes", "multiples of 8");
    in.back_to(start);
    if (head.length > in.left()) return false;
    ByteReader body = in.part(head.length);
    body.skip(sizeof head);
    if (head.kind != HOCKET_TRACE_CALL) {
        to.define(head.kind, head.function, body);
        return !to.has_footer();
    }
    Call call{};
    call.enter_ns = body.take<std::int64_t>("enter");
    call.exit_ns = body.take<std::int64_t>("exit");
    const auto fields = body.take<std::uint32_t>("fields");
    call.thread = static_cast<std::int16_t>(body.take<std::uint16_t>("thread"));
    call.flags = body.take<std::uint16_t>("flags");
    if ((fields & HOCKET_TRACE_CPU_ENTER) != 0) call.enter_cpu_ns = body.take<std::int64_t>("CPU time");
    if ((fields & HOCKET_TRACE_CPU_EXIT) != 0) call.exit_cpu_ns = body.take<std::int64_t>("CPU time");
    to.take_fields(call, fields, FixedNumbers(body));
    const bool folded = (fields & HOCKET_TRACE_FOLDED) != 0;
    const auto fold = folded ? body.take<hocket_trace_fold>("polls") : hocket_trace_fold{};
    to.add(call, head.function, fields, folded ? &fold : nullptr, body);
    return true;
}

}  // namespace

/// The state of hocket_trace_coder, as the records build it up.
class BlockDecoder {
public:
    /// Decodes one record; false behind the footer.
    bool record(RankBuilder& to, ByteReader& in) {
        const auto head = in.take<std::uint8_t>("record");
        const std::uint32_t form = head & 3U;
        if (form == HOCKET_TRACE_DEFINITION) return define(to, in, head >> 2U);
        std::uint64_t thread = last_thread_;
        if ((head & HOCKET_TRACE_HEAD_THREAD) != 0) thread = in.take_varint("thread");
        if (thread > UINT16_MAX) in.fail(1, "thread " + std::to_string(thread), "below 65536");
        const std::string_view signature = take_signature(form, in);

        Call call{};
        call.thread = static_cast<std::int16_t>(thread);
        Instants& own = threads_[thread % HOCKET_TRACE_THREADS];
        const bool folded = (head & HOCKET_TRACE_HEAD_FOLDED) != 0;
        const auto enter = own.exit_ns + static_cast<std::uint64_t>(in.take_signed("enter"));
        const auto exit = folded ? enter : enter + in.take_varint("exit");
        call.enter_ns = static_cast<std::int64_t>(enter);
        call.exit_ns = static_cast<std::int64_t>(exit);
        std::uint32_t fields = folded ? HOCKET_TRACE_FOLDED : 0;
        Instants next{exit, own.cpu_ns, own.cpu_at_ns};
        if ((head & HOCKET_TRACE_HEAD_CPU_ENTER) != 0) {
            call.enter_cpu_ns = take_cpu(next, enter, in);
            fields |= HOCKET_TRACE_CPU_ENTER;
        }
        if ((head & HOCKET_TRACE_HEAD_CPU_EXIT) != 0) {
            call.exit_cpu_ns = take_cpu(next, exit, in);
            fields |= HOCKET_TRACE_CPU_EXIT;
        }
        const auto fold = folded ? in.take<hocket_trace_fold>("polls") : hocket_trace_fold{};

        ByteReader text = in.instead(signature);
        const std::uint64_t function = text.take_varint("function");
        const std::uint64_t flags = text.take_varint("flags");
        const std::uint64_t mask = text.take_varint("fields");
        if (flags > UINT16_MAX) in.fail(1, "flags " + std::to_string(flags), "16 bits");
        if (mask > UINT32_MAX) in.fail(1, "fields " + std::to_string(mask), "32 bits");
        call.flags = static_cast<std::uint16_t>(flags);
        to.take_fields(call, static_cast<std::uint32_t>(mask), PackedNumbers(text, requests_));
        add_requests(to.file(), call);
        to.add(call, function, fields, folded ? &fold : nullptr, in);
        own = next;
        last_thread_ = thread;
        return true;
    }

private:
    struct Instants {  // unsigned: damaged files may make them wrap around
        std::uint64_t exit_ns = 0, cpu_ns = 0, cpu_at_ns = 0;
    };
    struct Slot {
        std::string text;
        std::uint32_t successor = 0;
    };

    bool define(RankBuilder& to, ByteReader& in, std::uint32_t kind) {
        const std::uint64_t length = in.take_varint("length");
        ByteReader body = in.part(static_cast<std::size_t>(length));
        if (kind == HOCKET_TRACE_RESET) {
            slots_.assign(1, {});
            places_ = {};
            last_ = 0;
        } else if (kind <= HOCKET_TRACE_NEIGHBOURS) {
            const auto function = body.take<std::uint16_t>("function");
            to.define(kind, function, body);
        }
        return !to.has_footer();
    }

    std::string_view take_signature(std::uint32_t form, ByteReader& in) {
        std::uint64_t slot = slots_[last_].successor;
        if (form != HOCKET_TRACE_SUCCESSOR) slot = in.take_varint("slot");
        const bool is_new = form == HOCKET_TRACE_NEW;
        if (slot > HOCKET_TRACE_SLOTS || (slot == HOCKET_TRACE_SLOTS && !is_new))
            in.fail(1, "slot " + std::to_string(slot), "below " + std::to_string(HOCKET_TRACE_SLOTS));
        if (is_new) {
            const std::uint64_t length = in.take_varint("length");
            ByteReader text = in.part(static_cast<std::size_t>(std::min<std::uint64_t>(length, SIZE_MAX)));
            if (slot == HOCKET_TRACE_SLOTS) return text.rest();
            if (place_of(slot) == 0) {
                auto& places = places_[slot / kSlotsOfPart];
                places.resize(kSlotsOfPart);
                places[slot % kSlotsOfPart] = static_cast<std::uint16_t>(slots_.size());
                slots_.emplace_back();
            }
            slots_[place_of(slot)] = {std::string(text.rest()), 0};
        } else if (place_of(slot) == 0) {
            in.fail(1, "slot " + std::to_string(slot) + ", which is empty", "slots that were filled before");
        }
        slots_[last_].successor = static_cast<std::uint32_t>(slot);
        last_ = place_of(slot);
        return slots_[last_].text;
    }

    /// Of a slot in `slots_`; 0: nothing was put there.
    [[nodiscard]] std::size_t place_of(std::uint64_t slot) const {
        const auto& places = places_[slot / kSlotsOfPart];
        return places.empty() ? 0 : places[slot % kSlotsOfPart];
    }

    static std::int64_t take_cpu(Instants& own, std::uint64_t now_ns, ByteReader& in) {
        own.cpu_ns += now_ns - own.cpu_at_ns + static_cast<std::uint64_t>(in.take_signed("CPU time"));
        own.cpu_at_ns = now_ns;
        return static_cast<std::int64_t>(own.cpu_ns);
    }

    void add_requests(const RankFile& file, const Call& call) {
        if (call.request != 0) hocket_trace_add_request(&requests_, call.request, call.flags);
        for (std::int64_t i = 0; i < call.num_completions; ++i)
            hocket_trace_add_request(&requests_,
                                     file.completions[static_cast<std::size_t>(call.completions + i)].request, 0);
    }

    // The slots that were filled, behind one that stands for what comes before the first signature.
    std::vector<Slot> slots_ = std::vector<Slot>(1);
    static constexpr std::size_t kSlotsOfPart = 64;
    // By the number of a slot where it is in slots_, 0: nowhere. In parts, as few slots are filled as a rule.
    std::array<std::vector<std::uint16_t>, HOCKET_TRACE_SLOTS / kSlotsOfPart> places_;
    std::size_t last_ = 0;  // place of the last signature
    std::array<Instants, HOCKET_TRACE_THREADS> threads_{};
    hocket_trace_requests requests_{};
    std::uint64_t last_thread_ = 0;
};

/// Where a file's bytes come from.
struct RankFileStream::Source {
    std::string name;
    std::uint64_t size = 0;
    std::string_view bytes;  ///< all of them, if there is no file
    bool is_file = false;
    std::string part;

    [[nodiscard]] std::ifstream open(std::ios::openmode mode) const {
        std::ifstream file(name, std::ios::binary | mode);
        if (!file) fail();
        return file;
    }
    std::string_view read(std::uint64_t offset, std::uint64_t count) {
        count = std::min(count, size - std::min(offset, size));
        if (!is_file) return bytes.substr(static_cast<std::size_t>(std::min(offset, size)), count);
        part.resize(count);
        std::ifstream file = open({});
        file.seekg(static_cast<std::streamoff>(offset));
        if (!file.read(part.data(), static_cast<std::streamsize>(count))) fail();
        return part;
    }
    /// Gives the memory back.
    void forget() { part = std::string(); }

private:
    [[noreturn]] void fail() const {
        throw InvalidInput(name + ": cannot be read", "check that the file exists and that you may read it");
    }
};

RankFileStream::RankFileStream(const std::filesystem::path& path, CpuReadings cpu_times)
    : source_(std::make_unique<Source>()), cpu_times_(cpu_times) {
    std::error_code error;
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
        throw InvalidInput(path.string() + ": is no file", "the file of a rank is expected there");
    source_->name = path.string();
    source_->is_file = true;
    source_->size = static_cast<std::uint64_t>(std::max<std::streamoff>(0, source_->open(std::ios::ate).tellg()));
    start();
}

RankFileStream::RankFileStream(std::string_view bytes, const std::string& name) : source_(std::make_unique<Source>()) {
    source_->name = name;
    source_->bytes = bytes;
    source_->size = bytes.size();
    start();
}

RankFileStream::RankFileStream(RankFileStream&&) noexcept = default;

RankFileStream::~RankFileStream() = default;

void RankFileStream::start() {
    builder_ = std::make_unique<RankBuilder>();
    decoder_ = std::make_unique<BlockDecoder>();
    ByteReader in(source_->read(0, UINT16_MAX), 0, source_->name);
    version_ = builder_->header(in);
    offset_ = builder_->header_bytes();
    source_->forget();  // many files may wait for their turn
}

const RankFile& RankFileStream::part() const { return builder_->file(); }

RankFile& RankFileStream::part() { return builder_->file(); }

std::uint64_t RankFileStream::bytes() const { return source_->size; }

RankFile RankFileStream::take() { return std::move(builder_->file()); }

bool RankFileStream::next() {
    builder_->forget_calls();
    return append();
}

bool RankFileStream::append() {
    if (is_done_) return false;
    is_done_ = version_ < 3 ? !records() : !block();
    builder_->end_part(cpu_times_);
    if (is_done_) builder_->finish();
    return true;
}

/// Versions 1 and 2: all of the file.
bool RankFileStream::records() {
    ByteReader in(source_->read(offset_, source_->size), offset_, source_->name);
    while (fixed_record(*builder_, in)) {
    }
    return false;
}

/// False if there is none.
bool RankFileStream::begin_block() {
    ByteReader start(source_->read(offset_, sizeof(hocket_trace_block)), offset_, source_->name);
    if (start.left() < sizeof(hocket_trace_block)) return false;
    const auto head = start.take<hocket_trace_block>("block");
    if (head.size == 0) return false;
    if (head.size < sizeof head || head.used > head.size - sizeof head)
        start.fail(sizeof head,
                   "a block of " + std::to_string(head.size) + " bytes with records of " + std::to_string(head.used),
                   "records that fit into their block");
    if (head.calls != builder_->num_calls())
        start.fail(8, "a block behind " + std::to_string(head.calls) + " calls", std::to_string(builder_->num_calls()));
    records_ = source_->read(offset_ + sizeof head, head.used);
    // A file that was copied in part may end inside a record.
    is_cut_ = records_.size() < head.used;
    size_ = head.size;
    begin_ = at_ = 0;
    return true;
}

/// Gives up the bytes of the block that were read, where these are most of it: of many ranks at once they are much.
void RankFileStream::forget_read() {
    if (!source_->is_file || at_ <= records_.size() / 2) return;
    source_->part = std::string(records_.substr(at_));
    records_ = source_->part;
    begin_ += at_;
    at_ = 0;
}

/// Reads a part of a block; false if it was the last one.
bool RankFileStream::block() {
    if (size_ == 0 && !begin_block()) return false;
    ByteReader in(records_, offset_ + sizeof(hocket_trace_block) + begin_, source_->name);
    in.skip(at_);
    const std::uint64_t most =
        builder_->num_calls() + (cpu_times_ == CpuReadings::filled ? UINT64_MAX / 2 : std::uint64_t{calls_of_part});
    while (in.left() > 0 && builder_->num_calls() < most) {
        const RankBuilder::Mark mark = builder_->mark();
        try {
            if (!decoder_->record(*builder_, in)) return false;
        } catch (const InvalidInput&) {
            builder_->back_to(mark);
            if (is_cut_ && in.left() == 0) return false;
            throw;
        }
    }
    at_ = in.at();
    if (in.left() > 0) {
        forget_read();
        return true;
    }
    offset_ += size_;
    size_ = begin_ = at_ = 0;
    source_->forget();
    return !is_cut_;
}

namespace {

RankFile read_all(RankFileStream stream) {
    while (stream.append()) {
    }
    return stream.take();
}

}  // namespace

RankFile decode_rank_file(std::string_view bytes, const std::string& name) {
    return read_all(RankFileStream(bytes, name));
}

RankFile read_rank_file(const std::filesystem::path& path) { return read_all(RankFileStream(path)); }

}  // namespace hocket::trace
