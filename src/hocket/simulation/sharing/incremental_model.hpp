// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

#include "hocket/simulation/events/flow_table.hpp"
#include "hocket/simulation/sharing/passage.hpp"

namespace hocket::simulation {

/// A sharing model for an engine that is compiled for it: it keeps the flows in a FlowTable and computes again only
/// what a flow that comes or goes changes.
///
/// add()      a flow that is not in the network; its rate is 0 until update()
/// remove()   a flow that is in it
/// replace()  as remove() and add(); the passage does not point into the table
/// update()   brings the rates up to date; calls `on_change(flow, record, rate before)` for each flow whose rate
/// changed
/// next_event_s()  when update() is to be called though no flow comes or goes: a flow that waits may start then
template <class Model>
concept IncrementalModel = requires(Model model, const Model& same, std::int32_t flow, const Passage& passage,
                                    void (*on_change)(std::int32_t, FlowRecord&, double)) {
    { model.flows() } -> std::same_as<FlowTable&>;
    model.add(flow, passage);
    model.remove(flow);
    model.replace(flow, passage);
    model.update(0.0, on_change);
    { same.next_event_s() } -> std::same_as<double>;
    { Model::keeps_rate } -> std::convertible_to<bool>;
    { Model::needs_delays } -> std::convertible_to<bool>;
    // Fetch into the cache what update() will visit if a flow enters or leaves the capacity: one call for all
    // capacities after the other, so that each finds what the one before has fetched.
    model.fetch(flow);
    model.fetch_flows(flow);
    model.fetch_records(flow, true);
    model.fetch_further();
};

/// What holds for a model that defines nothing else.
struct IncrementalDefaults {
    static constexpr bool keeps_rate = true;     ///< a flow that is replaced on the same path just goes on
    static constexpr bool needs_delays = false;  ///< Passage::delays_s is looked at

    [[nodiscard]] static constexpr double next_event_s() { return std::numeric_limits<double>::infinity(); }

    static void fetch(std::int32_t) {}
    static void fetch_flows(std::int32_t) {}
    static void fetch_records(std::int32_t, bool) {}
    static void fetch_further() {}
};

}  // namespace hocket::simulation
