// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <cmath>

#include "examples.hpp"
#include "hocket/base/error.hpp"
#include "hocket/network/file.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/simulation/simulate.hpp"
#include "reference.hpp"

using namespace hocket;
using namespace hocket::examples;
using doctest::Approx;

namespace {

constexpr double tight = 1e-12;

Network star(std::int32_t hosts, double bandwidth, double latency_s = 0) {
    return network::build(network::star(hosts, {.bandwidth_bytes_per_s = bandwidth, .latency_s = latency_s}));
}

std::string message_of(const Program& program, const Network& network, const SimulationOptions& options = {}) {
    try {
        simulate(program, network, options);
    } catch (const InvalidInput& error) {
        return error.what();
    }
    return "finished";
}

constexpr Sharing all_sharings[] = {Sharing::none, Sharing::equal, Sharing::maxmin};

}  // namespace

TEST_CASE("one message takes the latencies of its route plus its bytes over the least bandwidth") {
    // Star, 100 B/s, 0.5 s a link: 200 B from 0 to 1 leave at 200/100 = 2 s and are there 2 * 0.5 s later, at 3 s.
    Program program = empty(2);
    message(program, 0, 1, 200);
    for (const Sharing sharing : all_sharings) {
        const Timeline timeline = simulate(program, star(2, 100, 0.5), {.costs = {{.sharing = sharing}}});
        CHECK(timeline.ranks[0][0].start_s == 0);
        CHECK(timeline.ranks[0][0].end_s == 2);
        CHECK(timeline.ranks[1][0].start_s == 0);
        CHECK(timeline.ranks[1][0].end_s == 3);
        CHECK(timeline.makespan_s == 3);
        CHECK(timeline.num_events == 1);
    }
}

TEST_CASE("two messages out of one host share its link") {
    // 0 sends 100 B to 1 and 300 B to 2 over its 100 B/s. Shared, each has 50 B/s until the first is done at 2 s; the
    // other has 200 B left, at 100 B/s: 4 s. Unshared: 1 s and 3 s.
    Program program = empty(3);
    message(program, 0, 1, 100);
    message(program, 0, 2, 300);
    for (const Sharing sharing : {Sharing::equal, Sharing::maxmin}) {
        const Timeline timeline = simulate(program, star(3, 100), {.costs = {{.sharing = sharing}}});
        CHECK(timeline.finish_s[1] == Approx(2).epsilon(tight));
        CHECK(timeline.finish_s[2] == Approx(4).epsilon(tight));
    }
    const Timeline timeline = simulate(program, star(3, 100), {.costs = {{.sharing = Sharing::none}}});
    CHECK(timeline.finish_s[1] == 1);
    CHECK(timeline.finish_s[2] == 3);
}

TEST_CASE("max-min gives to others what a flow cannot use, equal sharing does not") {
    // Flows 0->3, 1->3, 0->4 of 600 B; links 120 B/s but the one into 4 with 30 B/s. Equal: 0's link gives 60 to each;
    // 0->4 is held at 30; 0->3 stays at 60 although 90 would be free on 0's link; the link into 3 gives 60 to each.
    // Max-min agrees there (60 + 60 fill the link into 3). Without 1->3, equal still gives 0->3 60, max-min gives 90.
    network::Blueprint blueprint = network::star(5, {.bandwidth_bytes_per_s = 120});
    blueprint.cables[4].bandwidth_back_bytes_per_s = 30;  // from the switch to host 4
    const Network network = network::build(blueprint);
    Program program = empty(5);
    message(program, 0, 3, 600);
    message(program, 0, 4, 600);
    CHECK(simulate(program, network, {.costs = {{.sharing = Sharing::equal}}}).finish_s[3] ==
          Approx(600 / 60.0).epsilon(tight));
    CHECK(simulate(program, network, {.costs = {{.sharing = Sharing::maxmin}}}).finish_s[3] ==
          Approx(600 / 90.0).epsilon(tight));
    message(program, 1, 3, 600);
    for (const Sharing sharing : {Sharing::equal, Sharing::maxmin})
        CHECK(simulate(program, network, {.costs = {{.sharing = sharing}}}).finish_s[3] ==
              Approx(600 / 60.0).epsilon(tight));
}

