// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/rank_file.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

#include "hocket/base/error.hpp"
#include "sample.hpp"

using hocket::InvalidInput;
using hocket::trace::Call;
using hocket::trace::decode_rank_file;
using hocket::trace::RankFile;

namespace {

std::string message_of(const std::string& bytes) {
    try {
        decode_rank_file(bytes, "rank-000001.bin");
    } catch (const InvalidInput& error) {
        CHECK_FALSE(error.hint().empty());
        return error.what();
    }
    return "no error";
}

template <class T>
std::string patched(std::string bytes, std::size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    return bytes;
}

}  // namespace

TEST_CASE("a file with one record of each kind") {
    const RankFile file = decode_rank_file(sample().bytes, "f");
    CHECK(file.rank == 1);
    CHECK(file.num_ranks == 4);
    CHECK(file.host == "a0");
    CHECK(file.end == HOCKET_TRACE_END_FINALIZE);
    CHECK(file.functions == std::vector<std::string>{"MPI_Sendrecv", "MPI_Alltoallv", "MPI_Waitall", "MPI_Test"});
    REQUIRE(file.communicators.size() == 3);
    CHECK(file.communicators[2].inter);
    CHECK(file.communicators[2].made_by == 1);
    CHECK(file.communicators[2].parent == 0);
    CHECK(file.communicators[2].members == std::vector<std::int32_t>{3, 1});
    CHECK(file.communicators[2].remote == std::vector<std::int32_t>{0, 2});
    CHECK(file.datatypes[0] == hocket::trace::Datatype{"MPI_DOUBLE", 8});
    CHECK(file.operators[0] == hocket::trace::Operator{"MPI_SUM", true});
    REQUIRE(file.calls.size() == 4);

    const Call& sendrecv = file.calls[0];
    CHECK(sendrecv.function == 0);
    CHECK(sendrecv.communicator == 2);
    CHECK(sendrecv.bytes == 80);
    CHECK(sendrecv.datatype == 0);
    CHECK(sendrecv.peer == 1);
    CHECK(sendrecv.tag == 5);
    // The status has what came: 24 of the 800 bytes, from rank 0 with tag 9, where any was asked for.
    CHECK(sendrecv.receive_peer == 0);
    CHECK(sendrecv.receive_tag == 9);
    CHECK(sendrecv.receive_bytes == 24);
    CHECK(sendrecv.root == -1);
    CHECK(sendrecv.request == 0);

    const Call& alltoallv = file.calls[1];
    CHECK(alltoallv.bytes == 7);  // 3 + 4 sent
    CHECK(std::vector<std::int64_t>(file.blocks.begin() + alltoallv.blocks, file.blocks.end()) ==
          std::vector<std::int64_t>{2, 3, 4, 3, 5, 6, 7});

    const Call& waitall = file.calls[2];
    CHECK(waitall.error == 15);
    CHECK(waitall.request == 11);
    REQUIRE(waitall.num_completions == 2);
    CHECK(file.completions[1].source == 3);
    CHECK(file.completions[1].bytes == 16);
    CHECK(waitall.calls == 1);
    CHECK(waitall.outside_ns == 0);

    const Call& polls = file.calls[3];
    CHECK(polls.calls == 5);
    CHECK(polls.enter_ns == 32000);
    CHECK(polls.exit_ns == 40000);
    CHECK(polls.outside_ns == 2000);
    CHECK(polls.enter_cpu_ns == 2900);  // running since the reading of 900 at 30000
    CHECK(polls.exit_cpu_ns == 7400);
    CHECK(polls.outside_cpu_ns == 1500);
}

TEST_CASE("folds of a thread that polls in two ways in turns lie one behind the other") {
    Writer out(0, 1);
    out.function(0, "MPI_Test");
    out.function(1, "MPI_Iprobe");
    out.function(2, "MPI_Send");
    // Test 10-12, Iprobe 15-16, Test 20-21, Iprobe 22-30: the fold of the second begins where the first poll ended.
    fold(out, 0, 10, 21, {2, 3, 4, 3, 4});
    fold(out, 1, 12, 30, {2, 9, 4, 0, 0});
    out.call(2, 33, 34, 0);
    out.footer();
    const RankFile file = decode_rank_file(out.bytes, "f");
    REQUIRE(file.calls.size() == 3);
    CHECK(file.calls[0].enter_ns == 10);
    CHECK(file.calls[0].exit_ns == 17);
    CHECK(file.calls[1].enter_ns == 17);
    CHECK(file.calls[1].exit_ns == 30);
    CHECK(file.calls[1].calls == 2);
    CHECK(file.calls[2].enter_ns == 33);
}

