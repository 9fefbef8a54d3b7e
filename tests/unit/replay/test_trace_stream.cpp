// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// A trace that is replayed as it is read gives what its Program gives, to the last bit.

#include <doctest/doctest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <optional>

#include "hocket/base/error.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/replay/replay.hpp"
#include "hocket/replay/trace_stream.hpp"
#include "hocket/simulation/simulate.hpp"
#include "hocket/trace/trace.hpp"
#include "hocket/trace/trace_files.hpp"
#include "random_traces.hpp"

using namespace hocket;

namespace {

struct Folder {
    explicit Folder(std::uint64_t seed)
        : path(std::filesystem::temp_directory_path() /
               ("hocket-stream-test-" + std::to_string(getpid()) + "-" + std::to_string(seed))) {}
    ~Folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
};

/// What either way finds; none: it is refused.
struct Found {
    Timeline timeline;
    double recorded_span_s;
    std::vector<replay::LeftOut> left_out;
};

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
bool same(const std::vector<double>& a, const std::vector<double>& b) {
    return std::ranges::equal(a, b, [](double x, double y) { return same(x, y); });
}

SimulationOptions options_for(base::Random& random) {
    CostParameters costs;
    const Sharing sharings[] = {Sharing::none, Sharing::equal, Sharing::maxmin, Sharing::reserve};
    costs.sharing = sharings[random.below(4)];
    if (random.below(2) == 0) costs.send_overhead_s = costs.receive_overhead_s = 1e-6;
    if (random.below(3) == 0) costs.wake_s = 5e-6;
    if (random.below(3) == 0) costs.cores = 2;
    if (random.below(2) == 0) costs.rendezvous_bytes = random.below(2) == 0 ? 0 : 65536;
    if (random.below(3) == 0) costs.reduce_bytes_per_s = 1e9;
    if (random.below(4) == 0) costs.burst_bytes = 1500;
    SimulationOptions options{.costs = costs};
    options.ordered_pairs = random.below(3) > 0;
    options.record_links = random.below(4) == 0;
    return options;
}

WhatIf what_if_for(base::Random& random) {
    WhatIf what_if;
    if (random.below(3) == 0) what_if.cpu_scale = 0.5 * static_cast<double>(random.below(3));
    if (random.below(3) == 0) what_if.delays.push_back({Rank{1}, 1e-5, 0});
    if (random.below(4) == 0) what_if.noise.push_back({NoiseKind::exponential, 0.5, 7});
    return what_if;
}

std::optional<Found> whole(const Trace& trace, const Network& network, const SimulationOptions& options,
                           replay::ReplayOptions replayed) {
    try {
        WhatIf what_if;
        std::swap(what_if, replayed.what_if);
        replay::Replayed done = replay::replay(trace, {}, {}, replayed);
        Timeline timeline = simulate(changed(std::move(done.program), what_if), network, options);
        return Found{std::move(timeline), done.recorded_span_s, done.left_out};
    } catch (const InvalidInput&) {
        return std::nullopt;
    }
}

std::optional<Found> streamed(const std::filesystem::path& folder, const Network& network,
                              const SimulationOptions& options, const replay::ReplayOptions& replayed) {
    try {
        trace::TraceFiles files(folder);
        const Plan plan;
        const std::vector<replay::NativeModel> native;
        replay::TraceStream stream(files, plan, native, replayed);
        Timeline timeline = simulate(stream, network, options);
        return Found{std::move(timeline), stream.recorded_span_s(), stream.left_out().rows()};
    } catch (const InvalidInput&) {
        return std::nullopt;
    }
}

}  // namespace

TEST_CASE("random traces give the same to the last bit as they are read, and as a whole") {
    int refused = 0, unmatched = 0;
    constexpr int rounds = 2000;
    for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
        CAPTURE(seed);
        const RandomTrace random_trace(seed);
        const Trace trace = Trace::make(random_trace.files());
        const Folder folder(seed);
        trace.write(folder.path);
        base::Random random(seed);
        network::GenerateOptions generated;
        generated.bandwidth_bytes_per_s = 1e9;
        generated.latency_s = random.below(3) == 0 ? 0 : 1e-6;
        const char* const shapes[] = {"star:6", "tree:2x3", "ring:6"};
        const Network network = network::build(network::generate(shapes[random.below(2)], generated));
        const SimulationOptions options = options_for(random);
        replay::ReplayOptions replayed;
        replayed.cpu_time = random.below(4) == 0;
        replayed.eager_bytes = options.costs.rendezvous_limit_bytes();
        replayed.what_if = what_if_for(random);

        const auto expected = whole(trace, network, options, replayed);
        const auto found = streamed(folder.path, network, options, replayed);
        REQUIRE(expected.has_value() == found.has_value());
        if (!expected) {
            ++refused;
            continue;
        }
        for (const replay::LeftOut& one : expected->left_out) unmatched += one.function.starts_with("messages");
        CHECK(same(found->timeline.makespan_s, expected->timeline.makespan_s));
        CHECK(same(found->timeline.finish_s, expected->timeline.finish_s));
        CHECK(same(found->timeline.link_bytes, expected->timeline.link_bytes));
        CHECK(found->timeline.num_events == expected->timeline.num_events);
        CHECK(same(found->recorded_span_s, expected->recorded_span_s));
        CHECK(found->left_out == expected->left_out);
        for (std::size_t l = 0; l < expected->timeline.link_use.size(); ++l) {
            const auto &one = found->timeline.link_use[l], &other = expected->timeline.link_use[l];
            CHECK(std::ranges::equal(one, other, [](const auto& a, const auto& b) {
                return same(a.start_s, b.start_s) && same(a.end_s, b.end_s) &&
                       same(a.rate_bytes_per_s, b.rate_bytes_per_s);
            }));
        }
    }
    CHECK(refused < rounds / 3);
    CHECK(unmatched > 0);
}
