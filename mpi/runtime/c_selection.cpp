// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/backoff.hpp"
#include "common/clock.hpp"
#include "hocket/base/json_writer.hpp"
#include "runtime/c_calls.hpp"
#include "runtime/c_engines.hpp"
#include "runtime/c_requests.hpp"
#include "runtime/c_status.hpp"

using namespace hocket;
using namespace hocket::runtime;
using hocket::selection::Selector;

namespace {

/// Of native ones that no schedule has, the role does not determine which.
bool like(const hocket_operation& a, const hocket_operation& b) {
    const auto other = [](const hocket_operation& one) {
        return one.is_native() && one.native > NativeCollective::barrier ? one.native : NativeCollective::barrier;
    };
    return other(a) == other(b);
}

double seconds(std::int64_t time_ns) { return 1e-9 * static_cast<double>(time_ns); }

/// The exchange began with a call that this rank has waited for, so that all ranks have begun it; if not, in a program
/// that has too many calls in flight, another rank may wait for what is pending here first.
void conclude(hocket_selection& selection) {
    Backoff backoff;
    for (bool done = false; !done;) {
        require(selection.exchange.test(done));
        if (!done && !help_all()) backoff.pause();
    }
    selection.selector.conclude(selection.exchange.all());
}

}  // namespace

hocket_status hocket_selection_create(hocket_communicator* communicator, int count, const hocket_arm arms[],
                                      int max_in_flight, hocket_selection** selection) {
    return guarded([&] {
        require_argument(communicator != nullptr && arms != nullptr && selection != nullptr, "an argument is NULL");
        require_argument(count >= 1, "a selection needs an arm");
        require_argument(max_in_flight >= 1, "max_in_flight must be 1 or more");
        std::vector<hocket_selection::Arm> all;
        std::vector<double> prior;
        bool has_prior = true;
        for (int i = 0; i < count; ++i) {
            require_argument(arms[i].operation != nullptr, "an arm has no operation");
            const Role &role = arms[i].operation->role, &first = arms[0].operation->role;
            require_argument(role.collective == first.collective && role.root == first.root &&
                                 role.num_ranks == first.num_ranks && like(*arms[i].operation, *arms[0].operation),
                             "the arms are not of one collective and root");
            all.push_back(
                {arms[i].name == nullptr ? std::to_string(i) : arms[i].name, arms[i].operation, arms[i].engine});
            prior.push_back(arms[i].expected_s);
            has_prior = has_prior && arms[i].expected_s > 0;
        }
        if (!has_prior) prior.clear();
        auto made = std::make_unique<hocket_selection>(hocket_selection{
            std::move(all),
            Selector(prior.size() == 0 ? static_cast<std::size_t>(count) : prior.size(), 0, max_in_flight, prior),
            max_in_flight});
        require(duplicate(communicator->private_comm, &made->private_comm));
        *selection = made.release();
        return HOCKET_OK;
    });
}

hocket_status hocket_selection_start(hocket_selection* selection, const hocket_operation_arguments* arguments,
                                     hocket_request** request) {
    return guarded([&] {
        require_argument(selection != nullptr, "no selection given");
        Selector& selector = selection->selector;
        if (selector.is_due()) conclude(*selection);
        const std::size_t chosen = selector.next();
        if (selector.exchanges()) require(selection->exchange.begin(selector.statement(), selection->private_comm));
        std::size_t arm = chosen;
        const std::int64_t started_ns = now_ns();
        const auto create = [&] {
            return guarded([&] {
                require_argument(selection->num_in_flight < selection->max_in_flight,
                                 "more calls are in flight than the selection was made for");
                return create_request(selection->arms[arm].operation, arguments, selection->arms[arm].engine, request);
            });
        };
        hocket_status status = create();
        if (status == HOCKET_ERROR_ORDER) {  // all ranks have this operator
            arm = 0;
            status = create();
        }
        const std::uint64_t call = number_call(*selection->arms[arm].operation, selection->arms[arm].engine);
        if (status != HOCKET_OK) return status;
        (*request)->selection = selection;
        (*request)->arm = arm;
        (*request)->started_ns = started_ns;
        ++selection->num_in_flight;
        start_request(**request, call);
        return HOCKET_OK;
    });
}

const char* hocket_selection_get_report(hocket_selection* selection) {
    const hocket_status status = guarded([&] {
        require_argument(selection != nullptr, "no selection given");
        const Selector& selector = selection->selector;
        base::JsonWriter json;
        json.begin_object();
        json.field("chosen", selection->arms[selector.chosen()].name);
        json.field("settled", selector.is_settled());
        json.field("changes", selector.num_changes());
        json.key("arms").begin_list();
        for (std::size_t i = 0; i < selector.num_arms(); ++i) {
            const Selector::Arm& arm = selector.arm(i);
            const char* why = i == selector.chosen()     ? "the fastest, or the MPI's own within 3 % of it"
                              : arm.dropped_in_round < 0 ? "expected to take more than thrice the best: not tried"
                              : arm.dropped_in_round > 0 ? "far behind the fastest: tried no more"
                              : arm.agreed_ns == Selector::no_time ? "not tried yet"
                                                                   : "not faster when it was last compared";
            json.begin_object();
            json.field("name", selection->arms[i].name);
            json.field("calls", arm.calls);
            json.field("time_s",
                       arm.agreed_ns == Selector::no_time ? std::nullopt : std::optional(seconds(arm.agreed_ns)));
            json.field("why", why);
            json.end_object();
        }
        json.end_list();
        json.end_object();
        selection->report = json.text();
        return HOCKET_OK;
    });
    return status == HOCKET_OK ? selection->report.c_str() : nullptr;
}

hocket_status hocket_selection_free(hocket_selection* selection) {
    return guarded([&] {
        const std::unique_ptr<hocket_selection> owned(selection);
        if (!owned) return HOCKET_OK;
        if (owned->exchange.is_pending()) conclude(*owned);
        require(release(&owned->private_comm));
        return HOCKET_OK;
    });
}
