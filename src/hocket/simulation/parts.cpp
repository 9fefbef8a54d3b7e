// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/parts.hpp"

#include <algorithm>
#include <numeric>

#include "hocket/base/random_order.hpp"

namespace hocket::simulation {
namespace {

constexpr std::int32_t none = -1;

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Which sources hang together, since they use the same links: a forest of disjoint sets, with paths halved [Tarjan84].
class Connections {
public:
    Connections(const Traffic& traffic, const network::Fabric& fabric, Paths paths)
        : traffic_(traffic),
          paths_(std::move(paths)),
          parent_(at(traffic.num_sources())),
          user_of_(at(fabric.num_capacities()), none) {
        std::iota(parent_.begin(), parent_.end(), 0);
    }

    /// Whether it is worth while to divide. First some messages of at most 1/32 of the sources are looked at, then of
    /// 1/16 and 1/8, in blocks spread over all: if these sources nearly all hang together, so does the rest. Then all.
    bool find() {
        const std::int64_t n = traffic_.num_sources();
        constexpr std::int64_t num_blocks = 256, step = 159, most_of_block = 4096;  // no common factor of the first two
        std::vector<std::int32_t> visited;
        for (std::int64_t i = 1; i <= num_blocks / 8; ++i) {
            const std::int64_t block = i * step % num_blocks, first = n * block / num_blocks;
            for (std::int64_t s = first; s < std::min(n * (block + 1) / num_blocks, first + most_of_block); ++s)
                visit_some(visited.emplace_back(static_cast<std::int32_t>(s)));
            if ((i == 8 || i == 16 || i == 32) && nearly_one(visited)) return false;
        }
        visited.clear();
        for (std::int32_t s = 0; s < traffic_.num_sources(); ++s) visit_all(visited.emplace_back(s));
        return !nearly_one(visited);
    }
    /// The first of those that it hangs together with.
    std::int32_t first_of(std::int32_t source) {
        while (parent_[at(source)] != source) source = parent_[at(source)] = parent_[at(parent_[at(source)])];
        return source;
    }
    /// [capacity] a source that uses it, or none
    std::vector<std::int32_t> take_users() { return std::move(user_of_); }

private:
    void visit_all(std::int32_t source) {
        const std::int64_t num_targets = traffic_.num_targets(Rank{source});
        for (std::int64_t i = 0; i < num_targets; ++i) visit(source, i);
    }
    /// Any of its messages: the first ones of all might keep to a pattern.
    void visit_some(std::int32_t source) {
        constexpr std::uint64_t some = 64;
        const auto num_targets = static_cast<std::uint64_t>(traffic_.num_targets(Rank{source}));
        if (num_targets <= some) return visit_all(source);
        for (std::uint64_t k = 0; k < some; ++k)
            visit(source,
                  static_cast<std::int64_t>(base::random_bits(static_cast<std::uint64_t>(source), k) % num_targets));
    }
    void visit(std::int32_t source, std::int64_t number) {
        paths_.find(Rank{source}, traffic_.message(Rank{source}, number).target);
        // Unlimited links too: two parts must not count bytes on the same link.
        for (const LinkId l : paths_.links()) {
            std::int32_t& user = user_of_[at(paths_.capacity_of(l))];
            if (user == none)
                user = source;
            else if (user != source)
                unite(user, source);
        }
    }
    void unite(std::int32_t x, std::int32_t y) {
        const std::int32_t a = first_of(x), b = first_of(y);
        parent_[at(std::max(a, b))] = std::min(a, b);
    }

    /// Nine of ten, by the only set that can have a majority: others cross it out one by one [BoyerMoore91].
    bool nearly_one(const std::vector<std::int32_t>& sources) {
        std::int32_t most = none;
        std::int64_t lead = 0, count = 0;
        for (const std::int32_t s : sources) {
            if (lead == 0) most = first_of(s);
            lead += first_of(s) == most ? 1 : -1;
        }
        for (const std::int32_t s : sources) count += first_of(s) == most ? 1 : 0;
        return count > 1 && 10 * count >= 9 * static_cast<std::int64_t>(sources.size());
    }

    const Traffic& traffic_;
    Paths paths_;
    std::vector<std::int32_t> parent_;   // [source] a former one of the same set, or itself
    std::vector<std::int32_t> user_of_;  // [capacity]
};

Division whole(std::int64_t num_messages) {
    Division division;
    division.parts.push_back({{}, {}, num_messages});
    return division;
}

}  // namespace

Division divide(const Traffic& traffic, const network::Fabric& fabric, Paths paths, std::int64_t part_messages) {
    const std::int64_t total = total_messages(traffic);
    if (total < 2 * part_messages) return whole(total);
    Connections connections(traffic, fabric, std::move(paths));
    if (!connections.find()) return whole(total);

    const std::int32_t n = traffic.num_sources();
    std::vector<std::int64_t> messages(at(n), 0);  // [first source of a set]
    for (std::int32_t s = 0; s < n; ++s) messages[at(connections.first_of(s))] += traffic.num_messages(Rank{s});

    // Neighbouring sets make a part as soon as they have messages enough.
    Division division;
    std::vector<Part>& parts = division.parts;
    std::vector<std::int32_t> part_of(at(n));  // [source]
    for (std::int32_t s = 0; s < n; ++s) {
        const std::int32_t first = connections.first_of(s);
        if (first == s) {
            if (parts.empty() || parts.back().num_messages >= part_messages) parts.emplace_back();
            parts.back().num_messages += messages[at(s)];
            part_of[at(s)] = static_cast<std::int32_t>(parts.size()) - 1;
        } else {
            part_of[at(s)] = part_of[at(first)];
        }
        parts[at(part_of[at(s)])].sources.emplace_back(s);
    }
    if (parts.size() == 1) return whole(total);
    division.numbers = connections.take_users();
    for (std::int32_t c = 0; c < fabric.num_capacities(); ++c) {
        std::int32_t& number = division.numbers[at(c)];
        if (number == none) continue;
        Part& part = parts[at(part_of[at(number)])];
        number = static_cast<std::int32_t>(part.capacities.size());
        part.capacities.push_back(c);
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const Part& a, const Part& b) { return a.num_messages > b.num_messages; });
    return division;
}

}  // namespace hocket::simulation