TEST_CASE("files of version 1 are read") {
    const std::string one = patched(sample().bytes, offsetof(hocket_trace_header, version), std::uint32_t{1});
    CHECK(decode_rank_file(one, "f").calls.size() == 4);
}

TEST_CASE("CPU time between readings: running since the last, never beyond the next") {
    // Readings: 400 at 1000 and 900 at 30000. At 1500 the thread has run 500 more, that is 900, no more than the next
    // reading; at 2000 and 2600 it may not go beyond it; at 31000 it has run 1000 more.
    const RankFile file = decode_rank_file(sample().bytes, "f");
    CHECK(file.calls[0].enter_cpu_ns == 400);
    CHECK(file.calls[0].exit_cpu_ns == 900);
    CHECK(file.calls[1].enter_cpu_ns == 900);
    CHECK(file.calls[1].exit_cpu_ns == 900);
    CHECK(file.calls[2].enter_cpu_ns == 900);
    CHECK(file.calls[2].exit_cpu_ns == 1900);
}

TEST_CASE("the header's offset brings instants to rank 0's clock") {
    const RankFile file = decode_rank_file(
        patched(sample().bytes, offsetof(hocket_trace_header, clock_offset_ns), std::int64_t{-250}), "f");
    CHECK(file.calls[0].enter_ns == 750);
    CHECK(file.calls[0].exit_ns == 1250);
}

TEST_CASE("every prefix of a file is read, or refused in one message") {
    const Writer whole = sample();
    std::size_t calls = 0;
    for (std::size_t size = 0; size < whole.bytes.size(); ++size) {
        const std::string prefix = whole.bytes.substr(0, size);
        if (size < sizeof(hocket_trace_header)) {
            CHECK(message_of(prefix).find("256 bytes") != std::string::npos);
            continue;
        }
        const RankFile file = decode_rank_file(prefix, "f");
        CHECK(file.end == -1);
        CHECK(file.calls.size() >= calls);  // more bytes never have less
        calls = file.calls.size();
    }
    CHECK(calls == 4);
}

TEST_CASE("a killed program leaves a record without its length, and zeros behind") {
    const std::string good = sample().bytes;
    std::size_t at = sizeof(hocket_trace_header), records = 0;
    for (; at < good.size(); ++records) {
        const RankFile file = decode_rank_file(patched(good, at, std::uint32_t{0}) + std::string(64, '\0'), "f");
        CHECK(file.end == -1);
        CHECK(file.calls.size() == (records < 10 ? 0 : records - 10));  // 10 definitions come before the calls
        std::uint32_t length = 0;
        std::memcpy(&length, good.data() + at, sizeof length);
        at += length;
    }
    CHECK(records == 15);
}

TEST_CASE("the call that a rank was in when it was killed") {
    Writer out = sample();
    out.bytes.resize(out.bytes.size() - 24);  // no footer
    std::string bytes = patched(out.bytes, offsetof(hocket_trace_header, open_enter_ns), std::int64_t{40000});
    bytes = patched(bytes, offsetof(hocket_trace_header, open_function), std::uint32_t{900});
    const RankFile file = decode_rank_file(bytes, "f");
    CHECK(file.open_enter_ns == 40000);
    CHECK(file.functions[static_cast<std::size_t>(file.open_function)] == "MPI_Waitall");
    CHECK(decode_rank_file(patched(bytes, offsetof(hocket_trace_header, open_function), std::uint32_t{901}), "f")
              .open_function == -1);
}

