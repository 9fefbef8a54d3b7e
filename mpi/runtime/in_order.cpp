// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/in_order.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace hocket::runtime {

namespace {

constexpr std::int32_t max_ops = 64;
using OpSet = std::uint64_t;

// MPIs send such messages at once, so that no more of them are under way than arrive.
constexpr std::int64_t max_message_bytes = 4096;
constexpr std::int64_t max_span_bytes = 1 << 16;  // of a place for a message that lies apart in memory

constexpr OpSet one(std::int32_t op) { return OpSet{1} << static_cast<unsigned>(op); }

std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

InOrder::InOrder(const RankGraph& graph, Memory& memory, MPI_Comm comm)
    : graph_(graph),
      memory_(memory),
      comm_(comm),
      messages_(static_cast<std::size_t>(graph.num_ops())),
      requests_(messages_.size(), MPI_REQUEST_NULL) {
    if (graph_.num_ops() <= max_ops) find_steps();
}

void InOrder::find_steps() {
    const std::int32_t num_ops = graph_.num_ops();
    std::array<OpSet, max_ops> before{}, ancestors{};  // an op comes after those that it depends on
    OpSet posted = 0, ended = 0, done = 0;             // `done`: with its result in place
    for (std::int32_t op = 0; op < num_ops; ++op) {
        const auto i = static_cast<std::size_t>(op);
        ancestors[i] |= before[i];
        for (const std::int32_t next : graph_.successors(op)) {
            before[static_cast<std::size_t>(next)] |= one(op);
            ancestors[static_cast<std::size_t>(next)] |= ancestors[i] | one(op);
        }
    }
    std::vector<Step> steps;
    const OpSet all = num_ops == max_ops ? ~OpSet{0} : one(num_ops) - 1;
    const auto ready = [&](std::int32_t op) { return (before[static_cast<std::size_t>(op)] & ~done) == 0; };
    const auto may_post = [&](std::int32_t op) {  // a receive that reduces has a place of its own
        return (posted & one(op)) == 0 && (ready(op) || reduces(graph_.op(op).kind));
    };
    for (;;) {
        OpSet done_before = 0;
        do {  // what has ended may be combined, which may make more ready
            done_before = done;
            for (const bool sends : {true, false}) {  // someone waits for what is sent
                for (std::int32_t op = 0; op < num_ops; ++op) {
                    if ((graph_.op(op).kind == OpKind::send) != sends || !may_post(op)) continue;
                    steps.push_back({sends ? Action::send : Action::receive, op});
                    posted |= one(op);
                }
            }
            for (std::int32_t op = 0; op < num_ops; ++op) {
                if ((ended & ~done & one(op)) == 0 || !ready(op)) continue;
                if (reduces(graph_.op(op).kind)) steps.push_back({Action::combine, op});
                done |= one(op);
            }
        } while (done != done_before);
        if (done == all) break;
        // The message to wait for: all that is left to post depends on it, or nothing is left to post.
        const OpSet under_way = posted & ~ended;
        OpSet holds_back = under_way;
        for (std::int32_t op = 0; op < num_ops; ++op) {
            if ((posted & one(op)) == 0) holds_back &= ancestors[static_cast<std::size_t>(op)];
        }
        std::int32_t next = -1;
        for (const bool sends : {false, true}) {  // what is sent has mostly ended when something has arrived
            for (std::int32_t op = 0; op < num_ops && next < 0; ++op) {
                if ((holds_back & one(op)) != 0 && (graph_.op(op).kind == OpKind::send) == sends) next = op;
            }
        }
        if (next < 0) return;
        steps.push_back({Action::wait, next});
        ended |= one(next);
    }
    steps_ = std::move(steps);
}

bool InOrder::serves() {
    if (steps_.empty()) return false;
    const Memory::Places now = memory_.places();
    if (!placed_ || now != *placed_ || !memory_.element().named) {
        placed_.reset();  // it may throw
        placed_well_ = place_messages();
        placed_ = now;
    }
    return placed_well_;
}

bool InOrder::place_messages() {
    const TypeInfo& element = memory_.element();
    std::vector<Segment> segments;
    std::int64_t slots_bytes = 0;
    for (std::int32_t op = 0; op < graph_.num_ops(); ++op) {
        segments.clear();
        const std::int64_t elements = memory_.find(graph_.ranges(op), segments);
        // An empty message that both ends know to be so is not sent: that is for Executor.
        if (elements == 0 && graph_.op(op).num_ranges > 0) return false;
        if (elements * element.size_bytes > max_message_bytes) return false;
        Message& message = messages_[static_cast<std::size_t>(op)];
        message = {};
        if (segments.empty()) continue;
        message.address = segments.front().address;
        message.count = static_cast<int>(elements);
        const bool combined = reduces(graph_.op(op).kind);
        if (segments.size() > 1) {
            if (combined || !element.named || !element.contiguous) return false;
            message.parts = segments;
        } else if (!combined) {
            continue;
        }
        if (element.true_lower_bytes < 0) return false;
        message.slot_at = slots_bytes;
        if (elements * element.extent_bytes > max_span_bytes) return false;
        slots_bytes +=
            aligned(std::max((elements - 1) * element.extent_bytes + element.true_upper_bytes, std::int64_t{1}));
    }
    if (slots_bytes > 0) slots_begin_ = slots_.at_least(slots_bytes);
    return true;
}

void InOrder::start(MPI_Op op, bool commutative, int first_tag, std::optional<ReturnedErrors>& errors) {
    op_ = op;
    commutative_ = commutative;
    first_tag_ = first_tag;
    returned_errors_ = &errors;
    error_ = MPI_SUCCESS;
    next_step_ = 0;
}

bool InOrder::progress() {
    advanced_ = false;
    for (; next_step_ < steps_.size(); ++next_step_) {
        const Step& step = steps_[next_step_];
        switch (step.action) {
            case Action::receive:
            case Action::send:
                post(step.op);
                break;
            case Action::wait:
                if (!test(step.op)) return false;
                break;
            case Action::combine:
                combine(step.op);
                break;
        }
        advanced_ = true;
    }
    return true;
}

void InOrder::abandon() noexcept {
    for (std::int32_t op = 0; op < graph_.num_ops(); ++op) {
        if (requests_[static_cast<std::size_t>(op)] != MPI_REQUEST_NULL) abandon(op);
    }
}

void InOrder::post(std::int32_t op) {
    const Op& what = graph_.op(op);
    const Message& message = messages_[static_cast<std::size_t>(op)];
    MPI_Request* const request = &requests_[static_cast<std::size_t>(op)];
    const MPI_Datatype type = what.num_ranges > 0 ? memory_.element_type() : MPI_BYTE;
    const int tag = first_tag_ + graph_.tag(op);
    const bool in_slot = reduces(what.kind) || !message.parts.empty();
    char* const address = in_slot ? slot(message) : message.address;
    if (what.kind == OpKind::send) {
        gather(message);
        check(PMPI_Isend(address, message.count, type, what.peer.value, tag, comm_, request));
    } else {
        check(PMPI_Irecv(address, message.count, type, what.peer.value, tag, comm_, request));
    }
}

bool InOrder::test(std::int32_t op) {
    MPI_Request& request = requests_[static_cast<std::size_t>(op)];
    const bool receives = graph_.op(op).kind != OpKind::send;
#ifndef OPEN_MPI
    // Open MPI asks the communicator of the request; elsewhere the handler is exchanged while the message is under way.
    if (receives) catch_errors();
#endif
    int done = 1;
    if (request != MPI_REQUEST_NULL) {
        const int code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
        check(code);
        if (code != MPI_SUCCESS && request != MPI_REQUEST_NULL) {
            abandon(op);
            return true;
        }
        if (code != MPI_SUCCESS) done = 1;
    }
    if (done != 0 && receives) scatter(messages_[static_cast<std::size_t>(op)]);
    return done != 0;
}

void InOrder::gather(const Message& message) const {
    char* to = slot(message);
    for (const Segment& part : message.parts) {
        const auto bytes = static_cast<std::size_t>(part.count * memory_.element().size_bytes);
        std::memcpy(to, part.address, bytes);
        to += bytes;
    }
}

void InOrder::scatter(const Message& message) const {
    const char* from = slot(message);
    for (const Segment& part : message.parts) {
        const auto bytes = static_cast<std::size_t>(part.count * memory_.element().size_bytes);
        std::memcpy(part.address, from, bytes);
        from += bytes;
    }
}

void InOrder::abandon(std::int32_t op) noexcept {  // MPI does not report whether the message has ended
    MPI_Request& request = requests_[static_cast<std::size_t>(op)];
    if (graph_.op(op).kind != OpKind::send) PMPI_Cancel(&request);
    PMPI_Request_free(&request);
    request = MPI_REQUEST_NULL;
    slots_.leave();
    memory_.leave_temporaries();
    placed_.reset();
}

void InOrder::combine(std::int32_t op) {
    const Message& message = messages_[static_cast<std::size_t>(op)];
    if (error_ != MPI_SUCCESS || message.count == 0) return;
    const MPI_Datatype type = memory_.element_type();
    if (op_ != tried_op_ || type != tried_type_) catch_errors();
    char* const received = slot(message);
    // MPI_Reduce_local(a, b) computes b = a (op) b.
    if (graph_.op(op).kind == OpKind::recv_reduce_left || commutative_) {
        check(PMPI_Reduce_local(received, message.address, message.count, type, op_));
    } else {
        check(PMPI_Reduce_local(message.address, received, message.count, type, op_));
        check(copy({received, message.count, type}, {message.address, message.count, type}, comm_));
    }
    if (error_ != MPI_SUCCESS || !memory_.element().named) return;
    tried_op_ = op_;
    tried_type_ = type;
}

}  // namespace hocket::runtime
