// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/partners.hpp"

namespace hocket::bench {

Partners partners_of(const Setting& setting) {
    const std::string& kind = setting.option("partners");
    const int rank = setting.rank, ranks = setting.ranks;
    Partners partners;
    if (kind == "shift") {
        return {{(rank + 1) % ranks}, {(rank + ranks - 1) % ranks}};
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
