// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/regular.hpp"

#include "hocket/base/units.hpp"
#include "hocket/network/shape.hpp"

namespace hocket::network {

Regular::Regular(std::string kind, std::string shape, Size size, GenerateOptions options)
    : kind_(std::move(kind)), shape_(std::move(shape)), size_(size), options_(std::move(options)) {
    check_size(size.nodes, size.cables, max_regular_nodes, max_regular_cables);
}

Routing Regular::routing() const {
    const auto line = [](const char* key, const std::string& value) {
        return std::string(key) + " = \"" + value + "\"\n";
    };
    std::string table = "[generate]\n" + line("kind", kind_) + line("shape", shape_) +
                        line("bandwidth", base::print_bandwidth(options_.bandwidth_bytes_per_s)) +
                        line("latency", base::print_duration(options_.latency_s));
    if (!options_.routing.empty()) table += line("routing", options_.routing);
    if (options_.seed) table += "seed = " + std::to_string(*options_.seed) + "\n";
    Routing routing;
    routing.generate_table = table;
    return routing;
}

}  // namespace hocket::network
