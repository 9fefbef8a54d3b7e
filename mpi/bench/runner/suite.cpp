// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/runner/suite.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "bench/items/own/plugin.hpp"
#include "bench/items/own/steps.hpp"
#include "bench/items/registry.hpp"
#include "hocket/base/format_version.hpp"
#include "hocket/base/toml_reader.hpp"

namespace hocket::bench {

namespace {

constexpr int most_times = 1'000'000;  // of what is repeated: more is a slip of the pen, and its list fills the memory
constexpr std::string_view format = "hocket.suite/1";
constexpr std::string_view extent_keys[] = {"bytes",   "ranks", "launches", "most_launches", "rounds",
                                            "samples", "runs",  "target",   "budget_s",      "start"};
constexpr std::string_view item_keys[] = {"use", "number", "bytes", "ranks"};
constexpr std::string_view plugin_keys[] = {"file"};
constexpr std::string_view pattern_keys[] = {"name", "what", "steps"};
constexpr std::string_view step_keys[] = {"do", "to", "from", "on", "bytes", "tag", "times", "us"};
constexpr std::string_view item_step_keys[] = {"use", "bytes"};

std::vector<std::string_view> with(base::Keys keys, std::initializer_list<std::string_view> more) {
    std::vector<std::string_view> all(keys.begin(), keys.end());
    all.insert(all.end(), more);
    return all;
}

class SuiteReader : base::TomlReader {
public:
    explicit SuiteReader(std::string_view source)
        : TomlReader(source), folder_(source.substr(0, source.rfind('/') + 1)) {}

    Suite read(std::string_view text, bool is_quick) {
        const toml::table file = parse(text);
        check_keys(file, "a suite",
                   with(extent_keys, {"format", "name", "seed", "quick", "plugins", "patterns", "items"}));
        if (const auto found = text_of(file, "format", "\"" + std::string(format) + "\""); found != format) {
            const std::string newer =
                base::is_newer_format(found, format) ? "; " + std::string(base::made_by_newer) : "";
            refuse(*file.get("format"), "the format is not \"" + std::string(format) + '"' + newer);
        }
        Suite suite;
        suite.name = text_of(file, "name", "the name of the suite");
        if (const auto* seed = file.get("seed")) suite.seed = static_cast<std::uint64_t>(whole(*seed, "seed", 0));
        read_extent(file, suite.extent);
        Extent quick = suite.extent;
        if (const auto* node = file.get("quick")) {
            const toml::table& table = table_of(*node, "quick");
            check_keys(table, "[quick]", extent_keys);
            read_extent(table, quick);
        }
        if (is_quick) suite.extent = quick;
        for (const toml::table* table : tables_of(file, "plugins")) read_plugin(*table, suite);
        for (const toml::table* table : tables_of(file, "patterns")) read_pattern(*table, suite);
        for (const toml::table* table : tables_of(file, "items")) read_item(*table, suite, is_quick);
        if (suite.selections.empty()) refuse(file, "the suite has no items; expected: tables [[items]]");
        return suite;
    }

private:
    [[nodiscard]] std::int64_t whole(const toml::node& node, std::string_view key, std::int64_t least,
                                     std::int64_t most = std::numeric_limits<int>::max()) const {
        const auto* number = node.as_integer();
        if (number == nullptr || number->get() < least || number->get() > most) {
            refuse(node, std::string(key) + " is " + kind_of(node) + "; accepted: a whole number from " +
                             std::to_string(least) + " to " + std::to_string(most));
        }
        return number->get();
    }
    [[nodiscard]] double number(const toml::node& node, std::string_view key) const {
        const double value = node.is_number() ? node.value_or(0.0) : 0.0;
        if (!(value > 0) || value > 1e9) {
            refuse(node, std::string(key) + " is " + kind_of(node) + "; accepted: a number above 0");
        }
        return value;
    }
    /// A value, or a list of values.
    template <class Read>
    auto list(const toml::node& node, std::string_view key, const Read& read) const {
        std::vector<decltype(read(node))> values;
        if (const auto* array = node.as_array()) {
            for (const toml::node& element : *array) values.push_back(read(element));
        } else {
            values.push_back(read(node));
        }
        if (values.empty()) refuse(node, std::string(key) + " is an empty list");
        return values;
    }
    [[nodiscard]] std::vector<std::int64_t> sizes(const toml::node& node) const {
        return list(node, "bytes", [this](const toml::node& one) {
            const std::string text = text_of(one, "bytes", "a size such as \"64 KiB\"");
            const std::int64_t bytes = base::parse_bytes(text, at(one.source()) + "bytes");
            if (bytes > std::numeric_limits<int>::max()) refuse(one, "bytes is above 2147483647 B, an int of MPI");
            return bytes;
        });
    }
    [[nodiscard]] std::vector<int> rank_numbers(const toml::node& node) const {
        return list(node, "ranks", [this](const toml::node& one) { return static_cast<int>(whole(one, "ranks", 1)); });
    }

