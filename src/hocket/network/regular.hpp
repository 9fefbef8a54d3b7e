// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "hocket/base/random.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/network/routing.hpp"

namespace hocket::network {

/// A network of equal cables whose nodes, cables and routes are computed from their numbers, without tables. Its hosts
/// are the nodes 0 .. num_hosts - 1, each with one rank; cable i is the links 2i (first to second) and 2i + 1.
class Regular : public Router {
public:
    struct Size {
        std::int64_t hosts, nodes, cables;
    };
    struct Cable {
        std::int32_t first, second;
    };

    [[nodiscard]] std::string name() const { return kind_ + ":" + shape_; }
    [[nodiscard]] std::int32_t num_hosts() const { return static_cast<std::int32_t>(size_.hosts); }
    [[nodiscard]] std::int32_t num_nodes() const { return static_cast<std::int32_t>(size_.nodes); }
    [[nodiscard]] std::int32_t num_cables() const { return static_cast<std::int32_t>(size_.cables); }
    [[nodiscard]] double bandwidth_bytes_per_s() const { return options_.bandwidth_bytes_per_s; }
    [[nodiscard]] double latency_s() const { return options_.latency_s; }

    [[nodiscard]] std::string node_name(std::int32_t node) const {
        return node < num_hosts() ? "h" + std::to_string(node) : switch_name(node);
    }
    /// Of a switch; hosts are h0, h1, ...
    [[nodiscard]] virtual std::string switch_name(std::int32_t node) const = 0;
    [[nodiscard]] virtual Cable cable(std::int32_t number) const = 0;

    /// The `[generate]` table that makes it.
    [[nodiscard]] Routing routing() const override;

protected:
    /// @throws InvalidInput  if it is larger than the limits of shape.hpp.
    Regular(std::string kind, std::string shape, Size, GenerateOptions);
    /// The seed of routing "ecmp"; without one the kind's own routing holds.
    [[nodiscard]] const std::optional<std::int64_t>& ecmp_seed() const { return options_.seed; }

private:
    std::string kind_, shape_;
    Size size_;
    GenerateOptions options_;
};

// The kinds, one file each. @throws InvalidInput  if the shape is none of the kind or too large.
std::shared_ptr<const Regular> make_star(std::string_view shape, const GenerateOptions&);
std::shared_ptr<const Regular> make_tree(std::string_view shape, const GenerateOptions&);
std::shared_ptr<const Regular> make_fat_tree(std::string_view shape, const GenerateOptions&);
std::shared_ptr<const Regular> make_torus(std::string_view shape, const GenerateOptions&);
std::shared_ptr<const Regular> make_mesh(std::string_view shape, const GenerateOptions&);
std::shared_ptr<const Regular> make_hypercube(std::string_view shape, const GenerateOptions&);
std::shared_ptr<const Regular> make_dragonfly(std::string_view shape, const GenerateOptions&);

/// The regular network of that kind and shape, with the checks of `generate`. None if the routes asked for, or the kind
/// (two-clusters), need tables.
std::shared_ptr<const Regular> make_regular(std::string_view kind_and_shape, const GenerateOptions&);

}  // namespace hocket::network
