// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <set>
#include <vector>

#include "examples.hpp"
#include "hocket/base/error.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/simulation/simulate.hpp"

using namespace hocket;
using namespace hocket::examples;
using doctest::Approx;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr Sharing all_sharings[] = {Sharing::none, Sharing::equal, Sharing::maxmin, Sharing::reserve};

Network star(std::int32_t hosts, double latency_s = 0) {
    return network::build(network::star(hosts, {.bandwidth_bytes_per_s = 100, .latency_s = latency_s}));
}

/// The routes of the network through the virtual interface.
class Routes : public Transport {
public:
    explicit Routes(const Network& network) : network_(network) {}

    bool begin(const TransportMessage& message, double, std::vector<LinkId>& links) override {
        CHECK(links.empty());
        network_.route(message.source, message.target, links);
        return true;
    }
    bool end(const TransportMessage&, double) override { return true; }
    [[nodiscard]] double next_event_s() const override { return never; }
    void update(double, std::vector<std::int32_t>&) override { FAIL("nothing waits"); }

private:
    const Network& network_;
};

/// One message at a time is on its way through the network, and for each a way is set up first, which takes some time.
/// Messages without bytes need none. Checks the calls that it gets.
class OneAtATime : public Transport {
public:
    OneAtATime(const Network& network, double setup_s) : network_(network), setup_s_(setup_s) {}

    bool begin(const TransportMessage& message, double now_s, std::vector<LinkId>& links) override {
        pass_time(now_s);
        CHECK(links.empty());
        CHECK(message.source != message.target);
        if (message.bytes > 0 && message.number != ready_) {
            CHECK(std::find(queue_.begin(), queue_.end(), message.number) == queue_.end());
            queue_.push_back(message.number);
            if (queue_.size() == 1 && !is_busy_) event_s_ = now_s + setup_s_;
            return false;
        }
        if (message.bytes > 0) {
            CHECK(!is_busy_);
            is_busy_ = true;
        }
        CHECK(begun.insert(message.number).second);
        network_.route(message.source, message.target, links);
        return true;
    }
    bool end(const TransportMessage& message, double now_s) override {
        pass_time(now_s);
        CHECK(begun.contains(message.number));
        CHECK(ended.insert(message.number).second);
        if (message.bytes == 0) return true;
        CHECK(message.number == ready_);
        is_busy_ = false;
        if (!queue_.empty()) event_s_ = now_s + setup_s_;
        return true;
    }
    [[nodiscard]] double next_event_s() const override { return event_s_; }
    void update(double now_s, std::vector<std::int32_t>& ready) override {
        pass_time(now_s);
        CHECK(now_s == event_s_);
        event_s_ = never;
        ready_ = queue_.front();
        queue_.pop_front();
        ready.push_back(ready_);
    }

    std::set<std::int32_t> begun, ended;

private:
    void pass_time(double now_s) {
        CHECK(now_s >= time_s_);
        time_s_ = now_s;
    }

    const Network& network_;
    double setup_s_, time_s_ = 0, event_s_ = never;
    bool is_busy_ = false;
    std::int32_t ready_ = -1;
    std::deque<std::int32_t> queue_;
};

class NeverReady : public Routes {
public:
    using Routes::Routes;
    bool begin(const TransportMessage&, double, std::vector<LinkId>&) override { return false; }
};

}  // namespace

TEST_CASE("a message waits until its transport lets it begin") {
    // 100 B/s, 0.5 s a link. The way of the first is there at 0.25 s; its 100 B leave at 1.25 s and are there at 2.25
    // s. The second is set up by 1.5 s; its 200 B leave at 3.5 s and are there at 4.5 s.
    const Network network = star(3, 0.5);
    Program program = empty(3);
    message(program, 0, 1, 100);
    message(program, 2, 1, 200);
    for (const Sharing sharing : all_sharings) {
        OneAtATime transport(network, 0.25);
        const Timeline timeline = simulate(program, network, {.costs = {{.sharing = sharing}}}, transport);
        CHECK(timeline.ranks[0][0].start_s == 0);
        CHECK(timeline.ranks[0][0].end_s == 1.25);
        CHECK(timeline.ranks[1][0].end_s == 2.25);
        CHECK(timeline.ranks[2][0].end_s == 3.5);
        CHECK(timeline.ranks[1][1].end_s == 4.5);
        CHECK(transport.ended.size() == 2);
    }
}

