// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/phases.hpp"

#include <algorithm>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/network/members.hpp"
#include "hocket/search/edge_coloring.hpp"

// The root is a node of the tree none of whose branches has more than half of the members; a member on the root itself
// is a branch of its own. Branches are sorted by their numbers of members, m_0 >= m_1 >= ...; n is the number of
// members. The cable to branch 0 is the busiest: m (n - m) grows up to n / 2. So there are P = m_0 (n - m_0) phases.
//
// Between branches, as [Faraj05]: the messages from i to j take the phases
//     m_i (m_i+1 + ... + m_j-1) + 0 .. m_i m_j - 1           where i < j
//     P - m_j (m_j+1 + ... + m_i) + 0 .. m_i m_j - 1         where i > j
// so that at any time a branch sends to at most one other and receives from at most one other: no link is used twice.
//
// Who sends and receives, and where messages within a branch fit. A message within a branch from x to y, in a phase in
// which no other than y sends out of the branch and no other than x receives into it, shares no link with these two: it
// goes up from x to an ancestor of y, from where the other goes up, and so on. In phase p member p mod m_i of branch i
// sends. Each stretch of phases i to j is a multiple of m_i long, so each member has its m_j turns. Receivers are
// chosen so that
//   (a) the m_j turns of a sender in the stretch from i to j go to different members of j,
//   (b) in the first m_j^2 phases the members of j meet all of the branch as (receiver, sender); in these branch j > 0
//       receives from j-1, whose stretch to j begins at phase 0 and is no shorter, and branch 0 from all others in
//       turn.
// Both are edge colourings of a bipartite graph, phases being edges and receivers colours: at the left the senders of
// (a), at the right phases by their sender in j (those after the first m_j^2 in any groups of m_j). Where (b) does not
// matter, the k-th turn of a sender goes to member k.

namespace hocket::search {
namespace {

class Branches {
public:
    Branches(const Network& network, std::span<const Rank> members) {
        const std::vector<std::int32_t> branch_of_node = branches_of(network, members);
        std::vector<std::vector<Rank>> found(network.nodes().size());
        for (std::size_t i = 0; i < members.size(); ++i) {
            const Rank self{static_cast<std::int32_t>(i)};
            const std::int32_t branch = branch_of_node[network.node_of(members[i]).at()];
            if (branch < 0)
                members_.push_back({self});
            else
                found[static_cast<std::size_t>(branch)].push_back(self);
        }
        for (auto& part : found)
            if (!part.empty()) members_.push_back(std::move(part));
        std::stable_sort(members_.begin(), members_.end(),
                         [](const auto& a, const auto& b) { return a.size() > b.size(); });
        before_.push_back(0);
        for (const auto& part : members_) before_.push_back(before_.back() + static_cast<std::int32_t>(part.size()));
    }

    [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(members_.size()); }
    [[nodiscard]] std::int32_t size(std::int32_t i) const { return before(i + 1) - before(i); }
    /// Members of branches i .. j-1.
    [[nodiscard]] std::int32_t size(std::int32_t i, std::int32_t j) const { return before(j) - before(i); }
    [[nodiscard]] Rank member(std::int32_t i, std::int32_t k) const {
        return members_[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)];
    }
    [[nodiscard]] std::int32_t before(std::int32_t i) const { return before_[static_cast<std::size_t>(i)]; }
    [[nodiscard]] std::int32_t num_phases() const { return size(0) * size(1, count()); }
    [[nodiscard]] std::int32_t first_phase(std::int32_t i, std::int32_t j) const {
        return i < j ? size(i) * size(i + 1, j) : num_phases() - size(j) * size(j + 1, i + 1);
    }

private:
    /// [node] the neighbour of the root that it hangs on; -1 at the root.
    static std::vector<std::int32_t> branches_of(const Network& network, std::span<const Rank> members) {
        const auto num_nodes = network.nodes().size();
        const NodeId start = network.node_of(members.front());
        std::vector<NodeId> parent(num_nodes), order{start};
        for (std::size_t i = 0; i < order.size(); ++i)
            for (const LinkId l : network.links_from(order[i])) {
                const NodeId next = network.link(l).target;
                if (next == parent[order[i].at()]) continue;
                parent[next.at()] = order[i];
                order.push_back(next);
            }
        std::vector<std::size_t> below(num_nodes, 0);  // members in the subtree
        for (const Rank member : members) ++below[network.node_of(member).at()];
        // The last node on the way down that still has more than half of the members below it.
        NodeId root = start;
        for (std::size_t i = order.size(); i-- > 0;) {
            const NodeId node = order[i];
            if (2 * below[node.at()] > members.size()) {
                root = node;
                break;
            }
            if (i > 0) below[parent[node.at()].at()] += below[node.at()];
        }
        std::vector<std::int32_t> branch(num_nodes, -1);
        std::vector<NodeId> from(num_nodes), waiting{root};
        while (!waiting.empty()) {
            const NodeId node = waiting.back();
            waiting.pop_back();
            for (const LinkId l : network.links_from(node)) {
                const NodeId next = network.link(l).target;
                if (next == from[node.at()]) continue;
                from[next.at()] = node;
                branch[next.at()] = node == root ? next.value : branch[node.at()];
                waiting.push_back(next);
            }
        }
        return branch;
    }

