// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/partners.hpp"

#include <array>
#include <set>
#include <string>

#include "bench/items/outcome.hpp"

namespace hocket::bench {

std::vector<int> neighbors_of(const std::string& kind, int rank, int ranks) {
    std::set<int> found;
    if (kind == "all") {
        for (int other = 0; other < ranks; ++other) found.insert(other);
    } else if (kind == "ring") {
        found = {(rank + 1) % ranks, (rank + ranks - 1) % ranks};
    } else {
        std::array<int, 2> sides{};
        call(MPI_Dims_create(ranks, 2, sides.data()), "MPI_Dims_create");
        const int row = rank / sides[1], column = rank % sides[1];
        for (const int step : {1, -1}) {
            found.insert((row + step + sides[0]) % sides[0] * sides[1] + column);
            found.insert(row * sides[1] + (column + step + sides[1]) % sides[1]);
        }
    }
    found.erase(rank);
    return {found.begin(), found.end()};
}

Partners partners_of(const Setting& setting) {
    const std::string& kind = setting.option("partners");
    const int rank = setting.rank, ranks = setting.ranks;
    Partners partners;
    if (kind == "shift") {
        return {{(rank + 1) % ranks}, {(rank + ranks - 1) % ranks}};
    }
    if (kind == "grid") {
        partners.targets = partners.origins = neighbors_of(kind, rank, ranks);
        return partners;
    }
    if (kind == "exchange") {
        for (int k = 1; k < ranks; ++k) {
            partners.targets.push_back((rank + k) % ranks);
            partners.origins.push_back((rank + ranks - k) % ranks);
        }
        return partners;
    }
    if (rank == 0) partners.targets = {1};
    if (rank == 1) partners.origins = {0};
    if (kind == "both-ways" && rank < 2) return {{1 - rank}, {1 - rank}};
    return partners;
}

}  // namespace hocket::bench
