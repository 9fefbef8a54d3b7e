// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/blocking/reroute.hpp"

#include "common/clock.hpp"
#include "interpose/blocking/decision.hpp"
#include "interpose/blocking/serve.hpp"
#include "interpose/inside.hpp"

namespace hocket::interpose {

namespace {

int carry_out(const Call& call, const Native& native, Outcome& outcome) {
    if (!plan_in_force.has_entries_for(call.collective)) return native();
    const Decision decision = decide(call);
    outcome = decision.outcome;
    const std::int64_t begin_ns = decision.timed != nullptr ? now_ns() : 0;
    const int code = decision.route != nullptr ? serve(decision, call) : native();
    if (decision.timed != nullptr && code == MPI_SUCCESS) decision.timed->took(now_ns() - begin_ns);
    return code;
}

}  // namespace

int reroute(const Call& call, const Native& native) {
    if (depth > 0 || call.comm == MPI_COMM_NULL) return native();
    const auto run = [&](Outcome& outcome) { return carry_out(call, native, outcome); };
    if (served.counts_calls()) return served.counted(call.collective, run);
    Outcome outcome{};
    return run(outcome);
}

}  // namespace hocket::interpose
