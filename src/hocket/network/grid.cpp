// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Hosts on a grid, joined with their neighbours in each dimension: a mesh, and a torus if the ends of each line are
// joined, too. A hypercube is the mesh of n dimensions of two. The first dimension varies fastest: host h has the
// coordinates h mod s[0], h / s[0] mod s[1], ... A line of two has one cable also in a torus, a line of one none.
//
// Cables are numbered dimension by dimension, within it by the host at which they start; the cable that closes a line
// starts at its last host.
//
// Routing is dimension by dimension [Dally87], from the first on; in a torus the shorter way round, and of two equal
// ones that of rising coordinates. In a hypercube that is e-cube routing [Sullivan77]. By hash, a route takes one of
// the links that lead nearer at each step.

#include <algorithm>
#include <array>

#include "hocket/base/error.hpp"
#include "hocket/network/regular.hpp"
#include "hocket/network/shape.hpp"

namespace hocket::network {
namespace {

constexpr std::size_t max_dimensions = 22;  // of a hypercube within the limit on cables

class Grid final : public Regular {
public:
    struct Dimension {
        std::int32_t size, stride;  ///< hosts of a line; from one to the next
        std::int32_t cables;        ///< of a line
        std::int32_t first_cable;
        [[nodiscard]] bool closed() const { return cables == size; }
    };

    Grid(const char* kind, std::string shape, Size size, std::vector<Dimension> dimensions,
         const GenerateOptions& options)
        : Regular(kind, std::move(shape), size, options), dimensions_(std::move(dimensions)) {}

    [[nodiscard]] std::string switch_name(std::int32_t) const override { return {}; }  // it has none

    [[nodiscard]] Cable cable(std::int32_t number) const override {
        std::size_t d = dimensions_.size() - 1;
        while (number < dimensions_[d].first_cable || dimensions_[d].cables == 0) --d;
        const Dimension& dimension = dimensions_[d];
        const std::int32_t in_dimension = number - dimension.first_cable;
        const std::int32_t block = dimension.stride * dimension.cables;
        const std::int32_t start = in_dimension / block * dimension.stride * dimension.size + in_dimension % block;
        const bool closes = in_dimension % block / dimension.stride == dimension.size - 1;
        return {start, start + dimension.stride * (closes ? 1 - dimension.size : 1)};
    }

    void route(NodeId a, NodeId b, std::vector<LinkId>& out) const override {
        if (ecmp_seed()) return route_by_hash(a, b, out);
        // Coordinates of `b` in the dimensions done, as a number; those of both in the others.
        std::int32_t done = 0, rest_a = a.value, rest_b = b.value;
        for (const Dimension& dimension : dimensions_) {
            const std::int32_t from = rest_a % dimension.size, to = rest_b % dimension.size;
            rest_a /= dimension.size;
            rest_b /= dimension.size;
            const Steps steps = steps_between(dimension, from, to);
            const bool up = steps.up > 0;
            const std::int32_t line = dimension.first_cable + rest_a * (dimension.stride * dimension.cables) + done;
            Place place{from, line + from * dimension.stride};
            for (std::int32_t left = up ? steps.up : steps.down; left > 0; --left)
                out.push_back(step(dimension, place, up));
            done += to * dimension.stride;
        }
    }

private:
    /// Shortest ways in one dimension: so many steps up, or so many down; both in the middle of a ring.
    struct Steps {
        std::int32_t up = 0, down = 0;
    };

    [[nodiscard]] static Steps steps_between(const Dimension& dimension, std::int32_t from, std::int32_t to) {
        if (!dimension.closed()) return {std::max(to - from, 0), std::max(from - to, 0)};
        const std::int32_t up = to >= from ? to - from : to - from + dimension.size;
        const std::int32_t down = up == 0 ? 0 : dimension.size - up;
        return {up <= down ? up : 0, down <= up ? down : 0};
    }

    /// A host on a line of a dimension.
    struct Place {
        std::int32_t coordinate;
        std::int32_t cable;  ///< that starts there
    };

