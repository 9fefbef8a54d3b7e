// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "hocket/base/json_writer.hpp"

using hocket::base::JsonWriter;
using Layout = JsonWriter::Layout;
using Spaces = JsonWriter::Spaces;

namespace {

template <class Value>
std::string written(const Value& value) {
    JsonWriter json;
    json.value(value);
    return json.text();
}

/// Lists and objects in each other, in both layouts.
std::string nested(JsonWriter json) {
    json.begin_object();
    json.field("a", std::vector{1, 2});
    json.key("b").begin_list(Layout::lines);
    json.value(nullptr);
    json.begin_object(Layout::lines);
    json.field("c", true);
    json.key("d").begin_list();
    json.end_list();
    json.end_object();
    json.begin_list(Layout::lines);
    json.end_list();
    json.end_list();
    json.key("e").raw("{}");
    json.end_object();
    return json.text();
}

}  // namespace

TEST_CASE("lists and objects are on one line, or have a line for each element") {
    CHECK(nested(JsonWriter()) ==
          "{\"a\": [1, 2], \"b\": [\n"
          "  null,\n"
          "  {\n"
          "    \"c\": true,\n"
          "    \"d\": []\n"
          "  },\n"
          "  [\n"
          "  ]\n"
          "], \"e\": {}}");
    CHECK(nested(JsonWriter(0, Spaces::none)) ==
          "{\"a\":[1,2],\"b\":[\nnull,\n{\n\"c\": true,\n\"d\": []\n},\n[\n]\n],\"e\":{}}");
}

TEST_CASE("values of all kinds") {
    CHECK(written(false) == "false");
    CHECK(written(nullptr) == "null");
    CHECK(written(std::optional<int>()) == "null");
    CHECK(written(std::optional<int>(3)) == "3");
    CHECK(written(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
    CHECK(written(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
    CHECK(written("text") == "\"text\"");
    CHECK(written(std::vector<std::string>{"a", "b"}) == "[\"a\", \"b\"]");
    CHECK(written(std::vector<std::array<bool, 2>>{{true, false}, {false, true}}) == "[[true, false], [false, true]]");
}

TEST_CASE("numbers with a point are the shortest that read back as the same, as Python prints them") {
    CHECK(written(0.1) == "0.1");
    CHECK(written(-2.0) == "-2.0");
    CHECK(written(1e16) == "1e+16");
    CHECK(written(123456789012345.0) == "123456789012345.0");
    CHECK(written(0.0001) == "0.0001");
    CHECK(written(0.00001) == "1e-05");
    CHECK(written(0.1 + 0.2) == "0.30000000000000004");
    CHECK(written(std::numeric_limits<double>::denorm_min()) == "5e-324");
    // JSON has no infinity.
    CHECK(written(std::numeric_limits<double>::infinity()) == "null");
    CHECK(written(std::numeric_limits<double>::quiet_NaN()) == "null");
}

TEST_CASE("texts are escaped, in keys too") {
    CHECK(written("a\"b\\c/\n\t\x01\x7f") == R"("a\"b\\c/\n\t\u0001\u007f")");
    CHECK(written(std::string("\0", 1)) == R"("\u0000")");
    CHECK(written("\xC3\xA9 \xF0\x9F\x8E\xB5") == R"("\u00e9 \ud83c\udfb5")");
    CHECK(written("a\xC3") == R"("a\ufffd")");  // not UTF-8
    JsonWriter json;
    json.begin_object();
    json.field("a\"b", 1);
    json.end_object();
    CHECK(json.text() == R"({"a\"b": 1})");
}

TEST_CASE("another parser reads back what was written") {
    std::mt19937 random(7);
    const std::string letters = "ab\"\\\n\x1f/ {}[]:,\x7f";
    for (int round = 0; round < 200; ++round) {
        std::string text;
        for (unsigned i = random() % 8; i > 0; --i) text += letters[random() % letters.size()];
        const double number = std::generate_canonical<double, 53>(random) * 1e9;
        JsonWriter json(round % 3, round % 2 == 0 ? Spaces::none : Spaces::after_separators);
        json.begin_object(round % 4 < 2 ? Layout::line : Layout::lines);
        json.field(text, text);
        json.field(text + "2", number);
        json.end_object();
        CHECK(nlohmann::json::parse(json.text()) == nlohmann::json{{text, text}, {text + "2", number}});
    }
}
