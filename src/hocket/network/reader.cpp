// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <sstream>
#include <unordered_map>

// toml++ asserts what some malformed texts break, such as "[[[a]]]" (its issue 301), and without asserts assumes it: any
// bytes must end in an exception instead. No other file includes toml++.
#undef NDEBUG
namespace {
struct BrokenToml {};
[[noreturn]] void refuse_toml() { throw BrokenToml{}; }
}  // namespace
#define TOML_ASSERT(condition) ((condition) ? static_cast<void>(0) : refuse_toml())
#if __has_include(<toml++/toml.hpp>)
#include <toml++/toml.hpp>
#else
#include <toml++/toml.h>  // before toml++ 3.4
#endif

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/base/units.hpp"
#include "hocket/network/blueprint.hpp"
#include "hocket/network/file.hpp"
#include "hocket/network/generate.hpp"

namespace hocket::network {
namespace {

using Keys = std::span<const std::string_view>;
constexpr std::array<std::string_view, 6> file_keys{"format", "name", "placement", "node", "link", "generate"};
constexpr std::array<std::string_view, 5> node_keys{"name", "kind", "ranks", "memory_bandwidth", "memory_latency"};
constexpr std::array<std::string_view, 6> link_keys{"between",        "bandwidth",    "latency",
                                                    "bandwidth_back", "latency_back", "duplex"};
constexpr std::array<std::string_view, 7> generate_keys{
    "kind", "shape", "bandwidth", "latency", "second_bandwidth", "trunk_bandwidth", "trunk_latency"};

class Reader {
public:
    explicit Reader(std::string_view source_name) : source_name_(source_name) {}

    Network read(std::string_view text) {
        const toml::table file = parse(text);
        check_keys(file, "a network file", file_keys);
        const std::string format = text_of(file, "format", "\"hocket.network/1\"");
        if (format != "hocket.network/1")
            refuse(*file.get("format"),
                   "format " + base::quoted(format) + " is not known; accepted: \"hocket.network/1\"");
        Blueprint blueprint;
        if (const toml::node* generate_node = file.get("generate")) {
            for (const char* key : {"node", "link"})
                if (const toml::node* other = file.get(key))
                    refuse(*other, std::string("[[") + key + "]] and [generate] exclude each other");
            blueprint = read_generate(table_of(*generate_node, "generate"));
        } else {
            read_nodes(file, blueprint);
            read_links(file, blueprint);
            blueprint.name = std::filesystem::path(source_name_).stem().string();
        }
        if (file.contains("name")) blueprint.name = text_of(file, "name", "a string");
        if (const toml::node* placement = file.get("placement")) read_placement(*placement, blueprint);
        try {
            return build(blueprint);
        } catch (const InvalidInput& error) {
            throw InvalidInput(source_name_ + ": " + error.what(), error.hint());
        }
    }

private:
    [[nodiscard]] std::string at(const toml::source_region& source) const {
        return source_name_ + ":" + std::to_string(source.begin.line) + ": ";
    }
    [[noreturn]] void refuse(const toml::source_region& source, const std::string& what, std::string hint = {}) const {
        throw InvalidInput(at(source) + what, std::move(hint));
    }
    [[noreturn]] void refuse(const toml::node& node, const std::string& what, std::string hint = {}) const {
        refuse(node.source(), what, std::move(hint));
    }

    [[nodiscard]] toml::table parse(std::string_view text) const {
        try {
            return toml::parse(text);
        } catch (const toml::parse_error& error) {
            refuse(error.source(), "not TOML: " + std::string(error.description()));
        } catch (const BrokenToml&) {
            throw InvalidInput(source_name_ + ": not TOML: a malformed key or table header", "check the brackets");
        }
    }

    void check_keys(const toml::table& table, const std::string& what, Keys accepted) const {
        for (auto&& [key, value] : table) {
            if (std::find(accepted.begin(), accepted.end(), key.str()) != accepted.end()) continue;
            refuse(key.source(),
                   "unknown key " + base::quoted(key.str()) + " in " + what + "; accepted: " + base::list_of(accepted),
                   base::did_you_mean(key.str(), accepted));
        }
    }

    [[nodiscard]] const toml::node& required(const toml::table& table, std::string_view key,
                                             const std::string& expected) const {
        const toml::node* node = table.get(key);
        if (node == nullptr) refuse(table, "key " + base::quoted(key) + " is missing; expected: " + expected);
        return *node;
    }

