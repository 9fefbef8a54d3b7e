// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/interop/chakra.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>

#include "hocket/interop/protobuf.hpp"
#include "hocket/replay/collective_programs.hpp"

namespace hocket::interop {

namespace {

enum NodeType : std::uint64_t { metadata = 1, mem_load, mem_store, computation, sending, receiving, collective };
constexpr std::uint64_t last_type = collective;
constexpr std::int64_t most_bytes = std::int64_t{1} << 50;
constexpr double most_us = 2.5e14;  // 8 years

// By their number, as MPI and hocket name them. ASTRA-sim takes the size of these as that of all blocks together.
struct ChakraCollective {
    std::string_view name;
    bool size_is_of_all_blocks;
};
constexpr std::array<ChakraCollective, 10> collectives = {{{"allreduce", false},
                                                           {"reduce", false},
                                                           {"allgather", false},
                                                           {"gather", false},
                                                           {"scatter", false},
                                                           {"bcast", false},
                                                           {"alltoall", true},
                                                           {"reduce_scatter_block", true},
                                                           {"reduce_scatter_block", false},
                                                           {"barrier", false}}};

struct Node {
    std::uint64_t id = 0, type = 0, duration_us = 0;
    std::vector<std::uint64_t> after;
    std::map<std::string, double, std::less<>> numbers;  // attributes
    std::string group;                                   // of a collective; empty: all

    [[nodiscard]] std::optional<double> number(std::string_view name) const {
        const auto found = numbers.find(name);
        if (found == numbers.end()) return std::nullopt;
        return found->second;
    }
};

void take_attribute(Protobuf message, Node& node) {
    std::string name, text;
    std::optional<double> number;
    while (const auto field = message.next()) {
        switch (field->number) {
            case 1:
                name = field->bytes;
                break;
            case 3:
                number = field->wire == Protobuf::bits64 ? std::bit_cast<double>(field->value) : 0;
                break;
            case 5:
                number = std::bit_cast<float>(static_cast<std::uint32_t>(field->value));
                break;
            case 15:
            case 17:
                number =
                    static_cast<double>(static_cast<std::int64_t>((field->value >> 1U) ^ (0 - (field->value & 1U))));
                break;
            case 29:
                text = field->bytes;
                break;
            default:
                if (field->wire != Protobuf::length)
                    number = static_cast<double>(static_cast<std::int64_t>(field->value));
        }
    }
    if (number && std::isfinite(*number)) node.numbers[name] = *number;
    if (name == "pg_name") node.group = text;
}

Node take_node(Protobuf message) {
    Node node;
    while (const auto field = message.next()) {
        switch (field->number) {
            case 1:
                node.id = field->value;
                break;
            case 3:
                node.type = field->value;
                break;
            case 5:  // data dependencies; control dependencies (4) are left out, as Chakra's own feeder does
                if (field->wire == Protobuf::length)
                    message.inside(*field).take_varints(node.after);
                else
                    node.after.push_back(field->value);
                break;
            case 7:
                node.duration_us = field->value;
                break;
            case 10:
                take_attribute(message.inside(*field), node);
                break;
            default:
                break;
        }
    }
    if (node.type > last_type) message.fail("a node of type " + std::to_string(node.type), "0 to 7");
    return node;
}

class RankReader {
public:
    struct Shared {
        std::int32_t num_ranks;
        std::vector<std::int32_t> everyone;
        replay::CollectivePrograms& programs;
        std::map<std::pair<std::string, std::int32_t>, std::int32_t> tags;  // group, how many before -> tag
        std::int64_t left_out = 0, in_groups = 0;
    };

    RankReader(const Source& source, std::int32_t rank, Shared& shared)
        : source_(source), rank_(rank), shared_(shared) {}

    RankProgram read() {
        Protobuf file(source_);
        file.take_message();  // of the whole trace
        while (!file.at_end()) nodes_.push_back(take_node(file.take_message()));
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if (!place_of_.emplace(nodes_[i].id, i).second) fail(nodes_[i], "it occurs twice", "each id once");
        // An op is added when those it waits for are known by number, so each node first has the place of its end.
        for (const Node& node : nodes_) add(node);
        return join();
    }

private:
    [[noreturn]] void fail(const Node& node, const std::string& found, const std::string& accepted) const {
        throw InvalidInput(
            source_.name + ": node " + std::to_string(node.id) + ": " + found + "; accepted: " + accepted,
            "the trace is damaged, or of another version of Chakra than 1.0");
    }

    /// What waits for a node waits for the last of its ops; the first ops of a node wait for its dependencies.
    struct Part {
        std::int32_t end;
        std::vector<std::int32_t> firsts;
    };

