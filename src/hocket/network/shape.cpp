// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/shape.hpp"

#include <algorithm>
#include <charconv>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"

namespace hocket::network {

std::vector<std::int32_t> parse_shape(std::string_view shape, char separator, std::size_t least, std::size_t most,
                                      const std::string& expected) {
    const auto refuse = [&](const std::string& why) {
        throw InvalidInput("shape " + base::quoted(shape) + ": " + why, "write " + expected);
    };
    const std::string range = "1.." + std::to_string(max_regular_nodes);
    std::vector<std::int32_t> numbers;
    const char* c = shape.data();
    const char* const end = c + shape.size();
    while (true) {
        std::int32_t number = 0;
        const auto [next, error] = std::from_chars(c, end, number);
        const std::string_view rest(c, static_cast<std::size_t>(end - c));
        const std::string found(rest.substr(0, rest.find(separator)));
        if (error == std::errc::invalid_argument)
            refuse(found.empty() ? "a number in " + range + " is missing" : base::quoted(found) + " is not a number");
        if (error != std::errc{} || number < 1 || number > max_regular_nodes) refuse(found + " is not in " + range);
        numbers.push_back(number);
        if (next == end) break;
        if (*next != separator) refuse("unexpected " + base::quoted(std::string_view(next, 1)));
        if (numbers.size() == most) refuse("more than " + std::to_string(most) + (most == 1 ? " number" : " numbers"));
        c = next + 1;
    }
    if (numbers.size() < least) refuse("fewer than " + std::to_string(least) + " numbers");
    return numbers;
}

std::string print_shape(const std::vector<std::int32_t>& numbers, char separator) {
    std::string shape;
    for (const std::int32_t number : numbers) {
        if (!shape.empty()) shape += separator;
        shape += std::to_string(number);
    }
    return shape;
}

std::int64_t times(std::int64_t a, std::int64_t b) {
    constexpr std::int64_t too_large = std::int64_t{1} << 38U;  // 2^38 * 2^24 does not overflow
    return std::min(a * b, too_large);
}

void check_size(std::int64_t nodes, std::int64_t cables, std::int64_t most_nodes, std::int64_t most_cables) {
    const auto refuse = [](std::int64_t most, const char* what) {
        throw InvalidInput("the network would have more than " + std::to_string(most) + what, "make it smaller");
    };
    if (nodes > most_nodes) refuse(most_nodes, " nodes");
    if (cables > most_cables) refuse(most_cables, " cables");
}

}  // namespace hocket::network