    [[nodiscard]] std::string text_of(const toml::node& node, std::string_view key, const std::string& expected) const {
        const auto* text = node.as_string();
        if (text == nullptr) refuse(node, std::string(key) + " is " + kind_of(node) + "; expected: " + expected);
        return text->get();
    }
    [[nodiscard]] std::string text_of(const toml::table& table, std::string_view key,
                                      const std::string& expected) const {
        return text_of(required(table, key, expected), key, expected);
    }

    static std::string kind_of(const toml::node& node) {
        std::ostringstream text;
        switch (node.type()) {
            case toml::node_type::integer:
                text << "the number " << node.as_integer()->get();
                break;
            case toml::node_type::floating_point:
                text << "the number " << node.as_floating_point()->get();
                break;
            case toml::node_type::boolean:
                text << "a boolean";
                break;
            case toml::node_type::string:
                text << base::quoted(node.as_string()->get());
                break;
            case toml::node_type::array:
                text << "an array";
                break;
            case toml::node_type::table:
                text << "a table";
                break;
            default:
                text << "a date or time";
        }
        return text.str();
    }

    [[nodiscard]] const toml::table& table_of(const toml::node& node, std::string_view key) const {
        if (!node.is_table())
            refuse(node, std::string(key) + " is " + kind_of(node) + "; expected: a table [" + std::string(key) + "]");
        return *node.as_table();
    }

    /// The tables of `[[key]]`.
    [[nodiscard]] std::vector<const toml::table*> tables_of(const toml::table& file, std::string_view key) const {
        std::vector<const toml::table*> tables;
        const toml::node* node = file.get(key);
        if (node == nullptr) return tables;
        const std::string expected = "; expected: tables [[" + std::string(key) + "]]";
        if (!node->is_array()) refuse(*node, std::string(key) + " is " + kind_of(*node) + expected);
        for (const toml::node& element : *node->as_array()) {
            if (!element.is_table()) refuse(element, std::string(key) + " holds " + kind_of(element) + expected);
            tables.push_back(element.as_table());
        }
        return tables;
    }

    /// A quantity with a unit; the number 0 needs none.
    double quantity(const toml::node& node, std::string_view key,
                    double (*parse_text)(std::string_view, std::string_view), const char* example) const {
        const std::string where = at(node.source()) + std::string(key);
        if (const auto* text = node.as_string()) return parse_text(text->get(), where);
        const double number = node.value_or(1.0);
        if (node.is_number() && !(number < 0) && !(number > 0) && !std::isnan(number)) return parse_text("0", where);
        if (node.is_number())
            refuse(node, std::string(key) + " is " + kind_of(node) + ", without a unit",
                   std::string("write for example \"") + example + "\"");
        refuse(node, std::string(key) + " is " + kind_of(node) + "; expected: text such as \"" + example + "\"");
    }
    double bandwidth(const toml::node& node, std::string_view key) const {
        const auto* text = node.as_string();
        if (text != nullptr && text->get() == "unlimited") return std::numeric_limits<double>::infinity();
        return quantity(node, key, &base::parse_bandwidth, "1 Gbit/s");
    }
    double latency(const toml::node& node, std::string_view key) const {
        return quantity(node, key, &base::parse_duration, "50 us");
    }
    std::optional<double> optional_bandwidth(const toml::table& table, std::string_view key) const {
        const toml::node* node = table.get(key);
        return node == nullptr ? std::nullopt : std::optional(bandwidth(*node, key));
    }
    std::optional<double> optional_latency(const toml::table& table, std::string_view key) const {
        const toml::node* node = table.get(key);
        return node == nullptr ? std::nullopt : std::optional(latency(*node, key));
    }

