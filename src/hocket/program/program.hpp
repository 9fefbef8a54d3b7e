// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/base/index.hpp"

namespace hocket {

enum class ProgramOpKind : std::uint8_t {
    send,        ///< to peer, bytes, tag
    recv,        ///< from peer, bytes, tag
    compute,     ///< seconds
    reduce,      ///< bytes combined locally
    connect,     ///< a circuit to peer, which connects too; ends when the circuit is up
    disconnect,  ///< of that circuit, which is torn down when peer has disconnected too
};

/// Those that name a peer.
constexpr bool is_message(ProgramOpKind kind) { return kind == ProgramOpKind::send || kind == ProgramOpKind::recv; }
constexpr bool is_of_circuit(ProgramOpKind kind) {
    return kind == ProgramOpKind::connect || kind == ProgramOpKind::disconnect;
}

struct ProgramOp {
    ProgramOpKind kind;
    Rank peer;               ///< send, recv, connect, disconnect
    std::int32_t tag = 0;    ///< send, recv; messages of equal (source, target, tag) match in the order of the ops
    std::int64_t bytes = 0;  ///< send, recv, reduce
    double seconds = 0;      ///< compute
    std::int32_t first_dependency = 0, num_dependencies = 0;  ///< into RankProgram::dependencies
    bool operator==(const ProgramOp&) const = default;
};

struct RankProgram {
    /// The rank's part in a collective: ops that stand together.
    struct Call {
        std::int32_t collective;  ///< the same number for all of its ranks, and for no other collective
        std::int32_t first_op, num_ops;
        bool operator==(const Call&) const = default;
    };
    std::vector<ProgramOp> ops;
    std::vector<std::int32_t> dependencies;  ///< op indices of the same rank; any order, no cycle
    std::vector<Call> calls = {};            ///< where known, in the order of the ops

    /// Appends an op that starts after the ops `after`; returns its index.
    std::int32_t add(ProgramOp op, std::span<const std::int32_t> after = {});

    [[nodiscard]] std::span<const std::int32_t> dependencies_of(const ProgramOp& op) const {
        return {dependencies.data() + op.first_dependency, static_cast<std::size_t>(op.num_dependencies)};
    }
    bool operator==(const RankProgram&) const = default;
};

/// Per rank, a DAG of operations with sizes, free of links and times of arrival. An op starts when its dependencies are
/// done.
struct Program {
    std::vector<RankProgram> ranks;
    bool operator==(const Program&) const = default;
};

/// Whether the program connects circuits itself.
bool has_circuits(const Program&);

/// "send", "recv", "compute", "reduce", "connect", "disconnect"
std::string_view name_of(ProgramOpKind);

/// What makes a program meaningless whatever it runs on: a peer that is not a rank, a negative size, a wait for itself.
/// That each message has its counterpart is for the simulation to find, because a part of a program may lack it.
struct ProgramFault {
    Rank rank;
    std::int32_t op;
    std::string what;
};
std::optional<ProgramFault> first_fault(const Program&);

/// @throws InvalidInput  naming the first fault.
void check(const Program&);

}  // namespace hocket
