// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

/// By which rules a circuit switch works: of network files, closed forms, schedules and simulations alike.
namespace hocket::circuits {

/// When a port is free again.
enum class Accounting : std::uint8_t {
    equations,  ///< after its teardown: b batches cost b (s + d), as equations 1 to 8 of [Takizawa], gamma = s + d
    hidden,     ///< a teardown runs beside the next set-up: s + (b - 1) max(s, d) + d (table 4, s = d = 10 ms)
};
/// Whether a node sends its messages one after another (equations 2 and 8), or on all its circuits at once (section 2).
/// What it receives is limited by its ports alone.
enum class Injection : std::uint8_t { one, all };
/// Whether the circuits of a configuration are torn down together before the next ones are set up (the paper), or each
/// by itself.
enum class Stop : std::uint8_t { all, circuit };
/// How many set-ups and teardowns the switch performs at a time: any number, or one.
enum class Controller : std::uint8_t { parallel, serial };

/// The names of the values, in their order.
inline constexpr std::array<std::string_view, 2> accounting_names{"equations", "hidden"};
inline constexpr std::array<std::string_view, 2> injection_names{"one", "all"};
inline constexpr std::array<std::string_view, 2> stop_names{"all", "circuit"};
inline constexpr std::array<std::string_view, 2> controller_names{"parallel", "serial"};

struct Times {
    double setup_s = 0;     ///< from the request to the first bit
    double teardown_s = 0;  ///< from the release to the free port
    Accounting accounting = Accounting::equations;

    /// From the start of the teardown of a circuit to the opening of the next one on its port, at the least. With
    /// `hidden` the teardown runs beside the set-up, which a serial controller cannot do.
    [[nodiscard]] double exchange_s(Controller controller = Controller::parallel) const {
        const bool beside = accounting == Accounting::hidden && controller == Controller::parallel;
        return beside ? std::max(setup_s, teardown_s) : setup_s + teardown_s;
    }
    bool operator==(const Times&) const = default;
};

}  // namespace hocket::circuits
