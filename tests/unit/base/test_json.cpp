// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <string>

#include "hocket/base/error.hpp"
#include "hocket/base/json.hpp"
#include "hocket/base/json_text.hpp"

using namespace hocket;

namespace {

std::string refusal(const std::string& text) {
    try {
        static_cast<void>(base::parse_json(text, "f"));
    } catch (const InvalidInput& error) {
        return error.what();
    }
    return "accepted";
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

}  // namespace

TEST_CASE("what is nested too deeply for recursion is refused") {
    CHECK(refusal(nested(64)) == "accepted");
    CHECK(refusal(nested(66)) == "f: more than 64 lists and objects in each other");
    CHECK(refusal(nested(1'000'000)) == "f: more than 64 lists and objects in each other");
}

TEST_CASE("a number that is not finite is refused by its key") {
    CHECK(refusal(R"({"a": {"b": 1e999}})") == "f: b is 1e999; accepted: numbers up to 1.8e308");
    CHECK(refusal("1" + std::string(400, '0')) ==
          "f: a number is 1" + std::string(36, '0') + "...; accepted: numbers up to 1.8e308");
}

TEST_CASE("bytes that are not text are recognised") {
    CHECK(base::is_utf8("a\xC3\xA9"));
    CHECK_FALSE(base::is_utf8("a\xC3"));
}
