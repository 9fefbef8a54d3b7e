// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hocket/replay/collective_programs.hpp"
#include "hocket/replay/function_kind.hpp"
#include "hocket/replay/left_out.hpp"
#include "hocket/replay/locks.hpp"
#include "hocket/replay/look_ahead.hpp"
#include "hocket/replay/one_sided.hpp"
#include "hocket/replay/program_builder.hpp"
#include "hocket/replay/replay.hpp"
#include "hocket/trace/call_source.hpp"
#include "hocket/trace/collectives.hpp"

namespace hocket::replay {

/// What the ranks of a replay share.
struct ReplayState {
    ReplayState(trace::CallSource&, const Plan&, const std::vector<NativeModel>&, const ReplayOptions&, OpSink&,
                LeftOutCalls&);

    /// Follows the tables of the trace, which grow as it is read.
    void follow_tables();

    trace::CallSource& source;
    const trace::Tables& tables;
    const ReplayOptions& options;
    ComputationChanges changes;
    std::vector<FunctionKind> kinds;                 ///< by function
    std::vector<OneSidedKind> one_sided_kinds;       ///< by function
    std::vector<trace::CollectiveName> collectives;  ///< by function
    /// By communicator: world rank -> rank in `members`, and in `remote`.
    std::vector<std::array<std::map<std::int32_t, std::int32_t>, 2>> ranks_in;
    CollectivePrograms programs;
    ProgramBuilder builder;
    Locks locks;
    LeftOutCalls& left_out;
    std::vector<CallOps> call_ops;  ///< [rank], if asked for
    /// The first return from MPI_Init, the last call of MPI_Finalize; of the first and the last call where these were
    /// not recorded. The end as far as it was read.
    std::int64_t start_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();

    /// Of messages of a communicator with an MPI tag, or with one of those of rank_groups.cpp.
    static OpSink::Tag tag(std::int32_t communicator, std::int32_t mpi_tag) {
        return static_cast<OpSink::Tag>(std::uint64_t{static_cast<std::uint32_t>(communicator)} << 32U |
                                        static_cast<std::uint32_t>(mpi_tag));
    }
};

/// Plays one rank's calls, one after another.
class RankReplay {
public:
    RankReplay(ReplayState&, Rank);
    /// When the first call returned; the greatest number if there is none.
    [[nodiscard]] std::int64_t first_exit_ns() const;
    /// Plays calls until the rank waits, or all that are left.
    void advance();

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
        return shared_.tables.functions[static_cast<std::size_t>(call.function)];
    }
    /// Null behind the last.
    const Call* next();
    void read_on();
    void finish();
    void compute(std::int64_t ns);
    void compute_since_last(const Call& call);
    void play_in_turn(const Call&);
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
    Pending post_persistent(std::uint64_t request);
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
    Pending graft(const Call&, std::string_view name, std::int32_t communicator, OpSink::Tag tag, std::int32_t number);
    /// The sizes of a v-variant: those sent (0) or received (1), by rank; empty if the call has none.
    [[nodiscard]] std::span<const std::int64_t> vector_of(const Call&, int which) const;

    // Windows.
    void add_window(const Call&);
    void one_sided(const Call&);
    void lock(const Call&, const Window&, OneSidedKind);
    /// Also waits for `flushed`.
    void unlock(const Call&, const Window&, OneSidedKind, Pending flushed);
    /// What MPI_Win_lock, MPI_Win_lock_all or an unlock is about.
    std::vector<LockPlace> lock_places(const Call&, const Window&, OneSidedKind) const;
    static Locks::Tags lock_tags(const Window&);
    static OpSink::Tag window_tag(const Window&, std::int32_t which);
    [[nodiscard]] std::vector<Rank> group_of(const Call&, const Window&) const;

    struct Persistent {
        Call call;
        std::vector<std::int64_t> blocks;
    };
    struct Instants {  // of the end of the call before
        std::int64_t exit_ns, exit_cpu_ns;
    };

    ReplayState& shared_;
    Rank rank_;
    std::unique_ptr<trace::CallSource::Reader> reader_;
    const trace::RankFile* part_ = nullptr;  // null behind the last
    std::size_t at_ = 0;                     // in its calls
    std::int64_t num_calls_ = 0;             // with the one at hand
    const std::int64_t* blocks_ = nullptr;   // those that calls refer to
    std::optional<Instants> last_;           // none: no call was played
    bool finalized_ = false;
    std::int64_t end_ns_ = std::numeric_limits<std::int64_t>::min();
    OneSided windows_;
    LookAhead ahead_;
    CallOps* call_ops_;      // null: not asked for
    std::int32_t call_ = 0;  // that is played
    std::unordered_map<std::uint64_t, Pending> pending_;
    std::unordered_map<std::uint64_t, Persistent> persistent_;
    std::unordered_map<std::uint64_t, std::int64_t> unready_bytes_;  // of partitioned sends that were started
    std::map<std::pair<std::int32_t, std::int32_t>, std::deque<std::int32_t>>
        matched_;                                             // (source, tag) -> communicators
    std::map<std::int32_t, std::int32_t> collectives_begun_;  // by communicator
    std::map<std::int32_t, std::int32_t> windows_made_;       // by communicator
    std::map<std::int32_t, Window> window_;                   // by number in the file
};

}  // namespace hocket::replay
