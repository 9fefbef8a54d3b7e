// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/program/goal_binary.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>

#include "hocket/base/error.hpp"

namespace hocket {

namespace {

constexpr std::uint64_t magic = 4223;
constexpr std::size_t table_from = 8;  // places in the table count from here
constexpr std::size_t head_bytes = 8 + 4 + 1 + 1, op_bytes = 4 + 1 + 4 + 8 + 4 + 1 + 1 + 4 * 4;
enum Kind : std::uint8_t { send = 1, recv = 2, calc = 3 };

template <std::integral T>
void put(std::string& to, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
        to.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i)));
}

std::uint64_t whole_ns(double seconds) {
    constexpr double most = 9.2e18;
    return static_cast<std::uint64_t>(std::llround(std::min(seconds * 1e9, most)));
}

std::string part_of(const RankProgram& rank, double reduce_bytes_per_s) {
    std::vector<std::vector<std::uint32_t>> dependents(rank.ops.size());
    std::vector<std::uint32_t> roots;
    for (std::size_t i = 0; i < rank.ops.size(); ++i) {
        if (rank.ops[i].num_dependencies == 0) roots.push_back(static_cast<std::uint32_t>(i));
        for (const std::int32_t dependency : rank.dependencies_of(rank.ops[i]))
            dependents[static_cast<std::size_t>(dependency)].push_back(static_cast<std::uint32_t>(i));
    }
    std::string part;
    put(part, static_cast<std::uint32_t>(rank.ops.size()));
    put(part, static_cast<std::uint32_t>(roots.size()));
    for (const std::uint32_t root : roots) put(part, root);
    std::uint32_t first_target = 0;
    for (std::size_t i = 0; i < rank.ops.size(); ++i) {
        const ProgramOp& op = rank.ops[i];
        const bool is_message = op.kind == ProgramOpKind::send || op.kind == ProgramOpKind::recv;
        put(part, static_cast<std::uint32_t>(op.num_dependencies));
        put(part, static_cast<std::uint8_t>(op.kind == ProgramOpKind::send ? send : is_message ? recv : calc));
        put(part, static_cast<std::uint32_t>(is_message ? op.peer.value : 0));
        put(part, is_message                          ? static_cast<std::uint64_t>(op.bytes)
                  : op.kind == ProgramOpKind::compute ? whole_ns(op.seconds)
                                                      : whole_ns(static_cast<double>(op.bytes) / reduce_bytes_per_s));
        put(part, static_cast<std::uint32_t>(is_message ? op.tag : 0));
        put(part, std::uint16_t{0});  // cpu and nic
        put(part, static_cast<std::uint32_t>(dependents[i].size()));
        put(part, first_target);
        first_target += static_cast<std::uint32_t>(dependents[i].size());
        put(part, std::uint32_t{0});  // none waits for its start
        put(part, first_target);
    }
    for (const auto& targets : dependents)
        for (const std::uint32_t target : targets) put(part, target);
    return part;
}

class Reader {
public:
    Reader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

