// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include "hocket/collectives/algorithm.hpp"
#include "hocket/collectives/textbook.hpp"
#include "hocket/schedule/validate.hpp"

using namespace hocket;

TEST_CASE("the textbook algorithm exists and is right for every collective, size and number of ranks") {
    for (const collectives::Algorithm& algorithm : collectives::all_algorithms()) {
        for (const std::int32_t ranks : {1, 2, 3, 4, 7, 8, 13, 16}) {
            for (const std::int64_t bytes : {0, 1, 300, 5'000, 100'000, 10'000'000}) {
                const auto name = collectives::textbook_algorithm(algorithm.collective, ranks, bytes);
                const auto& found = collectives::find_algorithm(algorithm.collective, name);
                CHECK(validate(collectives::emit(found, {ranks, 1}, {Rank{0}, {}})).ok());
            }
        }
    }
}
