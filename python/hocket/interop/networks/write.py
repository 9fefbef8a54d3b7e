# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""An imported network, and the comments of its file."""

from __future__ import annotations

from collections.abc import Iterator

from hocket import Blueprint, InvalidInput, Network, __version__
from hocket.interop.networks.draft import Cable, Draft, natural


def build(draft: Draft, routing: str | None, seed: int) -> Network:
    """Nodes and cables in an order that does not depend on that of the imported file, but for hosts that the user put
    in order: the same network gives the same file, whatever format it came from, below the comments.
    """
    hosts = list(draft.hosts) if draft.keeps_order else sorted(draft.hosts, key=natural)
    switches = sorted(draft.switches, key=natural)
    number = {name: i for i, name in enumerate([*hosts, *switches])}
    degrees = draft.degrees()
    nodes = [
        Blueprint.Node(name, ranks=draft.hosts[name].ranks, relays=draft.hosts[name].relays or degrees[name] < 2)
        for name in hosts
    ]
    nodes += [Blueprint.Node(name, "switch") for name in switches]
    ordered = sorted((sorted((number[a], number[b])), (a, b)) for a, b in draft.cables)
    cables = [_cable(ends, draft.cables[ends], number) for _, ends in ordered]
    routes = sorted([number[node] for node in route] for route in draft.routes)
    ecmp_seed = seed if routing == "ecmp" else None
    try:
        return Network.build(Blueprint(draft.name, nodes, cables, ecmp_seed=ecmp_seed, routes=routes))
    except InvalidInput as error:
        raise InvalidInput(f"{draft.source_name}: {error.message}", error.hint) from None


def _cable(ends: tuple[str, str], cable: Cable, number: dict[str, int]) -> Blueprint.Cable:
    first, second = (number[end] for end in ends)
    assert cable.bandwidth_bytes_per_s is not None
    assert cable.bandwidth_back_bytes_per_s is not None
    there, back = _rounded(cable.bandwidth_bytes_per_s), _rounded(cable.bandwidth_back_bytes_per_s)
    delay = _rounded(cable.latency_s or 0.0)
    delay_back = delay if cable.latency_back_s is None else _rounded(cable.latency_back_s)
    if first > second:
        first, second, there, back, delay, delay_back = second, first, back, there, delay_back, delay
    return Blueprint.Cable(first, second, there, back, delay, delay_back, cable.half_duplex)


def _rounded(value: float) -> float:
    """Without the noise of the last digits, as of the sum of two latencies."""
    return float(f"{value:.12g}")


def comments(draft: Draft) -> Iterator[str]:
    yield f"# Imported by hocket {__version__} from {_plain(draft.source_name)} ({draft.format})."
    for text in draft.assumed:
        yield f"# Assumed: {_plain(text)}."
    for text in draft.ignored:
        yield f"# Left out: {_plain(text)}."


def _plain(text: str) -> str:
    """On one line, without what a comment may not hold."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
