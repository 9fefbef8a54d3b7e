// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// All-to-all among nodes of any numbers of ranks: data by validate(), and how many messages leave a node.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "hocket/base/random.hpp"
#include "hocket/collectives/algorithm.hpp"
#include "hocket/schedule/validate.hpp"

using namespace hocket;
using namespace hocket::collectives;

namespace {

constexpr std::int32_t num_samples = 60;

struct Crossing {
    std::int64_t messages = 0, blocks = 0;
};

}  // namespace

TEST_CASE("each node sends one message to each other, or each rank one to each place, whatever the numbers of ranks") {
    constexpr std::uint64_t seed = 20261127;
    MESSAGE("seed ", seed);
    base::Random random(seed);
    for (std::int32_t sample = 0; sample < num_samples; ++sample) {
        const auto p = static_cast<std::int32_t>(1 + random.below(sample % 10 == 0 ? 70 : 20));
        std::vector<std::int32_t> starts;
        for (std::int32_t v = 0; v < p; ++v)
            if (random.below(4) == 0) starts.push_back(v);
        if (starts.empty()) starts.push_back(static_cast<std::int32_t>(random.below(p)));
        std::vector<std::int32_t> node_of, sizes(starts.size(), 0);  // [rank], [node]
        for (std::int32_t v = 0; v < p; ++v) {
            const auto begun = std::upper_bound(starts.begin(), starts.end(), v) - starts.begin();
            node_of.push_back(
                static_cast<std::int32_t>((begun == 0 ? starts.size() : static_cast<std::size_t>(begun)) - 1));
            ++sizes[static_cast<std::size_t>(node_of.back())];
        }
        for (const std::string_view name : {"node_aware", "by_dimension"}) {
            CAPTURE(name);
            CAPTURE(p);
            CAPTURE(sample);
            const Algorithm& algorithm = find_algorithm(Collective::alltoall, name);
            const Schedule schedule = emit(algorithm, {p, 1 + sample % 2, starts}, {});
            const Validation validation = validate(schedule);
            REQUIRE_MESSAGE(validation.ok(), validation.violations.front());
            std::map<std::pair<std::int32_t, std::int32_t>, Crossing> crossings;
            for (std::int32_t v = 0; v < p; ++v) {
                const RankSchedule& part = schedule.ranks[static_cast<std::size_t>(v)];
                CHECK(part == emit_rank(algorithm, {p, 1 + sample % 2, starts}, {}, Rank{v}));
                for (const Op& op : part.ops) {
                    const std::pair nodes{node_of[static_cast<std::size_t>(v)], node_of[op.peer.at()]};
                    if (op.kind != OpKind::send || nodes.first == nodes.second) continue;
                    ++crossings[nodes].messages;
                    for (const ChunkRange& range : part.chunks_of(op)) crossings[nodes].blocks += range.count;
                }
            }
            CHECK(crossings.size() == starts.size() * (starts.size() - 1));
            for (const auto& [nodes, crossing] : crossings) {
                const std::int64_t from = sizes[static_cast<std::size_t>(nodes.first)];
                const std::int64_t to = sizes[static_cast<std::size_t>(nodes.second)];
                CHECK(crossing.messages == (name == "node_aware" ? 1 : to));
                CHECK(crossing.blocks == from * to * schedule.segments);  // none crosses twice
            }
        }
    }
}