TEST_CASE("the directions of a full-duplex cable do not share, those of a half-duplex one do") {
    network::Blueprint blueprint = network::star(2, {.bandwidth_bytes_per_s = 100});
    Program program = empty(2);
    message(program, 0, 1, 100);
    message(program, 1, 0, 100);
    CHECK(simulate(program, network::build(blueprint)).makespan_s == 1);
    blueprint.cables[0].half_duplex = true;
    CHECK(simulate(program, network::build(blueprint)).makespan_s == 2);
    CHECK(simulate(program, network::build(blueprint), {.costs = {{.sharing = Sharing::none}}}).makespan_s == 1);
}

TEST_CASE("messages without bytes, to oneself or over unlimited links cost latency only") {
    Program program = empty(2);
    message(program, 0, 1, 0);
    CHECK(simulate(program, star(2, 100, 0.5)).makespan_s == 1);
    Program own = empty(1);
    message(own, 0, 0, 1000);
    CHECK(simulate(own, star(2, 100, 0.5)).makespan_s == 0);
    Program big = empty(2);
    message(big, 0, 1, 1000000);
    CHECK(simulate(big, star(2, std::numeric_limits<double>::infinity(), 0.5)).makespan_s == 1);
}

TEST_CASE("messages of a pair travel one after another, latencies overlap") {
    // Two messages of 100 B at 100 B/s and 2 * 1 s: left at 1 s and 2 s, there at 3 s and 4 s. Unordered they share:
    // both leave at 2 s.
    Program program = empty(2);
    message(program, 0, 1, 100);
    message(program, 0, 1, 100);
    const Network network = star(2, 100, 1);
    const Timeline ordered = simulate(program, network);
    CHECK(ordered.ranks[1][0].end_s == 3);
    CHECK(ordered.ranks[1][1].end_s == 4);
    const Timeline unordered = simulate(program, network, {.ordered_pairs = false});
    CHECK(unordered.ranks[1][0].end_s == 4);
    CHECK(unordered.ranks[1][1].end_s == 4);
}

TEST_CASE("overheads, computations and reductions take turns on the processor") {
    // Rank 0: compute 2 s and a send, both ready at 0; overhead 1 s: injected at 3 s, leaves at 4 s, arrives at 4 s.
    // Rank 1 pays 1 s to receive, until 5 s, then reduces 100 B at 50 B/s until 7 s.
    Program program = empty(2);
    add(program.ranks[0], compute(2));
    add(program.ranks[0], send(1, 100));
    const std::int32_t received = add(program.ranks[1], recv(0, 100));
    add(program.ranks[1], reduce(100), {received});
    const SimulationOptions options{
        .costs = {{.send_overhead_s = 1, .receive_overhead_s = 1, .reduce_bytes_per_s = 50}}};
    const Timeline timeline = simulate(program, star(2, 100), options);
    CHECK(timeline.ranks[0][1].start_s == 2);
    CHECK(timeline.ranks[0][1].end_s == 4);
    CHECK(timeline.ranks[1][0].end_s == 5);
    CHECK(timeline.ranks[1][1].start_s == 5);
    CHECK(timeline.makespan_s == 7);
    CHECK(timeline.num_events == 3);
}

TEST_CASE("from the rendezvous size on a flow starts when the receive is posted") {
    Program program = empty(2);
    add(program.ranks[0], send(1, 100));
    const std::int32_t before = add(program.ranks[1], compute(5));
    add(program.ranks[1], recv(0, 100), {before});
    CHECK(simulate(program, star(2, 100)).makespan_s == 5);
    CHECK(simulate(program, star(2, 100), {.costs = {{.rendezvous_bytes = 101}}}).makespan_s == 5);
    CHECK(simulate(program, star(2, 100), {.costs = {{.rendezvous_bytes = 100}}}).makespan_s == 6);
}