    template <std::integral T>
    T take(const char* what) {
        if (bytes_.size() - at_ < sizeof(T)) fail("the end of the file", std::string("more: ") + what);
        std::uint64_t value = 0;
        for (std::size_t i = sizeof(T); i-- > 0;) value = (value << 8U) | static_cast<unsigned char>(bytes_[at_ + i]);
        at_ += sizeof(T);
        return static_cast<T>(value);
    }
    /// At most as many as fit into the rest.
    std::uint32_t take_count(const char* what, std::size_t each_bytes) {
        const auto count = take<std::uint32_t>(what);
        if (count > (bytes_.size() - at_) / each_bytes)
            fail(std::to_string(count) + " " + what, "as many as fit into the rest of the file");
        return count;
    }
    void go_to(std::uint64_t at) {
        if (at > bytes_.size()) fail("byte " + std::to_string(at) + " as a place", "one inside the file");
        at_ = static_cast<std::size_t>(at);
    }
    [[nodiscard]] std::size_t at() const { return at_; }
    [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
    [[noreturn]] void fail(const std::string& found, const std::string& accepted) const {
        throw InvalidInput(name_ + ": byte " + std::to_string(at_) + ": found " + found + "; accepted: " + accepted,
                           "the file is damaged or was cut off: make it again from the text");
    }

private:
    std::string_view bytes_;
    const std::string& name_;
    std::size_t at_ = 0;
};

struct Op {
    ProgramOp op;
    std::uint32_t ends, first_end, starts, first_start;
};

Op take_op(Reader& in, std::uint32_t num_ranks) {
    Op made{};
    in.take<std::uint32_t>("a number of dependencies");
    const auto kind = in.take<std::uint8_t>("a kind");
    if (kind < send || kind > calc) in.fail("an op of kind " + std::to_string(kind), "1 (send), 2 (recv), 3 (calc)");
    const auto peer = in.take<std::uint32_t>("a peer");
    const auto size = in.take<std::uint64_t>("a size");
    const auto tag = in.take<std::uint32_t>("a tag");
    in.take<std::uint16_t>("a cpu and a nic");
    made.ends = in.take<std::uint32_t>("a number of ops");
    made.first_end = in.take<std::uint32_t>("a place of ops");
    made.starts = in.take<std::uint32_t>("a number of ops");
    made.first_start = in.take<std::uint32_t>("a place of ops");
    if (size > INT64_MAX) in.fail("a size of " + std::to_string(size), "less than 2^63");
    if (kind == calc) {
        made.op = {.kind = ProgramOpKind::compute, .peer = {}};
        made.op.seconds = static_cast<double>(size) * 1e-9;
        return made;
    }
    if (peer >= num_ranks)
        in.fail("a message with rank " + std::to_string(peer), "a rank below " + std::to_string(num_ranks));
    if (tag > INT32_MAX) in.fail("tag " + std::to_string(tag), "0 to 2147483647: no wildcards");
    made.op = {.kind = kind == send ? ProgramOpKind::send : ProgramOpKind::recv,
               .peer = Rank{static_cast<std::int32_t>(peer)}};
    made.op.bytes = static_cast<std::int64_t>(size);
    made.op.tag = static_cast<std::int32_t>(tag);
    return made;
}

RankProgram take_part(Reader& in, std::uint32_t num_ranks) {
    const std::uint32_t num_ops = in.take_count("ops", op_bytes);
    for (std::uint32_t i = in.take_count("first ops", 4); i > 0; --i) in.take<std::uint32_t>("an op");
    std::vector<Op> ops;
    ops.reserve(num_ops);
    std::uint64_t edges = 0;
    for (std::uint32_t i = 0; i < num_ops; ++i) {
        ops.push_back(take_op(in, num_ranks));
        edges += std::uint64_t{ops.back().ends} + ops.back().starts;
    }
    const std::size_t targets = in.at();
    if (edges > in.left() / 4) in.fail(std::to_string(edges) + " edges", "as many as fit into the rest of the file");
    std::vector<std::vector<std::int32_t>> after(ops.size());
    const auto take_targets = [&](std::uint32_t first, std::uint32_t count, std::int32_t on) {
        in.go_to(targets + std::uint64_t{first} * 4);
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto target = in.take<std::uint32_t>("an op that waits");
            if (target >= num_ops) in.fail("op " + std::to_string(target), "one of " + std::to_string(num_ops));
            after[target].push_back(on);
        }
    };
    std::vector<std::int32_t> start_of(ops.size(), -1);
    for (std::uint32_t i = 0; i < num_ops; ++i) {
        if (ops[i].ends > 0) take_targets(ops[i].first_end, ops[i].ends, static_cast<std::int32_t>(i));
        if (ops[i].starts == 0) continue;
        // As in the text: both wait for an op that stands for the start.
        start_of[i] = static_cast<std::int32_t>(after.size());
        take_targets(ops[i].first_start, ops[i].starts, start_of[i]);
        after.emplace_back();
    }
    RankProgram rank;
    for (std::size_t i = 0; i < num_ops; ++i)
        if (start_of[i] >= 0) {
            after[static_cast<std::size_t>(start_of[i])] = std::move(after[i]);
            after[i] = {start_of[i]};
        }
    for (std::size_t i = 0; i < after.size(); ++i) {
        const ProgramOp none{.kind = ProgramOpKind::compute, .peer = {}};
        rank.add(i < num_ops ? ops[i].op : none, after[i]);
    }
    return rank;
}

}  // namespace

bool is_goal_binary(std::string_view bytes) {
    if (bytes.size() < head_bytes) return false;
    const std::string name;
    return Reader(bytes, name).take<std::uint64_t>("the magic number") == magic;
}

std::string to_goal_binary(const Program& program, double reduce_bytes_per_s) {
    std::string table, parts;
    const std::size_t first = head_bytes + 16 * program.ranks.size();
    for (const RankProgram& rank : program.ranks) {
        if (rank.dependencies.size() > UINT32_MAX)
            throw InvalidInput(std::to_string(rank.dependencies.size()) + " dependencies of a rank",
                               "binary GOAL holds fewer than 2^32: write GOAL text");
        put(table, static_cast<std::uint64_t>(first + parts.size() - table_from));
        parts += part_of(rank, reduce_bytes_per_s);
        put(table, static_cast<std::uint64_t>(first + parts.size() - table_from));
    }
    std::string head;
    put(head, magic);
    put(head, static_cast<std::uint32_t>(program.ranks.size()));
    put(head, std::uint16_t{0});  // largest cpu and nic
    return head + table + parts;
}

Program program_from_goal_binary(std::string_view bytes, const std::string& source_name) {
    Reader in(bytes, source_name);
    if (in.take<std::uint64_t>("the magic number") != magic) in.fail("no binary GOAL", "the number 4223 first");
    const std::uint32_t num_ranks = in.take_count("ranks", 16);
    if (num_ranks == 0) in.fail("no rank", "at least 1");
    in.take<std::uint16_t>("the largest cpu and nic");
    std::vector<std::uint64_t> starts;
    for (std::uint32_t r = 0; r < num_ranks; ++r) {
        starts.push_back(in.take<std::uint64_t>("the start of a rank"));
        in.take<std::uint64_t>("the end of a rank");
    }
    // Parts do not overlap, so all together are not longer than the file.
    std::uint64_t ops_bytes = 0;
    Program program;
    for (const std::uint64_t start : starts) {
        if (start > bytes.size()) in.fail("a rank at byte " + std::to_string(start), "a place inside the file");
        in.go_to(start + table_from);
        program.ranks.push_back(take_part(in, num_ranks));
        ops_bytes += program.ranks.back().ops.size() * op_bytes;
        if (ops_bytes > 2 * bytes.size()) in.fail("parts of ranks that overlap", "parts one behind the other");
    }
    if (const auto fault = first_fault(program))
        throw InvalidInput(source_name + ": rank " + std::to_string(fault->rank.value) + ", op " +
                               std::to_string(fault->op) + ": " + fault->what,
                           "the file is damaged: make it again from the text");
    return program;
}

}  // namespace hocket
