# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Reads what `hocket calibrate` wrote into a network file beside the network."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hocket.errors import InvalidInput

_DURATIONS = {
    "send_overhead": "send_overhead_s",
    "receive_overhead": "receive_overhead_s",
    "burst_time": "burst_s",
}
# Keys of the file, and what they are called in MessageCosts.
# Not copy_bandwidth: of a long message the wire hides it, and the simulator would add it.
LEAST_BANDWIDTH = 1 / 8  # that of links
_BANDWIDTHS = {"reduce_bandwidth": "reduce_bytes_per_s"}


def calibrated_costs(network: str) -> dict[str, Any]:
    """Arguments for `hocket.advise.MessageCosts`; none for a generated network or a file without [calibration].

    What is wrong with a file's network is for its own reader to tell.
    """
    from hocket import parse_bandwidth, parse_bytes, parse_duration

    try:
        if not Path(network).is_file():  # what a pipe gives is for the network's reader
            return {}
        _, header, after = Path(network).read_text(encoding="utf-8").partition("\n[calibration]\n")
        table = tomllib.loads(header + after).get("calibration", {})  # a million links before it would take a while
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(table, dict):
        return {}
    found: dict[str, Any] = {}
    for key, name in _DURATIONS.items():
        if key in table:
            found[name] = parse_duration(_text(table[key], network, key), f"{network}: [calibration]: {key}")
    for key, name in _BANDWIDTHS.items():
        if key in table:
            where = f"{network}: [calibration]: {key}"
            found[name] = parse_bandwidth(_text(table[key], network, key), where)
            if found[name] < LEAST_BANDWIDTH:
                raise InvalidInput(f'{where} is "{table[key]}"; expected: at least 1 bit/s')
    if "burst" in table:
        found["burst_bytes"] = parse_bytes(_text(table["burst"], network, "burst"), f"{network}: [calibration]: burst")
    rendezvous = table.get("rendezvous_bytes")
    if rendezvous is not None:
        if type(rendezvous) is not int or rendezvous < 1:
            what = f"{network}: [calibration]: rendezvous_bytes is {rendezvous!r}; expected: a whole number above 0"
            raise InvalidInput(what, "leave it out for the default")
        found["rendezvous_bytes"] = rendezvous
    return found


def _text(value: object, network: str, key: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f'{network}: [calibration]: {key} is {value!r}; expected: text such as "5 us"')
    return value
