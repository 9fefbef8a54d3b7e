# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What if processors were faster, one rank slower or late, or computation noisy: changes of what ranks compute."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hocket.errors import InvalidInput
from hocket.simulation.ranks import ranks_from

if TYPE_CHECKING:
    from hocket import Program

NOISE = "normal:X, lognormal:X, exponential:X, uniform:X"
_SCALE_HINT = "accepted: a factor for all ranks, such as 0.5, or of one or some, such as 7=1.2 or 0-3=1.1"
_DELAY_HINT = "accepted: RANK=TIME, or RANK=TIME@AFTER, such as 7=200ms@1.5s"


@dataclass(frozen=True)
class RankScale:
    rank: int
    factor: float


@dataclass(frozen=True)
class RankDelay:
    rank: int
    seconds: float
    at_s: float = 0.0  #: what the rank has computed before, scaled but without noise


@dataclass(frozen=True)
class WhatIf:
    """Messages and reductions stay as they are."""

    cpu_scale: float = 1.0  #: computations take so many times as long
    rank_cpu_scales: tuple[RankScale, ...] = ()  #: of a rank, in place of it
    delays: tuple[RankDelay, ...] = ()
    noise: str | None = None  #: as NOISE; X is the spread of the factor of each computation
    noise_seed: int = 1

    def changed(self, program: Program) -> Program:
        """@raises InvalidInput if a number is out of range, or a rank is not there."""
        if self == AS_RECORDED:
            return program
        from hocket import _core

        return _core.changed_program(program, self.core)

    @property
    def core(self) -> tuple[float, dict[int, float], list[tuple[int, float, float]], str | None, int]:
        """As the core takes it."""
        return (
            self.cpu_scale,
            {one.rank: one.factor for one in self.rank_cpu_scales},
            [(one.rank, one.seconds, one.at_s) for one in self.delays],
            self.noise,
            self.noise_seed,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "cpu_scale": self.cpu_scale,
            "rank_cpu_scales": {str(one.rank): one.factor for one in self.rank_cpu_scales},
            "delays": [{"rank": one.rank, "seconds": one.seconds, "at_s": one.at_s} for one in self.delays],
            "noise": self.noise,
            "noise_seed": self.noise_seed if self.noise else None,
        }

    @property
    def sentences(self) -> list[str]:
        """What was changed, for people."""
        changes = [f"all computations take {self.cpu_scale:g} times as long"] if self.cpu_scale != 1 else []
        changes += [f"those of rank {one.rank} {one.factor:g} times" for one in self.rank_cpu_scales]
        changes += [
            f"rank {one.rank} is late by {one.seconds:g} s"
            + (f" after {one.at_s:g} s of its computation" if one.at_s else "")
            for one in self.delays
        ]
        changes += [f"noise {self.noise}, seed {self.noise_seed}"] if self.noise else []
        return [f"What if: {'; '.join(changes)}."] if changes else []


AS_RECORDED = WhatIf()


def what_if_from(
    cpu_scales: Sequence[str] = (), delays: Sequence[str] = (), noise: str | None = None, noise_seed: int = 1
) -> WhatIf:
    """Of texts: "0.5", "7=1.2" and "0-3=1.1"; "7=200ms" and "7=200ms@1.5s". Later ones go before earlier ones."""
    whole, of_ranks = 1.0, dict[int, float]()
    for text in cpu_scales:
        ranks, equals, factor = text.rpartition("=")
        try:
            value = float(factor)
        except ValueError:
            raise InvalidInput(f"--cpu-scale {text!r}", _SCALE_HINT) from None
        if not 0 <= value < float("inf"):
            raise InvalidInput(f"--cpu-scale {text!r}: {factor} is no factor", _SCALE_HINT)
        if not equals:
            whole = value
            continue
        try:
            of_ranks |= dict.fromkeys(ranks_from(ranks), value)
        except ValueError as error:
            raise InvalidInput(f"--cpu-scale {text!r}: {error}", _SCALE_HINT) from None
    return WhatIf(
        whole,
        tuple(RankScale(rank, factor) for rank, factor in sorted(of_ranks.items())),
        tuple(map(_delay_from, delays)),
        noise,
        noise_seed,
    )


def _delay_from(text: str) -> RankDelay:
    from hocket import parse_duration

    found = re.fullmatch(r"(\d{1,9})=([^@=]+)(?:@([^@=]+))?", text)
    if not found:
        raise InvalidInput(f"--delay {text!r}", _DELAY_HINT)
    return RankDelay(
        int(found[1]), parse_duration(found[2], "--delay"), parse_duration(found[3], "--delay") if found[3] else 0.0
    )
