// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/blocking/comparisons.hpp"

#include <algorithm>

#include "common/clock.hpp"
#include "interpose/entry_counts.hpp"
#include "interpose/next.hpp"

namespace hocket::interpose {

SelfCheck::Way agree(SelfCheck& check, const Communicator& communicator, const std::vector<Route>& routes,
                     const selection::CallKey& call) {
    const SelfCheck::Statement mine = check.statement(call);
    SelfCheck::Statement all{};
    const std::int64_t begin_ns = now_ns();
    const auto count = static_cast<int>(mine.size());
    if (next.Allreduce(mine.data(), all.data(), count, MPI_INT64_T, MPI_MAX, communicator.private_comm) !=
        MPI_SUCCESS) {
        check.stop();
        return SelfCheck::Way::as_planned;
    }
    const std::int64_t target = check.target();
    const int num_compared = check.entry(target).num_compared;
    const SelfCheck::Way way = check.conclude(all, now_ns() - begin_ns);
    const SelfCheck::Entry& checked = check.entry(target);
    EntryCount& found = *routes[static_cast<std::size_t>(target)].count;
    if (checked.is_refused()) found.standing = checked.standing();
    if (checked.seems_faster && checked.num_compared == 1) found.standing = SelfCheck::seemed_faster;
    if (checked.num_compared > std::max(1, num_compared)) {  // the first on a communicator does not count
        found.standing = checked.standing();
        found.native_ns = checked.candidates[SelfCheck::native].agreed_ns;
        found.schedule_ns = checked.candidates[SelfCheck::schedule].agreed_ns;
    }
    return way;
}

void count_after_fall_back(const Route& route, const SelfCheck::Entry& checked, const Communicator& communicator) {
    EntryCount& count = *route.count;
    count.after_fall_back.fetch_add(1, std::memory_order_relaxed);
    std::int64_t none = 0;
    const auto call = static_cast<std::int64_t>(checked.calls);
    const bool is_first = count.fell_back_at_call == 0 && count.fell_back_at_call.compare_exchange_strong(none, call);
    if (is_first && communicator.rank == 0) log_fall_back(route.kind, *route.entry, count, call, checked.num_slower());
}

}  // namespace hocket::interpose
