// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Does validate() notice? Right schedules are broken in one place, in every place and many ways, and each broken one
// must be refused, or lose the claim to preserve the order of ranks. The few that pass must be proved to be right after
// all.

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "hocket/collectives/algorithm.hpp"
#include "hocket/schedule/validate.hpp"

using namespace hocket;

namespace {

struct EditableOp {
    OpKind kind;
    Rank peer;
    std::vector<ChunkRange> chunks;
    std::vector<std::int32_t> after;
};
using EditableRank = std::vector<EditableOp>;

EditableRank edit(const RankSchedule& rank) {
    EditableRank ops;
    for (const Op& op : rank.ops) {
        const auto chunks = rank.chunks_of(op);
        const auto after = rank.dependencies_of(op);
        ops.push_back({op.kind, op.peer, {chunks.begin(), chunks.end()}, {after.begin(), after.end()}});
    }
    return ops;
}

RankSchedule close(const EditableRank& ops) {
    RankSchedule rank;
    for (const EditableOp& op : ops) rank.add(op.kind, op.peer, op.chunks, op.after);
    return rank;
}

/// Removes an op; what depended on it depends on what it depended on.
void erase(EditableRank& rank, std::int32_t index) {
    const auto at = static_cast<std::size_t>(index);
    for (EditableOp& op : rank) {
        std::vector<std::int32_t> after;
        for (const std::int32_t d : op.after)
            if (d != index)
                after.push_back(d);
            else
                after.insert(after.end(), rank[at].after.begin(), rank[at].after.end());
        op.after = after;
    }
    rank.erase(rank.begin() + index);
    for (EditableOp& op : rank)
        for (std::int32_t& d : op.after)
            if (d > index) --d;
}

/// The op at the other end of a message, by counting.
std::int32_t other_end(const Schedule& schedule, std::int32_t rank, std::int32_t index) {
    const auto& ops = schedule.ranks[static_cast<std::size_t>(rank)].ops;
    const Op& op = ops[static_cast<std::size_t>(index)];
    const bool sends = op.kind == OpKind::send;
    int position = 0;
    for (std::int32_t i = 0; i < index; ++i) {
        const Op& before = ops[static_cast<std::size_t>(i)];
        if (before.peer == op.peer && (before.kind == OpKind::send) == sends) ++position;
    }
    const auto& others = schedule.ranks[op.peer.at()].ops;
    for (std::size_t i = 0; i < others.size(); ++i)
        if (others[i].peer.value == rank && (others[i].kind == OpKind::send) != sends && position-- == 0)
            return static_cast<std::int32_t>(i);
    return -1;
}

bool uses(const EditableOp& op, std::int32_t chunk) {
    for (const ChunkRange& range : op.chunks)
        if (chunk >= range.first && chunk < range.first + range.count) return true;
    return false;
}

/// Whether the dependencies of a rank order all uses of each chunk of which one writes: by the full closure, unlike
/// validate().
bool orders_all_uses(const EditableRank& rank, std::int32_t chunks) {
    std::vector<std::vector<bool>> before(rank.size(), std::vector<bool>(rank.size(), false));  // [late][early]
    for (std::size_t i = 0; i < rank.size(); ++i)
        for (const std::int32_t d : rank[i].after) {
            before[i][static_cast<std::size_t>(d)] = true;
            for (std::size_t e = 0; e < i; ++e) before[i][e] = before[i][e] || before[static_cast<std::size_t>(d)][e];
        }
    for (std::size_t i = 0; i < rank.size(); ++i)
        for (std::size_t e = 0; e < i; ++e)
            for (std::int32_t c = 0; c < chunks && !before[i][e]; ++c)
                if ((rank[i].kind != OpKind::send || rank[e].kind != OpKind::send) && uses(rank[i], c) &&
                    uses(rank[e], c))
                    return false;
    return true;
}

/// Whether every rank's end comes after every rank's entry, by walking from each rank's ops along dependencies and
/// messages.
bool holds_all_together(const Schedule& schedule) {
    const auto p = static_cast<std::size_t>(schedule.num_ranks);
    for (std::size_t from = 0; from < p; ++from) {
        std::vector<std::vector<bool>> after(p);
        for (std::size_t r = 0; r < p; ++r) after[r].assign(schedule.ranks[r].ops.size(), r == from);
        for (bool grew = true; grew;) {
            grew = false;
            for (std::size_t r = 0; r < p; ++r)
                for (std::size_t i = 0; i < after[r].size(); ++i) {
                    const Op& op = schedule.ranks[r].ops[i];
                    bool reached = after[r][i];
                    for (const std::int32_t d : schedule.ranks[r].dependencies_of(op))
                        reached = reached || after[r][static_cast<std::size_t>(d)];
                    if (op.kind != OpKind::send) {
                        const auto sent =
                            other_end(schedule, static_cast<std::int32_t>(r), static_cast<std::int32_t>(i));
                        reached = reached || after[op.peer.at()][static_cast<std::size_t>(sent)];
                    }
                    grew = grew || reached != after[r][i];
                    after[r][i] = reached;
                }
        }
        for (std::size_t r = 0; r < p; ++r)
            if (r != from && std::find(after[r].begin(), after[r].end(), true) == after[r].end()) return false;
    }
    return true;
}

struct Score {
    int killed = 0, equivalent = 0, missed = 0;
};

class Mutants {
public:
    explicit Mutants(const Schedule& schedule) : schedule_(schedule), preserves_(validate(schedule).preserves_order) {
        for (std::int32_t r = 0; r < schedule.num_ranks; ++r)
            for (std::size_t i = 0; i < schedule.ranks[static_cast<std::size_t>(r)].ops.size(); ++i)
                mutate(r, static_cast<std::int32_t>(i));
    }
    static inline std::map<std::string, Score> scores;

private:
    EditableRank open(std::int32_t rank) const { return edit(schedule_.ranks[static_cast<std::size_t>(rank)]); }