    std::int32_t put(ProgramOp op, std::vector<std::int32_t> after = {}) {
        ops_.push_back(op);
        after_.push_back(std::move(after));
        return static_cast<std::int32_t>(ops_.size()) - 1;
    }
    std::int32_t put_computation(double seconds) {
        ProgramOp op{.kind = ProgramOpKind::compute, .peer = {}};
        op.seconds = seconds;
        return put(op);
    }

    std::int64_t whole(const Node& node, const char* name, std::int64_t most) const {
        const auto value = node.number(name);
        if (!value) return -1;
        if (!(*value >= 0 && *value <= static_cast<double>(most)))
            fail(node, std::string(name) + " is " + std::to_string(*value), "0 to " + std::to_string(most));
        return static_cast<std::int64_t>(*value);
    }

    void add(const Node& node) {
        if (node.type == sending || node.type == receiving) return add_message(node);
        if (node.type == collective) return add_collective(node);
        if (const std::int64_t bytes = whole(node, "reduce_bytes", most_bytes); bytes >= 0) {
            ProgramOp op{.kind = ProgramOpKind::reduce, .peer = {}};
            op.bytes = bytes;
            return single(put(op));
        }
        const double us = static_cast<double>(node.duration_us);
        const double seconds = node.number("duration_ns") ? *node.number("duration_ns") * 1e-9 : us * 1e-6;
        if (!(seconds >= 0 && seconds <= most_us * 1e-6))
            fail(node, "a duration of " + std::to_string(seconds) + " s", "less");
        single(put_computation(node.type == 0 || node.type == metadata ? 0 : seconds));
    }
    void single(std::int32_t op) { parts_.push_back({op, {op}}); }

    void add_message(const Node& node) {
        const bool sends = node.type == sending;
        const std::int64_t peer = whole(node, sends ? "comm_dst" : "comm_src", INT32_MAX);
        if (peer < 0 || peer >= shared_.num_ranks) {  // a rank without a file
            ++shared_.left_out;
            return single(put_computation(0));
        }
        ProgramOp op{.kind = sends ? ProgramOpKind::send : ProgramOpKind::recv,
                     .peer = Rank{static_cast<std::int32_t>(peer)}};
        op.bytes = std::max<std::int64_t>(0, whole(node, "comm_size", most_bytes));
        op.tag = static_cast<std::int32_t>(std::max<std::int64_t>(0, whole(node, "comm_tag", INT32_MAX)));
        single(put(op));
    }

    void add_collective(const Node& node) {
        const std::int64_t kind = std::max<std::int64_t>(0, whole(node, "comm_type", collectives.size() - 1));
        const ChakraCollective& what = collectives[static_cast<std::size_t>(kind)];
        std::int64_t bytes = std::max<std::int64_t>(0, whole(node, "comm_size", most_bytes));
        if (what.size_is_of_all_blocks) bytes /= shared_.num_ranks;
        const auto root =
            static_cast<std::int32_t>(std::max<std::int64_t>(0, whole(node, "root", shared_.num_ranks - 1)));
        const auto number = begun_[node.group]++;
        if (!node.group.empty()) ++shared_.in_groups;
        const auto tag =
            first_tag + shared_.tags.try_emplace({node.group, number}, static_cast<std::int32_t>(shared_.tags.size()))
                            .first->second;
        const replay::CollectiveCall call{what.name, 0, shared_.everyone, rank_, bytes, root, {}, {}};
        const RankProgram* part = shared_.num_ranks > 1 ? shared_.programs.part(call) : nullptr;
        if (part == nullptr || part->ops.empty()) return single(put_computation(0));
        Part made{-1, {}};
        const auto offset = static_cast<std::int32_t>(ops_.size());
        std::vector<bool> awaited(part->ops.size(), false);
        for (ProgramOp op : part->ops) {
            std::vector<std::int32_t> after;
            for (const std::int32_t dependency : part->dependencies_of(op)) {
                awaited[static_cast<std::size_t>(dependency)] = true;
                after.push_back(offset + dependency);
            }
            const bool is_message = op.kind == ProgramOpKind::send || op.kind == ProgramOpKind::recv;
            if (is_message) op.tag = tag;
            const bool is_first = after.empty();
            const std::int32_t place = put(op, std::move(after));
            if (is_first) made.firsts.push_back(place);
        }
        made.end = put_computation(0);
        for (std::size_t i = 0; i < awaited.size(); ++i)
            if (!awaited[i]) after_.back().push_back(offset + static_cast<std::int32_t>(i));
        parts_.push_back(std::move(made));
    }

