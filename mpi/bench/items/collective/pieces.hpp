// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <vector>

#include "bench/items/collective/functions.hpp"

namespace hocket::bench {

/// A block of a buffer: what ranks `first` to `last` have for `destination`, combined where they are several.
struct Piece {
    int first, last, destination;
    std::int64_t count;  ///< elements
    std::int64_t place;  ///< of the first one, in elements
};

/// Who sends which blocks to whom.
class Exchange {
public:
    /// @param neighbors  the ranks that a rank exchanges with, of neighbourhood collectives
    /// @param count      elements of a block; with `differ` it is one half or three halves of it
    Exchange(Movement movement, int rank, int ranks, std::vector<int> neighbors, std::int64_t count, bool differ);

    /// This rank's input and result, in the order of the buffers.
    [[nodiscard]] std::vector<Piece> sent(int root) const;
    [[nodiscard]] std::vector<Piece> received(int root) const;
    [[nodiscard]] std::int64_t count_of(int source, int destination) const;

private:
    Movement movement_;
    int rank_, ranks_;
    std::vector<int> partners_;  ///< all ranks, or the neighbours
    std::int64_t count_;
    bool differ_;
};

/// Elements of all blocks together.
std::int64_t total(const std::vector<Piece>& pieces);
/// @throws Failure  unsupported, where counts or places are above an int
Blocks blocks_of(const std::vector<Piece>& pieces, MPI_Datatype type);

}  // namespace hocket::bench