    void mutate(std::int32_t r, std::int32_t i) {
        const EditableRank original = open(r);
        const auto at = static_cast<std::size_t>(i);
        const EditableOp& op = original[at];
        const auto never = [] { return false; };
        const auto chunks =
            static_cast<std::int32_t>(num_chunks(schedule_.collective, schedule_.num_ranks, schedule_.segments));
        const std::int32_t peer_op = other_end(schedule_, r, i);

        EditableRank ops = original;
        erase(ops, i);
        judge("an op deleted", {{r, ops}}, never);

        if (op.kind == OpKind::send) {
            EditableRank others = open(op.peer.value);
            erase(others, peer_op);
            // Right if it only tells that others may go on.
            judge("a message deleted", {{r, ops}, {op.peer.value, others}},
                  [&] { return op.chunks.empty() && schedule_.collective != Collective::barrier; });
        }
        for (std::int32_t peer = 0; peer < schedule_.num_ranks; ++peer) {
            if (peer == op.peer.value || peer == r) continue;
            ops = original;
            ops[at].peer = Rank{peer};
            judge("another peer", {{r, ops}}, never);
        }
        for (std::size_t d = 0; d < op.after.size(); ++d) {
            ops = original;
            ops[at].after.erase(ops[at].after.begin() + static_cast<std::ptrdiff_t>(d));
            // Right if the dependency was not needed: every two uses of a chunk are still in order, by other chains.
            judge("a dependency removed", {{r, ops}}, [&] {
                if (schedule_.collective != Collective::barrier) return orders_all_uses(ops, chunks);
                Schedule mutant = schedule_;
                mutant.ranks[static_cast<std::size_t>(r)] = close(ops);
                return holds_all_together(mutant);
            });
        }
        if (!op.chunks.empty() && chunks > 1) {
            ops = original;
            std::int32_t& first = ops[at].chunks[0].first;
            first = first + ops[at].chunks[0].count < chunks ? first + 1 : first - 1;
            if (first >= 0) {
                judge("other chunks at one end", {{r, ops}}, never);
                if (op.kind == OpKind::send) {
                    EditableRank others = open(op.peer.value);
                    others[static_cast<std::size_t>(peer_op)].chunks = ops[at].chunks;
                    judge("other chunks at both ends", {{r, ops}, {op.peer.value, others}}, never);
                }
            }
        }
        if (reduces(op.kind)) {
            ops = original;
            ops[at].kind = op.kind == OpKind::recv_reduce_left ? OpKind::recv_reduce_right : OpKind::recv_reduce_left;
            // Right if the schedule never claimed to serve operators that do not commute.
            judge("operands exchanged", {{r, ops}}, [&] { return !preserves_; });
            ops[at].kind = OpKind::recv;
            judge("stored instead of reduced", {{r, ops}}, never);
        }
        if (op.kind == OpKind::recv) {
            ops = original;
            ops[at].kind = OpKind::recv_reduce_left;
            judge("reduced instead of stored", {{r, ops}}, never);
        }
        if (op.kind == OpKind::send) {
            ops = original;
            ops[at].kind = OpKind::recv;
            judge("received instead of sent", {{r, ops}}, never);
        }
    }

    void judge(const std::string& kind, const std::vector<std::pair<std::int32_t, EditableRank>>& changed,
               const std::function<bool()>& is_right) {
        Schedule mutant = schedule_;
        for (const auto& [rank, ops] : changed) mutant.ranks[static_cast<std::size_t>(rank)] = close(ops);
        const Validation validation = validate(mutant);
        Score& score = scores[kind];
        if (!validation.ok() || (preserves_ && !validation.preserves_order)) {
            ++score.killed;
        } else if (is_right()) {
            ++score.equivalent;
        } else {
            ++score.missed;
            const std::string where = std::string(name_of(schedule_.collective)) + " " + schedule_.algorithm + " p " +
                                      std::to_string(schedule_.num_ranks) + " segments " +
                                      std::to_string(schedule_.segments);
            MESSAGE("missed: ", kind, ", ", where, ", rank ", changed.front().first);
        }
    }

    const Schedule& schedule_;
    bool preserves_;
};

}  // namespace

TEST_CASE("a schedule broken in one place is refused") {
    for (const collectives::Algorithm& algorithm : collectives::all_algorithms())
        for (const std::int32_t p : {2, 3, 4, 6, 7})
            for (const std::int32_t segments : {1, 2}) {
                const Schedule schedule = collectives::emit(algorithm, {p, segments}, {});
                Mutants{schedule};
            }
    for (const auto& [kind, score] : Mutants::scores) {
        MESSAGE(kind, ": ", score.killed, " refused, ", score.equivalent, " proved right, ", score.missed, " missed");
        CHECK(score.missed == 0);
        CHECK(score.killed > 0);
    }
}
