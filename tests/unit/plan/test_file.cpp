// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <random>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/plan/file.hpp"

using namespace hocket;

namespace {

std::string refusal(const std::string& text) {
    try {
        static_cast<void>(plan_from_json(text, "p.json"));
    } catch (const InvalidInput& error) {
        return error.what();
    }
    return "accepted";
}

// Has every key. What Python wrote before the core did, byte for byte.
const std::string good = R"({
 "format": "hocket.plan/3",
 "ranks": 4,
 "network": "two \u00e9 clusters",
 "created_by": "hocket 0.1.0",
 "progress": "auto",
 "hosts": ["a","a","b","b"],
 "entries": [
  {
   "collective": "bcast",
   "members": [0,1],
   "other_members": [[3,2]],
   "bytes_min": 1000,
   "bytes_max": 2000,
   "root": 1,
   "schedule": {"algorithm":"pipelined_chain","segment_bytes":4096,"order":[1,0]},
   "predicted_s": 1e-05,
   "lower_bound_s": 0.0001,
   "native_s": null,
   "tuned_s": 100000.0,
   "calls": 12,
   "evidence": {"mpi":"Open MPI 4.1.4","launches":3,"repetitions":5,"ratio":1.5,"ratio_interval":[1.4,1.6]},
   "reproducible": true
  },
  {
   "collective": "bcast",
   "members": [0,1],
   "bytes_min": 0,
   "bytes_max": 9,
   "root": 0,
   "schedule": {"custom":{"format":"hocket.schedule/1","collective":"bcast","algorithm":"custom","num_ranks":2,)"
                         R"("root":0,"segments":1,"ranks":[[["send",1,[0,1],[]]],[["recv",0,[0,1],[]]]]}},
   "predicted_s": null,
   "lower_bound_s": null,
   "native_s": null,
   "tuned_s": null,
   "calls": 0
  },
  {
   "collective": "bcast",
   "members": [2,3],
   "bytes_min": 0,
   "bytes_max": 9,
   "root": 0,
   "schedule": {"entry":1},
   "predicted_s": null,
   "lower_bound_s": null,
   "native_s": null,
   "tuned_s": null,
   "calls": 0
  }
 ]
}
)";

