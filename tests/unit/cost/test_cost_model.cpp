// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/cost/cost_model.hpp"

#include <doctest/doctest.h>
#include <cmath>
#include <limits>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/network/file.hpp"

using namespace hocket;

namespace {

std::string refused(const CostParameters& parameters) {
    try {
        const CostModel costs(parameters);
    } catch (const InvalidInput& error) {
        return error.what();
    }
    return {};
}

const std::string network_text = R"(format = "hocket.network/1"
[[node]]
name = "a"
kind = "host"
)";

}  // namespace

TEST_CASE("costs are 0 unless given") {
    const CostModel free;
    CHECK(free->send_overhead_s == 0);
    CHECK(free.rendezvous_limit_bytes() == std::numeric_limits<std::int64_t>::max());
    CHECK(free == CostModel({.wake_s = 0}));
    CHECK(free != CostModel({.wake_s = 1e-9}));
}

TEST_CASE("a size of rendezvous that is not known is the usual one") {
    CHECK(!CostModel::usual()->rendezvous_bytes);
    CHECK(CostModel::usual().rendezvous_limit_bytes() == usual_rendezvous_bytes);
    CHECK(CostModel({.rendezvous_bytes = 0}).rendezvous_limit_bytes() == 0);
}

TEST_CASE("parameters out of range are refused by name") {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    CHECK(refused({.send_overhead_s = -1}) == "cost model: overhead of a message: -1 s is out of range");
    CHECK(refused({.receive_overhead_s = std::nan("")}) == "cost model: overhead of a message: nan s is out of range");
    CHECK(refused({.host_overhead_s = infinite}) == "cost model: overhead of a message: inf s is out of range");
    CHECK(refused({.host_overhead_s = -1}) == "cost model: overhead within a host is not 0 or more");
    CHECK(refused({.reduce_bytes_per_s = 0}) == "cost model: reduce rate 0.000000 bytes/s is not above 0");
    CHECK(refused({.copy_bytes_per_s = -2}) == "cost model: copy rate -2.000000 bytes/s is not above 0");
    CHECK(refused({.rendezvous_bytes = -1}) == "cost model: rendezvous size -1 bytes is negative");
    CHECK(refused({.cores = -1}) == "cost model: -1 cores are less than none; 0 = one for each rank");
    for (const double share : {0.0, 1.5, std::nan("")})
        CHECK(refused({.link_efficiency = share}).find("is not above 0 and at most 1") != std::string::npos);
    CHECK(refused({.burst_bytes = -1}) == "cost model: burst of -1.000000 bytes is not a size");
    CHECK(refused({.burst_s = infinite}) == "cost model: burst: inf s is out of range");
    CHECK(refused({.wake_s = -1}) == "cost model: waking up: -1 s is out of range");
    CHECK(refused({.send_overhead_s = 1, .rendezvous_bytes = std::nullopt, .host_overhead_s = 0}).empty());
}

TEST_CASE("the name of a way to share links gives it back") {
    for (const char* name : {"none", "equal", "maxmin", "reserve"}) CHECK(name_of(sharing_from(name)) == name);
    CHECK_THROWS_WITH_AS(static_cast<void>(sharing_from("maxmim")), doctest::Contains("accepted: \"none\""),
                         InvalidInput);
}

TEST_CASE("what a network's file has replaces the usual costs") {
    CHECK(CostModel::of(network::from_text(network_text)) == CostModel::usual());
    CHECK(CostModel::of(network::from_text(network_text + "[calibration]\ngrade = \"A\"\n")) == CostModel::usual());
    CostParameters expected = *CostModel::usual();
    expected.send_overhead_s = 5e-6;
    expected.reduce_bytes_per_s = 4e9;
    expected.rendezvous_bytes = 7;
    expected.burst_bytes = 9000;
    expected.burst_s = 250e-6;
    CHECK(*CostModel::of(network::from_text(network_text + R"([calibration]
send_overhead = "5 us"
reduce_bandwidth = "4 GB/s"
copy_bandwidth = "1 GB/s"
rendezvous_bytes = 7
burst = "9 kB"
burst_time = "250 us"
)")) == expected);
}
