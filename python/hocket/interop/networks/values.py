# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a file leaves open: bandwidths and latencies from options, else assumed ones, which are reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from hocket.errors import InvalidInput
from hocket.interop.networks.draft import Draft
from hocket.interop.networks.hostlist import expand, quoted


@dataclass(frozen=True)
class Options:
    """What the user gives. None = nothing."""

    bandwidth: str | None = None
    latency: str | None = None
    trunk_bandwidth: str | None = None
    trunk_latency: str | None = None
    routing: str | None = None
    seed: int | None = None
    ranks: int | None = None
    hosts: str | None = None
    names: str | None = None
    ranks_on: str | None = None


def hosts_of(text: str) -> list[str]:
    """Of --hosts."""

    def refuse(what: str, hint: str) -> NoReturn:
        raise InvalidInput(f"--hosts: {what}", hint)

    names = expand(text, refuse)
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InvalidInput(
            f"--hosts names {quoted(twice)} twice", "name each host once; --ranks gives it several ranks"
        )
    return names


@dataclass(frozen=True)
class Defaults:
    """For links of which neither file nor options say it. `trunk` links join switches; None = as the others."""

    bandwidth: str
    latency: str
    trunk_bandwidth: str | None = None
    trunk_latency: str | None = None
    measure_bandwidth: str = "large messages between two hosts (ib_write_bw, iperf3, osu_bw)"
    measure_latency: str = "small messages between two hosts (ib_write_lat, osu_latency)"


def fill(draft: Draft, options: Options, defaults: Defaults) -> None:
    """Gives every cable a bandwidth and a latency, and notes in the draft what was assumed."""
    for quantity in ("bandwidth", "latency"):
        attribute = "bandwidth_bytes_per_s" if quantity == "bandwidth" else "latency_s"
        measure = getattr(defaults, f"measure_{quantity}")
        open_cables = [cable for cable in draft.cables.values() if getattr(cable, attribute) is None]
        open_kinds = {cable.trunk for cable in open_cables}
        values = {trunk: _value(options, defaults, quantity, trunk) for trunk in (False, True)}
        numbers = {trunk: _parse(quantity, value) for trunk, value in values.items()}
        for cable in open_cables:
            number = numbers[cable.trunk]
            setattr(cable, attribute, number * (cable.count if quantity == "bandwidth" else cable.latency_factor))
        assumed = {trunk: values[trunk].text for trunk in sorted(open_kinds) if not values[trunk].option}
        if len(assumed) == 2 and assumed[False] == assumed[True]:
            draft.assumed.append(_note(draft.format, quantity, "each link", assumed[True], measure, f"--{quantity}"))
            assumed = {}
        for trunk, text in assumed.items():
            which = "each link between switches" if trunk else "each link of a host"
            option = f"--trunk-{quantity}" if trunk and not values[trunk].follows else f"--{quantity}"
            draft.assumed.append(_note(draft.format, quantity, which, text, measure, option))
        used = {values[trunk].option for trunk in open_kinds}
        for option in (quantity, f"trunk_{quantity}"):
            if getattr(options, option) is not None and option not in used:
                draft.ignored.append(f"--{option.replace('_', '-')}: the file leaves no {quantity} of such links open")
    for cable in draft.cables.values():
        if cable.bandwidth_back_bytes_per_s is None:
            cable.bandwidth_back_bytes_per_s = cable.bandwidth_bytes_per_s


@dataclass(frozen=True)
class _Value:
    text: str
    option: str = ""  # that gave it; empty = assumed
    follows: bool = False  # a link between switches is like the others, where nothing says otherwise


def _value(options: Options, defaults: Defaults, quantity: str, trunk: bool) -> _Value:
    if trunk:
        given = getattr(options, f"trunk_{quantity}")
        default = getattr(defaults, f"trunk_{quantity}")
        if given is not None:
            return _Value(given, f"trunk_{quantity}")
        if default is not None:
            return _Value(default)
    given = getattr(options, quantity)
    return _Value(given, quantity) if given is not None else _Value(getattr(defaults, quantity), follows=trunk)


def _note(source_format: str, quantity: str, which: str, text: str, measure: str, option: str) -> str:
    return (
        f"the {quantity} of {which} is {text}, which {source_format} files do not say: "
        f"measure {measure} and give {option}"
    )


def _parse(quantity: str, value: _Value) -> float:
    from hocket import parse_bandwidth, parse_duration

    where = f"--{value.option.replace('_', '-')}"
    number = parse_bandwidth(value.text, where) if quantity == "bandwidth" else parse_duration(value.text, where)
    if quantity == "bandwidth" and not 0.125 <= number <= 1e18:
        raise InvalidInput(f"{where}: {value.text} is not in 1 bit/s..1e18 B/s")
    if quantity == "latency" and not 0 <= number <= 1e6:
        raise InvalidInput(f"{where}: {value.text} is not in 0..1e6 s")
    return number
