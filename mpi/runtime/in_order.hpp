// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/memory.hpp"
#include "runtime/rank_graph.hpp"
#include "runtime/returned_errors.hpp"

namespace hocket::runtime {

/// The ops of one rank in an order that is known beforehand, for calls with small messages: in shared memory these take
/// less time than Executor needs to find out what is ready. There is such an order where at each moment one message
/// holds back all the ops that are left, or none does. Waiting for that one then delays nothing, and the order can
/// block no schedule that the executor would not.
class InOrder {
public:
    InOrder(const RankGraph& graph, Memory& memory, MPI_Comm comm);

    /// Whether the call on the buffers that `memory` has opened can be executed by this.
    [[nodiscard]] bool serves();
    /// After serves(). Arguments as of Executor.
    void start(MPI_Op op, bool commutative, int first_tag, std::optional<ReturnedErrors>& errors);
    /// Goes on to the next message that has not ended. True when all is done.
    bool progress();
    /// Ends the collective at once when something was thrown: withdraws its messages.
    void abandon() noexcept;
    /// Whether the last progress() got further.
    [[nodiscard]] bool advanced() const { return advanced_; }
    /// MPI_SUCCESS or the first error.
    [[nodiscard]] int error() const { return error_; }

private:
    enum class Action : std::uint8_t { receive, send, wait, combine };
    struct Step {
        Action action;
        std::int32_t op;
    };
    struct Message {
        char* address = nullptr;
        int count = 0;
        std::int64_t slot_at = 0;    // where the message of a receive that reduces arrives, or one with parts is
        std::vector<Segment> parts;  // of what lies in several places: its small elements are copied
    };

    void find_steps();
    bool place_messages();
    [[nodiscard]] char* slot(const Message& message) const { return slots_begin_ + message.slot_at; }
    void gather(const Message& message) const;
    void scatter(const Message& message) const;
    void post(std::int32_t op);
    bool test(std::int32_t op);
    void combine(std::int32_t op);
    void catch_errors() {
        if (!*returned_errors_) returned_errors_->emplace();
    }
    void check(int code) {
        if (error_ == MPI_SUCCESS) error_ = code;
    }
    void abandon(std::int32_t op) noexcept;

    const RankGraph& graph_;
    Memory& memory_;
    MPI_Comm comm_;
    std::vector<Step> steps_;  // none: there is no such order
    std::vector<Message> messages_;
    std::vector<MPI_Request> requests_;
    std::optional<Memory::Places> placed_;  // that messages_ are for
    bool placed_well_ = false;
    Region slots_;
    char* slots_begin_ = nullptr;
    MPI_Op tried_op_ = MPI_OP_NULL;  // that MPI_Reduce_local has taken for tried_type_, a named one
    MPI_Datatype tried_type_ = MPI_DATATYPE_NULL;
    MPI_Op op_ = MPI_OP_NULL;
    bool commutative_ = true;
    int first_tag_ = 0;
    std::size_t next_step_ = 0;
    bool advanced_ = false;
    std::optional<ReturnedErrors>* returned_errors_ = nullptr;
    int error_ = MPI_SUCCESS;
};

}  // namespace hocket::runtime
