// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "interpose/nonblocking/choices.hpp"

namespace hocket::interpose {

class Proxy;

/// What is known of a request that the program holds.
struct TrackedRequest {
    enum Kind {
        proxy,       ///< a generalized request that stands for the one of a collective
        persistent,  ///< of a collective, the MPI's own; has a generalized request while it is active
        timed,       ///< the MPI's own, of a collective
        message,     ///< the MPI's own, of a large message
        alone,       ///< the MPI's own, of a reduction that none but the program may move on
        duplicate,   ///< the MPI's own, of a communicator that is being duplicated
        file,        ///< the MPI's own, of a collective access to a file
        num_kinds,
    };
    Kind kind = timed;
    Proxy* of = nullptr;
    std::shared_ptr<Choices> choices;  ///< keeps `choice` alive when the communicator is freed
    Choice* choice = nullptr;          ///< null: no times are taken
    std::int64_t begun_ns = 0;         ///< 0: neither
    bool in_background = false;        ///< what the times are of
    std::uint64_t id = 0;  ///< of all entries, so that a handle that has come to mean another request is known
};

/// The requests of the program that something is known of, by handle. One that the program completes by a function that
/// this library does not define leaves its entry behind, which the next request of that handle replaces.
class RequestTable {
public:
    void add(MPI_Request request, TrackedRequest tracked) {
        const std::lock_guard lock(mutex_);
        tracked.id = ++last_id_;
        num_of_[tracked.kind].fetch_add(1);
        const auto [place, is_new] = requests_.try_emplace(request);
        if (is_new) num_.fetch_add(1, std::memory_order_relaxed);
        if (!is_new) num_of_[place->second.kind].fetch_sub(1);
        place->second = std::move(tracked);
    }
    /// Nothing if it has no entry.
    std::optional<TrackedRequest> find(MPI_Request request) {
        const std::lock_guard lock(mutex_);
        const auto found = requests_.find(request);
        return found == requests_.end() ? std::nullopt : std::optional(found->second);
    }
    /// For a persistent one that starts. It stays an entry of the same request.
    void update(MPI_Request request, const TrackedRequest& tracked) {
        const std::lock_guard lock(mutex_);
        const auto found = requests_.find(request);
        if (found != requests_.end()) found->second = tracked;
    }
    /// Messages are left to the MPI from now on.
    void forget_messages() { num_of_[TrackedRequest::message].store(0); }
    /// False if it has gone already.
    bool remove(MPI_Request request, std::uint64_t id) {
        return remove_if(request, [id](const TrackedRequest& tracked) { return tracked.id == id; });
    }
    bool remove(MPI_Request request, const Proxy* of) {
        return remove_if(request, [of](const TrackedRequest& tracked) { return tracked.of == of; });
    }
    [[nodiscard]] bool any() const { return num_.load(std::memory_order_relaxed) != 0; }
    [[nodiscard]] bool any(TrackedRequest::Kind kind) const { return num_of_[kind].load() != 0; }

private:
    template <class Predicate>
    bool remove_if(MPI_Request request, Predicate predicate) {
        const std::lock_guard lock(mutex_);
        const auto found = requests_.find(request);
        if (found == requests_.end() || !predicate(found->second)) return false;
        num_of_[found->second.kind].fetch_sub(1);
        requests_.erase(found);
        num_.fetch_sub(1, std::memory_order_relaxed);
        return true;
    }

    std::atomic<std::int64_t> num_{0};
    std::array<std::atomic<std::int64_t>, TrackedRequest::num_kinds> num_of_{};
    std::mutex mutex_;
    std::uint64_t last_id_ = 0;
    std::unordered_map<MPI_Request, TrackedRequest> requests_;
};

}  // namespace hocket::interpose
