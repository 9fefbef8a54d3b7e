// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <numeric>
#include <string>

#include "hocket/network/generate.hpp"
#include "hocket/replay/collective_programs.hpp"
#include "hocket/replay/function_kind.hpp"
#include "hocket/replay/program_builder.hpp"
#include "hocket/replay/whole_program.hpp"
#include "hocket/simulation/simulate.hpp"

using namespace hocket;
using replay::CollectiveCall;
using replay::FunctionKind;
using replay::OneSidedKind;

namespace {

std::vector<std::int32_t> from_to(std::int32_t first, std::int32_t end) {
    std::vector<std::int32_t> ranks(static_cast<std::size_t>(end - first));
    std::iota(ranks.begin(), ranks.end(), first);
    return ranks;
}

/// Bytes that a collective moves from rank to rank between groups of p and q (0: within one group); that its messages
/// match and that nobody waits for ever, the simulation shows.
double bytes_moved(const std::string& name, std::int32_t p, std::int32_t q, std::int64_t bytes, std::int32_t root) {
    const Plan plan;
    const std::vector<replay::NativeModel> native;
    replay::CollectivePrograms programs(plan, native);
    replay::WholeProgram whole(p + q);
    replay::ProgramBuilder builder(whole, p + q);
    const std::vector<std::int32_t> groups[2] = {from_to(0, p), from_to(p, p + q)};
    const std::vector<std::int64_t> sizes(static_cast<std::size_t>(std::max(p, q)), bytes);
    for (std::int32_t world = 0; world < p + q; ++world) {
        const bool second = world >= p;
        const auto &own = groups[second], &other = groups[!second];
        const auto sized = [&](const std::vector<std::int32_t>& group) {
            return std::span<const std::int64_t>(sizes).first(group.size());
        };
        // The root is in the first group.
        std::int32_t own_root = root;
        if (q > 0 && !second) own_root = world == root ? -3 : -1;
        const CollectiveCall call{name,
                                  second,
                                  own,
                                  world - (second ? p : 0),
                                  bytes,
                                  own_root,
                                  sized(q > 0 ? other : own),
                                  sized(q > 0 && name != "reduce_scatter" ? other : own),
                                  other};
        const RankProgram* part = programs.part(call);
        REQUIRE(part != nullptr);
        std::vector<Rank> peers(own.begin(), own.end());
        for (const std::int32_t rank : other) peers.emplace_back(rank);
        builder.await(Rank{world}, builder.graft(Rank{world}, *part, peers, 0, 0));
    }
    network::GenerateOptions options;
    options.bandwidth_bytes_per_s = 1e9;
    const Network star = network::build(network::generate("star:" + std::to_string(p + q), options));
    const Timeline timeline = simulate(whole.take(), star);
    return std::accumulate(timeline.link_bytes.begin(), timeline.link_bytes.end(), 0.0) / 2;
}

}  // namespace

TEST_CASE("collectives between two groups end, and bring each rank what it is to get") {
    constexpr double bytes = 100;
    for (std::int32_t p = 1; p <= 5; ++p)
        for (std::int32_t q = 1; q <= 5; ++q)
            for (std::int32_t root = 0; root < p; ++root) {
                CAPTURE(p);
                CAPTURE(q);
                CAPTURE(root);
                const auto moved = [&](const char* name) { return bytes_moved(name, p, q, 100, root); };
                CHECK(moved("barrier") == 0);
                CHECK(moved("bcast") == bytes * q);
                CHECK(moved("reduce") == bytes * q);
                CHECK(moved("gatherv") == bytes * q);
                CHECK(moved("scatterv") == bytes * q);
                CHECK(moved("gather") >= bytes * (2 * q - 1));  // by way of rank 0
                CHECK(moved("scatter") >= bytes * (2 * q - 1));
                CHECK(moved("allgather") == 2 * bytes * p * q);
                CHECK(moved("allgatherv") == 2 * bytes * p * q);
                CHECK(moved("alltoall") == 2 * bytes * p * q);
                CHECK(moved("alltoallw") == 2 * bytes * p * q);
                CHECK(moved("allreduce") == 2 * bytes + 2 * bytes * (p - 1) + 2 * bytes * (q - 1));
                // Each group reduces all that the other gets: of both it is p and q blocks, each to its rank.
                if (p == q) CHECK(moved("reduce_scatter") == bytes * (2 * p + 2 * p * (p - 1) + 2 * (p - 1)));
                if (p == q) CHECK(moved("reduce_scatter_block") >= bytes * (2 * p + 2 * p * (p - 1) + 2 * (p - 1)));
            }
}

TEST_CASE("direct collectives within a group") {
    for (std::int32_t p = 2; p <= 6; ++p) {
        CAPTURE(p);
        const double others = 100.0 * (p - 1);
        CHECK(bytes_moved("scan", p, 0, 100, -1) == others);
        CHECK(bytes_moved("gatherv", p, 0, 100, p - 1) == others);
        CHECK(bytes_moved("scatterv", p, 0, 100, p - 1) == others);
        CHECK(bytes_moved("allgatherv", p, 0, 100, -1) == others * p);
        CHECK(bytes_moved("alltoallv", p, 0, 100, -1) == others * p);
        CHECK(bytes_moved("reduce_scatter", p, 0, 100, -1) >= others);
    }
}

TEST_CASE("functions mean what MPI defines") {
    CHECK(replay::kind_of("MPI_Isendrecv") == FunctionKind::isendrecv);
    CHECK(replay::kind_of("MPI_Psend_init") == FunctionKind::partitioned_send);
    CHECK(replay::kind_of("MPI_Put_c") == FunctionKind::one_sided);
    CHECK(replay::kind_of("MPI_Win_fence") == FunctionKind::one_sided);
    CHECK(replay::kind_of("MPI_Win_allocate_c") == FunctionKind::set_up);
    CHECK(replay::kind_of("MPI_Win_lock") == FunctionKind::one_sided);
    CHECK(replay::kind_of("MPI_Ineighbor_alltoallw") == FunctionKind::collective);
    CHECK(replay::kind_of("MPI_File_write_at") == FunctionKind::file);
    CHECK(replay::kind_of("MPI_Comm_rank") == FunctionKind::local);
    CHECK(replay::one_sided_kind_of("MPI_Rget_accumulate") == OneSidedKind::fetch);
    CHECK(replay::one_sided_kind_of("MPI_Win_lock") == OneSidedKind::lock);
    CHECK(replay::one_sided_kind_of("MPI_Win_unlock_all") == OneSidedKind::unlock_all);
}
