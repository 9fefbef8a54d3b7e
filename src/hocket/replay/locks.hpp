// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "hocket/replay/lock_order.hpp"
#include "hocket/replay/program_builder.hpp"

namespace hocket::replay {

/// Passive-target locks as messages. Who locks asks the target, which answers when all that exclude it have released
/// the lock; who unlocks says so, once what it did has been acknowledged. That is a lock in the memory of the target
/// which is taken and released by atomic operations, as in osc/rdma of Open MPI. Targets answer whatever they do.
///
/// Locks are granted in the order of the recorded run (LockOrder). Where nobody had to wait there is no message.
class Locks {
public:
    using Pending = ProgramBuilder::Pending;
    struct Tags {  ///< the window's own
        ProgramBuilder::Tag request, grant, release;
    };

    explicit Locks(ReplayState& shared) : shared_(shared) {}

    /// Reads the order of the locks, unless it is there. Before, there is none.
    void read_order() {
        if (order_ == nullptr) order_ = std::make_unique<LockOrder>(shared_);
    }
    /// The targets of MPI_Win_lock_all at which somebody had to wait.
    [[nodiscard]] std::vector<Rank> targets(std::int32_t communicator, std::int32_t window) const {
        return order_ == nullptr ? std::vector<Rank>{} : order_->targets(communicator, window);
    }
    /// Asks for the next lock of the rank, once the order was read; what the lock call waits for.
    Pending lock(Rank origin, const LockPlace&, const Tags&);
    /// What an unlock waits for besides: the lock, if the lock call did not.
    Pending granted(Rank origin, const LockPlace&);
    /// Releases the lock, behind `done`.
    void unlock(Rank origin, const LockPlace&, const Tags&, const Pending& done);

private:
    struct Target {
        std::size_t num_granted = 0;                ///< of the epochs in order: those whose messages it expects
        std::vector<ProgramBuilder::Op> exclusive;  ///< release of the last such epoch
        std::vector<ProgramBuilder::Op> shared;     ///< of those since
    };
    struct Held {
        std::size_t next = 0;  ///< behind the rank's last epoch, in the order of the place
        Pending grant;         ///< that is still to be waited for
        bool is_held = false;
    };
    void expect(const LockPlace&, const Tags&, const LockEpoch&, Target&);

    ReplayState& shared_;
    std::unique_ptr<LockOrder> order_;  // none before the first lock of a known type
    std::map<LockPlace, Target> targets_;
    std::map<std::pair<std::int32_t, LockPlace>, Held> held_;  // by world rank
};

}  // namespace hocket::replay
