// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// A dragonfly [Kim08]: g groups of a routers, each router with p hosts, a - 1 local links to the others of its group
// and h ports for global links. Port k = 0 .. a*h - 1 of a group belongs to its router k / h.
//
// Global links are arranged as "relative" [Hastings15]: with c = 0, 1, ... and o = 1 .. g - 1, port c * (g-1) + o - 1
// of group G leads to group G + o (mod g), where it takes port c * (g-1) + (g-o) - 1. Every two groups are joined by
// a*h / (g-1) cables, rounded down; the ports left over stay free. Without g there are a*h + 1 groups and one cable
// between each two.
//
// Routing is minimal [Kim08]: to the router with the global link, over it, to the router of the destination: at most
// one global link. Of several cables between the groups, destination d takes number d mod their count.
//
// Nodes: hosts, then routers, group by group. Cables: of the hosts, local ones group by group, global ones.

#include <array>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/network/regular.hpp"
#include "hocket/network/shape.hpp"

namespace hocket::network {
namespace {

/// The cables between each two of n things in a circle: those to the next ones, then those to the next but one, ...
class Complete {
public:
    explicit Complete(std::int32_t n) : n_(n) {}

    [[nodiscard]] std::int32_t num_cables() const { return static_cast<std::int32_t>(std::int64_t{n_} * (n_ - 1) / 2); }
    [[nodiscard]] Regular::Cable cable(std::int32_t number) const {
        return {number % n_, (number % n_ + number / n_ + 1) % n_};
    }
    /// The link from one to another if these are the only cables.
    [[nodiscard]] std::int32_t link(std::int32_t from, std::int32_t to) const {
        const std::int32_t ahead = to > from ? to - from : to - from + n_;
        if (2 * ahead < n_ || (2 * ahead == n_ && from < to)) return 2 * ((ahead - 1) * n_ + from);
        return 2 * ((n_ - ahead - 1) * n_ + to) + 1;
    }

private:
    std::int32_t n_;
};

class Dragonfly final : public Regular {
public:
    /// p, a, h, g
    Dragonfly(const std::vector<std::int32_t>& shape, Size size, const GenerateOptions& options)
        : Regular("dragonfly", print_shape(shape, ','), size, options),
          hosts_(shape[0]),
          routers_(shape[1]),
          ports_(shape[2]),
          groups_(shape[3]),
          copies_(groups_ == 1 ? 0 : routers_ * ports_ / (groups_ - 1)),
          local_(routers_),
          global_(groups_),
          first_global_(num_hosts() + groups_ * local_.num_cables()) {}

    [[nodiscard]] std::string switch_name(std::int32_t node) const override {
        const std::int32_t router = node - num_hosts();
        return "s" + std::to_string(router / routers_) + "." + std::to_string(router % routers_);
    }

    [[nodiscard]] Cable cable(std::int32_t number) const override {
        if (number < num_hosts()) return {number, num_hosts() + number / hosts_};
        if (number < first_global_) {
            const std::int32_t group = (number - num_hosts()) / local_.num_cables();
            const Cable ends = local_.cable((number - num_hosts()) % local_.num_cables());
            return {router(group, ends.first), router(group, ends.second)};
        }
        const std::int32_t copy = (number - first_global_) / global_.num_cables();
        const Cable ends = global_.cable((number - first_global_) % global_.num_cables());
        return {router(ends.first, gate(ends.first, ends.second, copy)),
                router(ends.second, gate(ends.second, ends.first, copy))};
    }

    void route(NodeId a, NodeId b, std::vector<LinkId>& out) const override {
        HOCKET_ASSERT(a.value < num_hosts() && b.value < num_hosts(), "routes in a dragonfly join hosts");
        const std::int32_t first = a.value / hosts_, last = b.value / hosts_;
        const std::int32_t from = first / routers_, to = last / routers_;
        out.push_back(LinkId{2 * a.value});
        if (from == to) {
            local(from, first % routers_, last % routers_, out);
        } else {
            const std::int32_t copy = b.value % copies_;
            local(from, first % routers_, gate(from, to, copy), out);
            out.push_back(LinkId{2 * (first_global_ + copy * global_.num_cables()) + global_.link(from, to)});
            local(to, gate(to, from, copy), last % routers_, out);
        }
        out.push_back(LinkId{2 * b.value + 1});
    }

private:
    [[nodiscard]] std::int32_t router(std::int32_t group, std::int32_t in_group) const {
        return num_hosts() + group * routers_ + in_group;
    }
    /// The router of `group` with that cable to group `other`.
    [[nodiscard]] std::int32_t gate(std::int32_t group, std::int32_t other, std::int32_t copy) const {
        const std::int32_t ahead = other > group ? other - group : other - group + groups_;
        return (copy * (groups_ - 1) + ahead - 1) / ports_;
    }
    void local(std::int32_t group, std::int32_t from, std::int32_t to, std::vector<LinkId>& out) const {
        if (from != to) out.push_back(LinkId{2 * (num_hosts() + group * local_.num_cables()) + local_.link(from, to)});
    }

    std::int32_t hosts_, routers_, ports_, groups_;  // p, a, h, g
    std::int32_t copies_;                            // cables between two groups
    Complete local_, global_;
    std::int32_t first_global_;  // cable
};

}  // namespace

std::shared_ptr<const Regular> make_dragonfly(std::string_view shape, const GenerateOptions& options) {
    auto numbers = parse_shape(shape, ',', 3, 4,
                               "hosts of a router, routers of a group, global links of a router and, if not as many as "
                               "they can join, groups, such as dragonfly:4,8,4 or dragonfly:4,8,4,17");
    const std::int64_t p = numbers[0], a = numbers[1], h = numbers[2];
    const std::int64_t g = numbers.size() == 4 ? numbers[3] : times(a, h) + 1;
    if (g - 1 > a * h)
        throw InvalidInput("shape " + base::quoted(shape) + ": a group has " + std::to_string(a * h) +
                               " global links, too few for " + std::to_string(g - 1) + " other groups",
                           "give at most " + std::to_string(a * h + 1) + " groups");
    const std::int64_t routers = times(g, a);
    check_size(routers, 0, max_regular_nodes, max_regular_cables);
    const std::int64_t hosts = times(routers, p);
    const std::int64_t local = times(a * (a - 1) / 2, g);
    const std::int64_t global = g == 1 ? 0 : times(a * h / (g - 1), g * (g - 1) / 2);
    numbers.resize(4, static_cast<std::int32_t>(g));
    const Regular::Size size{hosts, hosts + routers, hosts + local + global};
    check_size(size.nodes, size.cables, max_regular_nodes, max_regular_cables);
    return std::make_shared<Dragonfly>(numbers, size, options);
}

}  // namespace hocket::network
