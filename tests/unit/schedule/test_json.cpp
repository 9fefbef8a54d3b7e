// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <random>

#include "hocket/base/error.hpp"
#include "hocket/collectives/algorithm.hpp"
#include "hocket/schedule/schedule.hpp"

using namespace hocket;

namespace {

std::string refusal(const std::string& text) {
    try {
        schedule_from_json(text, "file.json");
    } catch (const InvalidInput& error) {
        return error.what();
    }
    return "accepted";
}

const std::string good =
    R"({"format":"hocket.schedule/1","collective":"bcast","algorithm":"linear","num_ranks":2,"root":0,)"
    R"("segments":3,"ranks":[
[["send",1,[0,3],[]]],
[["recv",0,[0,3],[]]]
]}
)";

std::string with(const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("the text is compact, a rank a line") {
    const Schedule schedule = collectives::emit(collectives::find_algorithm(Collective::bcast, "linear"), {2, 3}, {});
    CHECK(to_json(schedule) == good);
    CHECK(schedule_from_json(good) == schedule);
}

TEST_CASE("every algorithm survives the round trip") {
    for (const collectives::Algorithm& algorithm : collectives::all_algorithms())
        for (const std::int32_t p : {1, 2, 5, 8}) {
            const Schedule schedule = collectives::emit(algorithm, {p, 2}, {});
            CHECK(schedule_from_json(to_json(schedule)) == schedule);
        }
}

TEST_CASE("a key that occurs twice is refused by name") {
    CHECK(refusal(with("\"root\":0", "\"root\":0,\"root\":1")) ==
          "file.json: the key \"root\" occurs twice in one object");
}

TEST_CASE("files of earlier versions have the key pieces") {
    CHECK(schedule_from_json(with("segments", "pieces")) == schedule_from_json(good));
    CHECK(refusal(with("\"segments\":3", "\"pieces\":3.5")) ==
          "file.json: pieces is 3.5: expected a whole number of 32 bits");
    CHECK(refusal(with("\"segments\":3", "\"segments\":3,\"pieces\":3")) == "file.json: unknown key \"pieces\"");
}

TEST_CASE("errors name the place, what was found and what is accepted") {
    CHECK(refusal("[]") == "file.json: []: expected an object");
    CHECK(refusal("{}") == "file.json: format is missing: expected \"hocket.schedule/1\"");
    CHECK(refusal(with("schedule/1", "schedule/2")) ==
          "file.json: format is \"hocket.schedule/2\": expected \"hocket.schedule/1\"");
    CHECK(refusal(with("\"root\"", "\"rooot\":0,\"root\"")) == "file.json: unknown key \"rooot\"");
    CHECK(refusal(with("\"segments\":3,", "")) == "file.json: key \"segments\" is missing");
    CHECK(refusal(with("bcast", "brodcast")) == "file.json: unknown collective \"brodcast\"");
    CHECK(refusal(with("\"segments\":3", "\"segments\":3.5")) ==
          "file.json: segments is 3.5: expected a whole number of 32 bits");
    CHECK(refusal(with("\"segments\":3", "\"segments\":3000000000")) ==
          "file.json: segments is 3000000000: expected a whole number of 32 bits");
    CHECK(refusal(with("\"num_ranks\":2", "\"num_ranks\":2000000000")) ==
          "file.json: operations of 2 ranks: expected 2000000000");
    CHECK(refusal(with("\"send\"", "\"sent\"")) ==
          "file.json: ranks[0][0][0] is \"sent\": expected \"send\", \"recv\", \"recv_reduce_left\" or "
          "\"recv_reduce_right\"");
    CHECK(refusal(with("[0,3],[]]],", "[0],[]]],")) == "file.json: ranks[0][0][2] is [0]: expected pairs first, count");
    CHECK(refusal(with("[0,3],[]]],", "[0,4],[]]],")) ==
          "file.json: rank 0, op 0: chunks 0, count 4 are not within 0 to 2");
    CHECK(
        refusal(with("[\"recv\",0,[0,3],[]]", "[\"recv\",0,[0,3]]")) ==
        "file.json: ranks[1][0] is [\"recv\",0,[0,3]]: expected [kind, peer, [first, count, ...], [dependency, ...]]");
    CHECK(refusal(with("[\"recv\",0,[0,3],[]]", "[\"recv\",0,[0,3],[0]]")) ==
          "file.json: rank 1, op 0: it depends on op 0: expected an op before it");
    CHECK(refusal(good.substr(0, 100)).find("file.json: not JSON: ") == 0);
}

TEST_CASE("damaged bytes are refused or read, never worse") {
    constexpr std::uint32_t seed = 3;
    MESSAGE("seed ", seed);
    std::mt19937 random(seed);
    const std::string text =
        to_json(collectives::emit(collectives::find_algorithm(Collective::allreduce, "ring"), {3, 2}, {}));
    for (int round = 0; round < 5000; ++round) {
        std::string damaged = text;
        for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
        if (round % 3 == 0) damaged.resize(random() % damaged.size());
        refusal(damaged);
    }
    refusal(std::string(100'000, '['));
}
