// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/interop/liballprof.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <optional>

#include "hocket/interop/liballprof_layouts.hpp"
#include "hocket/interop/text_lines.hpp"
#include "hocket/trace/format.h"

namespace hocket::interop {

namespace {

using trace::Call;

constexpr std::int64_t most_bytes = std::int64_t{1} << 50;
constexpr std::int64_t request_bytes = 8;  // of an MPI_Request in memory, at most

struct Value {
    std::int64_t n = 0, N = 0, size = 1, Size = 1;  // counts, and bytes of the datatypes
    std::string_view t, T, op;
    std::int32_t p = -1, P = -1, g = -1, G = -1, r = -1, y = -1, Y = 0;
    std::int32_t communicator = -1;
    std::optional<std::uint64_t> request;
    std::vector<std::int64_t> send, receive;
};

class LiballprofReader {
public:
    LiballprofReader(const Source& source, std::int32_t rank, std::int32_t num_ranks)
        : text_(source), num_ranks_(num_ranks), recorder(rank, num_ranks) {}

    void read() {
        while (text_.next()) {
            const std::string_view line = text_.line();
            if (line.empty()) continue;
            if (line[0] == '#')
                header(line);
            else
                call(line);
        }
        if (recorder.file.calls.empty())
            text_.fail("the end of the file", "a call", "lines such as MPI_Barrier:10:0,0,4:12");
    }

    /// Members that turn out to be others than those of a call are unknown.
    void check_members() {
        for (const auto& [number, seen] : seen_) {
            trace::LocalCommunicator& one = recorder.file.communicators[static_cast<std::size_t>(number)];
            if (one.rank != seen.first || static_cast<std::int32_t>(one.members.size()) != seen.second)
                one.members.clear();
        }
    }

    [[nodiscard]] std::int64_t guessed() const { return guessed_; }

private:
    TextLines text_;
    std::int32_t num_ranks_;

public:
    RankRecorder recorder;

private:
    void header(std::string_view line) {
        constexpr std::string_view host = "# host: ", difference = "# Init clockdiff: ";
        if (line.starts_with(host))
            recorder.file.host = std::string(line.substr(host.size(), HOCKET_TRACE_HOST_BYTES - 1));
        if (line.starts_with(difference)) {
            // In us; what to add for the clock of rank 0.
            const double us = text_.real(line.substr(difference.size()), "a difference of clocks");
            if (us < -1e15 || us > 1e15) text_.fail(line, "a difference of clocks", "less than 30 years");
            difference_ns_ = static_cast<std::int64_t>(us * 1e3);
        }
    }

    /// Microseconds with a fraction, as in 1237666046950128.000000.
    std::int64_t time_ns(std::string_view text) const {
        const std::size_t point = std::min(text.find('.'), text.size());
        std::int64_t ns = text_.whole(text.substr(0, point), "a time in us", 0, 4'000'000'000'000'000) * 1000;
        std::int64_t unit = 100;
        for (std::size_t i = point + 1; i < text.size(); ++i, unit /= 10) {
            if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) text_.fail(text, "a time in us", "a number");
            ns += (text[i] - '0') * unit;
        }
        return ns + difference_ns_;
    }

    void call(std::string_view line) {
        TextLines::split_at(line, ':', fields_);
        if (fields_.size() < 3 || !fields_[0].starts_with("MPI_"))
            text_.fail(line, "a line", "MPI_NAME:start:arguments:end, or # and a comment");
        std::string_view begins = fields_[1], ends = fields_.back();
        if (begins == "-") begins = ends;  // of MPI_Init
        if (ends == "-") ends = begins;    // of MPI_Finalize
        Call made = RankRecorder::call(recorder.function(printable(fields_[0])), time_ns(begins), time_ns(ends));
        if (made.exit_ns < made.enter_ns)
            text_.fail(line, "the times of a call", "an end that is not before the start");
        std::string name(fields_[0].substr(4));
        if (name == "Finalize") recorder.file.end = HOCKET_TRACE_END_FINALIZE;
        bool nonblocking = false;
        auto layout = liballprof_layouts.find(name);
        if (layout == liballprof_layouts.end() && name.size() > 1 && name[0] == 'I') {  // a non-blocking collective
            name.erase(0, 1);
            name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
            layout = liballprof_layouts.find(name);
            nonblocking = layout != liballprof_layouts.end();
        }
        if (layout != liballprof_layouts.end()) describe(made, name, values(layout->second, nonblocking), nonblocking);
        recorder.file.calls.push_back(made);
    }

