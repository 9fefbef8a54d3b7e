# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""An imported network as the text of a network file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from hocket import __version__, print_bandwidth, print_duration
from hocket.interop.networks.draft import Cable, Draft, natural


def to_toml(draft: Draft, routing: str | None, seed: int) -> str:
    """Nodes and cables in an order that does not depend on that of the imported file, but for hosts that the user put
    in order: the same network gives the same text, whatever format it came from, below the comments.
    """
    hosts = list(draft.hosts) if draft.keeps_order else sorted(draft.hosts, key=natural)
    switches = sorted(draft.switches, key=natural)
    number = {name: i for i, name in enumerate([*hosts, *switches])}
    degrees = draft.degrees()
    lines = [*_comments(draft), 'format = "hocket.network/1"', f"name = {_string(draft.name)}"]
    if routing == "ecmp" or draft.routes:
        lines += ["", "[routing]"]
        if routing == "ecmp":
            lines += ['kind = "ecmp"', f"seed = {seed}"]
        if draft.routes:
            routes = sorted(draft.routes, key=lambda route: [number[node] for node in route])
            lines += ["routes = [", *(f"    [{', '.join(map(_string, route))}]," for route in routes), "]"]
    for name in hosts:
        host = draft.hosts[name]
        lines += ["", "[[node]]", f"name = {_string(name)}", 'kind = "host"']
        lines += [f"ranks = {host.ranks}"] if host.ranks != 1 else []
        lines += ["relay = false"] if not host.relays and degrees[name] > 1 else []
    for name in switches:
        lines += ["", "[[node]]", f"name = {_string(name)}", 'kind = "switch"']
    ordered = sorted((sorted((number[a], number[b])), (a, b)) for a, b in draft.cables)
    for _, ends in ordered:
        lines += _link(ends, draft.cables[ends], number)
    return "\n".join(lines) + "\n"


def _link(ends: tuple[str, str], cable: Cable, number: dict[str, int]) -> Iterator[str]:
    first, second = ends
    assert cable.bandwidth_bytes_per_s is not None
    assert cable.bandwidth_back_bytes_per_s is not None
    there, back = _rounded(cable.bandwidth_bytes_per_s), _rounded(cable.bandwidth_back_bytes_per_s)
    delay = _rounded(cable.latency_s or 0.0)
    delay_back = delay if cable.latency_back_s is None else _rounded(cable.latency_back_s)
    if number[first] > number[second]:
        first, second, there, back, delay, delay_back = second, first, back, there, delay_back, delay
    yield from ("", "[[link]]", f"between = [{_string(first)}, {_string(second)}]")
    yield f"bandwidth = {_bandwidth(there)}"
    if back != there:
        yield f"bandwidth_back = {_bandwidth(back)}"
    if delay:
        yield f'latency = "{print_duration(delay)}"'
    if delay_back != delay:
        yield f'latency_back = "{print_duration(delay_back)}"'
    if cable.half_duplex:
        yield 'duplex = "half"'


def _rounded(value: float) -> float:
    """Without the noise of the last digits, as of the sum of two latencies."""
    return float(f"{value:.12g}")


def _bandwidth(value: float) -> str:
    return '"unlimited"' if value == math.inf else f'"{print_bandwidth(value)}"'


def _comments(draft: Draft) -> Iterator[str]:
    yield f"# Imported by hocket {__version__} from {_plain(draft.source_name)} ({draft.format})."
    for text in draft.assumed:
        yield f"# Assumed: {_plain(text)}."
    for text in draft.ignored:
        yield f"# Left out: {_plain(text)}."


def _plain(text: str) -> str:
    """On one line, without what a comment may not hold."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _string(text: str) -> str:
    """A TOML basic string. JSON escapes the same way, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
