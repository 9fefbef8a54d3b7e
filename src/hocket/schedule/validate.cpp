// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/schedule/validate.hpp"

#include "hocket/schedule/checks.hpp"

namespace hocket {

namespace {

constexpr std::size_t max_violations = 20;

}  // namespace

Validation validate(const Schedule& schedule) {
    // Each check may rely on the ones before it, so the first that finds something is the last to run.
    Validation result;
    result.violations = malformations(schedule);
    schedule::Matching matching;
    if (result.ok()) matching = schedule::match(schedule, result.violations);
    if (result.ok()) schedule::check_chunks_of_messages(schedule, matching, result.violations);
    if (result.ok()) schedule::check_races(schedule, result.violations);
    if (result.ok()) {
        const bool in_order = schedule.collective == Collective::barrier
                                  ? schedule::execute_barrier(schedule, matching, result.violations)
                                  : schedule::execute(schedule, matching, result.violations);
        result.preserves_order = result.ok() && in_order;
    }
    if (result.violations.size() > max_violations) {
        const std::size_t more = result.violations.size() - max_violations;
        result.violations.resize(max_violations);
        result.violations.push_back("... and " + std::to_string(more) + " more");
    }
    return result;
}

}  // namespace hocket
