# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What perf/plan_reuse.py says of the rounds of a point: gains, the share that the first plan keeps, and its spread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

KINDS = ("native", "first", "anew")  # of runs: without a plan, with the first one, with the one tuned at the point
LEAST_GAIN = 1.03  # of the plan tuned anew: below it the share that is kept would be a quotient of noise
LEAST_SHARE = 0.9
NEVER_BELOW = 0.97  # native time / time with the first plan
DRAWS = 10000

COLUMNS = (
    "network",
    "MPI",
    "program",
    "point",
    "rounds",
    "native",
    "gain, first plan",
    "gain, tuned anew",
    "share of gain kept",
    "of its logarithm",
    "calls (time) served",
    "",
)


def summary(rounds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """`rounds`: of one point, each with `native_s`, `first_s` and, but for the first point, `anew_s`.

    Gains are ratios of medians. Intervals of 95 % are by a bootstrap over the rounds.
    """
    same = all(one["same_output"] for one in rounds)
    found: dict[str, Any] = {"rounds": len(rounds), "output_same": same}
    if not rounds:
        return found
    times = {kind: np.array([one[f"{kind}_s"] for one in rounds]) for kind in KINDS if f"{kind}_s" in rounds[0]}
    native = times.pop("native")
    draws = np.random.default_rng(1).integers(len(rounds), size=(DRAWS, len(rounds)))
    gains = {kind: float(np.median(native) / np.median(tuned)) for kind, tuned in times.items()}
    drawn = {kind: np.median(native[draws], axis=1) / np.median(tuned[draws], axis=1) for kind, tuned in times.items()}
    found["native_s"] = float(np.median(native))
    for kind, tuned in times.items():
        pairs = np.divide.outer(native, tuned)  # as `hocket tune` gives the range of a speed-up
        found |= {
            f"{kind}_gain": gains[kind],
            f"{kind}_gain_quartiles": [float(value) for value in np.percentile(pairs, [25, 75])],
            f"{kind}_gain_interval": _interval(drawn[kind]),
            **{f"{kind}_{what}": _median(rounds, f"{kind}_{what}") for what in ("served", "served_time")},
        }
    found["slower"] = gains["first"] < NEVER_BELOW
    if gains.get("anew", 0) >= LEAST_GAIN:
        found |= {
            "share": (gains["first"] - 1) / (gains["anew"] - 1),
            "log_share": math.log(gains["first"]) / math.log(gains["anew"]),
        }
        if drawn["anew"].min() > 1:  # else some draws have no gain to compare with
            found |= {
                "share_interval": _interval((drawn["first"] - 1) / (drawn["anew"] - 1)),
                "log_share_interval": _interval(np.log(drawn["first"]) / np.log(drawn["anew"])),
            }
    return found


def _median(rounds: Sequence[dict[str, Any]], key: str) -> float:
    return float(np.median([one[key] for one in rounds]))


def _interval(values: npt.NDArray[np.float64]) -> list[float] | None:
    """None after one round, which says nothing of the spread."""
    return None if np.ptp(values) == 0 else [float(value) for value in np.percentile(values, [2.5, 97.5])]


def row(one: dict[str, Any]) -> tuple[str, ...]:
    place = (one["network"], one["mpi"], one["program"], one["point"], str(one["rounds"]))
    if not one["rounds"]:
        return (*place, *[""] * 6, f"failed: {one['failure'].splitlines()[0]}" if one["failure"] else "tuned only")
    remarks = []
    if one["slower"]:
        interval = one["first_gain_interval"]
        certain = interval is not None and interval[1] < NEVER_BELOW
        remarks.append(f"SLOWER: below {NEVER_BELOW}" + ("" if certain else ", within the spread"))
    if one.get("share") is not None and one["share"] < LEAST_SHARE:
        remarks.append(f"keeps less than {LEAST_SHARE:.0%}")
    if not one["output_same"]:
        remarks.append("OUTPUT DIFFERS")
    return (
        *place,
        f"{one['native_s']:.2f} s",
        *(_spread(one, f"{kind}_gain", "_quartiles", ".2f") for kind in ("first", "anew")),
        *(_spread(one, share, "_interval", ".0%") for share in ("share", "log_share")),
        " / ".join(_served(one, kind) for kind in ("first", "anew") if f"{kind}_gain" in one),
        ", ".join(remarks),
    )


def _spread(one: dict[str, Any], key: str, suffix: str, form: str) -> str:
    if one.get(key) is None:
        return ""
    low_high = one.get(key + suffix)
    return f"{one[key]:{form}}" + (f" ({low_high[0]:{form}} .. {low_high[1]:{form}})" if low_high else "")


def _served(one: dict[str, Any], kind: str) -> str:
    return f"{one[f'{kind}_served']:.0%} ({one[f'{kind}_served_time']:.0%})"


def sentences(found: Sequence[dict[str, Any]]) -> list[str]:
    """What the table says as a whole."""
    measured = [one for one in found if one["rounds"]]
    others = [one for one in measured if "anew_gain" in one]
    compared = [one for one in others if one.get("share") is not None]
    kept = sum(one["share"] >= LEAST_SHARE for one in compared)
    slower = sum(one["slower"] for one in measured)
    different = sum(not one["output_same"] for one in measured)
    return [
        f"{len(measured)} points measured; with the first plan {slower} are below {NEVER_BELOW} of native",
        f"tuned anew {len(compared)} of {len(others)} other points gain {LEAST_GAIN - 1:.0%} or more; "
        f"of these the first plan keeps {LEAST_SHARE:.0%} of the gain at {kept}",
        *([f"standard output differs at {different} points"] if different else []),
        "spread: quartiles of all pairs for gains, 95 % of a bootstrap over the rounds for shares; "
        "calls and collective time served: first plan / tuned anew",
    ]
