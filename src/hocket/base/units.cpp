// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/base/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"

// Numbers stay decimal text until the last step: "0.1 us" becomes the text "0.1e-6", which is then rounded once.
// Scaling a double instead would round twice, and 50 * 1e-6 is not 50e-6.

namespace hocket::base {
namespace {

struct Unit {
    std::string_view name;
    int decimal_exponent;  ///< the unit is 10^decimal_exponent * 2^binary_exponent
    int binary_exponent = 0;
};

constexpr std::array duration_units{Unit{"s", 0},   Unit{"ms", -3}, Unit{"us", -6},
                                    Unit{"µs", -6}, Unit{"ns", -9}, Unit{"ps", -12}};

constexpr std::array bytes_units{Unit{"B", 0},       Unit{"kB", 3},      Unit{"MB", 6},      Unit{"GB", 9},
                                 Unit{"TB", 12},     Unit{"PB", 15},     Unit{"KiB", 0, 10}, Unit{"MiB", 0, 20},
                                 Unit{"GiB", 0, 30}, Unit{"TiB", 0, 40}, Unit{"PiB", 0, 50}};

// A bit is 2^-3 bytes.
constexpr std::array bandwidth_units{
    Unit{"bit/s", 0, -3},   Unit{"kbit/s", 3, -3}, Unit{"Mbit/s", 6, -3}, Unit{"Gbit/s", 9, -3}, Unit{"Tbit/s", 12, -3},
    Unit{"B/s", 0},         Unit{"kB/s", 3},       Unit{"MB/s", 6},       Unit{"GB/s", 9},       Unit{"TB/s", 12},
    Unit{"b/s", 0, -3},     Unit{"kb/s", 3, -3},   Unit{"Mb/s", 6, -3},   Unit{"Gb/s", 9, -3},   Unit{"Tb/s", 12, -3},
    Unit{"bps", 0, -3},     Unit{"kbps", 3, -3},   Unit{"Mbps", 6, -3},   Unit{"Gbps", 9, -3},   Unit{"Tbps", 12, -3},
    Unit{"KiB/s", 0, 10},   Unit{"MiB/s", 0, 20},  Unit{"GiB/s", 0, 30},  Unit{"Kibit/s", 0, 7}, Unit{"Mibit/s", 0, 17},
    Unit{"Gibit/s", 0, 27},
};

struct Quantity {
    std::string_view name;
    std::span<const Unit> units;
    std::string_view hint;
};

constexpr Quantity bandwidth{
    "bandwidth", bandwidth_units,
    "write a number and a unit, such as \"93 Mbit/s\"; accepted units: bit/s, b/s, bps with k, M, "
    "G, T; B/s with k, M, G, T (powers of 1000); bit/s and B/s with Ki, Mi, Gi (powers of 1024)"};
constexpr Quantity duration{"duration", duration_units,
                            "write a number and a unit, such as \"50 us\"; accepted units: s, ms, us, ns, ps"};
constexpr Quantity bytes_quantity{
    "number of bytes", bytes_units,
    "write a number and a unit, such as \"64 KiB\"; accepted units: B, kB, MB, GB, TB, PB "
    "(powers of 1000), KiB, MiB, GiB, TiB, PiB (powers of 1024)"};

[[noreturn]] void refuse(const Quantity& quantity, std::string_view text, std::string_view where,
                         const std::string& why) {
    std::string what;
    if (!where.empty()) what = std::string(where) + ": ";
    what += quoted(text) + " is not a " + std::string(quantity.name) + ": " + why;
    throw InvalidInput(what, std::string(quantity.hint));
}

constexpr bool is_space(char c) { return c == ' ' || c == '\t'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trim(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

/// A non-negative decimal number digits * 10^exponent; digits without leading zeros, empty = 0.
struct Decimal {
    std::string digits;
    int exponent = 0;
};

struct Parsed {
    Decimal number;
    std::optional<Unit> unit;  ///< none only for 0
};

/// A unit's name without what people get wrong: capitals, and the i of powers of 1024.
std::string bare(std::string_view name) {
    std::string letters;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (i == 1 && name[i] == 'i' && name.size() > 2) continue;
        letters += name[i] >= 'A' && name[i] <= 'Z' ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
    }
    return letters;
}

/// "; did you mean kB or KiB?", or nothing.
std::string meant(const Quantity& quantity, std::string_view unknown) {
    std::string text;
    for (const Unit& unit : quantity.units)
        if (bare(unit.name) == bare(unknown)) text += (text.empty() ? "" : " or ") + std::string(unit.name);
    return text.empty() ? "" : "; did you mean " + text + "?";
}

Parsed parse(const Quantity& quantity, std::string_view text, std::string_view where) {
    std::string_view rest = trim(text);
    if (rest.empty()) refuse(quantity, text, where, "it is empty");
    if (rest.front() == '-') refuse(quantity, text, where, "it is negative");
    Parsed result;
    bool seen_digit = false, seen_point = false;
    for (; !rest.empty() && (is_digit(rest.front()) || rest.front() == '.'); rest.remove_prefix(1)) {
        if (rest.front() == '.') {
            if (seen_point) refuse(quantity, text, where, "it has two decimal points");
            seen_point = true;
            continue;
        }
        seen_digit = true;
        if (rest.front() != '0' || !result.number.digits.empty()) result.number.digits += rest.front();
        if (seen_point) --result.number.exponent;
    }
    if (!seen_digit) refuse(quantity, text, where, "it does not begin with a number");
    // An exponent is "e" and a number; "e" alone would be a unit (none begins so, the message then names it).
    if (rest.size() > 1 && (rest[0] == 'e' || rest[0] == 'E')) {
        int exponent = 0;
        const char* first = rest.data() + 1 + (rest[1] == '+' ? 1 : 0);
        const auto [end, error] = std::from_chars(first, rest.data() + rest.size(), exponent);
        if (error == std::errc::result_out_of_range || exponent > 9999 || exponent < -9999)
            refuse(quantity, text, where, "its exponent is out of range");
        if (error == std::errc{}) {
            result.number.exponent += exponent;
            rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        }
    }
    while (!result.number.digits.empty() && result.number.digits.back() == '0') {
        result.number.digits.pop_back();
        ++result.number.exponent;
    }
    rest = trim(rest);
    if (rest.empty()) {
        if (!result.number.digits.empty()) refuse(quantity, text, where, "it has no unit");
        return result;
    }
    for (const Unit& unit : quantity.units)
        if (unit.name == rest) result.unit = unit;
    if (!result.unit) refuse(quantity, text, where, "unknown unit " + quoted(rest) + meant(quantity, rest));
    return result;
}

/// The value in the base unit, rounded once (the power of two is exact).
double value_of(const Quantity& quantity, const Parsed& parsed, std::string_view text, std::string_view where) {
    if (parsed.number.digits.empty()) return 0;
    const std::string decimal =
        parsed.number.digits + "e" + std::to_string(parsed.number.exponent + parsed.unit->decimal_exponent);
    double value = 0;
    const auto [end, error] = std::from_chars(decimal.data(), decimal.data() + decimal.size(), value);
    value = std::ldexp(value, parsed.unit->binary_exponent);
    if (error != std::errc{} || !std::isfinite(value) || value < std::numeric_limits<double>::min())
        refuse(quantity, text, where, "it is out of range");
    return value;
}

/// The shortest decimal that reads back as `value` > 0.
Decimal shortest(double value) {
    std::array<char, 40> buffer{};
    const auto [end, error] =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
    HOCKET_ASSERT(error == std::errc{}, "40 characters hold every double");
    Decimal decimal;
    const char* c = buffer.data();
    for (bool fraction = false; *c != 'e'; ++c) {
        if (*c == '.') {
            fraction = true;
            continue;
        }
        decimal.digits += *c;
        if (fraction) --decimal.exponent;
    }
    int exponent = 0;
    std::from_chars(c + (c[1] == '+' ? 2 : 1), end, exponent);
    decimal.exponent += exponent;
    return decimal;
}

std::string print_decimal(const Decimal& decimal) {
    const int digits = static_cast<int>(decimal.digits.size());
    const int point = digits + decimal.exponent;  // position of the decimal point in the digits
    if (point < -2 || point > 6) {
        std::string text = decimal.digits.substr(0, 1);
        if (digits > 1) text += "." + decimal.digits.substr(1);
        return text + "e" + std::to_string(point - 1);
    }
    if (point <= 0) return std::string("0.") + std::string(static_cast<std::size_t>(-point), '0') + decimal.digits;
    if (point >= digits) return decimal.digits + std::string(static_cast<std::size_t>(point - digits), '0');
    return decimal.digits.substr(0, static_cast<std::size_t>(point)) + "." +
           decimal.digits.substr(static_cast<std::size_t>(point));
}

/// Keeps the most readable of the texts for one value: a number in 1 .. 9999 where there is one, then the shortest,
/// then the first.
class Best {
public:
    void offer(Decimal decimal, const Unit& unit) {
        decimal.exponent -= unit.decimal_exponent;
        const int point = static_cast<int>(decimal.digits.size()) + decimal.exponent;
        const bool plain = point >= 1 && point <= 4;
        const std::string text = print_decimal(decimal) + " " + std::string(unit.name);
        if (text_.empty() || std::pair(!plain, text.size()) < std::pair(!plain_, text_.size())) {
            text_ = text;
            plain_ = plain;
        }
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
    bool plain_ = false;
};

}  // namespace

double parse_bandwidth(std::string_view text, std::string_view where) {
    const double value = value_of(bandwidth, parse(bandwidth, text, where), text, where);
    if (value <= 0) refuse(bandwidth, text, where, "it must be above 0");
    return value;
}

double parse_duration(std::string_view text, std::string_view where) {
    return value_of(duration, parse(duration, text, where), text, where);
}

std::int64_t parse_bytes(std::string_view text, std::string_view where) {
    __extension__ using Wide = unsigned __int128;
    constexpr Wide limit = std::numeric_limits<std::int64_t>::max();
    const Parsed parsed = parse(bytes_quantity, text, where);
    if (parsed.number.digits.empty()) return 0;
    // 26 digits times 2^50 stay below 2^128; longer numbers cannot come to whole bytes within 64 bits.
    if (parsed.number.digits.size() > 20) refuse(bytes_quantity, text, where, "it has too many digits");
    Wide value = 0;
    for (const char digit : parsed.number.digits) value = value * 10 + static_cast<unsigned>(digit - '0');
    value <<= parsed.unit->binary_exponent;
    int exponent = parsed.number.exponent + parsed.unit->decimal_exponent;
    for (; exponent > 0; --exponent) {
        value *= 10;
        if (value > limit) break;
    }
    for (; exponent < 0; ++exponent) {
        if (value % 10 != 0) refuse(bytes_quantity, text, where, "it does not come to whole bytes");
        value /= 10;
    }
    if (value > limit) refuse(bytes_quantity, text, where, "it is larger than 2^63 - 1 bytes");
    return static_cast<std::int64_t>(value);
}

std::string print_bandwidth(double bytes_per_s) {
    if (std::isinf(bytes_per_s) && bytes_per_s > 0) return "unlimited";
    HOCKET_ASSERT(bytes_per_s > 0, "a bandwidth is above 0");
    // In bits, so that bandwidths side by side compare at a glance; near the end of the range there are none.
    const double bits_per_s = bytes_per_s * 8;
    const bool in_bits = std::isfinite(bits_per_s);
    Best best;
    for (const Unit& unit : std::span(bandwidth_units).subspan(in_bits ? 0 : 5, 5))
        best.offer(shortest(in_bits ? bits_per_s : bytes_per_s), unit);
    return best.text();
}

std::string print_duration(double seconds) {
    HOCKET_ASSERT(seconds >= 0 && std::isfinite(seconds), "a duration is finite and not negative");
    if (seconds < std::numeric_limits<double>::min()) return "0 s";
    Best best;
    for (const Unit& unit : duration_units)
        if (unit.name != "µs") best.offer(shortest(seconds), unit);
    return best.text();
}

std::string print_bytes(std::int64_t bytes) {
    HOCKET_ASSERT(bytes >= 0, "a number of bytes is not negative");
    if (bytes == 0) return "0 B";
    Best best;
    for (const Unit& unit : bytes_units) {
        const std::int64_t scale = std::int64_t{1} << unit.binary_exponent;
        if (bytes % scale != 0) continue;
        Decimal decimal{std::to_string(bytes / scale)};
        while (decimal.digits.back() == '0') {
            decimal.digits.pop_back();
            ++decimal.exponent;
        }
        best.offer(decimal, unit);
    }
    return best.text();
}

}  // namespace hocket::base
