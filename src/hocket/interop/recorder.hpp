// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hocket/interop/communicators.hpp"
#include "hocket/trace/rank_file.hpp"

namespace hocket::interop {

/// What readers of other formats give.
struct ForeignTrace {
    std::vector<trace::RankFile> ranks;
    std::vector<std::string> notes;  ///< what was left out or assumed, a line each
};

/// Puts one rank's calls together as readers find them: gives functions, datatypes, operators, requests and
/// communicators the numbers that a trace has.
class RankRecorder {
public:
    /// Of MPI_COMM_WORLD and MPI_COMM_SELF in `file.communicators`.
    static constexpr std::int32_t world = 0, self = 1;

    RankRecorder(std::int32_t rank, std::int32_t num_ranks);

    std::int32_t function(std::string_view name);
    std::int32_t datatype(std::string_view name, std::int64_t bytes);
    std::int32_t op(std::string_view name, bool commutative);

    /// A call in which nothing is known but this.
    static trace::Call call(std::int32_t function, std::int64_t enter_ns, std::int64_t exit_ns);

    /// Gives the call a new request, which `handle` names from now on; the program may use a handle again and again.
    void make_request(trace::Call&, std::uint64_t handle, bool receives, bool persistent);
    /// Puts an operation's request into the call: one that is started or freed.
    void name_request(trace::Call&, std::uint64_t handle);

    struct Status {
        std::int32_t source = -1, tag = -1;
        std::int64_t bytes = -1;
    };
    /// Opens the call's list of completions. Requests that are not known, such as MPI_REQUEST_NULL, are skipped.
    void begin_completions(trace::Call&);
    void complete(trace::Call&, std::uint64_t handle, const Status&);
    /// Likewise of requests that are started.
    void start(trace::Call&, std::uint64_t handle);
    /// What `status` is when nothing was received: hocket's own value.
    [[nodiscard]] bool is_known(std::uint64_t handle) const { return requests_.contains(handle); }
    [[nodiscard]] bool is_receive(std::uint64_t handle) const;

    /// Sizes of a v-variant; what it contributes is `call.bytes`.
    void blocks(trace::Call&, std::span<const std::int64_t> sent, std::span<const std::int64_t> received);

    /// A communicator whose members are found when all ranks are read. Gives its number.
    std::int32_t make_communicator(Creation creation);
    /// A creation that gave this rank MPI_COMM_NULL.
    void take_part(Creation creation) { creations.push_back(std::move(creation)); }

    trace::RankFile file;
    std::vector<Creation> creations;

private:
    struct Request {
        std::uint64_t number;
        bool receives, persistent;
    };
    std::map<std::string, std::int32_t, std::less<>> functions_, operators_;
    std::map<std::pair<std::string, std::int64_t>, std::int32_t> datatypes_;
    std::unordered_map<std::uint64_t, Request> requests_;
    std::uint64_t last_request_ = 0;
};

/// Moves the clocks of all ranks by one amount so that the first call of all begins at 0, or each by its own so that
/// all return from their first call, MPI_Init, at once.
void shift_clocks(std::vector<trace::RankFile>&, bool align);

/// What is known only when all ranks are read: members of communicators, own blocks of a reduce-scatter, the shift of
/// the clocks. A note names the communicators whose members stay unknown.
ForeignTrace finish(const std::vector<RankRecorder*>&, bool align);

}  // namespace hocket::interop
