// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/collectives.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "hocket/base/error.hpp"
#include "writer.hpp"

using hocket::InvalidInput;
using hocket::Trace;
using hocket::trace::Collective;
using hocket::trace::collective_of;
using hocket::trace::collectives;
using hocket::trace::Form;

namespace {

namespace fs = std::filesystem;

enum : std::uint16_t { kBcast, kIbcast, kWait, kReduceInit, kStart, kSplit, kBarrier, kAllgatherv };

/// A folder that is gone with its object.
class Folder {
public:
    Folder() : path(fs::temp_directory_path() / ("hocket-trace-test-" + std::to_string(getpid()))) {
        fs::create_directory(path);
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    void add(int rank, const Writer& writer) const {
        std::ofstream(path / ("rank-00000" + std::to_string(rank) + ".bin"), std::ios::binary) << writer.bytes;
    }
    fs::path path;
};

Writer begin(int rank, int num_ranks) {
    Writer out(rank, num_ranks);
    // Another order of functions on each rank: ids belong to a file.
    const std::vector<std::pair<std::uint16_t, const char*>> functions = {
        {kBcast, "MPI_Bcast"},     {kIbcast, "MPI_Ibcast"},
        {kWait, "MPI_Wait"},       {kReduceInit, "MPI_Reduce_init"},
        {kStart, "MPI_Start"},     {kSplit, "MPI_Comm_split"},
        {kBarrier, "MPI_Barrier"}, {kAllgatherv, "MPI_Allgatherv_c"}};
    for (std::size_t i = 0; i < functions.size(); ++i) {
        const auto& [id, name] = functions[(i + static_cast<std::size_t>(rank)) % functions.size()];
        out.function(id, name);
    }
    std::vector<std::int32_t> world;
    for (int r = 0; r < num_ranks; ++r) world.push_back(r);
    out.communicator(0, rank, world);
    out.communicator(1, 0, {rank});
    return out;
}

void bcast(Writer& out, std::uint32_t communicator, std::int64_t enter_ns, std::int64_t bytes, std::int32_t root) {
    out.call(kBcast, enter_ns, enter_ns + 10, HOCKET_TRACE_COMM | HOCKET_TRACE_BYTES | HOCKET_TRACE_ROOT, communicator,
             bytes, root);
}

std::string message_of(const Folder& folder) {
    try {
        collectives(Trace::open(folder.path));
    } catch (const InvalidInput& error) {
        CHECK_FALSE(error.hint().empty());
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("names of collectives") {
    CHECK(collective_of("MPI_Bcast").collective == "bcast");
    CHECK(collective_of("MPI_Ibcast").form == Form::nonblocking);
    CHECK(collective_of("MPI_Ireduce_scatter_block_c").collective == "reduce_scatter_block");
    CHECK(collective_of("MPI_Allgatherv_init").form == Form::persistent);
    CHECK(collective_of("MPI_Neighbor_alltoallw").collective == "neighbor_alltoallw");
    for (const char* other :
         {"MPI_Send", "MPI_Init", "MPI_Isend", "MPI_Send_init", "Bcast", "MPI_Comm_idup", "MPI_", "MPI_Reduce_local"}) {
        CHECK(collective_of(other).collective.empty());
    }
}

TEST_CASE("communicators are one by members and order of creation, calls are matched by order") {
    Folder folder;
    // Twice a split into {1, 0} and {2}: ranks 0 and 1 number theirs alike although rank 1 made a communicator of its
    // own between.
    for (int rank = 0; rank < 3; ++rank) {
        Writer out = begin(rank, 3);
        const std::vector<std::int32_t> members =
            rank == 2 ? std::vector<std::int32_t>{2} : std::vector<std::int32_t>{1, 0};
        const int own = rank == 0 ? 1 : 0;
        std::uint32_t id = 2;
        out.communicator(id, own, members, {}, kSplit, 0);
        if (rank == 1) out.communicator(++id, 0, {1}, {}, kSplit, 1);
        out.communicator(++id, own, members, {}, kSplit, 0);
        if (rank != 2) bcast(out, id, 100 + 10 * rank, 64, 1);
        bcast(out, 0, 200 + rank, rank == 0 ? 8 : 16, 0);
        out.footer();
        folder.add(rank, out);
    }
    const Trace trace = Trace::open(folder.path);
    // world, self of rank 0, two of {1, 0}, self of 1, its own, self of 2, its two splits
    CHECK(trace.communicators().size() == 9);
    const std::vector<Collective> rows = collectives(trace);
    REQUIRE(rows.size() == 2);
    CHECK(trace.communicators()[static_cast<std::size_t>(rows[0].communicator)].members ==
          std::vector<std::int32_t>{1, 0});
    CHECK(trace.functions()[static_cast<std::size_t>(trace.communicators()[3].made_by)] == "MPI_Comm_split");
    CHECK(rows[0].communicator == 3);
    CHECK(rows[0].collective == "bcast");
    CHECK(rows[0].bytes == 64);
    CHECK(rows[0].uniform);
    CHECK(rows[0].root == 1);
    CHECK(rows[0].first_enter_ns == 100);
    CHECK(rows[0].last_enter_ns == 110);
    CHECK(rows[0].last_exit_ns == 120);
    CHECK(rows[0].enter_ns == std::vector<std::int64_t>{110, 100});  // by rank in the communicator
    // The ranks disagree on the size: the most, and marked.
    CHECK(rows[1].communicator == 0);
    CHECK(rows[1].bytes == 16);
    CHECK_FALSE(rows[1].uniform);
}

TEST_CASE("non-blocking collectives end with their completion, persistent ones begin with their start") {
    Folder folder;
    for (int rank = 0; rank < 2; ++rank) {
        Writer out = begin(rank, 2);
        const std::uint32_t mask = HOCKET_TRACE_COMM | HOCKET_TRACE_BYTES | HOCKET_TRACE_ROOT | HOCKET_TRACE_REQUEST;
        const auto wait = [&](std::uint64_t request, std::int64_t enter_ns) {
            out.call(kWait, enter_ns, enter_ns + 5, HOCKET_TRACE_REQUESTS, std::uint32_t{1}, request, std::int32_t{-1},
                     std::int32_t{-1}, std::int64_t{-1});
        };
        out.call(kIbcast, 10, 11, mask, std::uint32_t{0}, std::int64_t{32}, std::int32_t{0}, std::uint64_t{1});
        out.call(kReduceInit, 20, 21, mask, std::uint32_t{0}, std::int64_t{48}, std::int32_t{1}, std::uint64_t{2});
        wait(1, 30 + rank);
        for (const std::int64_t start : {40, 60}) {
            out.call(kStart, start, start + 1, HOCKET_TRACE_REQUEST, std::uint64_t{2});
            wait(2, start + 10);
        }
        out.footer();
        folder.add(rank, out);
    }
    const std::vector<Collective> rows = collectives(Trace::open(folder.path));
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].form == Form::nonblocking);
    CHECK(rows[0].first_enter_ns == 10);
    CHECK(rows[0].last_exit_ns == 36);
    for (const std::size_t i : {1, 2}) {
        CHECK(rows[i].collective == "reduce");
        CHECK(rows[i].form == Form::persistent);
        CHECK(rows[i].bytes == 48);
        CHECK(rows[i].root == 1);
        CHECK(rows[i].first_enter_ns == (i == 1 ? 40 : 60));
        CHECK(rows[i].last_exit_ns == (i == 1 ? 55 : 75));
    }
}

TEST_CASE("ranks that disagree, and recordings that were cut off") {
    Folder folder;
    Writer zero = begin(0, 2), one = begin(1, 2);
    bcast(zero, 0, 1, 8, 0);
    bcast(one, 0, 1, 8, 0);
    bcast(zero, 0, 20, 8, 0);
    Writer other_root = one, short_one = one;
    bcast(other_root, 0, 20, 8, 1);
    Writer cut_off = one;
    zero.footer();
    other_root.footer();
    short_one.footer();
    folder.add(0, zero);
    folder.add(1, other_root);
    CHECK(message_of(folder).find(
              "communicator 0 disagree on collective call number 2: found bcast from root 0 on rank 0 and bcast "
              "from root 1 on rank 1") != std::string::npos);
    folder.add(1, short_one);
    CHECK(message_of(folder).find("nothing on rank 1 and bcast from root 0 on rank 0") != std::string::npos);
    folder.add(1, cut_off);
    const Trace trace = Trace::open(folder.path);
    CHECK(trace.complete(0));
    CHECK_FALSE(trace.complete(1));
    CHECK(collectives(trace).size() == 1);
}

TEST_CASE("folders that are not traces") {
    Folder folder;
    CHECK(message_of(folder).find("found no rank file") != std::string::npos);
    folder.add(1, begin(1, 3));
    CHECK(message_of(folder).find("found rank-000001.bin of rank 1 where rank-000000.bin is expected") !=
          std::string::npos);
    folder.add(0, begin(0, 3));
    CHECK(message_of(folder).find("rank-000002.bin is missing; accepted: all 3 ranks") != std::string::npos);
    folder.add(2, begin(2, 4));
    CHECK(message_of(folder).find("found a run of 4 ranks; accepted: 3") != std::string::npos);
    CHECK_THROWS_AS(Trace::open(folder.path / "nothing"), InvalidInput);
}