    std::vector<std::vector<Rank>> members_;  // [branch]
    std::vector<std::int32_t> before_;        // [branch] members of the branches before it
};

/// Who of branch j receives in phases 0, 1, ..., so that (a) and (b) hold.
std::vector<std::int32_t> receivers_of(const Branches& branches, std::int32_t j) {
    const std::int32_t size = branches.size(j);
    const std::int32_t square = size * size;
    std::vector<BipartiteEdge> turns;
    std::int32_t num_left = 0;
    const auto add_stretch = [&](std::int32_t i) {
        const std::int32_t senders = branches.size(i);
        for (std::int32_t k = 0; k < senders * size; ++k) {
            const auto phase = static_cast<std::int32_t>(turns.size());
            const std::int32_t right = phase < square ? phase % size : phase / size;
            turns.push_back({num_left + phase % senders, right});
        }
        num_left += senders;
    };
    if (j > 0)
        add_stretch(j - 1);
    else
        for (std::int32_t i = branches.count(); i-- > 1;) add_stretch(i);
    return edge_coloring(num_left, static_cast<std::int32_t>(turns.size()) / size, turns);
}

}  // namespace

std::vector<std::vector<Message>> contention_free_phases(const Network& network, std::span<const Rank> members) {
    network::check_members(network, members, 4096);
    if (!network.is_tree())
        throw InvalidInput("the network \"" + network.name() + "\" is not a tree",
                           "phases free of contention are for trees; `pairwise` is for any network");
    if (members.size() < 2) return {};
    const Branches branches(network, members);
    std::vector<std::vector<Message>> phases(static_cast<std::size_t>(branches.num_phases()));
    for (std::int32_t j = 0; j < branches.count(); ++j) {
        const std::vector<std::int32_t> receivers = receivers_of(branches, j);
        const std::int32_t size = branches.size(j);
        for (std::int32_t i = 0; i < branches.count(); ++i) {
            if (i == j) continue;
            const std::int32_t first = branches.first_phase(i, j);
            const std::int32_t senders = branches.size(i);
            for (std::int32_t turn = 0; turn < senders * size; ++turn) {
                const auto phase = static_cast<std::size_t>(first + turn);
                const std::int32_t receiver = j == 0 || i == j - 1 ? receivers[phase] : turn / senders;
                phases[phase].push_back({branches.member(i, (first + turn) % senders), branches.member(j, receiver)});
            }
        }
        for (std::int32_t phase = 0; phase < size * size; ++phase) {
            const std::int32_t x = receivers[static_cast<std::size_t>(phase)];
            const std::int32_t y = phase % size;
            if (x != y)
                phases[static_cast<std::size_t>(phase)].push_back({branches.member(j, x), branches.member(j, y)});
        }
    }
    for (auto& phase : phases) std::sort(phase.begin(), phase.end());
    return phases;
}

Schedule alltoall_in_phases(std::int32_t num_ranks, std::span<const std::vector<Message>> phases) {
    Schedule schedule{Collective::alltoall, "tree_phases", num_ranks, Rank{0}, 1, {}};
    schedule.ranks.resize(static_cast<std::size_t>(num_ranks));
    std::vector<std::int32_t> last_send(schedule.ranks.size(), -1);
    for (const auto& phase : phases)
        for (const auto& [source, target] : phase) {
            const ChunkRange block{source.value * num_ranks + target.value, 1};
            std::int32_t& last = last_send[source.at()];
            schedule.ranks[target.at()].add(OpKind::recv, source, {block}, {});
            last = schedule.ranks[source.at()].add(OpKind::send, target, {block},
                                                   last < 0 ? std::vector<std::int32_t>{} : std::vector{last});
        }
    return schedule;
}

}  // namespace hocket::search
