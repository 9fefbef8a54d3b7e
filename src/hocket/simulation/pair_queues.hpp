// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hocket::simulation {

/// The messages of each (source, target) that wait for those before them, as on one TCP connection.
class PairQueues {
public:
    PairQueues(std::size_t num_pairs, std::size_t num_messages) : pairs_(num_pairs), next_(num_messages, none) {}

    static constexpr std::int32_t none = -1;

    /// For more of them.
    void make_room(std::size_t num_pairs, std::size_t num_messages) {
        if (num_pairs > pairs_.size()) pairs_.resize(num_pairs);
        if (num_messages > next_.size()) next_.resize(num_messages, none);
    }

    /// Whether the message is the only one of its pair; else it waits.
    bool enter(std::int32_t pair, std::int32_t message) {
        Pair& queue = pairs_[static_cast<std::size_t>(pair)];
        if (!queue.busy) return queue.busy = true;
        (queue.first == none ? queue.first : next_[static_cast<std::size_t>(queue.last)]) = message;
        queue.last = message;
        next_[static_cast<std::size_t>(message)] = none;  // its number may have been another's
        return false;
    }
    /// The message of the pair that is on its way has left. Returns the one that follows it, or none.
    std::int32_t leave(std::int32_t pair) {
        Pair& queue = pairs_[static_cast<std::size_t>(pair)];
        const std::int32_t follows = queue.first;
        if (follows == none)
            queue.busy = false;
        else
            queue.first = next_[static_cast<std::size_t>(follows)];
        return follows;
    }

private:
    struct Pair {
        bool busy = false;
        std::int32_t first = none, last = none;  ///< that wait
    };

    std::vector<Pair> pairs_;
    std::vector<std::int32_t> next_;  // [message] that waits behind it
};

}  // namespace hocket::simulation
