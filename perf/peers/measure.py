# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Runs one case on simulators in turns, and sums up what they took and found."""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Case:
    """A traffic on a fat tree; `arguments` are those of the drivers (driver.hpp)."""

    network: str
    pattern: str
    spread: float
    further: Mapping[str, str | float] = field(default_factory=dict)

    @property
    def nodes(self) -> int:
        a, b, c = map(int, self.network.split("x"))
        return a * b * c

    @property
    def sizes(self) -> str:
        return "random" if self.spread else "identical"

    def arguments(self) -> list[str]:
        values = {"network": self.network, "pattern": self.pattern, "spread": self.spread, **self.further}
        return [f"{name}={value}" for name, value in values.items()]


@dataclass(frozen=True)
class Way:
    """A simulator and how it is used."""

    name: str
    driver: Path
    options: tuple[str, ...] = ()


@dataclass
class Measured:
    """All runs of one case in one way; `reason` tells why there is none."""

    way: Way
    runs: list[dict[str, Any]] = field(default_factory=list)
    reason: str = ""

    def median(self, key: str) -> float:
        return float(statistics.median(run[key] for run in self.runs))

    def values(self, key: str) -> list[float]:
        return [float(run[key]) for run in self.runs]

    @property
    def cut_off(self) -> bool:
        return any(run["cut_off"] for run in self.runs)


class DifferentTraffic(Exception):
    """Two simulators were not given the same messages: the comparison would be void."""


def measure(case: Case, ways: Sequence[Way], rounds: int, timeout_s: float) -> list[Measured]:
    """In each round every simulator runs once, so that a change of the machine's speed meets all."""
    results = [Measured(way) for way in ways]
    for _ in range(rounds):
        for result in results:
            if not result.reason:
                run_once(case, result, timeout_s)
    seen = {run["traffic"] for result in results for run in result.runs}
    if len(seen) > 1:
        raise DifferentTraffic(f"the simulators were given different traffic for {' '.join(case.arguments())}")
    return results


def run_once(case: Case, result: Measured, timeout_s: float) -> None:
    command = [str(result.way.driver), *case.arguments(), *result.way.options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        result.reason = f"not done after {timeout_s:.0f} s"
        return
    if done.returncode != 0:
        # SimGrid also tells there how it was configured.
        lines = [line for line in done.stderr.splitlines() if line.startswith("error:")]
        result.reason = lines[-1] if lines else f"ended with {done.returncode}"
        return
    result.runs.append(json.loads(done.stdout.splitlines()[-1]))


def ratios(ours: Measured, theirs: Measured, our_key: str, their_key: str) -> list[float]:
    """Theirs divided by ours, round by round."""
    pairs = zip(ours.values(our_key), theirs.values(their_key), strict=False)
    return [b / a if a > 0 else float("inf") for a, b in pairs]