    void read_nodes(const toml::table& file, Blueprint& blueprint) {
        std::int64_t places = 0;
        for (const toml::table* table : tables_of(file, "node")) {
            check_keys(*table, "[[node]]", node_keys);
            Blueprint::Node node;
            node.name = text_of(*table, "name", "a string");
            if (node.name.empty()) refuse(*table->get("name"), "a node's name is empty");
            const std::string kind = text_of(*table, "kind", "\"host\" or \"switch\"");
            if (kind != "host" && kind != "switch")
                refuse(*table->get("kind"),
                       "kind " + base::quoted(kind) + " is not known; accepted: \"host\", \"switch\"");
            node.kind = kind == "host" ? NodeKind::host : NodeKind::switch_;
            if (node.kind == NodeKind::switch_) node.ranks = 0;
            for (const std::string_view key : {"ranks", "memory_bandwidth", "memory_latency"})
                if (const toml::node* value = table->get(key); value != nullptr && node.kind == NodeKind::switch_)
                    refuse(*value, std::string(key) + " belongs to hosts; " + base::quoted(node.name) + " is a switch");
            if (const toml::node* ranks = table->get("ranks")) node.ranks = read_ranks(*ranks);
            for (const std::string_view key : {"memory_bandwidth", "memory_latency"})
                if (const toml::node* value = table->get(key); value != nullptr && node.ranks < 2)
                    refuse(*value, std::string(key) + " needs ranks above 1; " + base::quoted(node.name) + " has " +
                                       std::to_string(node.ranks));
            if (const auto value = optional_bandwidth(*table, "memory_bandwidth"))
                node.memory_bandwidth_bytes_per_s = *value;
            if (const auto value = optional_latency(*table, "memory_latency")) node.memory_latency_s = *value;
            places += 1 + (node.ranks > 1 ? node.ranks : 0);
            if (places > max_nodes)
                refuse(*table, "the network has more than " + std::to_string(max_nodes) + " nodes and processes");
            const auto [known, is_new] =
                nodes_.try_emplace(node.name, static_cast<std::int32_t>(blueprint.nodes.size()));
            if (!is_new)
                refuse(*table, "a second node has the name " + base::quoted(node.name) + "; the first is in line " +
                                   std::to_string(lines_[static_cast<std::size_t>(known->second)]));
            lines_.push_back(table->source().begin.line);
            blueprint.nodes.push_back(std::move(node));
        }
    }

    std::int32_t read_ranks(const toml::node& node) const {
        const auto* number = node.as_integer();
        if (number == nullptr || number->get() < 0 || number->get() > max_nodes)
            refuse(node, "ranks is " + kind_of(node) + "; expected: an integer in 0.." + std::to_string(max_nodes));
        return static_cast<std::int32_t>(number->get());
    }

    std::int32_t find_node(const toml::node& node, std::string_view key) const {
        const std::string name = text_of(node, key, "the name of a node");
        const auto found = nodes_.find(name);
        if (found != nodes_.end()) return found->second;
        std::vector<std::string_view> names;
        for (const auto& [known, id] : nodes_) names.push_back(known);
        std::sort(names.begin(), names.end());
        const std::string accepted = names.size() <= 16 ? "; the file has " + base::list_of(names) : "";
        refuse(node, std::string(key) + ": no node has the name " + base::quoted(name) + accepted,
               base::did_you_mean(name, names));
    }

    void read_links(const toml::table& file, Blueprint& blueprint) const {
        std::set<std::pair<std::int32_t, std::int32_t>> joined;
        for (const toml::table* table : tables_of(file, "link")) {
            check_keys(*table, "[[link]]", link_keys);
            const std::string expected = "two names, such as [\"a0\", \"s0\"]";
            const toml::node& between = required(*table, "between", expected);
            const auto* ends = between.as_array();
            if (ends == nullptr || ends->size() != 2) refuse(between, "between is not a pair; expected: " + expected);
            Blueprint::Cable cable{};
            cable.first = find_node((*ends)[0], "between");
            cable.second = find_node((*ends)[1], "between");
            const auto name = [&](std::int32_t n) {
                return base::quoted(blueprint.nodes[static_cast<std::size_t>(n)].name);
            };
            if (cable.first == cable.second) refuse(between, "a link joins " + name(cable.first) + " with itself");
            if (!joined.insert(std::minmax(cable.first, cable.second)).second)
                refuse(between, "a second link joins " + name(cable.first) + " and " + name(cable.second),
                       "write one link with the sum of the bandwidths");
            cable.bandwidth_bytes_per_s =
                bandwidth(required(*table, "bandwidth", "text such as \"1 Gbit/s\""), "bandwidth");
            cable.bandwidth_back_bytes_per_s =
                optional_bandwidth(*table, "bandwidth_back").value_or(cable.bandwidth_bytes_per_s);
            cable.latency_s = optional_latency(*table, "latency").value_or(0);
            cable.latency_back_s = optional_latency(*table, "latency_back").value_or(cable.latency_s);
            if (const toml::node* duplex = table->get("duplex")) {
                const std::string value = text_of(*duplex, "duplex", "\"full\" or \"half\"");
                if (value != "full" && value != "half")
                    refuse(*duplex, "duplex " + base::quoted(value) + " is not known; accepted: \"full\", \"half\"");
                cable.half_duplex = value == "half";
            }
            if (cable.half_duplex &&
                std::not_equal_to<>{}(cable.bandwidth_bytes_per_s, cable.bandwidth_back_bytes_per_s))
                refuse(*table->get("bandwidth_back"), "both directions of a half-duplex link share one bandwidth",
                       "leave bandwidth_back out");
            blueprint.cables.push_back(cable);
        }
    }

