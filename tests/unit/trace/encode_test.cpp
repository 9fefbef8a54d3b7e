// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/encode.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

#include "hocket/base/error.hpp"
#include "hocket/base/random.hpp"
#include "hocket/trace/trace.hpp"
#include "sample.hpp"

using hocket::InvalidInput;
using hocket::Trace;
using namespace hocket::trace;

namespace {

namespace fs = std::filesystem;

std::int32_t small(hocket::base::Random& random, std::int64_t size) {
    return static_cast<std::int32_t>(random.below(size));
}

/// Any value of the field that the format can hold, or none.
template <class T>
void maybe(hocket::base::Random& random, T& value, std::int64_t low, std::int64_t high) {
    if (random.below(2) == 0) value = static_cast<T>(low + random.below(high - low));
}

Call no_call() {
    Call call{};
    call.bytes = call.receive_bytes = -1;
    call.communicator = call.root = call.peer = call.tag = call.receive_peer = call.receive_tag = -1;
    call.datatype = call.op = call.new_communicator = call.window = call.file = -1;
    call.blocks = call.completions = -1;
    call.calls = 1;
    return call;
}

/// As a rank may have recorded it: times of a thread grow, polls lie one behind the other.
RankFile random_rank_file(hocket::base::Random& random, std::int32_t rank, std::int32_t num_ranks) {
    RankFile file;
    file.rank = rank;
    file.num_ranks = num_ranks;
    file.host = std::string(static_cast<std::size_t>(random.below(65)), 'h');
    file.process = static_cast<std::uint32_t>(random.below(70000));
    file.end = small(random, 5) - 1;
    for (auto n = 1 + random.below(20); n > 0; --n) file.functions.push_back("MPI_" + std::to_string(n));
    for (auto n = random.below(3); n > 0; --n) file.datatypes.push_back({"type" + std::to_string(n), 8 * n});
    for (auto n = random.below(3); n > 0; --n) file.operators.push_back({"op" + std::to_string(n), n == 1});
    std::vector<std::int32_t> world;
    for (std::int32_t r = 0; r < num_ranks; ++r) world.push_back(r);
    file.communicators.push_back({-1, -1, false, rank, world, {}});
    for (auto n = random.below(3); n > 0; --n)
        file.communicators.push_back({small(random, 2) - 1, small(random, 2) - 1, false, rank, world, {}});
    if (num_ranks > 1 && random.below(2) == 0) {
        const bool low = rank == 0;
        const std::vector<std::int32_t> others(world.begin() + 1, world.end());
        file.communicators.push_back({0, 0, true, low ? 0 : rank - 1, low ? std::vector<std::int32_t>{0} : others,
                                      low ? others : std::vector<std::int32_t>{0}});
    }
    std::int64_t now_ns = (random.below(3) - 1) * 1'000'000, cpu_ns = 0;
    const auto later = [&random](std::int64_t& time_ns) { return time_ns += random.below(1000); };
    for (auto n = random.below(40); n > 0; --n) {
        Call call = no_call();
        call.function = small(random, static_cast<std::int64_t>(file.functions.size()));
        call.flags = static_cast<std::uint16_t>(random.below(8));
        call.enter_ns = later(now_ns);
        call.exit_ns = later(now_ns);
        call.enter_cpu_ns = later(cpu_ns);
        call.exit_cpu_ns = later(cpu_ns);
        maybe(random, call.communicator, 0, static_cast<std::int64_t>(file.communicators.size()));
        maybe(random, call.new_communicator, 0, static_cast<std::int64_t>(file.communicators.size()));
        maybe(random, call.bytes, 0, std::int64_t{1} << 40);
        if (!file.datatypes.empty()) maybe(random, call.datatype, 0, static_cast<std::int64_t>(file.datatypes.size()));
        if (!file.operators.empty()) maybe(random, call.op, 0, static_cast<std::int64_t>(file.operators.size()));
        maybe(random, call.root, -3, num_ranks);
        maybe(random, call.peer, -2, num_ranks);
        maybe(random, call.tag, -1, 100);
        maybe(random, call.receive_peer, -2, num_ranks);
        maybe(random, call.receive_tag, -1, 100);
        maybe(random, call.receive_bytes, -1, 100);
        maybe(random, call.request, 1, std::int64_t{1} << 40);
        maybe(random, call.window, 0, 3);
        maybe(random, call.file, 0, 3);
        maybe(random, call.error, 0, 20);
        if (random.below(4) == 0) {
            call.completions = static_cast<std::int64_t>(file.completions.size());
            call.num_completions = random.below(4);
            for (std::int64_t i = 0; i < call.num_completions; ++i)
                file.completions.push_back({static_cast<std::uint64_t>(1 + random.below(9)), small(random, 3) - 1,
                                            small(random, 3) - 1, random.below(3) - 1});
            // The first of several, where it is not recorded.
            if (call.num_completions > 0 && call.request == 0)
                call.request = file.completions[static_cast<std::size_t>(call.completions)].request;
        }
        if (random.below(4) == 0) {
            call.blocks = static_cast<std::int64_t>(file.blocks.size());
            for (int vector = 0; vector < 2; ++vector) {
                const std::int64_t size = random.below(4);
                file.blocks.push_back(size);
                for (std::int64_t i = 0; i < size; ++i) file.blocks.push_back(random.below(1000));
            }
        }
        if (random.below(4) == 0) {
            call.calls = 1 + random.below(9);
            call.outside_ns = random.below(1 + call.exit_ns - call.enter_ns);
            call.outside_cpu_ns = random.below(1 + call.exit_cpu_ns - call.enter_cpu_ns);
        }
        file.calls.push_back(call);
    }
    if (file.end < 0 && random.below(2) == 0) {
        file.open_enter_ns = now_ns;
        file.open_function = small(random, static_cast<std::int64_t>(file.functions.size()));
        if (now_ns == 0) ++file.open_enter_ns;
    }
    return file;
}

/// A folder that is gone with its object.
class Folder {
public:
    Folder() : path(fs::temp_directory_path() / ("hocket-encode-test-" + std::to_string(getpid()))) {}
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    fs::path path;
};

}  // namespace

