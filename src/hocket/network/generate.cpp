// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/generate.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/network/ranges.hpp"
#include "hocket/network/regular.hpp"
#include "hocket/network/shape.hpp"

namespace hocket::network {
namespace {

struct Kind {
    std::string_view name;
    std::string_view routing;  ///< its own; empty: there is one path only
    bool ecmp_by_arithmetic;
    std::shared_ptr<const Regular> (*make)(std::string_view shape, const GenerateOptions&);
};
constexpr std::array<Kind, 8> kinds{{{"star", "", false, &make_star},
                                     {"two-clusters", "", false, nullptr},
                                     {"tree", "", false, &make_tree},
                                     {"fat-tree", "d-mod-k", true, &make_fat_tree},
                                     {"torus", "dimension-order", true, &make_torus},
                                     {"mesh", "dimension-order", true, &make_mesh},
                                     {"hypercube", "dimension-order", true, &make_hypercube},
                                     {"dragonfly", "minimal", false, &make_dragonfly}}};

const Kind& kind_named(std::string_view name) {
    std::array<std::string_view, kinds.size()> names;
    std::transform(kinds.begin(), kinds.end(), names.begin(), [](const Kind& kind) { return kind.name; });
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return kinds[static_cast<std::size_t>(found - names.begin())];
    const std::string suggestion = base::did_you_mean(name, names);
    throw InvalidInput("unknown kind of network " + base::quoted(name) + "; accepted: " + base::list_of(names),
                       suggestion.empty() ? "write KIND:SHAPE, such as star:16" : suggestion);
}

/// The routing written in full where it is not the kind's own, and only there; a seed where and only where a hash needs
/// one.
GenerateOptions resolved(const Kind& kind, GenerateOptions options) {
    std::vector<std::string_view> accepted{"shortest-path"};
    if (!kind.routing.empty()) accepted = {kind.routing, "shortest-path", "ecmp"};
    std::string& routing = options.routing;
    if (!routing.empty() && std::find(accepted.begin(), accepted.end(), routing) == accepted.end())
        throw InvalidInput("routing " + base::quoted(routing) + " is none of " + std::string(kind.name) +
                               "; accepted: " + base::list_of(accepted),
                           base::did_you_mean(routing, accepted));
    if (routing == accepted.front()) routing.clear();
    if (options.seed && routing != "ecmp")
        throw InvalidInput("seed belongs to routing \"ecmp\" alone", "leave seed out, or choose that routing");
    if (options.seed && *options.seed < 0)
        throw InvalidInput("seed: " + std::to_string(*options.seed) + " is not at least 0");
    if (routing == "ecmp" && !options.seed) options.seed = 1;
    return options;
}

struct Request {
    const Kind& kind;
    std::string_view shape;
    GenerateOptions options;
    /// Whether the network finds its routes itself, by arithmetic.
    [[nodiscard]] bool by_arithmetic() const {
        return kind.make != nullptr && (options.routing.empty() || (options.seed && kind.ecmp_by_arithmetic));
    }
};

Request parse(std::string_view kind_and_shape, const GenerateOptions& options) {
    const std::size_t colon = kind_and_shape.find(':');
    const Kind& kind = kind_named(kind_and_shape.substr(0, colon));
    check(options, kind.name == "two-clusters");
    return {kind, colon == std::string_view::npos ? "" : kind_and_shape.substr(colon + 1), resolved(kind, options)};
}

Node node_of(const Regular& regular, std::int32_t n) {
    return {regular.node_name(n), n < regular.num_hosts() ? NodeKind::host : NodeKind::switch_};
}

/// Its nodes and cables, without its routes.
Blueprint tabulate(const Regular& regular) {
    check_size(regular.num_nodes(), regular.num_cables(), max_nodes, max_cables);
    Blueprint blueprint;
    blueprint.name = regular.name();
    blueprint.nodes.reserve(static_cast<std::size_t>(regular.num_nodes()));
    for (std::int32_t n = 0; n < regular.num_nodes(); ++n) {
        Node node = node_of(regular, n);
        blueprint.nodes.push_back({std::move(node.name), node.kind, node.kind == NodeKind::host ? 1 : 0});
    }
    blueprint.cables.reserve(static_cast<std::size_t>(regular.num_cables()));
    const double bandwidth = regular.bandwidth_bytes_per_s(), latency = regular.latency_s();
    for (std::int32_t c = 0; c < regular.num_cables(); ++c) {
        const Regular::Cable ends = regular.cable(c);
        blueprint.cables.push_back({ends.first, ends.second, bandwidth, bandwidth, latency, latency});
    }
    return blueprint;
}

}  // namespace

void check(const GenerateOptions& options, bool has_trunk) {
    check_bandwidth(options.bandwidth_bytes_per_s, "bandwidth");
    check_latency(options.latency_s, "latency");
    if (options.second_bandwidth_bytes_per_s)
        check_bandwidth(*options.second_bandwidth_bytes_per_s, "second_bandwidth");
    if (options.trunk_bandwidth_bytes_per_s) check_bandwidth(*options.trunk_bandwidth_bytes_per_s, "trunk_bandwidth");
    if (options.trunk_latency_s) check_latency(*options.trunk_latency_s, "trunk_latency");
    if (!has_trunk &&
        (options.second_bandwidth_bytes_per_s || options.trunk_bandwidth_bytes_per_s || options.trunk_latency_s))
        throw InvalidInput("second_bandwidth, trunk_bandwidth and trunk_latency belong to \"two-clusters\" alone",
                           "use bandwidth and latency");
}

std::shared_ptr<const Regular> make_regular(std::string_view kind_and_shape, const GenerateOptions& options) {
    const Request request = parse(kind_and_shape, options);
    return request.by_arithmetic() ? request.kind.make(request.shape, request.options) : nullptr;
}

Network generate_network(std::string_view kind_and_shape, const GenerateOptions& options, std::string name) {
    const std::shared_ptr<const Regular> regular = make_regular(kind_and_shape, options);
    if (!regular) {
        Blueprint blueprint = generate(kind_and_shape, options);
        if (!name.empty()) blueprint.name = std::move(name);
        return build(blueprint);
    }
    if (name.empty()) name = regular->name();
    check_size(regular->num_nodes(), regular->num_cables(), max_nodes, max_cables);
    std::vector<Node> nodes;
    std::vector<Link> links;
    std::vector<NodeId> rank_nodes;
    nodes.reserve(static_cast<std::size_t>(regular->num_nodes()));
    links.reserve(2 * static_cast<std::size_t>(regular->num_cables()));
    rank_nodes.reserve(static_cast<std::size_t>(regular->num_hosts()));
    for (std::int32_t n = 0; n < regular->num_nodes(); ++n) {
        nodes.push_back(node_of(*regular, n));
        if (n < regular->num_hosts()) rank_nodes.push_back(NodeId{n});
    }
    const double bandwidth = regular->bandwidth_bytes_per_s(), latency = regular->latency_s();
    for (std::int32_t c = 0; c < regular->num_cables(); ++c) {
        const Regular::Cable ends = regular->cable(c);
        links.push_back({NodeId{ends.first}, NodeId{ends.second}, bandwidth, latency, 2 * c});
        links.push_back({NodeId{ends.second}, NodeId{ends.first}, bandwidth, latency, 2 * c + 1});
    }
    return {std::move(name), std::move(nodes), std::move(links), std::move(rank_nodes), regular};
}

Blueprint star(std::int32_t hosts, const GenerateOptions& options) {
    return generate("star:" + std::to_string(hosts), options);
}

Blueprint generate(std::string_view kind_and_shape, const GenerateOptions& options) {
    const Request request = parse(kind_and_shape, options);
    if (request.kind.make == nullptr) {
        const auto hosts = parse_shape(request.shape, '+', 2, 2, "the hosts of both groups, such as two-clusters:4+4");
        return two_clusters(hosts[0], hosts[1], request.options);
    }
    const std::shared_ptr<const Regular> regular = request.kind.make(request.shape, request.options);
    Blueprint blueprint = tabulate(*regular);
    if (request.by_arithmetic()) {
        blueprint.router = regular;
    } else {
        blueprint.routing = regular->routing();
        blueprint.routing.ecmp_seed = request.options.seed;
    }
    return blueprint;
}

}  // namespace hocket::network