    Blueprint read_generate(const toml::table& table) {
        check_keys(table, "[generate]", generate_keys);
        GenerateOptions options;
        options.bandwidth_bytes_per_s =
            bandwidth(required(table, "bandwidth", "text such as \"1 Gbit/s\""), "bandwidth");
        options.latency_s = optional_latency(table, "latency").value_or(0);
        options.second_bandwidth_bytes_per_s = optional_bandwidth(table, "second_bandwidth");
        options.trunk_bandwidth_bytes_per_s = optional_bandwidth(table, "trunk_bandwidth");
        options.trunk_latency_s = optional_latency(table, "trunk_latency");
        const std::string kind = text_of(table, "kind", "text such as \"fat-tree\"");
        const std::string shape = text_of(table, "shape", "text such as \"8x8x16\"");
        try {
            Blueprint blueprint = generate(kind + ":" + shape, options);
            for (std::size_t n = 0; n < blueprint.nodes.size(); ++n)
                nodes_.emplace(blueprint.nodes[n].name, static_cast<std::int32_t>(n));
            return blueprint;
        } catch (const InvalidInput& error) {
            refuse(table, error.what(), error.hint());
        }
    }

    void read_placement(const toml::node& node, Blueprint& blueprint) const {
        const std::string expected = "\"block\", \"cyclic\" or a list of hosts, one for each rank";
        if (const auto* text = node.as_string()) {
            if (text->get() == "cyclic")
                blueprint.placement = cyclic_placement(blueprint);
            else if (text->get() != "block")
                refuse(node, "placement " + base::quoted(text->get()) + " is not known; accepted: " + expected);
            return;
        }
        const auto* hosts = node.as_array();
        if (hosts == nullptr || hosts->empty())
            refuse(node, "placement is " + kind_of(node) + "; expected: " + expected);
        std::vector<std::int32_t> used(blueprint.nodes.size(), 0);
        for (const toml::node& element : *hosts) {
            const std::int32_t host = find_node(element, "placement");
            const Blueprint::Node& found = blueprint.nodes[static_cast<std::size_t>(host)];
            if (found.kind == NodeKind::switch_)
                refuse(element, "placement: " + base::quoted(found.name) + " is a switch; ranks sit on hosts");
            if (++used[static_cast<std::size_t>(host)] > found.ranks)
                refuse(element,
                       "placement names " + base::quoted(found.name) +
                           " more often than its ranks = " + std::to_string(found.ranks),
                       "raise ranks of that host");
            blueprint.placement.push_back(host);
        }
    }

    std::string source_name_;
    std::unordered_map<std::string, std::int32_t> nodes_;  // by name
    std::vector<toml::source_index> lines_;                // [node] where it is
};

}  // namespace

Network from_text(std::string_view text, std::string_view source_name) { return Reader(source_name).read(text); }

constexpr std::size_t largest_file_bytes = std::size_t{64} << 20;
constexpr std::streamsize read_bytes = 1 << 16;

Network from_file(const std::filesystem::path& path) {
    const auto refuse = [&](const std::string& why) {
        throw InvalidInput(path.string() + ": cannot read the network file: " + why,
                           "give the path of a TOML file of format \"hocket.network/1\"");
    };
    if (std::filesystem::is_directory(path)) refuse("it is a folder");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(errno != 0 ? std::strerror(errno) : "it cannot be opened");
    // A device such as /dev/zero has no end.
    std::string text;
    while (file && text.size() <= largest_file_bytes) {
        const std::size_t read = text.size();
        text.resize(read + read_bytes);
        file.read(text.data() + read, read_bytes);
        text.resize(read + static_cast<std::size_t>(file.gcount()));
    }
    if (file.bad()) refuse("reading failed");
    if (text.size() > largest_file_bytes) refuse("it is longer than 64 MiB");
    return from_text(text, path.string());
}

}  // namespace hocket::network
