// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <cmath>

#include "hocket/base/error.hpp"
#include "hocket/base/random.hpp"
#include "hocket/simulation/record/link_bins.hpp"

using namespace hocket;
using simulation::LinkBinRecorder;

namespace {

double sum_of(const LinkBins& bins, std::int32_t row) {
    double sum = 0;
    for (std::int32_t b = 0; b < bins.num_bins; ++b)
        sum += bins.bytes[static_cast<std::size_t>(b * bins.num_rows + row)];
    return sum;
}

}  // namespace

TEST_CASE("bytes fall into the bins of their time") {
    LinkBinRecorder recorder(2, {.num_bins = 4, .row_of_link = {}});
    const std::int32_t zero = 0, both[] = {0, 1};
    recorder.add(both, 0, 4, 10);  // bins of 1 s
    recorder.add({&zero, 1}, 2.5, 4, 2);
    const LinkBins bins = recorder.take();
    CHECK(bins.bin_s == doctest::Approx(1));
    REQUIRE(bins.num_rows == 2);
    REQUIRE(bins.num_bins == 4);
    const double expected[] = {10, 10, 10, 10, 11, 10, 12, 10};
    for (std::size_t i = 0; i < 8; ++i) CHECK(bins.bytes[i] == doctest::Approx(expected[i]));
}

TEST_CASE("the width doubles, and no byte is lost, however long it takes") {
    base::Random random(7);
    for (const std::int32_t num_bins : {2, 3, 7, 64}) {
        CAPTURE(num_bins);
        LinkBinRecorder recorder(3, {.num_bins = num_bins, .row_of_link = {}});
        double now_s = 0, expected[3] = {0, 0, 0};
        for (int i = 0; i < 2000; ++i) {
            const auto row = static_cast<std::int32_t>(random.below(3));
            const double length_s = std::ldexp(1 + static_cast<double>(random.below(100)), static_cast<int>(i / 100));
            recorder.add({&row, 1}, now_s, now_s + length_s, 3);
            expected[row] += 3 * length_s;
            now_s += length_s * static_cast<double>(random.below(2));
        }
        const LinkBins bins = recorder.take();
        CHECK(bins.num_bins <= num_bins);
        CHECK(bins.bin_s * bins.num_bins >= now_s);
        CHECK(bins.bytes.size() == static_cast<std::size_t>(3 * bins.num_bins));
        for (std::int32_t row = 0; row < 3; ++row) CHECK(sum_of(bins, row) == doctest::Approx(expected[row]));
    }
}

TEST_CASE("links add up in rows") {
    LinkBinRecorder recorder(3, {.num_bins = 2, .row_of_link = {1, -1, 1}});
    const LinkId links[] = {LinkId{0}, LinkId{1}, LinkId{2}};
    std::vector<std::int32_t> rows;
    recorder.find_rows(links, rows);
    CHECK(rows == std::vector<std::int32_t>{1, 1});
    recorder.add(rows, 1, 2, 5);
    const LinkBins bins = recorder.take();
    REQUIRE(bins.num_rows == 2);
    CHECK(sum_of(bins, 0) == doctest::Approx(0));
    CHECK(sum_of(bins, 1) == doctest::Approx(10));
}

TEST_CASE("nothing was recorded") {
    const LinkBins bins = LinkBinRecorder(3, {.num_bins = 2, .row_of_link = {}}).take();
    CHECK(bins.num_bins == 0);
    CHECK(bins.num_rows == 3);
    CHECK(bins.bytes.empty());
}

TEST_CASE("wrong rows and numbers of bins are refused") {
    CHECK_THROWS_AS(LinkBinRecorder(3, {.num_bins = -1, .row_of_link = {}}), InvalidInput);
    CHECK_THROWS_AS(LinkBinRecorder(3, {.num_bins = 1, .row_of_link = {}}), InvalidInput);  // neighbours become one
    CHECK_THROWS_AS(LinkBinRecorder(3, {.num_bins = 1 << 20, .row_of_link = {}}), InvalidInput);
    CHECK_THROWS_AS(LinkBinRecorder(3, {.num_bins = 2, .row_of_link = {0, 1}}), InvalidInput);
    CHECK_THROWS_AS(LinkBinRecorder(3, {.num_bins = 2, .row_of_link = {0, 1, 3}}), InvalidInput);
    CHECK_THROWS_AS(LinkBinRecorder(3, {.num_bins = 2, .row_of_link = {0, -2, 1}}), InvalidInput);
}
