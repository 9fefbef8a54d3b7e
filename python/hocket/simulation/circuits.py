# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How a simulation uses the circuits of a network: by which policy, and which of them are pinned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from hocket import Network, Program
    from hocket._core import CircuitTimeline

POLICIES = ("naive", "batch", "lazy", "pinned", "program")
_PINS_HINT = "accepted: ring, hypercube, or pairs of ranks such as 0-1,1-2"


@dataclass(frozen=True)
class CircuitUse:
    """As `hocket.simulate` takes it."""

    policy: str
    pinned: tuple[tuple[int, int], ...] = ()  #: ranks
    is_chosen: bool = True  #: by the user; otherwise a program that connects its circuits itself does that

    def policy_of(self, program: Program) -> str:
        return "program" if program.has_circuits and not self.is_chosen else self.policy


def circuit_use(network: Network, policy: str | None, pins: str | None) -> CircuitUse | None:
    """None = the network has no circuits.

    @param policy  None = "program" if a program connects circuits, "pinned" with `pins`, otherwise "lazy"
    @param pins    of "pinned": "ring" (None), "hypercube", or pairs of ranks: "0-1,1-2"
    """
    if not network.has_circuits:
        if policy is None and pins is None:
            return None
        raise InvalidInput(f"{network.name} has no circuits", "give its file a table [circuits]")
    is_chosen = policy is not None or pins is not None
    policy = policy or ("lazy" if pins is None else "pinned")
    if policy not in POLICIES:
        raise InvalidInput(f"circuit policy {policy!r}; accepted: {', '.join(POLICIES)}")
    if policy != "pinned":
        if pins is not None:
            raise InvalidInput(f"--pin does not go with the circuit policy {policy}", "leave one of them out")
        return CircuitUse(policy, is_chosen=is_chosen)
    return CircuitUse(policy, _pinned(network.num_ranks, pins or "ring"))


def _pinned(ranks: int, pins: str) -> tuple[tuple[int, int], ...]:
    if pins == "ring":
        return tuple((rank, (rank + 1) % ranks) for rank in range(ranks))
    if pins == "hypercube":
        bits = (ranks - 1).bit_length()
        return tuple(
            (rank, rank | 1 << bit)
            for rank in range(ranks)
            for bit in range(bits)
            if not rank >> bit & 1 and rank | 1 << bit < ranks
        )
    pairs = []
    for text in pins.split(","):
        ends = text.strip().split("-")
        if len(ends) != 2 or not all(end.isascii() and end.isdecimal() and len(end) < 10 for end in ends):
            raise InvalidInput(f"--pin: {text[:40]!r} is not a pair of ranks", _PINS_HINT)
        if any(int(end) >= ranks for end in ends):
            raise InvalidInput(f"--pin: {text.strip()}: the network has ranks 0 to {ranks - 1}", _PINS_HINT)
        pairs.append((int(ends[0]), int(ends[1])))
    return tuple(pairs)


def circuit_values(policy: str, timeline: CircuitTimeline) -> dict[str, Any]:
    """What JSON has of the circuits of a simulation."""
    return {
        "policy": policy,
        "set_up": timeline.num_circuits,
        "messages": timeline.num_messages,
        "relayed": len({(hop["rank"], hop["op"]) for hop in timeline.hops}),
        "waiting_s": timeline.waiting_s,
        "end_s": timeline.circuits_end_s,
    }