TEST_CASE("a rendezvous is a request and an answer, with overheads and latencies, before the data") {
    // Each of three messages: 2 s of the sender, 0.5 s on two links, 3 s of the receiver; the data 1 s on the wire.
    Program program = empty(2);
    add(program.ranks[0], send(1, 100));
    add(program.ranks[1], recv(0, 100));
    CostParameters costs{.send_overhead_s = 2, .receive_overhead_s = 3, .rendezvous_bytes = 100};
    const Network network = star(2, 100, 0.25);
    const Timeline timeline = simulate(program, network, {.costs = costs});
    CHECK(timeline.makespan_s == Approx(2 * (2 + 0.5 + 3) + 2 + 1 + 0.5 + 3));
    CHECK(timeline.ranks[0].size() == 1);
    CHECK(timeline.ranks[1].size() == 1);
    CHECK(timeline.ranks[0][0].start_s == 0);  // when it asks
    CHECK(timeline.ranks[0][0].end_s == Approx(14));
    CHECK(timeline.ranks[1][0].start_s == 0);
    CHECK(timeline.link_bytes.size() == network.links().size());
    costs.rendezvous_bytes = 101;
    CHECK(simulate(program, network, {.costs = costs}).makespan_s == Approx(2 + 1 + 0.5 + 3));
}

TEST_CASE("a message by rendezvous that has not left when the simulation is stopped has no interval") {
    Program program = empty(3);
    add(program.ranks[0], send(1, 1000));
    add(program.ranks[1], recv(0, 1000));
    for (std::int32_t i = 0, before = -1; i < 100'000; ++i) {  // progress is reported now and then
        ProgramOp one = compute(1e-6);
        before = before < 0 ? add(program.ranks[2], one) : add(program.ranks[2], one, {before});
    }
    const Timeline timeline =
        simulate(program, star(3, 100),
                 {.costs = {{.rendezvous_bytes = 1000}},
                  .on_progress = [](const SimulationProgress& now) { return now.num_done < 10; }});
    CHECK(!timeline.completed);
    CHECK(std::isnan(timeline.ranks[0][0].start_s));
    CHECK(std::isnan(timeline.ranks[0][0].end_s));
}

TEST_CASE("the answer to a request waits behind what its rank sends to the same peer") {
    // Rank 1 sends 500 B at once from 0 to 5 s, the answer to rank 0 after it; on a connection of its own it needs not
    // wait.
    Program program = empty(2);
    add(program.ranks[0], send(1, 600));
    add(program.ranks[0], recv(1, 500));
    add(program.ranks[1], recv(0, 600));
    add(program.ranks[1], send(0, 500));
    CHECK(simulate(program, star(2, 100), {.costs = {{.rendezvous_bytes = 600}}}).makespan_s == 11);
    CHECK(simulate(program, star(2, 100), {.costs = {{.rendezvous_bytes = 600}}, .ordered_pairs = false}).makespan_s ==
          6);
}

TEST_CASE("a message that waits for its receive does not hold up those behind it") {
    // 200 B by rendezvous, posted at 5 s; 100 B at once: they leave at 7 s and 1 s.
    Program program = empty(2);
    add(program.ranks[0], send(1, 200, 1));
    add(program.ranks[0], send(1, 100, 2));
    add(program.ranks[1], recv(0, 200, 1), {add(program.ranks[1], compute(5))});
    add(program.ranks[1], recv(0, 100, 2));
    const Timeline timeline = simulate(program, star(2, 100), {.costs = {{.rendezvous_bytes = 200}}});
    CHECK(timeline.ranks[0][0].end_s == 7);
    CHECK(timeline.ranks[0][1].end_s == 1);
}

