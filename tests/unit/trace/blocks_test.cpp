// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

/// Files of version 3: blocks, signatures that are kept and forgotten, reading a block at a time.
#include <doctest/doctest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/trace/coder.h"
#include "hocket/trace/encode.hpp"
#include "hocket/trace/rank_file.hpp"
#include "sample.hpp"

using hocket::InvalidInput;
using namespace hocket::trace;

namespace {

/// A rank that sends, receives and waits: 3 calls a round, with `tags` different tags.
RankFile halo(int rounds, int tags) {
    RankFile file;
    file.num_ranks = 2;
    file.end = HOCKET_TRACE_END_FINALIZE;
    file.functions = {"MPI_Isend", "MPI_Irecv", "MPI_Waitall"};
    file.datatypes = {{"MPI_DOUBLE", 8}};
    file.communicators = {{-1, -1, false, 0, {0, 1}, {}}};
    std::int64_t now_ns = 1'000'000'000;
    std::uint64_t request = 0;
    for (int i = 0; i < rounds; ++i) {
        for (std::int32_t function = 0; function < 3; ++function) {
            Call call{};
            call.function = function;
            call.enter_ns = now_ns += 500 + i % 7;
            call.exit_ns = now_ns += 300 + i % 5;
            call.enter_cpu_ns = call.enter_ns;
            call.exit_cpu_ns = call.exit_ns;
            call.receive_bytes = call.bytes = -1;
            call.communicator = call.datatype = function < 2 ? 0 : -1;
            call.root = call.op = call.receive_peer = call.receive_tag = call.new_communicator = -1;
            call.window = call.file = -1;
            call.blocks = call.completions = call.peer = call.tag = -1;
            call.calls = 1;
            if (function < 2) {
                call.bytes = 8000;
                call.peer = 1;
                call.tag = i % tags;
                call.request = ++request;
            } else {
                call.completions = static_cast<std::int64_t>(file.completions.size());
                call.num_completions = 2;
                call.request = request - 1;
                file.completions.push_back({request - 1, -1, -1, -1});
                file.completions.push_back({request, 1, i % tags, 8000});
            }
            file.calls.push_back(call);
        }
    }
    return file;
}

/// Reads it block by block; the calls of all blocks together.
RankFile in_blocks(const std::string& bytes, int& num_blocks) {
    RankFileStream stream(bytes, "f");
    RankFile all;
    for (num_blocks = 0; stream.next(); ++num_blocks) {
        const RankFile& part = stream.part();
        for (Call call : part.calls) {
            if (call.completions >= 0) call.completions += static_cast<std::int64_t>(all.completions.size());
            if (call.blocks >= 0) call.blocks += static_cast<std::int64_t>(all.blocks.size());
            all.calls.push_back(call);
        }
        all.completions.insert(all.completions.end(), part.completions.begin(), part.completions.end());
        all.blocks.insert(all.blocks.end(), part.blocks.begin(), part.blocks.end());
        all.end = part.end;
    }
    return all;
}

}  // namespace

TEST_CASE("a loop takes few bytes a call") {
    const RankFile file = halo(20000, 1);
    const std::string bytes = encode_rank_file(file);
    CHECK(static_cast<double>(bytes.size()) / 60000 < 5.1);  // head, two bytes for each of two times
    CHECK(decode_rank_file(bytes, "f") == file);
}

TEST_CASE("more signatures than are kept") {
    const RankFile file = halo(60000, 60000);  // two new signatures a round, of some 14 bytes: beyond 1 MiB
    const std::string bytes = encode_rank_file(file);
    CHECK(static_cast<double>(bytes.size()) / 180000 < 23);
    CHECK(decode_rank_file(bytes, "f") == file);
}

TEST_CASE("vectors that are too long to be kept, or for a usual block") {
    for (const std::int64_t n : {20'000, 300'000}) {
        RankFile file = halo(3, 1);
        for (Call& call : file.calls) {
            call.blocks = static_cast<std::int64_t>(file.blocks.size());
            file.blocks.push_back(n);
            for (std::int64_t i = 0; i < n; ++i) file.blocks.push_back(i % 1000);
            file.blocks.push_back(0);
        }
        const std::string bytes = encode_rank_file(file);
        CHECK(decode_rank_file(bytes, "f") == file);
        if (n < 100'000) CHECK(bytes.size() < 9 * 20'000);  // once for each function, not for each call
    }
}

TEST_CASE("read a block at a time it is the same") {
    for (const int tags : {1, 40, 10000}) {
        const RankFile file = halo(20000, tags);
        int num_blocks = 0;
        const RankFile found = in_blocks(encode_rank_file(file), num_blocks);
        CHECK(num_blocks > 3);
        CHECK(found.calls == file.calls);
        CHECK(found.completions == file.completions);
        CHECK(found.end == HOCKET_TRACE_END_FINALIZE);
    }
}

TEST_CASE("every prefix is read") {
    const std::string whole = encode_rank_file(decode_rank_file(sample().bytes, "f"));
    std::size_t calls = 0;
    for (std::size_t size = sizeof(hocket_trace_header); size < whole.size(); ++size) {
        CAPTURE(size);
        const RankFile file = decode_rank_file(std::string_view(whole).substr(0, size), "f");
        CHECK(file.end == -1);
        CHECK(file.calls.size() >= calls);  // more bytes never have less
        calls = file.calls.size();
    }
    CHECK(calls == 4);
}

TEST_CASE("random damage of blocks never does worse than InvalidInput") {
    const char* given = std::getenv("HOCKET_TEST_SEED");
    const unsigned seed = given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
    const char* rounds = std::getenv("HOCKET_TEST_ROUNDS");
    MESSAGE("HOCKET_TEST_SEED=" << seed);
    std::mt19937 random(seed);
    const std::string samples[] = {encode_rank_file(decode_rank_file(sample().bytes, "f")),
                                   encode_rank_file(halo(20, 3))};
    const auto below = [&](std::size_t n) { return random() % n; };
    int refused = 0;
    for (long round = rounds ? std::strtol(rounds, nullptr, 10) : 20000; round > 0; --round) {
        const std::string& good = samples[below(2)];
        std::string bytes = good;
        for (std::size_t flips = 1 + below(4); flips > 0; --flips) {
            const std::size_t at = below(8) == 0 ? below(bytes.size()) : 256 + below(bytes.size() - 256);
            bytes[at] = below(2) == 0 ? static_cast<char>(bytes[at] ^ (1 << below(8))) : static_cast<char>(random());
        }
        if (below(4) == 0) bytes.resize(below(bytes.size()));
        if (below(8) == 0) bytes += good.substr(below(good.size()));
        RankFile file;
        try {
            file = decode_rank_file(bytes, "f");
        } catch (const InvalidInput& error) {
            CHECK(std::string(error.what()).find("f: byte ") == 0);
            ++refused;
            continue;
        }
        CHECK(file.calls.size() <= bytes.size() / 3);
        REQUIRE(decode_rank_file(encode_rank_file(file), "f") == file);
    }
    CHECK(refused > 1000);
}
