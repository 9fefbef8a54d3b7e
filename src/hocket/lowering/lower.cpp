// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/lowering/lower.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "hocket/base/error.hpp"
#include "hocket/schedule/segments.hpp"

namespace hocket {

namespace {

/// Elements of all chunks before `chunk`, so that a range costs two look-ups however long it is.
std::int64_t elements_before(std::int64_t chunk, std::int64_t block_elements, std::int32_t segments) {
    const auto segment = static_cast<std::int32_t>(chunk % segments);
    return chunk / segments * block_elements + segment_of(block_elements, segments, segment).begin;
}

class RankLowering {
public:
    RankLowering(const RankSchedule& rank, std::int32_t segments, std::int64_t bytes, std::int64_t element_bytes)
        : rank_(rank), segments_(segments), block_elements_(bytes / element_bytes), element_bytes_(element_bytes) {}

    RankProgram run() {
        std::map<std::pair<Rank, bool>, std::int32_t> messages;  // (peer, sent by us) -> how many so far
        for (const Op& op : rank_.ops) {
            const std::int64_t bytes = bytes_of(op);
            const bool sends = op.kind == OpKind::send;
            // Counted before empty messages are left out: both ends leave out the same ones.
            const std::int32_t tag = messages[{op.peer, sends}]++;
            std::vector<std::int32_t> after = joined(op, false);
            if (bytes == 0 && op.num_ranges > 0) {  // without chunks, it keeps an order
                started_.push_back(after);
                done_.push_back(std::move(after));
                continue;
            }
            // The message of a receive that reduces is taken once the sends it depends on have started (see Op).
            const std::vector<std::int32_t> early = reduces(op.kind) ? joined(op, true) : after;
            std::int32_t last = program_.add({.kind = sends ? ProgramOpKind::send : ProgramOpKind::recv,
                                              .peer = op.peer,
                                              .tag = tag,
                                              .bytes = bytes},
                                             early);
            started_.push_back(early);
            if (reduces(op.kind)) {
                after.push_back(last);
                last = program_.add({.kind = ProgramOpKind::reduce, .peer = {}, .bytes = bytes}, after);
            }
            done_.push_back({last});
        }
        return std::move(program_);
    }

private:
    std::int64_t bytes_of(const Op& op) const {
        std::int64_t elements = 0;
        for (const ChunkRange& range : rank_.chunks_of(op))
            elements += elements_before(std::int64_t{range.first} + range.count, block_elements_, segments_) -
                        elements_before(range.first, block_elements_, segments_);
        return elements * element_bytes_;
    }

    /// The ops of the program that must be done when all dependencies are done; with `early` when its sends have
    /// started.
    std::vector<std::int32_t> joined(const Op& op, bool early) const {
        std::vector<std::int32_t> all;
        for (const std::int32_t dependency : rank_.dependencies_of(op)) {
            const auto d = static_cast<std::size_t>(dependency);
            const auto& ops = early && rank_.ops[d].kind == OpKind::send ? started_[d] : done_[d];
            all.insert(all.end(), ops.begin(), ops.end());
        }
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }

    const RankSchedule& rank_;
    std::int32_t segments_;
    std::int64_t block_elements_;
    std::int64_t element_bytes_;
    RankProgram program_;
    std::vector<std::vector<std::int32_t>> done_;     ///< [op] ops of the program whose end is the end of the op
    std::vector<std::vector<std::int32_t>> started_;  ///< [op] ops of the program whose end lets the op start
};

void check_size(Collective collective, std::int32_t num_ranks, std::int64_t bytes, std::int64_t element_bytes) {
    if (bytes < 0 || bytes % element_bytes != 0)
        throw InvalidInput("bytes is " + std::to_string(bytes) + ": expected a multiple of element_bytes, " +
                           std::to_string(element_bytes) + ", and at least 0");
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / num_blocks(collective, num_ranks);
    if (bytes > most)
        throw InvalidInput("bytes is " + std::to_string(bytes) + ": expected at most " + std::to_string(most) +
                           ", so that all blocks together can be counted");
}

}  // namespace

RankProgram lower_rank(const RankSchedule& rank, Collective collective, std::int32_t num_ranks, std::int32_t segments,
                       std::int64_t bytes) {
    check_size(collective, num_ranks, bytes, 1);
    return RankLowering(rank, segments, bytes, 1).run();
}

Program lower(const Schedule& schedule, std::int64_t bytes, std::int64_t element_bytes) {
    if (const auto wrong = malformations(schedule); !wrong.empty())
        throw InvalidInput("the schedule is malformed: " + wrong.front());
    if (element_bytes < 1)
        throw InvalidInput("element_bytes is " + std::to_string(element_bytes) + ": expected at least 1");
    check_size(schedule.collective, schedule.num_ranks, bytes, element_bytes);
    Program program;
    program.ranks.reserve(schedule.ranks.size());
    for (const RankSchedule& rank : schedule.ranks)
        program.ranks.push_back(RankLowering(rank, schedule.segments, bytes, element_bytes).run());
    return program;
}

}  // namespace hocket