    RankProgram join() {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            for (const std::uint64_t id : nodes_[i].after) {
                const auto on = place_of_.find(id);
                if (on == place_of_.end()) continue;  // a part of a trace: what is not there is done
                for (const std::int32_t first : parts_[i].firsts)
                    after_[static_cast<std::size_t>(first)].push_back(parts_[on->second].end);
            }
        }
        RankProgram rank;
        for (std::size_t i = 0; i < ops_.size(); ++i) rank.add(ops_[i], after_[i]);
        return rank;
    }

    static constexpr std::int32_t first_tag = 1 << 30;  // of collectives, above those that programs use

    const Source& source_;
    std::int32_t rank_;
    Shared& shared_;
    std::vector<Node> nodes_;
    std::unordered_map<std::uint64_t, std::size_t> place_of_;
    std::vector<ProgramOp> ops_;
    std::vector<std::vector<std::int32_t>> after_;
    std::vector<Part> parts_;
    std::map<std::string, std::int32_t> begun_;
};

void put_attribute(ProtobufWriter& node, std::string_view name, std::int64_t value) {
    ProtobufWriter attribute;
    attribute.bytes(1, name);
    attribute.varint(9, static_cast<std::uint64_t>(value));
    node.bytes(10, attribute.text());
}

}  // namespace

bool is_chakra(std::string_view bytes) {
    const Source source{"", bytes};
    try {
        Protobuf file(source);
        bool has_version = false;
        Protobuf head = file.take_message();
        while (const auto field = head.next()) {
            if (field->number > 2 || field->wire != Protobuf::length) return false;
            has_version = true;
        }
        if (!has_version && file.at_end()) return false;
        if (!file.at_end()) take_node(file.take_message());
        return true;
    } catch (const InvalidInput&) {
        return false;
    }
}

ForeignProgram read_chakra(std::span<const Source> files) {
    const Plan no_plan;
    const std::vector<replay::NativeModel> no_models;
    replay::CollectivePrograms programs(no_plan, no_models);
    RankReader::Shared shared{static_cast<std::int32_t>(files.size()), {}, programs, {}};
    for (std::int32_t r = 0; r < shared.num_ranks; ++r) shared.everyone.push_back(r);
    ForeignProgram result;
    for (std::int32_t r = 0; r < shared.num_ranks; ++r)
        result.program.ranks.push_back(RankReader(files[static_cast<std::size_t>(r)], r, shared).read());
    if (const auto fault = first_fault(result.program))
        throw InvalidInput(files[fault->rank.at()].name + ": op " + std::to_string(fault->op) + ": " + fault->what,
                           "the trace is damaged: dependencies have no cycle");
    if (shared.left_out > 0)
        result.notes.push_back(std::to_string(shared.left_out) + " messages with ranks that have no file");
    if (shared.in_groups > 0)
        result.notes.push_back(
            std::to_string(shared.in_groups) +
            " collectives name a process group, whose members the trace does not name: they count as on "
            "all ranks");
    return result;
}

std::vector<std::string> to_chakra(const Program& program) {
    std::vector<std::string> files;
    for (const RankProgram& rank : program.ranks) {
        ProtobufWriter head, file;
        head.bytes(1, "1.0");
        file.message(head);
        for (std::size_t i = 0; i < rank.ops.size(); ++i) {
            const ProgramOp& op = rank.ops[i];
            ProtobufWriter node, after;
            node.varint(1, i);
            node.bytes(2, name_of(op.kind));
            const bool sends = op.kind == ProgramOpKind::send;
            const bool is_message = sends || op.kind == ProgramOpKind::recv;
            node.varint(3, sends ? sending : is_message ? receiving : computation);
            for (const std::int32_t on : rank.dependencies_of(op)) after.number(static_cast<std::uint64_t>(on));
            if (op.num_dependencies > 0) node.bytes(5, after.text());
            if (is_message) {
                put_attribute(node, "comm_size", op.bytes);
                put_attribute(node, "comm_tag", op.tag);
                put_attribute(node, sends ? "comm_dst" : "comm_src", op.peer.value);
            } else if (op.kind == ProgramOpKind::reduce) {
                put_attribute(node, "reduce_bytes", op.bytes);
            } else {
                const auto ns = std::llround(std::min(op.seconds * 1e9, most_us * 1e3));
                node.varint(7, static_cast<std::uint64_t>((ns + 500) / 1000));
                put_attribute(node, "duration_ns", ns);
            }
            file.message(node);
        }
        files.push_back(file.text());
    }
    return files;
}

}  // namespace hocket::interop
