// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <cmath>

#include "hocket/base/error.hpp"
#include "hocket/program/goal.hpp"

namespace hocket {

namespace {

std::string whole_ns(double seconds) {
    // Above 2^63 ns, 292 years, the text would no longer be a number that anybody reads.
    constexpr double most = 9.2e18;
    return std::to_string(std::llround(std::min(seconds * 1e9, most)));
}

std::string label(std::size_t op) { return "l" + std::to_string(op + 1); }

std::string line_of(const ProgramOp& op, std::size_t index, double reduce_bytes_per_s) {
    const std::string start = label(index) + ": ";
    const std::string bytes = std::to_string(op.bytes) + "b";
    const std::string peer = std::to_string(op.peer.value);
    switch (op.kind) {
        case ProgramOpKind::send:
            return start + "send " + bytes + " to " + peer + " tag " + std::to_string(op.tag) + "\n";
        case ProgramOpKind::recv:
            return start + "recv " + bytes + " from " + peer + " tag " + std::to_string(op.tag) + "\n";
        case ProgramOpKind::compute:
            return start + "calc " + whole_ns(op.seconds) + "\n";
        case ProgramOpKind::connect:
        case ProgramOpKind::disconnect:
            // LogGOPSim takes comments on lines of their own only.
            return "// " + std::string(name_of(op.kind)) + " " + peer + "\n" + start + "calc 0\n";
        case ProgramOpKind::reduce:
            break;
    }
    return "// reduce " + bytes + "\n" + start + "calc " +
           whole_ns(static_cast<double>(op.bytes) / reduce_bytes_per_s) + "\n";
}

}  // namespace

std::string to_goal(const Program& program, double reduce_bytes_per_s) {
    check(program);
    if (!(reduce_bytes_per_s > 0)) throw InvalidInput("reduce_bytes_per_s must be greater than 0");
    std::string text = "num_ranks " + std::to_string(program.ranks.size()) + "\n";
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const RankProgram& rank = program.ranks[r];
        text += "\nrank " + std::to_string(r) + " {\n";
        std::string late;  // LogGOPSim wants both labels defined before a dependency names them
        for (std::size_t i = 0; i < rank.ops.size(); ++i) {
            if (rank.ops[i].tag < 0)
                throw InvalidInput("rank " + std::to_string(r) + ", op " + std::to_string(i) + ": tag " +
                                   std::to_string(rank.ops[i].tag) + " cannot be written as GOAL: expected at least 0");
            text += line_of(rank.ops[i], i, reduce_bytes_per_s);
            for (const std::int32_t dependency : rank.dependencies_of(rank.ops[i])) {
                const auto other = static_cast<std::size_t>(dependency);
                (other < i ? text : late) += label(i) + " requires " + label(other) + "\n";
            }
        }
        text += late + "}\n";
    }
    return text;
}

}  // namespace hocket