std::string with(const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("a plan is written as it was read, schedules that are shared once") {
    const Plan plan = plan_from_json(good, "p.json");
    CHECK(to_json(plan) == good);
    CHECK(plan_from_json(to_json(plan), "p.json") == plan);
    CHECK(plan.entries()[1].schedule == plan.entries()[2].schedule);
    CHECK(plan.entries()[0].evidence->ratio_interval == std::pair{1.4, 1.6});
    CHECK(plan_from_json(with("plan/3", "plan/1"), "p.json") == plan);
    CHECK(plan_from_json(with("plan/3", "plan/2"), "p.json") == plan);
    CHECK(to_json(Plan(1, "n", {})) ==
          "{\n \"format\": \"hocket.plan/3\",\n \"ranks\": 1,\n \"network\": \"n\",\n \"entries\": [\n ]\n}\n");
}

TEST_CASE("what is refused is named by file, place, key, found and accepted") {
    CHECK(refusal("[1]") == "p.json: expected an object, found [1]");
    CHECK(refusal("{}") ==
          "p.json: format is missing; accepted: \"hocket.plan/3\", \"hocket.plan/2\", "
          "\"hocket.plan/1\"");
    CHECK(refusal(with("plan/3", "plan/4")) ==
          "p.json: format is \"hocket.plan/4\"; accepted: \"hocket.plan/3\", \"hocket.plan/2\", "
          "\"hocket.plan/1\"");
    CHECK(refusal(with("\"ranks\"", "\"colour\": 1, \"ranks\"")) ==
          "p.json: unknown key \"colour\"; accepted: created_by, entries, format, hosts, network, progress, ranks");
    CHECK(refusal(with("\"calls\"", "\"speed\": 1, \"calls\"")) ==
          "p.json: entries[0]: unknown key \"speed\"; accepted: bytes_max, bytes_min, calls, collective, evidence, "
          "lower_bound_s, members, native_s, other_members, predicted_s, reproducible, root, schedule, tuned_s");
    CHECK(refusal(with("\"custom\":{", "\"segments\":2,\"custom\":{")) ==
          "p.json: entries[1]: schedule: unknown key \"segments\"; accepted: custom");
    CHECK(refusal(with("\"mpi\"", "\"mood\": 1, \"mpi\"")) ==
          "p.json: entries[0]: evidence: unknown key \"mood\"; accepted: launches, mpi, ratio, ratio_interval, "
          "repetitions");
    CHECK(refusal(with("\"root\": 1,\n", "")) == "p.json: entries[0]: key \"root\" is missing");
    CHECK(refusal(with("\"bytes_min\": 1000", "\"bytes_min\": 1.5")) ==
          "p.json: entries[0]: bytes_min is 1.5; accepted: a whole number from 0 to 9223372036854775807");
    CHECK(refusal(with("\"bytes_max\": 2000", "\"bytes_max\": 999")) ==
          "p.json: entries[0]: bytes_max is 999; accepted: a whole number from 1000 to 9223372036854775807");
    CHECK(refusal(with("[0,1]", "[0,\"1\"]")) ==
          "p.json: entries[0]: members holds \"1\"; accepted: ranks from 0 to 3");
    CHECK(refusal(with("pipelined_chain", "telepathy"))
              .starts_with("p.json: entries[0]: schedule: algorithm is \"telepathy\"; accepted for bcast: "));
    CHECK(refusal(with("\"ratio\":1.5", "\"ratio\":-1")) ==
          "p.json: entries[0]: evidence: ratio is -1; accepted: a number, not negative");
    CHECK(refusal(with("\"calls\": 12", "\"calls\": 1e400")) ==
          "p.json: calls is 1e400; accepted: numbers up to 1.8e308");
    CHECK(refusal(with("{\"entry\":1}", "{\"entry\":2}")) ==
          "p.json: entries[2]: schedule: entry is 2; accepted: a whole number from 0 to 1");
    CHECK(refusal(with("{\"entry\":1}", "{\"entry\":0}")) ==
          "p.json: entries[2]: schedule: entry is 0, which has no custom schedule");
    CHECK(
        refusal(with("\"send\"", "\"sent\"")).starts_with("p.json: entries[1]: schedule: custom: ranks[0][0][0] is "));
    CHECK(refusal(with("[2,3]", "[0,1]")) == "p.json: entries[2] serves calls that entries[1] serves too");
    CHECK(refusal("format = \"hocket.network/1\"\n") == "p.json: this is a network file, not a plan");
    CHECK(refusal("\xff\xfe") == "p.json: cannot read the plan: it is not UTF-8 text");
}

TEST_CASE("starts are kept, and long lists of ranks are written once") {
    constexpr std::int32_t ranks = 4096, stretch = 64;
    std::vector<std::int32_t> world, starts;
    std::vector<Rank> order;
    for (std::int32_t r = 0; r < ranks; ++r) {
        world.push_back(r);
        order.emplace_back((r * 1021) % ranks);
        if (r % stretch == 0) starts.push_back(r);
    }
    const auto& ring = collectives::find_algorithm(Collective::allreduce, "uneven_ring");
    std::vector<PlanEntry> entries;
    for (std::int64_t i = 0; i < 20; ++i)
        entries.push_back({Collective::allreduce, world, 1000 * i, 1000 * i + 999, std::nullopt,
                           PlannedSchedule(ring, ranks, 1, 4096 << (i % 3), order, starts)});
    const Plan plan(ranks, "cluster", entries);
    const std::string text = to_json(plan);
    CHECK(text.size() < 64 << 10);
    CHECK(plan_from_json(text, "p.json") == plan);
    const std::string again = "\"members\": {\"entry\":0}", once = "\"order\":{\"entry\":0}";
    CHECK(text.find(again) != std::string::npos);
    std::string wrong = text;
    wrong.replace(wrong.find(again), again.size(), "\"members\": {\"entry\":7}");
    CHECK(refusal(wrong) == "p.json: entries[1]: members: entry is 7; accepted: a whole number from 0 to 0");
    wrong = text;
    wrong.replace(wrong.find(once), once.size(), "\"order\":{\"entries\":0}");
    CHECK(refusal(wrong).starts_with("p.json: entries[1]: schedule: order is {\"entries\":0}; accepted: "));
    wrong = good;
    wrong.replace(wrong.find("\"order\":[1,0]"), 13, "\"starts\":[0]");
    CHECK(refusal(wrong) == "p.json: entries[0]: schedule: pipelined_chain has no starts, but some are given");
}

TEST_CASE("candidates may serve the same calls, and a plan may not") {
    const std::string text = with("[2,3]", "[0,1]");
    const Candidates candidates = candidates_from_json(text, "p.json");
    CHECK(candidates.entries.size() == 3);
    CHECK_THROWS_AS(plan_from_json(to_json(candidates), "p.json"), InvalidInput);
    CHECK(candidates_from_json(to_json(candidates), "p.json").entries == candidates.entries);
    CHECK_THROWS_AS(candidates_from_json(with("\"calls\"", "\"speed\": 1, \"calls\""), "p.json"), InvalidInput);
}

// What is accepted has been understood: it is written in a way that reads back as the same.
TEST_CASE("any bytes are read or refused") {
    const auto seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::string alphabet = "{}[]\",:0123456789-.eE \n\\abcdfghiklmnoprstu_/\xc3\xa9\xff";
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    int accepted = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string text = good;
        for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
            const std::size_t place = below(text.size()), length = std::min(text.size() - place, 1 + below(8));
            switch (below(4)) {
                case 0:
                    text[place] = alphabet[below(alphabet.size())];
                    break;
                case 1:
                    text.erase(place, length);
                    break;
                case 2:
                    text.insert(place, text.substr(below(text.size()), length));
                    break;
                default:
                    text.resize(1 + place);
            }
        }
        CAPTURE(text);
        try {
            const Plan plan = plan_from_json(text, "p.json");
            CHECK(plan_from_json(to_json(plan), "p.json") == plan);
            ++accepted;
        } catch (const InvalidInput& error) {
            CHECK(std::string_view(error.what()).starts_with("p.json: "));
        }
    }
    CHECK(accepted > 0);
}