    /// The link up or down the line; `place` goes to its end.
    [[nodiscard]] static LinkId step(const Dimension& dimension, Place& place, bool up) {
        const std::int32_t start = place.cable;
        const bool around = place.coordinate == (up ? dimension.size - 1 : 0);
        const std::int32_t steps = (up ? 1 : -1) * (around ? 1 - dimension.size : 1);
        place.coordinate += steps;
        place.cable += steps * dimension.stride;
        return LinkId{up ? 2 * start : 2 * place.cable + 1};
    }

    void route_by_hash(NodeId a, NodeId b, std::vector<LinkId>& out) const {
        struct Choice {
            LinkId link;
            std::int32_t next;
        };
        base::Random draws = draws_of(*ecmp_seed(), a, b);
        for (std::int32_t node = a.value; node != b.value;) {
            std::array<Choice, 2 * max_dimensions> choices;
            std::size_t count = 0;
            for (const Dimension& dimension : dimensions_) {
                const std::int32_t line = dimension.stride * dimension.size;
                const std::int32_t from = node % line / dimension.stride, to = b.value % line / dimension.stride;
                const Steps steps = steps_between(dimension, from, to);
                for (const bool up : {true, false}) {
                    if ((up ? steps.up : steps.down) == 0) continue;
                    Place place{from, dimension.first_cable + node / line * (dimension.stride * dimension.cables) +
                                          node % line};
                    const LinkId link = step(dimension, place, up);
                    choices[count++] = {link, node + (place.coordinate - from) * dimension.stride};
                }
            }
            std::sort(choices.begin(), choices.begin() + count,
                      [](const Choice& x, const Choice& y) { return x.link < y.link; });
            const Choice& chosen = choices[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(count)))];
            out.push_back(chosen.link);
            node = chosen.next;
        }
    }

    std::vector<Dimension> dimensions_;
};

std::shared_ptr<const Regular> make(const char* kind, std::string shape, const std::vector<std::int32_t>& sizes,
                                    bool closed, const GenerateOptions& options) {
    Regular::Size size{1, 0, 0};
    for (const std::int32_t width : sizes) size.hosts = times(size.hosts, width);
    check_size(size.hosts, 0, max_regular_nodes, max_regular_cables);
    size.nodes = size.hosts;
    std::vector<Grid::Dimension> dimensions;
    std::int32_t stride = 1;
    for (const std::int32_t width : sizes) {
        const std::int32_t cables = closed && width > 2 ? width : width - 1;
        dimensions.push_back({width, stride, cables, static_cast<std::int32_t>(size.cables)});
        stride *= width;
        size.cables += size.hosts / width * cables;
    }
    return std::make_shared<Grid>(kind, std::move(shape), size, std::move(dimensions), options);
}

std::vector<std::int32_t> parse_sizes(std::string_view shape, const std::string& example) {
    return parse_shape(shape, 'x', 1, 8, "the hosts along each dimension, such as " + example);
}

}  // namespace

std::shared_ptr<const Regular> make_torus(std::string_view shape, const GenerateOptions& options) {
    const auto sizes = parse_sizes(shape, "torus:4x4x4");
    return make("torus", print_shape(sizes, 'x'), sizes, true, options);
}

std::shared_ptr<const Regular> make_mesh(std::string_view shape, const GenerateOptions& options) {
    const auto sizes = parse_sizes(shape, "mesh:4x4x4");
    return make("mesh", print_shape(sizes, 'x'), sizes, false, options);
}

std::shared_ptr<const Regular> make_hypercube(std::string_view shape, const GenerateOptions& options) {
    const std::int32_t n = parse_shape(shape, 'x', 1, 1, "the number of dimensions, such as hypercube:10")[0];
    if (n > static_cast<std::int32_t>(max_dimensions))
        throw InvalidInput(
            "a hypercube has at most " + std::to_string(max_dimensions) + " dimensions, not " + std::to_string(n),
            "write the number of dimensions, such as hypercube:10 for 1024 hosts");
    return make("hypercube", std::to_string(n), std::vector<std::int32_t>(static_cast<std::size_t>(n), 2), false,
                options);
}

}  // namespace hocket::network
