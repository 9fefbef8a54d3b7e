// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/interop/communicators.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace hocket::interop {

namespace {

/// A communicator that is known, with each member's number for it.
struct Known {
    std::vector<std::int32_t> members;  ///< world ranks
    std::vector<std::int32_t> numbers;  ///< by member
    std::vector<std::int32_t> dims;
};

/// What one member did in one creation.
struct Part {
    std::int32_t world;
    const Creation* creation;
};

class Finder {
public:
    explicit Finder(std::span<const RankCreations> ranks) : ranks_(ranks), by_parent_(ranks.size()) {
        for (std::size_t r = 0; r < ranks.size(); ++r)
            for (const Creation& creation : ranks[r].creations) by_parent_[r][creation.parent].push_back(&creation);
    }

    void run() {
        if (ranks_.empty()) return;
        Known world{ranks_[0].file->communicators[0].members, {}, {}};
        world.numbers.assign(world.members.size(), 0);
        queue_.push_back(std::move(world));
        for (std::size_t r = 0; r < ranks_.size(); ++r) queue_.push_back({{static_cast<std::int32_t>(r)}, {1}, {}});
        while (!queue_.empty()) {
            const Known parent = std::move(queue_.front());
            queue_.pop_front();
            children(parent);
        }
    }

private:
    void children(const Known& parent) {
        std::vector<const std::vector<const Creation*>*> lists;
        std::size_t common = SIZE_MAX;
        for (std::size_t i = 0; i < parent.members.size(); ++i) {
            const auto& own = by_parent_[static_cast<std::size_t>(parent.members[i])];
            const auto found = own.find(parent.numbers[i]);
            if (found == own.end()) return;  // some member made nothing of it
            lists.push_back(&found->second);
            common = std::min(common, found->second.size());
        }
        for (std::size_t n = 0; n < common && !lists.empty(); ++n) {
            std::vector<Part> parts;
            for (std::size_t i = 0; i < lists.size(); ++i) parts.push_back({parent.members[i], (*lists[i])[n]});
            one(parent, parts);
        }
    }

    void one(const Known& parent, const std::vector<Part>& parts) {
        using enum Creation::Kind;
        const Creation& first = *parts[0].creation;
        const auto differs = [&](const Part& part) { return part.creation->kind != first.kind; };
        if (std::ranges::any_of(parts, differs)) return;
        switch (first.kind) {
            case dup:
                return make(parent.members, parts, parent.dims);
            case split: {
                const auto place = [](const Part& part, std::size_t) {
                    return std::pair{part.creation->made < 0 ? -1 : part.creation->color, part.creation->key};
                };
                return by_color(parts, place, {});
            }
            case group: {
                std::set<std::vector<std::int32_t>> groups;
                for (const Part& part : parts)
                    if (part.creation->made >= 0) groups.insert(world_ranks(part));
                for (const auto& ranks : groups) make(ranks, parts, {});
                return;
            }
            case grid: {
                std::int64_t points = 1;
                for (const std::int32_t extent : first.dims)
                    points = std::min<std::int64_t>(points * std::max(extent, 0), INT32_MAX);
                if (points < 1 || points > static_cast<std::int64_t>(parent.members.size())) return;
                return make({parent.members.begin(), parent.members.begin() + points}, parts, first.dims);
            }
            case slice: {
                if (first.keeps.size() != parent.dims.size()) return;
                std::vector<std::int32_t> dims;
                for (std::size_t d = 0; d < parent.dims.size(); ++d)
                    if (first.keeps[d] != 0) dims.push_back(parent.dims[d]);
                const auto place = [&](const Part&, std::size_t rank) {
                    return place_in_slice(parent.dims, first.keeps, rank);
                };
                return by_color(parts, place, dims);
            }
            case unknown:
                return;
        }
    }

    /// Of a group; empty if they are not known.
    [[nodiscard]] std::vector<std::int32_t> world_ranks(const Part& part) const {
        const auto& table = ranks_[static_cast<std::size_t>(part.world)].file->communicators;
        if (part.creation->base < 0) return {};
        const auto& from = table[static_cast<std::size_t>(part.creation->base)].members;
        std::vector<std::int32_t> found;
        for (const std::int32_t rank : part.creation->ranks) {
            if (rank < 0 || static_cast<std::size_t>(rank) >= from.size()) return {};
            found.push_back(from[static_cast<std::size_t>(rank)]);
        }
        return found;
    }

    /// Which slice a rank of a grid is in, and where in it. The last dimension varies fastest.
    static std::pair<std::int32_t, std::int32_t> place_in_slice(const std::vector<std::int32_t>& dims,
                                                                const std::vector<std::int32_t>& keeps,
                                                                std::size_t rank) {
        std::int64_t color = 0, key = 0, color_step = 1, key_step = 1, rest = static_cast<std::int64_t>(rank);
        for (std::size_t d = dims.size(); d-- > 0;) {
            const std::int64_t at = rest % dims[d];
            rest /= dims[d];
            std::int64_t& step = keeps[d] != 0 ? key_step : color_step;
            (keeps[d] != 0 ? key : color) += at * step;
            step *= dims[d];
        }
        return {static_cast<std::int32_t>(color), static_cast<std::int32_t>(key)};
    }

    template <class Place>
    void by_color(const std::vector<Part>& parts, Place place, const std::vector<std::int32_t>& dims) {
        std::map<std::int32_t, std::vector<std::tuple<std::int32_t, std::size_t>>> colors;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const auto [color, key] = place(parts[i], i);
            if (parts[i].creation->made >= 0) colors[color].emplace_back(key, i);
        }
        for (auto& [color, places] : colors) {
            std::ranges::sort(places);
            std::vector<std::int32_t> members;
            for (const auto& [key, i] : places) members.push_back(parts[i].world);
            make(members, parts, dims);
        }
    }

    void make(const std::vector<std::int32_t>& members, const std::vector<Part>& parts,
              const std::vector<std::int32_t>& dims) {
        Known known{members, std::vector<std::int32_t>(members.size(), -1), dims};
        for (const Part& part : parts) {
            const auto own = std::ranges::find(members, part.world);
            if (own != members.end())
                known.numbers[static_cast<std::size_t>(own - members.begin())] = part.creation->made;
        }
        // All members have to have it, or it is not what it seems.
        if (known.numbers.empty() || std::ranges::any_of(known.numbers, [](std::int32_t made) { return made < 0; }))
            return;
        for (std::size_t i = 0; i < members.size(); ++i) {
            auto& table = ranks_[static_cast<std::size_t>(members[i])].file->communicators;
            trace::LocalCommunicator& local = table[static_cast<std::size_t>(known.numbers[i])];
            local.members = members;
            local.rank = static_cast<std::int32_t>(i);
        }
        queue_.push_back(std::move(known));
    }

    std::span<const RankCreations> ranks_;
    std::vector<std::map<std::int32_t, std::vector<const Creation*>>> by_parent_;  // by world rank
    std::deque<Known> queue_;
};

}  // namespace

std::int64_t find_members(std::span<const RankCreations> ranks) {
    Finder(ranks).run();
    std::int64_t without = 0;
    for (const RankCreations& rank : ranks)
        without += std::ranges::count_if(rank.file->communicators, [](const auto& one) { return one.members.empty(); });
    return without;
}

}  // namespace hocket::interop