    void read_extent(const toml::table& table, Extent& extent) const {
        if (const auto* node = table.get("bytes")) extent.bytes = sizes(*node);
        if (const auto* node = table.get("ranks")) extent.ranks = rank_numbers(*node);
        if (const auto* node = table.get("launches"))
            extent.launches = extent.most_launches = static_cast<int>(whole(*node, "launches", 1, most_times));
        if (const auto* node = table.get("most_launches"))
            extent.most_launches = static_cast<int>(whole(*node, "most_launches", extent.launches, most_times));
        if (const auto* node = table.get("rounds"))
            extent.rounds = static_cast<int>(whole(*node, "rounds", 1, most_times));
        if (const auto* node = table.get("samples"))
            extent.samples = static_cast<int>(whole(*node, "samples", 3, most_times));
        if (const auto* node = table.get("runs")) extent.runs = static_cast<int>(whole(*node, "runs", 1, most_times));
        if (const auto* node = table.get("target")) extent.target = number(*node, "target");
        if (const auto* node = table.get("budget_s")) extent.budget_s = number(*node, "budget_s");
        if (const auto* node = table.get("start")) {
            extent.agrees = option_value(*node, {"start", "barrier|agreed", "barrier"}) == "agreed";
        }
    }

    void read_plugin(const toml::table& table, Suite& suite) const {
        check_keys(table, "a plug-in", plugin_keys);
        const std::string file = text_of(table, "file", "a shared library");
        try {
            // Without a slash dlopen would look among the libraries of the system.
            const std::string folder = folder_.empty() ? "./" : folder_;
            suite.own.push_back(load_plugin(file.starts_with('/') ? file : folder + file));
        } catch (const Error& error) {
            refuse(table, error.what(),
                   "compile it: make in its folder; hocket bench new writes one that can be loaded");
        }
        check_name(table, suite);
    }

    void read_pattern(const toml::table& table, Suite& suite) const {
        check_keys(table, "a pattern", pattern_keys);
        const std::string name = text_of(table, "name", "the pattern's name");
        const auto* what = table.get("what");
        std::vector<Step> steps;
        for (const toml::table* step : tables_of(table, "steps")) steps.push_back(step_of(*step));
        if (steps.empty()) refuse(table, "the pattern " + base::quoted(name) + " has no steps");
        std::int64_t times = 0;
        for (const Step& step : steps) times += step.times;
        if (times > most_times) {
            refuse(table, "the pattern " + base::quoted(name) + " has " + std::to_string(times) +
                              " steps, each counted as often as \"times\" says; accepted: up to " +
                              std::to_string(most_times));
        }
        check_window(table, name, steps);
        suite.own.push_back(
            pattern_of_steps(name, what == nullptr ? "" : text_of(*what, "what", "a sentence"), std::move(steps)));
        check_name(table, suite);
    }