TEST_CASE("a transport may let a message begin at the instant at which another ends") {
    const Network network = star(3);
    Program program = empty(3);
    for (int i = 0; i < 3; ++i) message(program, 0, 1, 100);
    message(program, 2, 0, 100);
    OneAtATime transport(network, 0);
    const Timeline timeline = simulate(program, network, {}, transport);
    CHECK(timeline.makespan_s == 4);
    // The pair is in order: its later messages are asked for once those before them have left.
    for (std::size_t i = 0; i < 3; ++i) CHECK(timeline.ranks[1][i].end_s >= static_cast<double>(i) + 1);
    CHECK(timeline.ranks[0][3].end_s == 2);  // came second
}

TEST_CASE("messages of a handshake pass the transport too") {
    const Network network = star(2);
    Program program = empty(2);
    message(program, 0, 1, 100);
    OneAtATime transport(network, 0.25);
    const Timeline timeline = simulate(program, network, {.costs = {{.rendezvous_bytes = 50}}}, transport);
    CHECK(timeline.makespan_s == 1.25);
    CHECK(transport.ended.size() == 3);
}

TEST_CASE("a message that its transport never lets begin is named") {
    const Network network = star(2);
    Program program = empty(2);
    message(program, 0, 1, 100);
    NeverReady transport(network);
    try {
        simulate(program, network, {}, transport);
        FAIL("finished");
    } catch (const InvalidInput& error) {
        CHECK(
            std::string(error.what()).starts_with("rank 0, op 0 (send of 100 bytes to rank 1, tag 0) waits for ever"));
    }
}

TEST_CASE("by a transport that gives the routes of the network all is as without one, to the last bit") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        const Network network = network::build(random_tree(random, 5));
        const Program program = random_program(random, 5, 60);
        CostParameters costs;
        if (random.below(2) == 0) costs.send_overhead_s = 0.01;
        if (random.below(2) == 0) costs.rendezvous_bytes = 400;
        for (const Sharing sharing : all_sharings) {
            costs.sharing = sharing;
            const SimulationOptions options{.costs = costs, .ordered_pairs = random.below(2) == 0};
            Routes routes(network);
            const auto outcome = [&](const auto& run) {
                try {
                    return run().ranks;
                } catch (const InvalidInput&) {  // rendezvous may deadlock
                    return decltype(Timeline::ranks){};
                }
            };
            const auto plain = outcome([&] { return simulate(program, network, options); });
            const auto routed = outcome([&] { return simulate(program, network, options, routes); });
            REQUIRE(plain.size() == routed.size());
            for (std::size_t r = 0; r < plain.size(); ++r)
                for (std::size_t i = 0; i < plain[r].size(); ++i) {
                    CHECK(plain[r][i].start_s == routed[r][i].start_s);
                    CHECK(plain[r][i].end_s == routed[r][i].end_s);
                }
        }
    }
}

TEST_CASE("every message begins and ends once, whatever the program, and setups take their time") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        const Network network = star(5, 0.01);
        const Program program = random_program(random, 5, 60);
        const double setup_s = random.below(2) == 0 ? 0 : 0.3;
        OneAtATime transport(network, setup_s);
        const Timeline timeline =
            simulate(program, network, {.ordered_pairs = random.below(2) == 0, .record_links = true}, transport);
        double least_s = 0;
        std::size_t num_messages = 0;
        for (const RankProgram& rank : program.ranks)
            for (const ProgramOp& op : rank.ops) {
                if (op.kind != ProgramOpKind::send) continue;
                ++num_messages;
                least_s += setup_s + static_cast<double>(op.bytes) / 100;
            }
        CHECK(transport.begun.size() == num_messages);
        CHECK(transport.ended == transport.begun);
        CHECK(timeline.makespan_s >= least_s * (1 - 1e-9));
        for (const auto& use : timeline.link_use)
            for (const Timeline::LinkUse& one : use) CHECK(one.rate_bytes_per_s == Approx(100));  // of one message
    }
}