    Value values(std::string_view layout, bool nonblocking) {
        Value value;
        std::size_t at = 2;
        const auto next = [&]() -> std::string_view {
            if (at + 1 >= fields_.size()) text_.fail(text_.line(), "the arguments of a call", "more of them");
            return fields_[at++];
        };
        const auto number = [&](const char* what) {
            return static_cast<std::int32_t>(text_.whole(next(), what, std::numeric_limits<std::int32_t>::min(),
                                                         std::numeric_limits<std::int32_t>::max()));
        };
        for (const char letter : layout) {
            switch (letter) {
                case 'n':
                    value.n = std::max(0, number("a count"));
                    break;
                case 'N':
                    value.N = std::max(0, number("a count"));
                    break;
                case 't':
                    value.size = datatype(value.t = next());
                    break;
                case 'T':
                    value.Size = datatype(value.T = next());
                    break;
                case 'p':
                    value.p = number("a rank");
                    break;
                case 'P':
                    value.P = number("a rank");
                    break;
                case 'g':
                    value.g = number("a tag");
                    break;
                case 'G':
                    value.G = number("a tag");
                    break;
                case 'r':
                    value.r = number("a root");
                    break;
                case 'y':
                    value.y = number("a color");
                    break;
                case 'Y':
                    value.Y = number("a key");
                    break;
                case 'o':
                    value.op = next();
                    break;
                case 'c':
                    value.communicator = communicator(next());
                    break;
                case 'R':
                    value.request = handle(next());
                    break;
                case 'S':
                    next();
                    value.send = counts(next());
                    break;
                case 'D':
                    next();
                    value.receive = counts(next());
                    break;
                case 'd':
                    next();
                    next();
                    break;
                default:
                    next();
            }
        }
        if (nonblocking) value.request = handle(next());
        return value;
    }

    std::uint64_t handle(std::string_view text) const {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size()) text_.fail(text, "a request", "a number");
        return value;
    }

    /// Number, bytes and extent: "11,8,8".
    std::int64_t datatype(std::string_view text) {
        TextLines::split_at(text, ',', parts_);
        if (parts_.size() < 2) text_.fail(text, "a datatype", "number,size,extent");
        return text_.whole(parts_[1], "the size of a datatype", 0, most_bytes >> 31);
    }

    std::vector<std::int64_t> counts(std::string_view text) {
        TextLines::split_at(text, ',', parts_);
        std::vector<std::int64_t> found;
        for (const std::string_view part : parts_)
            found.push_back(text_.whole(part, "a count", 0, std::numeric_limits<std::int32_t>::max()));
        return found;
    }