TEST_CASE("what is encoded is decoded") {
    const RankFile file = decode_rank_file(sample().bytes, "f");
    CHECK(decode_rank_file(encode_rank_file(file), "f") == file);
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        CAPTURE(seed);
        hocket::base::Random random(seed);
        const auto num_ranks = static_cast<std::int32_t>(1 + random.below(5));
        const RankFile one = random_rank_file(random, small(random, num_ranks), num_ranks);
        REQUIRE(decode_rank_file(encode_rank_file(one), "f") == one);
    }
}

TEST_CASE("whatever a damaged file is read as, it is written so that it is read as the same") {
    const std::string good = sample().bytes;
    std::mt19937 random(1);
    const auto below = [&random](std::size_t n) { return random() % n; };
    int num_read = 0;
    for (int round = 0; round < 20000; ++round) {
        CAPTURE(round);
        std::string bytes = good;
        for (std::size_t flips = 1 + below(3); flips > 0; --flips)
            bytes[256 + below(bytes.size() - 256)] ^= static_cast<char>(1 << below(8));
        if (below(4) == 0) bytes.resize(256 + below(bytes.size() - 256));
        RankFile file;
        try {
            file = decode_rank_file(bytes, "f");
        } catch (const InvalidInput&) {
            continue;
        }
        ++num_read;
        REQUIRE(decode_rank_file(encode_rank_file(file), "f") == file);
    }
    CHECK(num_read > 1000);
}

TEST_CASE("a trace that is written is opened as the same") {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        hocket::base::Random random(seed);
        const auto num_ranks = static_cast<std::int32_t>(1 + random.below(5));
        std::vector<RankFile> files;
        for (std::int32_t r = 0; r < num_ranks; ++r) files.push_back(random_rank_file(random, r, num_ranks));
        const Trace trace = Trace::make(files);
        const Folder folder;
        trace.write(folder.path);
        const Trace again = Trace::open(folder.path);
        REQUIRE(again.functions() == trace.functions());
        REQUIRE(again.communicators() == trace.communicators());
        for (std::int32_t r = 0; r < num_ranks; ++r) REQUIRE(again.rank(r) == trace.rank(r));
        REQUIRE(again == trace);
        CHECK_THROWS_AS(trace.write(folder.path), InvalidInput);  // it would mix two traces
    }
}

TEST_CASE("ranks that are not a trace are refused") {
    hocket::base::Random random(1);
    std::vector<RankFile> files{random_rank_file(random, 0, 2), random_rank_file(random, 1, 2)};
    files[1].calls.push_back(no_call());
    files[1].calls.back().enter_ns = files[1].calls.back().exit_ns = INT64_MAX / 32;
    CHECK(Trace::make(files).num_ranks() == 2);
    files[1].calls.back().function = 99;
    CHECK_THROWS_WITH_AS(Trace::make(files), doctest::Contains("rank-000001.bin: "), InvalidInput);
    files[1].calls.back().function = 0;
    files[1].calls.back().exit_ns -= 1;
    CHECK_THROWS_AS(Trace::make(files), InvalidInput);
    files[1].calls.pop_back();
    files[1].calls.push_back(no_call());
    files[1].calls.back().blocks = 1000000;
    CHECK_THROWS_AS(Trace::make(files), InvalidInput);
    files.pop_back();
    CHECK_THROWS_AS(Trace::make(files), InvalidInput);
    CHECK_THROWS_AS(Trace::make({}), InvalidInput);
}
