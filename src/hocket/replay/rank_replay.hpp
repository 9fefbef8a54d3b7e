// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hocket/replay/collective_programs.hpp"
#include "hocket/replay/function_kind.hpp"
#include "hocket/replay/left_out.hpp"
#include "hocket/replay/one_sided.hpp"
#include "hocket/replay/program_builder.hpp"
#include "hocket/replay/replay.hpp"
#include "hocket/trace/collectives.hpp"

namespace hocket::replay {

/// What the ranks of a replay share.
struct ReplayState {
    ReplayState(const Trace&, const Plan&, const std::vector<NativeModel>&, const ReplayOptions&);

    const Trace& trace;
    const ReplayOptions& options;
    std::vector<FunctionKind> kinds;                 ///< by function
    std::vector<OneSidedKind> one_sided_kinds;       ///< by function
    std::vector<trace::CollectiveName> collectives;  ///< by function
    /// By communicator: world rank -> rank in `members`, and in `remote`.
    std::vector<std::array<std::map<std::int32_t, std::int32_t>, 2>> ranks_in;
    CollectivePrograms programs;
    ProgramBuilder builder;
    LeftOutCalls left_out;
    std::vector<CallOps> call_ops;  ///< [rank], if asked for
    std::int64_t start_ns, end_ns;  ///< the first return from MPI_Init, the last call of MPI_Finalize

    /// Of the Program, for messages of a communicator with an MPI tag, or with one of those below.
    std::int32_t tag(std::int32_t communicator, std::int32_t mpi_tag);
    /// A number of its own for the n-th collective whose messages have this tag.
    std::int32_t collective_call(std::int32_t tag, std::int32_t before);

private:
    void find_span();
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> tags_, collective_calls_;
};

/// Plays one rank's calls.
class RankReplay {
public:
    RankReplay(ReplayState&, Rank);
    void play();

private:
    using Call = trace::Call;
    using Pending = ProgramBuilder::Pending;
    struct Partner {
        Rank rank;                  ///< invalid: nothing is sent or received
        const char* why = nullptr;  ///< where that is left out
    };
    struct Window {
        std::int32_t communicator;
        std::int32_t number;  ///< among those of its communicator
        std::int32_t fences;
    };

    [[nodiscard]] FunctionKind kind(const Call& call) const {
        return shared_.kinds[static_cast<std::size_t>(call.function)];
    }
    [[nodiscard]] std::string_view name(const Call& call) const {
        return shared_.trace.functions()[static_cast<std::size_t>(call.function)];
    }
    void compute(std::int64_t ns);
    void compute_between(const Call& before, const Call& after);
    void play(const Call&);
    /// The call at hand waits for these.
    void await(const Pending&);
    /// When it returns these are complete.
    void note_completed(const Pending&);
    void leave_out(const Call& call, std::string_view why) {
        shared_.left_out.add(name(call), why, call.calls, call.bytes);
    }

    // Point to point and requests.
    /// A non-blocking call begins now, a persistent one when it is started.
    void begin(const Call&);
    Pending post(const Call&);
    Pending post_receive(const Call&);
    void restart(std::uint64_t request);
    void make_ready(const Call&);
    void complete(std::uint64_t request);
    void look(const Call&);
    template <class Action>
    void for_each_request(const Call&, Action);
    /// Of a test or a probe: it found something.
    static bool is_completed(const Call&);
    [[nodiscard]] Partner partner(std::int32_t communicator, std::int32_t peer) const;
    Pending send(const Call&);
    Pending receive(const Call&, std::int32_t communicator, std::int32_t peer, std::int32_t tag, std::int64_t bytes);
    Pending receive_half(const Call&);
    /// Of a message that a matched probe has found, which knows its communicator.
    std::int32_t communicator_of_matched(std::int32_t source, std::int32_t tag);

    // Collectives.
    void collective(const Call&);
    Pending collective_ops(const Call&);
    Pending graft(const Call&, std::string_view name, std::int32_t communicator, std::int32_t tag, std::int32_t before);
    /// The sizes of a v-variant: those sent (0) or received (1), by rank; empty if the call has none.
    [[nodiscard]] std::span<const std::int64_t> vector_of(const Call&, int which) const;

    // Windows.
    void add_window(const Call&);
    void one_sided(const Call&);
    [[nodiscard]] std::vector<Rank> group_of(const Call&, const Window&) const;

    ReplayState& shared_;
    Rank rank_;
    const trace::RankFile& file_;
    OneSided windows_;
    CallOps* call_ops_;                                                          // null: not asked for
    std::int32_t call_ = 0;                                                      // that is played
    std::unordered_map<std::uint64_t, std::deque<trace::Completion>> received_;  // by request, in their order
    std::unordered_map<std::uint64_t, Pending> pending_;
    std::unordered_map<std::uint64_t, const Call*> persistent_;
    std::unordered_map<std::uint64_t, std::int64_t> unready_bytes_;  // of partitioned sends that were started
    std::map<std::pair<std::int32_t, std::int32_t>, std::deque<std::int32_t>>
        matched_;                                             // (source, tag) -> communicators
    std::map<std::int32_t, std::int32_t> collectives_begun_;  // by communicator
    std::map<std::int32_t, std::int32_t> windows_made_;       // by communicator
    std::map<std::int32_t, Window> window_;                   // by number in the file
};

}  // namespace hocket::replay
