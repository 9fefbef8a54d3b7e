// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hocket/decision/decider.hpp"
#include "hocket/network/network.hpp"
#include "hocket/plan/plan.hpp"
#include "interpose/decision_memory.hpp"
#include "interpose/entry_counts.hpp"

namespace hocket::interpose {

struct Seat;

/// Entries that no plan has, decided on in the running program from the network of the cluster and the hosts that its
/// ranks are on. Those of a communicator are the same on all of its ranks, which exchange nothing for that.
class Decisions {
public:
    struct Entry {
        CallKind kind;
        const PlanEntry* entry;
        bool is_contender;  ///< native until a comparison shows it to be faster
        EntryCount count{};
    };
    using Entries = std::deque<Entry>;  // a count cannot move

    /// Reads the text of a network file, named `source` in messages, and finds the host of each rank. `mpi`: as
    /// library_name() has it, the same on all ranks. Collective over the world. Without a network that can be read it
    /// stays off.
    void start(const std::string& text, const std::string& source, const std::string& mpi, int world_rank);
    /// Takes what a plan has measured for what the network says nothing of. Before the first entries().
    void learn(const Plan&);
    /// Goes on from what earlier jobs have left in the folder, which is of this version of hocket. `network` and `plan`
    /// are the texts that decisions are made from. After learn().
    void remember(const std::string& folder, const std::string& network, const std::string& plan);
    /// Leaves to later jobs what comparisons have found here.
    void keep_found();
    [[nodiscard]] bool is_on() const { return is_on_; }
    /// Whether the network has the hosts of all these ranks of the world.
    [[nodiscard]] bool knows(const std::vector<int>& members) const;
    /// Of each rank of the world, whether it is on the host that `hosts` names; false where the network lacks that one.
    [[nodiscard]] std::vector<bool> ranks_on(const std::vector<std::string>& hosts) const;
    /// For communicators whose members it knows. Stays where it is. `is_first`: this rank is the first member, which
    /// reads and writes what jobs leave to each other.
    Entries& entries(CallKind kind, const std::vector<int>& members, bool is_first);

    /// What entries() cost so far.
    struct Cost {
        std::int64_t times = 0;
        double cpu_s = 0;  ///< of the threads that asked
    };
    [[nodiscard]] Cost cost() {
        const std::lock_guard lock(mutex_);
        return cost_;
    }

    /// Calls `visit` with each entry so far.
    template <class Visit>
    void each(const Visit& visit) {
        const std::lock_guard lock(mutex_);
        for (const auto& [_, found] : found_)
            for (const Entry& entry : found.entries) visit(entry);
    }

private:
    /// Of one kind, for members on these nodes.
    struct Found {
        std::vector<NodeId> nodes;
        bool is_first = false;
        bool had_some = false;  ///< earlier jobs have left standings
        Entries entries{};
    };

    const std::vector<PlanEntry>& decide(Collective, const std::vector<Rank>&, const std::vector<NodeId>&,
                                         bool is_first);
    void place(const Network& cluster, const std::vector<Seat>&, const std::string& mpi);

    bool is_on_ = false;
    std::optional<Network> network_;  // with the ranks of the world; none if it has no host of theirs
    CostModel costs_;
    std::string mpi_;
    std::unique_ptr<decision::Decider> decider_;
    std::vector<bool> is_known_;  // [world rank]
    std::vector<NodeId> hosts_;   // the same
    std::mutex mutex_;            // guards the rest, and what decider_ keeps
    Cost cost_;
    DecisionMemory memory_;
    std::map<std::pair<Collective, std::vector<NodeId>>, std::vector<PlanEntry>> for_many_;  // of many ranks
    std::map<std::pair<CallKind, const std::vector<PlanEntry>*>, Found> found_;
};

/// Not destroyed, since other threads may still run when the process ends.
extern Decisions& decisions;

}  // namespace hocket::interpose