    /// "handle,rank,size". A handle that is new stands for the first communicator made and not yet used that fits.
    std::int32_t communicator(std::string_view text) {
        TextLines::split_at(text, ',', parts_);
        if (parts_.size() < 3) text_.fail(text, "a communicator", "handle,rank,size");
        const std::string handle(parts_[0]);
        const auto rank = static_cast<std::int32_t>(text_.whole(parts_[1], "a rank", -1, INT32_MAX));
        const auto size = static_cast<std::int32_t>(text_.whole(parts_[2], "the size of a communicator", 0, INT32_MAX));
        const auto known = handles_.find(handle);
        if (known != handles_.end()) return known->second;
        std::int32_t number = -1;
        if (size == num_ranks_ && !has_world_) {
            has_world_ = true;
            return handles_[handle] = RankRecorder::world;
        }
        const auto fits = [&](const Unused& one) {
            return one.is_copy ? one.parent_size == size : size <= one.parent_size;
        };
        const auto first = std::ranges::find_if(unused_, fits);
        if (first != unused_.end()) {
            number = first->number;
            unused_.erase(first);
            seen_[number] = {rank, size};
        } else if (size == 1) {
            number = RankRecorder::self;
        } else {
            number = recorder.make_communicator({Creation::Kind::unknown, -1});
        }
        sizes_[number] = size;
        return handles_[handle] = number;
    }

    void message(Call& call, std::int64_t count, std::int64_t size, std::string_view type) {
        call.bytes = count * size;
        call.datatype = recorder.datatype(printable(type.substr(0, type.find(','))), size);
    }

    /// MPIs number MPI_ANY_SOURCE and MPI_PROC_NULL in different ways, so which of them it is is not known.
    static std::int32_t source(std::int32_t peer) { return peer >= 0 ? peer : -2; }

    void describe(Call& call, std::string_view name, const Value& value, bool nonblocking) {
        call.communicator = value.communicator;
        call.root = std::max(value.r, -1);
        if (!value.op.empty()) call.op = recorder.op(printable(value.op), true);
        if (!value.t.empty()) message(call, value.n, value.size, value.t);
        const bool receives = name == "Recv" || name == "Irecv" || name == "Recv_init" || name == "Probe";
        if (value.g != -1 || value.p != -1) {
            call.peer = receives ? source(value.p) : std::max(value.p, -1);
            call.tag = std::max(value.g, -1);
        }
        if (name.starts_with("Sendrecv")) {
            call.receive_peer = source(value.P);
            call.receive_tag = std::max(value.G, -1);
            call.receive_bytes = value.T.empty() ? call.bytes : value.N * value.Size;
        }
        sizes(call, name, value);
        if (name == "Startall") {
            recorder.begin_completions(call);
            for (const std::uint64_t one : pending_at(*value.request, value.n)) recorder.start(call, one);
        } else if (name == "Start") {
            recorder.name_request(call, *value.request);
        } else if (name.starts_with("Wait")) {
            wait(call, name, value);
        } else if (value.request) {
            recorder.make_request(call, *value.request, receives && !nonblocking, name.ends_with("_init"));
            asked_[*value.request] = {call.peer, call.tag, call.bytes};
        }
        make(call, name, value);
    }

    /// Requests in an array at `place`.
    std::vector<std::uint64_t> pending_at(std::uint64_t place, std::int64_t count) const {
        std::vector<std::uint64_t> found;
        const auto end = place + static_cast<std::uint64_t>(count * request_bytes);
        for (auto one = asked_.lower_bound(place); one != asked_.end() && one->first < end; ++one)
            if (static_cast<std::int64_t>(found.size()) < count) found.push_back(one->first);
        return found;
    }

    void wait(Call& call, std::string_view name, const Value& value) {
        recorder.begin_completions(call);
        auto waited = pending_at(*value.request, name == "Wait" ? 1 : value.n);
        if (name == "Waitany" || name == "Waitsome") {
            guessed_ += waited.size() > 1 ? 1 : 0;
            waited.resize(std::min<std::size_t>(waited.size(), 1));
        }
        for (const std::uint64_t one : waited) {
            const RankRecorder::Status asked = asked_[one];
            recorder.complete(call, one, {std::max(asked.source, -1), asked.tag, asked.bytes});
            if (!recorder.is_known(one)) asked_.erase(one);  // a persistent one stays
        }
    }

