// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/direct_messages.hpp"

#include <algorithm>

namespace hocket::replay {

std::int32_t PartBuilder::add(ProgramOpKind kind, std::size_t peer, std::int64_t bytes) {
    ProgramOp op{};
    op.kind = kind;
    op.peer = Rank{static_cast<std::int32_t>(peer)};
    op.bytes = bytes;
    begun_.push_back(part_.add(op, after_));
    return begun_.back();
}

void PartBuilder::graft(const RankProgram& other) {
    const auto offset = static_cast<std::int32_t>(part_.ops.size());
    for (const ProgramOp& op : other.ops) {
        std::vector<std::int32_t> after;
        for (const std::int32_t before : other.dependencies_of(op)) after.push_back(offset + before);
        begun_.push_back(part_.add(op, after.empty() ? after_ : after));
    }
}

void PartBuilder::await() {
    if (begun_.empty()) return;
    after_ = std::move(begun_);
    begun_.clear();
}

namespace {

/// Sizes of blocks by place: a v-variant's own, or all the same.
class Sizes {
public:
    Sizes(std::span<const std::int64_t> given, std::int64_t bytes) : given_(given), bytes_(bytes) {}
    [[nodiscard]] bool known(std::size_t count) const { return given_.empty() || given_.size() >= count; }
    [[nodiscard]] std::int64_t at(std::size_t i) const { return given_.empty() ? bytes_ : given_[i]; }

private:
    std::span<const std::int64_t> given_;
    std::int64_t bytes_;
};

/// A block to each of `count` peers from `first` on and one from each; `self` is none of them unless it is not a peer.
void exchange(PartBuilder& part, std::size_t self, std::size_t first, std::size_t count, const Sizes& sent,
              const Sizes& received, bool with_self) {
    for (std::size_t i = with_self ? 0 : 1; i < count; ++i) {
        const std::size_t to = (self + i) % count;
        part.send(first + to, sent.at(to));
    }
    for (std::size_t i = with_self ? 0 : 1; i < count; ++i) {
        const std::size_t from = (self + count - i) % count;
        part.recv(first + from, received.at(from));
    }
}

bool with_neighbours(const CollectiveCall& call, PartBuilder& part) {
    if (call.neighbours == nullptr) return false;
    const auto& [sources, destinations] = *call.neighbours;
    const bool is_vector = call.name.ends_with('v') || call.name.ends_with('w');
    const bool gathers = call.name == "neighbor_allgatherv";
    const Sizes sent(gathers ? std::span<const std::int64_t>() : call.sent, call.bytes);
    const Sizes received(call.received, call.bytes);
    // A rank without neighbours of a kind has an empty list of them.
    if (is_vector && ((!gathers && call.sent.size() < destinations.size()) || call.received.size() < sources.size()))
        return false;
    for (std::size_t i = 0; i < destinations.size(); ++i)
        if (destinations[i] >= 0) part.send(static_cast<std::size_t>(destinations[i]), sent.at(i));
    for (std::size_t i = 0; i < sources.size(); ++i)
        if (sources[i] >= 0) part.recv(static_cast<std::size_t>(sources[i]), received.at(i));
    return true;
}

/// Of gatherv and scatterv, in one group or from one to the other.
bool with_root(const CollectiveCall& call, PartBuilder& part, bool gathers, std::size_t first, std::size_t count) {
    const bool is_inter = !call.remote.empty();
    const bool is_root = is_inter ? call.root == -3 : call.root == call.rank;
    if (call.root < 0 && !is_root) return is_inter && call.root == -1;  // in the root's group, and idle
    if (!is_root) {
        const auto root = first + static_cast<std::size_t>(call.root);
        gathers ? part.send(root, call.bytes) : part.recv(root, call.bytes);
        return true;
    }
    const Sizes sizes(gathers ? call.received : call.sent, call.bytes);
    if (!sizes.known(count)) return false;
    for (std::size_t i = 0; i < count; ++i) {
        if (!is_inter && i == static_cast<std::size_t>(call.rank)) continue;
        gathers ? part.recv(first + i, sizes.at(i)) : part.send(first + i, sizes.at(i));
    }
    return true;
}

/// Each rank gets its block from all others and combines them: the pairwise exchange of [Thakur05, section 3.6].
bool reduce_scatter(const CollectiveCall& call, PartBuilder& part) {
    const std::size_t p = call.members.size(), self = static_cast<std::size_t>(call.rank);
    if (call.received.size() < p) return false;
    for (std::size_t i = 1; i < p; ++i) {
        const std::size_t to = (self + i) % p;
        part.send(to, call.received[to]);
        part.recv((self + p - i) % p, call.received[self]);
        part.await();
        part.reduce(call.received[self]);
        part.await();
    }
    return true;
}

}  // namespace

bool add_direct(const CollectiveCall& call, RankProgram& program) {
    PartBuilder part(program);
    if (call.name.starts_with("neighbor_")) return with_neighbours(call, part);
    const bool is_inter = !call.remote.empty();
    const std::size_t p = call.members.size(), self = static_cast<std::size_t>(call.rank);
    const std::size_t first = is_inter ? p : 0, count = is_inter ? call.remote.size() : p;
    if (call.name == "gatherv" || call.name == "scatterv")
        return with_root(call, part, call.name == "gatherv", first, count);
    if (call.name == "reduce_scatter" && !is_inter) return reduce_scatter(call, part);
    if (call.name == "scan" || call.name == "exscan") {
        if (self > 0) {
            part.recv(self - 1, call.bytes);
            part.await();
        }
        if (self + 1 < p) part.send(self + 1, call.bytes);
        return !is_inter;
    }
    if (call.name == "allgather" || call.name == "allgatherv") {
        const Sizes received(call.received, call.bytes);
        if (!received.known(count)) return false;
        exchange(part, self, first, count, Sizes({}, call.bytes), received, is_inter);
        return true;
    }
    if (call.name == "alltoall" || call.name == "alltoallv" || call.name == "alltoallw") {
        const bool is_vector = call.name != "alltoall";
        // With MPI_IN_PLACE a rank sends as much as it gets.
        const auto sizes = call.sent.empty() ? call.received : call.sent;
        if (is_vector && (sizes.size() < count || call.received.size() < count)) return false;
        exchange(part, self, first, count, Sizes(sizes, call.bytes), Sizes(call.received, call.bytes), is_inter);
        return true;
    }
    return false;
}

}  // namespace hocket::replay
