// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/collective/pieces.hpp"

#include <limits>
#include <numeric>
#include <utility>

#include "bench/items/outcome.hpp"

namespace hocket::bench {

Exchange::Exchange(Movement movement, int rank, int ranks, std::vector<int> neighbors, std::int64_t count, bool differ)
    : movement_(movement), rank_(rank), ranks_(ranks), partners_(std::move(neighbors)), count_(count), differ_(differ) {
    if (!partners_.empty()) return;
    partners_.resize(static_cast<std::size_t>(ranks));
    std::iota(partners_.begin(), partners_.end(), 0);
}

std::int64_t Exchange::count_of(int source, int destination) const {
    if (!differ_) return count_;
    // Of a pair of ranks the same both ways, as MPI_IN_PLACE asks.
    const int key = movement_ == Movement::alltoall                                     ? source + destination
                    : movement_ == Movement::gather || movement_ == Movement::allgather ? source
                                                                                        : destination;
    return key % 2 == 0 ? count_ / 2 : count_ + count_ / 2;
}

std::vector<Piece> Exchange::sent(int root) const {
    std::vector<Piece> pieces;
    std::int64_t place = 0;
    const auto add = [&](int destination) {
        pieces.push_back({rank_, rank_, destination, count_of(rank_, destination), place});
        place += pieces.back().count;
    };
    switch (movement_) {
        case Movement::none:
            break;
        case Movement::bcast:
            if (rank_ == root) add(0);
            break;
        case Movement::scatter:
            if (rank_ != root) break;
            [[fallthrough]];
        case Movement::alltoall:
        case Movement::reduce_scatter:
            for (const int partner : partners_) add(partner);
            break;
        default:
            add(0);
    }
    return pieces;
}

std::vector<Piece> Exchange::received(int root) const {
    std::vector<Piece> pieces;
    std::int64_t place = 0;
    const auto add = [&](int first, int last, int destination) {
        pieces.push_back({first, last, destination, count_of(first, destination), place});
        place += pieces.back().count;
    };
    switch (movement_) {
        case Movement::none:
            break;
        case Movement::bcast:
            add(root, root, 0);
            break;
        case Movement::scatter:
            add(root, root, rank_);
            break;
        case Movement::gather:
            if (rank_ != root) break;
            [[fallthrough]];
        case Movement::allgather:
            for (const int partner : partners_) add(partner, partner, 0);
            break;
        case Movement::alltoall:
            for (const int partner : partners_) add(partner, partner, rank_);
            break;
        case Movement::reduce:
            if (rank_ != root) break;
            [[fallthrough]];
        case Movement::allreduce:
            add(0, ranks_ - 1, 0);
            break;
        case Movement::reduce_scatter:
            add(0, ranks_ - 1, rank_);
            break;
        case Movement::scan:
            add(0, rank_, 0);
            break;
        case Movement::exscan:
            if (rank_ > 0) add(0, rank_ - 1, 0);
            break;
    }
    return pieces;
}

std::int64_t total(const std::vector<Piece>& pieces) {
    return pieces.empty() ? 0 : pieces.back().place + pieces.back().count;
}

Blocks blocks_of(const std::vector<Piece>& pieces, MPI_Datatype type) {
    if (total(pieces) > std::numeric_limits<int>::max()) {
        throw Failure(Status::unsupported, "all blocks together have more elements than an int can count");
    }
    Blocks blocks;
    for (const Piece& piece : pieces) {
        blocks.counts.push_back(static_cast<int>(piece.count));
        blocks.places.push_back(static_cast<int>(piece.place));
        blocks.far_places.push_back(piece.place);
        blocks.types.push_back(type);
    }
    return blocks;
}

}  // namespace hocket::bench