    void sizes(Call& call, std::string_view name, const Value& value) {
        const auto own = static_cast<std::size_t>(std::max(0, own_rank(value.communicator)));
        const bool at_root = value.r >= 0 && own_rank(value.communicator) == value.r;
        if ((name == "Gather" && at_root) || ((name == "Scatter" || name == "Scatterv") && !at_root))
            return message(call, value.N, value.Size, value.T);
        if (value.send.empty() && value.receive.empty()) return;
        const auto times = [](std::vector<std::int64_t> all, std::int64_t size) {
            for (std::int64_t& one : all) one *= size;
            return all;
        };
        const auto sent = times(value.send, value.size);
        const auto received = times(value.receive, name == "Reduce_scatter" ? value.size : value.Size);
        if (name == "Alltoallv") {
            call.bytes = 0;
            for (const std::int64_t one : sent) call.bytes += one;
        } else if (name == "Scatterv" || name == "Reduce_scatter" || (name == "Gatherv" && at_root)) {
            const auto& all = name == "Scatterv" ? sent : received;
            call.bytes = own < all.size() ? all[own] : 0;
        }
        if (name != "Gatherv" || at_root) recorder.blocks(call, sent, received);
    }

    [[nodiscard]] std::int32_t own_rank(std::int32_t number) const {
        const auto seen = seen_.find(number);
        return seen != seen_.end() ? seen->second.first : number == RankRecorder::self ? 0 : recorder.file.rank;
    }

    void make(Call& call, std::string_view name, const Value& value) {
        using enum Creation::Kind;
        if (name != "Comm_dup" && name != "Comm_split" && name != "Comm_create" && name != "Cart_create" &&
            name != "Cart_sub")
            return;
        Creation creation{name == "Comm_dup" ? dup : name == "Comm_split" ? split : unknown, value.communicator};
        creation.made_by = call.function;
        creation.color = value.y;
        creation.key = value.Y;
        if (name == "Comm_split" && value.y < 0) return recorder.take_part(std::move(creation));  // MPI_UNDEFINED
        call.new_communicator = recorder.make_communicator(std::move(creation));
        const auto size = sizes_.find(value.communicator);
        unused_.push_back(
            {call.new_communicator, size == sizes_.end() ? num_ranks_ : size->second, name == "Comm_dup"});
    }

    struct Unused {
        std::int32_t number, parent_size;
        bool is_copy;
    };
    std::int64_t difference_ns_ = 0, guessed_ = 0;
    bool has_world_ = false;
    std::vector<std::string_view> fields_, parts_;
    std::map<std::string, std::int32_t> handles_;
    std::vector<Unused> unused_;
    std::map<std::int32_t, std::int32_t> sizes_;                          // by communicator, where used
    std::map<std::int32_t, std::pair<std::int32_t, std::int32_t>> seen_;  // rank and size of those made
    std::map<std::uint64_t, RankRecorder::Status> asked_;                 // by request
};

}  // namespace

ForeignTrace read_liballprof(std::span<const Source> files, bool align) {
    std::vector<LiballprofReader> readers;
    readers.reserve(files.size());
    std::int64_t guessed = 0;
    for (std::size_t rank = 0; rank < files.size(); ++rank) {
        readers.emplace_back(files[rank], static_cast<std::int32_t>(rank), static_cast<std::int32_t>(files.size()));
        readers.back().read();
        guessed += readers.back().guessed();
    }
    std::vector<RankCreations> creations;
    std::vector<RankRecorder*> recorders;
    for (LiballprofReader& reader : readers) {
        creations.push_back({&reader.recorder.file, reader.recorder.creations});
        recorders.push_back(&reader.recorder);
    }
    find_members(creations);
    for (LiballprofReader& reader : readers) {
        reader.check_members();
        reader.recorder.creations.clear();
    }
    ForeignTrace result = finish(recorders, align);
    if (guessed > 0)
        result.notes.push_back(
            std::to_string(guessed) +
            " calls complete one of several requests; the trace does not record which: the first counts");
    return result;
}

}  // namespace hocket::interop