    /// Fences and flushes belong to a window, and one window has either the epochs of fences or those of locks.
    void check_window(const toml::table& table, const std::string& name, const std::vector<Step>& steps) const {
        const auto has = [&](Action action) {
            return std::any_of(steps.begin(), steps.end(), [&](const Step& step) { return step.action == action; });
        };
        const bool fences = has(Action::fence), flushes = has(Action::flush);
        const std::string pattern = "the pattern " + base::quoted(name);
        if (fences && flushes) refuse(table, pattern + " has fence and flush; accepted: one of them");
        if ((fences || flushes) && !has(Action::put) && !has(Action::get)) {
            refuse(table, pattern + " has a " + (fences ? "fence" : "flush") + " but no put or get",
                   "without one there is no window; \"barrier\" waits for all ranks, \"wait\" for requests");
        }
    }

    /// Of the suite's last own item.
    void check_name(const toml::table& table, const Suite& suite) const {
        const std::string& name = suite.own.back().name;
        const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; };
        if (name.ends_with('.') || !std::all_of(name.begin(), name.end(), fits)) {
            refuse(table, "the name " + base::quoted(name) + "; accepted: letters, digits, _, - and .");
        }
        const auto is_same = [&](const Item& item) { return item.name == name; };
        if (std::count_if(suite.own.begin(), suite.own.end(), is_same) > 1) refuse(table, "two items " + name);
    }

    [[nodiscard]] Step step_of(const toml::table& table) const {
        Step step;
        if (const auto* node = table.get("bytes")) {
            const auto given = sizes(*node);
            if (given.size() > 1) {
                refuse(*node, "a step has one size, this one " + std::to_string(given.size()),
                       "sizes to measure are those of the item: [[items]] with bytes = [...]");
            }
            step.bytes = given.front();
        }
        if (const auto* node = table.get("use")) {
            const std::string use = text_of(*node, "use", "the name of an item");
            const auto item =
                std::find_if(items().begin(), items().end(), [&](const Item& i) { return i.name == use; });
            if (item == items().end()) refuse(*node, "there is no item " + base::quoted(use));
            auto accepted = with(item_step_keys, {});
            for (const Option& option : item->options) accepted.push_back(option.name);
            check_keys(table, "a step with " + use, accepted);
            step.action = Action::item;
            step.item = &*item;
            for (const Option& option : item->options) {
                const auto* value = table.get(option.name);
                step.options.emplace_back(
                    option.name, value == nullptr ? std::string(option.initial) : option_value(*value, option));
            }
            return step;
        }
        check_keys(table, "a step", step_keys);
        const std::string accepted = std::string(actions) + ", or use = an item";
        const std::string name = text_of(table, "do", accepted);
        const auto action = action_of(name);
        if (!action) refuse(*table.get("do"), "there is no step " + base::quoted(name) + "; accepted: " + accepted);
        step.action = *action;
        const auto peer = [&](std::string_view key, bool is_needed) -> std::string {
            const auto* node = table.get(key);
            if (is_needed != (node != nullptr)) {
                refuse(table, name + (is_needed ? " needs \"" : " has no \"") + std::string(key) + '"');
            }
            if (node == nullptr) return {};
            const std::string text = text_of(*node, key, std::string(peer_names));
            if (!is_peer(text)) refuse(*node, base::quoted(text) + " is no rank; accepted: " + std::string(peer_names));
            return text;
        };
        const bool swaps = *action == Action::sendrecv;
        step.to = peer("to", swaps || *action == Action::send || *action == Action::isend || *action == Action::put);
        step.from =
            peer("from", swaps || *action == Action::recv || *action == Action::irecv || *action == Action::get);
        if (const auto* node = table.get("on")) {
            step.on = text_of(*node, "on", "all, even, odd, or a rank");
            if (step.on != "all" && step.on != "even" && step.on != "odd" && !is_peer(step.on)) {
                refuse(*node,
                       base::quoted(step.on) + " names no ranks; accepted: all, even, odd, " + std::string(peer_names));
            }
            if (is_collective(*action) && step.on != "all") {
                refuse(
                    *node,
                    "a " + name + " on " + base::quoted(step.on) + "; accepted: all, as each rank waits for the others",
                    "leave \"on\" out, or let some of the ranks exchange messages instead");
            }
        }
        if (const auto* node = table.get("tag")) step.tag = static_cast<int>(whole(*node, "tag", 0));
        if (const auto* node = table.get("times")) step.times = static_cast<int>(whole(*node, "times", 1, most_times));
        if (const auto* node = table.get("us")) step.us = static_cast<int>(whole(*node, "us", 1));
        if ((*action == Action::compute) != (step.us > 0)) refuse(table, "\"us\" belongs to compute, and it needs it");
        return step;
    }

