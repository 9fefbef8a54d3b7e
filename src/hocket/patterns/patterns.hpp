// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hocket/traffic/traffic.hpp"

/// Traffic patterns. All check their arguments: @throws InvalidInput  naming the one out of range.
namespace hocket::patterns {

/// How many bytes a message has: uniformly distributed over bytes * (1 - spread) .. bytes * (1 + spread), rounded.
/// The same for the same seed, source and number of the message.
struct MessageSizes {
    std::int64_t bytes = 1'000'000;
    double spread = 0;  ///< 0 .. 1; 0 = all alike
    std::uint64_t seed = 1;
};

/// One random circular order of all ranks; each sends `num_messages` to the next [Suzuki].
std::unique_ptr<Traffic> random_ring(std::int32_t num_ranks, std::int64_t num_messages, const MessageSizes&,
                                     std::uint64_t seed = 1);
/// Message i of every rank goes to the next rank of the i-th of `num_messages` random circular orders. No rank waits
/// for another, so that orders mix.
std::unique_ptr<Traffic> random_permutation(std::int32_t num_ranks, std::int64_t num_messages, const MessageSizes&,
                                            std::uint64_t seed = 1);
/// Rank r sends all its messages to rank (r + distance) mod num_ranks.
std::unique_ptr<Traffic> shift(std::int32_t num_ranks, std::int32_t distance, std::int64_t num_messages,
                               const MessageSizes&);
/// Rank r sends `rounds` times one message to each of r + 1, r + 2, ... (modulo num_ranks), as a linear all-to-all
/// does.
std::unique_ptr<Traffic> all_to_all(std::int32_t num_ranks, std::int64_t rounds, const MessageSizes&);
/// The other ranks each send `num_messages` to rank `target`.
std::unique_ptr<Traffic> incast(std::int32_t num_ranks, Rank target, std::int64_t num_messages, const MessageSizes&);
/// Ranks on a grid, the last dimension counted fastest, exchange with their neighbours in each dimension, `rounds`
/// times: downwards, then upwards, dimension by dimension. `periodic` closes every dimension to a ring. Meant for
/// several messages in flight.
std::unique_ptr<Traffic> nearest_neighbour(std::vector<std::int32_t> extents, bool periodic, std::int64_t rounds,
                                           const MessageSizes&);
/// Rank s sends bytes[s * num_ranks + t] to rank t, where that is above 0, in the order s + 1, s + 2, ... of t (modulo
/// num_ranks).
std::unique_ptr<Traffic> from_matrix(std::int32_t num_ranks, std::span<const std::int64_t> bytes);

}  // namespace hocket::patterns
