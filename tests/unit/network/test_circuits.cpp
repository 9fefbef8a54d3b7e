// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <string>

#include "hocket/base/error.hpp"
#include "hocket/network/blueprint.hpp"
#include "hocket/network/file.hpp"

using namespace hocket;
using network::Circuits;
using network::from_text;
using network::to_toml;

namespace {

const std::string star = R"(format = "hocket.network/1"
name = "optical"
[generate]
kind = "star"
shape = "4"
bandwidth = "1 Gbit/s"
latency = "50 us"
)";

std::string with(const std::string& lines) {
    return star + "[circuits]\nsetup = \"10 ms\"\nteardown = \"5 ms\"\nports = 2\n" + lines;
}

std::string refusal(const std::string& lines) {
    try {
        from_text(with(lines), "file.toml");
    } catch (const InvalidInput& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a network without the table has no circuits") { CHECK(from_text(star).circuits() == nullptr); }

TEST_CASE("what the table leaves out") {
    const Network network = from_text(with(""));
    const Circuits& found = *network.circuits();
    CHECK(found.times.setup_s == 10e-3);
    CHECK(found.times.teardown_s == 5e-3);
    CHECK(found.ports == 2);
    CHECK(found.switches == std::vector<std::int32_t>{4});
    CHECK(found.times.accounting == circuits::Accounting::equations);
    CHECK(found.injection == circuits::Injection::one);
    CHECK(found.stop == circuits::Stop::all);
    CHECK(found.controller == circuits::Controller::parallel);
    CHECK(found.blocked == network::Blocked::queue);
    CHECK_FALSE(found.wavelengths);
    CHECK_FALSE(found.max_circuits);
}

TEST_CASE("all that the table has is read, written and read again") {
    const Network network = from_text(with(R"(wavelengths = 3
max_circuits = 5
switches = ["s0"]
accounting = "hidden"
injection = "all"
stop = "circuit"
controller = "serial"
blocked = "relay"
[[circuits.node]]
name = "h3"
ports = 0
[[circuits.link]]
between = ["s0", "h1"]
wavelengths = 1
[[circuits.change]]
at = "2 s"
node = "h0"
ports = 4
[[circuits.change]]
at = "1 s"
between = ["h2", "s0"]
wavelengths = 2
)"));
    const Circuits& found = *network.circuits();
    CHECK(found.wavelengths == 3);
    CHECK(found.times.accounting == circuits::Accounting::hidden);
    CHECK(found.injection == circuits::Injection::all);
    CHECK(found.stop == circuits::Stop::circuit);
    CHECK(found.controller == circuits::Controller::serial);
    CHECK(found.blocked == network::Blocked::relay);
    CHECK(found.node_ports == std::vector<std::pair<std::int32_t, std::int32_t>>{{3, 0}});
    CHECK(found.cable_wavelengths == std::vector<std::pair<std::int32_t, std::int32_t>>{{1, 1}});
    CHECK(found.changes == std::vector<Circuits::Change>{{1, true, 2, 2}, {2, false, 0, 4}});
    const Network again = from_text(to_toml(network));
    CHECK(again == network);
    CHECK(*again.circuits() == found);
    CHECK_FALSE(from_text(with("")) == network);
    CHECK(network::build(network::blueprint_of(network)) == network);
}

TEST_CASE("what is refused, with its line") {
    CHECK(refusal("stop = \"al\"\n") == "file.toml:12: stop \"al\" is not known; accepted: \"all\", \"circuit\"");
    CHECK(refusal("wavelengths = 0\n") ==
          "file.toml:12: wavelengths is the number 0; expected: a whole number of 1 to 1048576");
    CHECK(refusal("wavelengths = 2.0\n") ==
          "file.toml:12: wavelengths is the number 2.0; expected: a whole number of 1 to 1048576");
    CHECK(refusal("switches = [\"h0\"]\n") == "file.toml:12: \"h0\" is not a switch");
    CHECK(refusal("lambda = 1\n").starts_with("file.toml:12: unknown key \"lambda\" in [circuits]"));
    CHECK(refusal("[[circuits.node]]\nname = \"s0\"\nports = 1\n") ==
          "file.toml:13: \"s0\" is not a host; ports are of hosts");
    CHECK(refusal("[[circuits.link]]\nbetween = [\"h0\", \"h1\"]\nwavelengths = 1\n") ==
          "file.toml:13: no link joins \"h0\" and \"h1\"");
    CHECK(refusal("[[circuits.change]]\nat = \"1 s\"\nports = 1\n")
              .starts_with("file.toml:12: [[circuits.change]] is of a node and its ports"));
    CHECK(refusal("[[circuits.node]]\nname = \"h0\"\nports = 1\n[[circuits.node]]\nname = \"h0\"\nports = 2\n")
              .find("a second [[circuits.node]] is of the same one") != std::string::npos);
}

TEST_CASE("hosts that no circuit joins are refused, unless other links do") {
    const std::string two_switches = R"(format = "hocket.network/1"
node = [{name = "a", kind = "host"}, {name = "b", kind = "host"},
    {name = "optical", kind = "switch"}, {name = "packets", kind = "switch"}]
link = [{between = ["a", "optical"], bandwidth = "1 Gbit/s"}, {between = ["a", "packets"], bandwidth = "1 Gbit/s"},
    {between = ["b", "packets"], bandwidth = "1 Gbit/s"}]
[circuits]
setup = "1 ms"
teardown = 0
ports = 1
switches = ["optical"]
)";
    CHECK_THROWS_WITH_AS(from_text(two_switches), doctest::Contains("no circuit can join \"a\" and \"b\""),
                         InvalidInput);
    CHECK_NOTHROW(from_text(two_switches + "blocked = \"electrical\"\n"));
}
