# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What messages cost on this system: measured with a launcher, as far as it is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hocket.errors import Error
from hocket.report.costs import describe_costs
from hocket.tune.costs import UsedCosts
from hocket.tune.shared_cores import overhead_warnings

if TYPE_CHECKING:
    from hocket import Network
    from hocket.reporter import Reporter
    from hocket.tune.launcher import Launcher

# Where costs fit no better than this in the median, something else than they is wrong.
HIGH_ERROR = 0.3


def find_costs(
    launcher: Launcher, network: Network, ranks: int, known: UsedCosts, fit: bool, notes: list[str], reporter: Reporter
) -> UsedCosts:
    """Measures the rendezvous size if `known` has none and, if `fit`, all costs of messages; adds to `notes`.

    Where they cannot be measured, what is known has to do.
    """
    used = known
    try:
        if used.costs.rendezvous_bytes is None:
            used = _with_rendezvous_bytes(launcher, used, reporter)
        if fit and ranks > 1:
            used = _fitted(launcher, network, ranks, used, notes, reporter)
    except Error as error:
        reason = str(error).partition("\n")[0]
        notes.append(f"what messages cost could not be measured, so predictions may be far off: {reason}")
    if used.source != "fitted":
        reporter.message(f"what messages cost: {describe_costs(used.to_result())}")
    return used


def _with_rendezvous_bytes(launcher: Launcher, used: UsedCosts, reporter: Reporter) -> UsedCosts:
    found = launcher.rendezvous_bytes()
    if found is None:
        return used
    reporter.message(f"the MPI sends messages up to {(found - 1) / 1024:.0f} KiB without waiting for their receiver")
    return UsedCosts(used.costs.replace(rendezvous_bytes=found), used.source)


def _fitted(
    launcher: Launcher, network: Network, ranks: int, used: UsedCosts, notes: list[str], reporter: Reporter
) -> UsedCosts:
    reporter.message("measuring what messages cost")
    fit = launcher.fit_costs(network, ranks, used.costs)
    found = UsedCosts(fit.costs, "fitted", tuple(map(float, fit.errors)))
    notes += overhead_warnings(fit.costs)
    result = found.to_result()
    reporter.message(f"  {describe_costs(result)}")
    if result.training_error_median is not None and result.training_error_median > HIGH_ERROR:
        why = (
            "a busy machine, or few cores for many ranks, does that to small messages"
            if launcher.runner.is_emulated
            else "is the network file that of the hosts that the ranks ran on?"
        )
        notes.append(
            f"even of the collectives that showed what messages cost predictions are "
            f"{result.training_error_median:.0%} off: {why}"
        )
    return found