TEST_CASE("damage is refused with file, offset, what was found and what is accepted") {
    const std::string good = sample().bytes;
    CHECK(message_of("") ==
          "rank-000001.bin: byte 0: found a file of 0 bytes; accepted: a trace of one rank, which begins with a header "
          "of 256 bytes");
    CHECK(message_of(patched(good, 0, 'X')).find("accepted: \"HOCKETTR\"") != std::string::npos);
    CHECK(message_of(patched(good, 8, std::uint32_t{4})) ==
          "rank-000001.bin: byte 8: found format version 4; accepted: 1 to 3, the versions that this hocket reads; "
          "made by a newer hocket; update this one");
    CHECK(message_of(patched(good, offsetof(hocket_trace_header, rank), std::int32_t{4})).find("rank 4 of 4") !=
          std::string::npos);
    CHECK(message_of(patched(good, 256, std::uint32_t{12}))
              .find("byte 256: found a record of 12 bytes; accepted: multiples of 8") != std::string::npos);
    Writer unknown(0, 1);
    unknown.call(4, 0, 1, 0);
    CHECK(message_of(unknown.bytes).find("found function 4") != std::string::npos);
    Writer backwards(0, 1);
    backwards.function(0, "MPI_Barrier");
    backwards.call(0, 10, 9, 0);
    CHECK(message_of(backwards.bytes).find("found a call from 10 to 9 ns") != std::string::npos);
    Writer undefined(0, 1);
    undefined.function(0, "MPI_Barrier");
    undefined.call(0, 1, 2, HOCKET_TRACE_COMM, std::uint32_t{0});
    CHECK(message_of(undefined.bytes).find("found communicator 0") != std::string::npos);
    Writer huge(0, 1);
    huge.function(0, "MPI_Waitall");
    huge.call(0, 1, 2, HOCKET_TRACE_REQUESTS, std::uint32_t{4000000000});
    CHECK(message_of(huge.bytes).find("found 4000000000 entries of requests") != std::string::npos);
    Writer stranger(0, 2);
    stranger.communicator(0, 0, {0, 2});
    CHECK(message_of(stranger.bytes).find("found member 2; accepted: -1 to 1") != std::string::npos);
    Writer nothing(0, 1);
    nothing.function(0, "MPI_Test");
    fold(nothing, 0, 1, 2, {0, 1, 0, 0, 0});
    CHECK(message_of(nothing.bytes).find("found 0 polls; accepted: 1 or more") != std::string::npos);
    Writer negative(0, 1);
    negative.function(0, "MPI_Test");
    fold(negative, 0, 1, 2, {2, 1, -7, 0, 0});
    CHECK(message_of(negative.bytes).find("found -7 ns in polls; accepted: 0 or more") != std::string::npos);
    Writer miscounted = sample();
    miscounted.calls = 9;
    miscounted.bytes.resize(miscounted.bytes.size() - 24);
    miscounted.footer();
    CHECK(message_of(miscounted.bytes).find("a count of 9 calls; accepted: 4") != std::string::npos);
}

TEST_CASE("random damage never does worse than InvalidInput") {
    const char* given = std::getenv("HOCKET_TEST_SEED");
    const unsigned seed = given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
    MESSAGE("HOCKET_TEST_SEED=" << seed);
    std::mt19937 random(seed);
    const std::string good = sample().bytes;
    const auto below = [&](std::size_t n) { return random() % n; };
    int refused = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string bytes = good;
        for (std::size_t flips = 1 + below(4); flips > 0; --flips) {
            // Half of the damage behind the header, in records.
            const std::size_t at = below(2) == 0 ? below(bytes.size()) : 256 + below(bytes.size() - 256);
            bytes[at] = below(2) == 0 ? static_cast<char>(bytes[at] ^ (1 << below(8))) : static_cast<char>(random());
        }
        if (below(4) == 0) bytes.resize(below(bytes.size()));
        if (below(8) == 0) bytes += good.substr(below(good.size()));
        try {
            const RankFile file = decode_rank_file(bytes, "f");
            CHECK(file.calls.size() <= bytes.size() / 32);  // the least record of a call
        } catch (const InvalidInput& error) {
            CHECK(std::string(error.what()).find("f: byte ") == 0);
            ++refused;
        }
    }
    CHECK(refused > 1000);
}
