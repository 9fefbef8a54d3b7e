// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/arrivals.hpp"

#include <algorithm>

#include "hocket/base/random_order.hpp"

namespace hocket::bench {

namespace {

std::int64_t random_ns(int rank, std::int64_t late_ns) {
    return static_cast<std::int64_t>(base::random_bits(1, static_cast<std::uint64_t>(rank)) %
                                     static_cast<std::uint64_t>(late_ns + 1));
}

}  // namespace

Arrival arrival_of(const Setting& setting) {
    const std::string& kind = setting.option("arrival");
    const std::int64_t late_ns = std::int64_t{1000} * setting.number("late_us");
    const int rank = setting.rank, last = setting.ranks - 1;
    if (kind == "one-late") return {rank == last ? late_ns : 0, late_ns};
    if (kind == "in-turn") return {last == 0 ? late_ns : late_ns * rank / last, late_ns};
    if (kind == "together") return {};
    Arrival arrival;
    for (int other = 0; other <= last; ++other) arrival.last_ns = std::max(arrival.last_ns, random_ns(other, late_ns));
    arrival.own_ns = random_ns(rank, late_ns);
    return arrival;
}

}  // namespace hocket::bench