TEST_CASE("equal tags match in the order of the ops") {
    // Rank 1 takes tag 7 first though it was sent second: op 0 waits for the 200 B that leave at 3 s.
    Program program = empty(2);
    add(program.ranks[0], send(1, 100, 5));
    add(program.ranks[0], send(1, 200, 7));
    add(program.ranks[1], recv(0, 200, 7));
    add(program.ranks[1], recv(0, 100, 5));
    const Timeline timeline = simulate(program, star(2, 100));
    CHECK(timeline.ranks[1][0].end_s == 3);
    CHECK(timeline.ranks[1][1].end_s == 1);
}

TEST_CASE("what cannot run is refused by name") {
    const Network network = star(2, 100);
    Program program = empty(2);
    add(program.ranks[1], send(0, 10, 3));
    CHECK(message_of(program, network) ==
          "rank 1, op 0 (send of 10 bytes to rank 0, tag 3) waits for ever: no recv matches it");
    add(program.ranks[0], recv(1, 9, 3));
    CHECK(message_of(program, network).find("rank 0, op 0 (recv of 9 bytes from rank 1, tag 3) is too short") == 0);

    Program cycle = empty(2);  // each rank waits for the other's message before it sends its own
    for (const std::int32_t r : {0, 1})
        add(cycle.ranks[static_cast<std::size_t>(r)], send(1 - r, 10),
            {add(cycle.ranks[static_cast<std::size_t>(r)], recv(1 - r, 10))});
    CHECK(message_of(cycle, network).find("rank 0, op 0 (recv of 10 bytes from rank 1, tag 0) waits for ever") == 0);

    Program both = empty(2);  // the same by rendezvous: both send first
    for (const std::int32_t r : {0, 1})
        add(both.ranks[static_cast<std::size_t>(r)], recv(1 - r, 10),
            {add(both.ranks[static_cast<std::size_t>(r)], send(1 - r, 10))});
    CHECK(message_of(both, network) == "finished");
    CHECK(message_of(both, network, {.costs = {{.rendezvous_bytes = 10}}}).find("rank 0, op 0 (send of 10 bytes") == 0);

    Program within = empty(1);
    add(within.ranks[0], compute(1), {1});
    add(within.ranks[0], compute(1), {0});
    CHECK(message_of(within, network).find("rank 0, op 0 (compute) waits for ever: its dependencies form a cycle") ==
          0);

    Program wrong = empty(1);
    add(wrong.ranks[0], send(7, 10));
    CHECK(message_of(wrong, network).find("the program has ranks 0..0") != std::string::npos);
    wrong.ranks[0].ops[0] = compute(std::nan(""));
    CHECK(message_of(wrong, network).find("seconds must be finite") != std::string::npos);
    wrong.ranks[0] = {};
    add(wrong.ranks[0], compute(1), {5});
    CHECK(message_of(wrong, network).find("depends on op 5") != std::string::npos);
    wrong.ranks[0].ops[0].first_dependency = 2147483647;
    CHECK(message_of(wrong, network).find("outside the list") != std::string::npos);
    CHECK(message_of(empty(3), network).find("the program has 3 ranks, the network \"star:2\" has 2") == 0);
    CHECK(message_of(empty(1), network) == "finished");
}

TEST_CASE("the engine agrees with the slow and obvious simulator") {
    for (std::uint64_t seed = 1; seed <= 120; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        const Network network = network::build(random_tree(random, 2 + static_cast<std::int32_t>(random.below(6))));
        const Program program = random_program(random, network.num_ranks(), 40);
        CostParameters costs{.reduce_bytes_per_s = 500, .sharing = static_cast<Sharing>(seed % 3)};
        const bool ordered_pairs = random.below(2) == 0;
        if (random.below(2) == 0) costs.send_overhead_s = 0.01;
        if (random.below(2) == 0) costs.receive_overhead_s = 0.013;
        const SimulationOptions options{.costs = costs, .ordered_pairs = ordered_pairs};
        const auto expected = reference::simulate(program, network, options);
        const Timeline timeline = simulate(program, network, options);
        for (std::size_t r = 0; r < expected.size(); ++r) {
            CAPTURE(r);
            for (std::size_t i = 0; i < expected[r].size(); ++i) {
                CAPTURE(i);
                CHECK(timeline.ranks[r][i].start_s == Approx(expected[r][i].start_s).epsilon(1e-9));
                CHECK(timeline.ranks[r][i].end_s == Approx(expected[r][i].end_s).epsilon(1e-9));
            }
        }
    }
}

