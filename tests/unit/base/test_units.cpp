// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/base/random.hpp"
#include "hocket/base/units.hpp"

using namespace hocket;
using namespace hocket::base;

namespace {

template <class Parse>
std::string message_of(Parse parse, std::string_view text) {
    try {
        parse(text, "here");
    } catch (const InvalidInput& error) {
        return std::string(error.what()) + " | " + error.hint();
    }
    return "accepted";
}

/// Any positive normal double, all exponents alike.
double any_double(Random& random) {
    while (true) {
        const double value = std::bit_cast<double>(random.bits() & ~(std::uint64_t{1} << 63U));
        if (std::isnormal(value)) return value;
    }
}

}  // namespace

TEST_CASE("units are those of the SI, k = 1000 and Ki = 1024, b a bit and B a byte") {
    CHECK(parse_bandwidth("93 Mbit/s") == 93e6 / 8);
    CHECK(parse_bandwidth("93Mb/s") == 93e6 / 8);
    CHECK(parse_bandwidth(" 3.6 Gbps ") == 3.6e9 / 8);
    CHECK(parse_bandwidth("25 GB/s") == 25e9);
    CHECK(parse_bandwidth("1 MiB/s") == 1048576.0);
    CHECK(parse_bandwidth("8 Kibit/s") == 1024.0);
    CHECK(parse_duration("50 us") == 50e-6);  // 50 * 1e-6 is another number
    CHECK(parse_duration("50 µs") == 50e-6);
    CHECK(parse_duration("1.5ms") == 1.5e-3);
    CHECK(parse_duration("2e3 ns") == 2e-6);
    CHECK(parse_duration("0") == 0);
    CHECK(parse_bytes("1 MB") == 1000000);
    CHECK(parse_bytes("64KiB") == 65536);
    CHECK(parse_bytes("1.5 KiB") == 1536);
    CHECK(parse_bytes("0") == 0);
    CHECK(parse_bytes("9223372036854775807 B") == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("printing is the inverse of parsing, to the last bit") {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        CAPTURE(seed);
        Random random(seed);
        for (int i = 0; i < 20000; ++i) {
            const double value = i % 2 == 0 ? any_double(random) : random.uniform() * 1e9 + 1e-9;
            CAPTURE(value);
            CHECK(parse_duration(print_duration(value)) == value);
            // A bandwidth near the end of the range has no bits per second.
            CHECK(parse_bandwidth(print_bandwidth(value)) == value);
            const auto bytes = static_cast<std::int64_t>(random.bits() >> (1 + random.below(63)));
            CHECK(parse_bytes(print_bytes(bytes)) == bytes);
        }
    }
}

TEST_CASE("what is printed is what a person would write") {
    CHECK(print_bandwidth(93e6 / 8) == "93 Mbit/s");
    CHECK(print_bandwidth(125e6) == "1 Gbit/s");
    CHECK(print_bandwidth(12.5e9) == "100 Gbit/s");
    CHECK(print_bandwidth(1.25e6) == "10 Mbit/s");
    CHECK(print_bandwidth(std::numeric_limits<double>::infinity()) == "unlimited");
    CHECK(print_duration(50e-6) == "50 us");
    CHECK(print_duration(3e-7) == "300 ns");
    CHECK(print_duration(0) == "0 s");
    CHECK(print_bytes(65536) == "64 KiB");
    CHECK(print_bytes(1000000) == "1 MB");
    CHECK(print_bytes(8) == "8 B");
}

TEST_CASE("what is not a quantity is refused with the place, the text and the accepted units") {
    for (const char* text :
         {"",       " ",       "5", "-5 s", "nan s", "inf s", "inf", "1e400 s", "1e99999999999 s", "5 us x",
          "5 5 us", "1.2.3 s", ".", ". s",  "e3 s",  "5 sec", "5 S", "0x10 s",  "1e-320 s",        "5 M s"}) {
        CAPTURE(text);
        const std::string message = message_of(&parse_duration, text);
        CHECK(message.starts_with("here: \"" + std::string(text) + "\" is not a duration: "));
        CHECK(message.find("accepted units: s, ms, us, ns, ps") != std::string::npos);
    }
    for (const char* text : {"0", "0 bit/s", "5", "5 Mbit", "-1 B/s", "5 KB/s", "5 mb/s", "1e400 B/s", "unlimited"}) {
        CAPTURE(text);
        CHECK(message_of(&parse_bandwidth, text).find("is not a bandwidth") != std::string::npos);
    }
    for (const char* text : {"", "5", "1.5 B", "0.1 KiB", "-1 B", "9223372036854775808 B", "1e30 B", "1e-30 B", "5 KB",
                             "1e999999999 B", "8192 PiB", "123456789012345678901234567890 B"}) {
        CAPTURE(text);
        CHECK(message_of(&parse_bytes, text).find("is not a number of bytes") != std::string::npos);
    }
}

TEST_CASE("a unit that is nearly one is corrected") {
    const auto why = [](auto parse, const char* text) {
        const std::string message = message_of(parse, text);
        return message.substr(0, message.find(" | "));
    };
    CHECK(why(&parse_bytes, "1 KB").ends_with("unknown unit \"KB\"; did you mean kB or KiB?"));
    CHECK(why(&parse_bytes, "1 gib").ends_with("; did you mean GB or GiB?"));
    CHECK(why(&parse_bandwidth, "1 gbps").ends_with("; did you mean Gbps?"));
    CHECK(why(&parse_duration, "1 S").ends_with("; did you mean s?"));
    CHECK(why(&parse_bytes, "1 i").ends_with("unknown unit \"i\""));
}

TEST_CASE("any bytes are either a quantity or refused") {
    for (const std::uint64_t seed : {11U, 12U}) {
        CAPTURE(seed);
        Random random(seed);
        constexpr std::string_view alphabet = "0123456789.eE+- kMGTKibBtps/un\t\xC2\xB5\xFF";
        for (int i = 0; i < 50000; ++i) {
            std::string text;
            for (auto length = random.below(12); length > 0; --length)
                text += alphabet[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(alphabet.size())))];
            for (const auto parse : {&parse_bandwidth, &parse_duration}) {
                try {
                    const double value = parse(text, "");
                    CHECK(std::isfinite(value));
                    CHECK(value >= 0);
                } catch (const InvalidInput&) {
                }
            }
            try {
                const std::int64_t value = parse_bytes(text);
                CHECK(value >= 0);
            } catch (const InvalidInput&) {
            }
        }
    }
}

TEST_CASE("a slip is corrected, another word is not") {
    constexpr std::array<std::string_view, 3> keys{"bandwidth", "latency", "duplex"};
    CHECK(did_you_mean("bandwith", keys) == "did you mean \"bandwidth\"?");
    CHECK(did_you_mean("latncy", keys) == "did you mean \"latency\"?");
    CHECK(did_you_mean("colour", keys).empty());
    CHECK(did_you_mean("", keys).empty());
    CHECK(quoted("a\"b\n") == "\"a\\\"b\\x0a\"");
}