    /// The items that the patterns of `use` name, each with the options of the table.
    void read_item(const toml::table& table, Suite& suite, bool is_quick) const {
        const std::string accepted = "the name of an item, or a pattern such as \"io.read*\"";
        std::vector<const Item*> all, found;
        for (const Item& item : items()) all.push_back(&item);
        for (const Item& item : suite.own) all.push_back(&item);
        const auto uses = list(required(table, "use", accepted), "use",
                               [&](const toml::node& one) { return text_of(one, "use", accepted); });
        for (const std::string& use : uses) {
            const std::size_t before = found.size();
            for (const Item* item : all) {
                if (fnmatch(use.c_str(), item->name.c_str(), 0) == 0) found.push_back(item);
            }
            if (found.size() > before) continue;
            std::vector<std::string_view> names;
            for (const Item* item : all) names.push_back(item->name);
            refuse(*table.get("use"), "there is no item " + base::quoted(use), base::did_you_mean(use, names));
        }
        if (found.size() > 1 && table.contains("number")) refuse(table, "one number for several items");
        for (const Item* item : found) suite.selections.push_back(selection(*item, table, suite.extent, is_quick));
    }

    [[nodiscard]] Selection selection(const Item& item, const toml::table& table, const Extent& extent,
                                      bool is_quick) const {
        auto accepted = with(item_keys, {});
        for (const Option& option : item.options) accepted.push_back(option.name);
        check_keys(table, "item " + item.name, accepted);
        Selection selected{&item, {}, extent.bytes, extent.ranks, {}};
        if (const auto* node = table.get("number")) selected.number = static_cast<int>(whole(*node, "number", 1));
        if (const auto* node = table.get("ranks")) selected.ranks = rank_numbers(*node);
        const auto* bytes = table.get("bytes");
        if (bytes != nullptr && !item.has_bytes()) refuse(*bytes, item.name + " has no size");
        // The sizes of a quick run are those of [quick], where both give some.
        if (bytes != nullptr && !(is_quick && extent.bytes.size() < sizes(*bytes).size())) {
            selected.bytes = sizes(*bytes);
        }
        if (!item.has_bytes()) selected.bytes = {0};
        if (selected.bytes.empty()) refuse(table, item.name + " has no bytes", "give it, or the suite, bytes = [...]");
        for (const std::int64_t size : selected.bytes) {
            if (size >= item.min_bytes) continue;
            refuse(table, item.name + " with " + base::print_bytes(size) +
                              "; accepted: " + base::print_bytes(item.min_bytes) + " and more");
        }
        for (const Option& option : item.options) {
            const auto* node = table.get(option.name);
            std::vector<std::string> values{std::string(option.initial)};
            if (node != nullptr) {
                values = list(*node, option.name, [&](const toml::node& one) { return option_value(one, option); });
            }
            selected.options.emplace_back(option.name, values);
        }
        return selected;
    }

    [[nodiscard]] std::string option_value(const toml::node& node, const Option& option) const {
        if (option.accepted.empty()) return std::to_string(whole(node, option.name, 1));
        std::string text;
        if (const auto* truth = node.as_boolean()) text = truth->get() ? "true" : "false";
        if (const auto* given = node.as_string()) text = given->get();
        const std::string all = '|' + std::string(option.accepted) + '|';
        if (!text.empty() && text.find('|') == std::string::npos && all.find('|' + text + '|') != std::string::npos) {
            return text;
        }
        refuse(node, std::string(option.name) + " is " + (text.empty() ? kind_of(node) : base::quoted(text)) +
                         "; accepted: " + std::string(option.accepted));
    }

    std::string folder_;  ///< of the suite's file, with a slash; empty: the current one
};

}  // namespace

Suite read_suite(std::string_view text, std::string_view source, bool is_quick) {
    return SuiteReader(source).read(text, is_quick);
}

}  // namespace hocket::bench