TEST_CASE("rendezvous agrees with the slow and obvious simulator, deadlocks included") {
    std::int32_t finished = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        const Network network = network::build(random_tree(random, 3));
        const Program program = random_program(random, network.num_ranks(), 12);
        // Which of two messages of a pair that become ready at one instant goes first is not defined by the reference.
        const SimulationOptions options{
            .costs = {{.reduce_bytes_per_s = 500, .rendezvous_bytes = 400, .sharing = Sharing::maxmin}},
            .ordered_pairs = false};
        const auto expected = reference::simulate(program, network, options);
        bool stuck = false;
        for (const auto& rank : expected)
            for (const auto& interval : rank) stuck = stuck || interval.end_s == reference::never;
        if (stuck) {
            CHECK(message_of(program, network, options).find("waits for ever") != std::string::npos);
            continue;
        }
        ++finished;
        const Timeline timeline = simulate(program, network, options);
        for (std::size_t r = 0; r < expected.size(); ++r)
            for (std::size_t i = 0; i < expected[r].size(); ++i)
                CHECK(timeline.ranks[r][i].end_s == Approx(expected[r][i].end_s).epsilon(1e-9));
    }
    CHECK(finished > 10);
}

TEST_CASE("bytes are conserved and no capacity is exceeded, and the same input gives the same bits") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        const Network network = network::build(random_tree(random, 6));
        const Program program = random_program(random, network.num_ranks(), 60);
        const SimulationOptions options{
            .costs = {{.sharing = static_cast<Sharing>(1 + seed % 3)}}, .ordered_pairs = false, .record_links = true};
        const Timeline timeline = simulate(program, network, options);
        std::vector<double> expected(network.links().size(), 0);
        for (std::size_t r = 0; r < program.ranks.size(); ++r)
            for (const ProgramOp& op : program.ranks[r].ops)
                if (op.kind == ProgramOpKind::send)
                    for (const LinkId l : network.route(Rank{static_cast<std::int32_t>(r)}, op.peer))
                        expected[l.at()] += static_cast<double>(op.bytes);
        for (std::size_t l = 0; l < expected.size(); ++l) {
            CHECK(timeline.link_bytes[l] == expected[l]);
            double carried = 0, last_end_s = 0;
            for (const Timeline::LinkUse& use : timeline.link_use[l]) {
                CHECK(use.start_s >= last_end_s);
                CHECK(use.end_s > use.start_s);
                last_end_s = use.end_s;
                carried += (use.end_s - use.start_s) * use.rate_bytes_per_s;
                // The other direction of a half-duplex cable counts as well.
                double rate = use.rate_bytes_per_s;
                const double middle_s = (use.start_s + use.end_s) / 2;
                const std::size_t opposite = l ^ 1U;
                if (network.links()[opposite].capacity == network.links()[l].capacity)
                    for (const Timeline::LinkUse& other : timeline.link_use[opposite])
                        if (other.start_s < middle_s && middle_s < other.end_s) rate += other.rate_bytes_per_s;
                CHECK(rate <= network.links()[l].bandwidth_bytes_per_s * (1 + 1e-9));
            }
            CHECK(carried == Approx(expected[l]).epsilon(1e-9));
        }
        const Timeline again = simulate(program, network, options);
        for (std::size_t r = 0; r < program.ranks.size(); ++r) CHECK(again.finish_s[r] == timeline.finish_s[r]);
    }
}
