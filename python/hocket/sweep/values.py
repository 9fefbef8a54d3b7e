# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The values of a campaign file: names with dots, units, ranges, and the requests that are made of them."""

from __future__ import annotations

import dataclasses
import json
import math
import types
import typing
from collections.abc import Mapping
from typing import Any

from hocket.errors import InvalidInput
from hocket.requests import decoded, hints_of

MOST_VALUES = 1_000_000  #: of one range
_RANGE = {"from", "to", "factor", "step"}


def hint_of(kind: Any, name: str, where: str) -> Any:
    """The type of the field that `name` stands for: "bytes", or "costs.sharing" of a part of the request."""
    for part in name.split("."):
        dataclass = next((one for one in choices(kind) if dataclasses.is_dataclass(one)), None)
        known: dict[str, Any] = hints_of(dataclass) if dataclass else {}  # type: ignore[arg-type]
        if part not in known:
            raise InvalidInput(
                f"{where}: unknown {part!r}", f"accepted: {', '.join(known) or 'nothing behind the dot'}"
            )
        kind = known[part]
    return kind


def with_unit(name: str, value: Any, hint: Any, where: str) -> Any:
    """Text with a unit as the number that it stands for, if the field is a number."""
    if not isinstance(value, str) or not {int, float} & set(choices(hint)) or str in choices(hint):
        return value
    from hocket import parse_bandwidth, parse_bytes, parse_duration

    field = name.rpartition(".")[2]
    if field.endswith("bytes_per_s"):
        return parse_bandwidth(value, where)
    if field == "bytes" or field.endswith("_bytes"):
        return parse_bytes(value, where)
    return parse_duration(value, where) if field.endswith("_s") else value


def values_of(name: str, given: Any, hint: Any, where: str) -> list[Any]:
    """A list, or a range: { from = "1 KiB", to = "1 MiB", factor = 4 }; with units as numbers."""
    if isinstance(given, dict) and "from" in given and "to" in given and set(given) <= _RANGE:
        return _range(name, given, hint, where)
    if not isinstance(given, list) or not given:
        raise InvalidInput(
            f"{where}: {given!r}", "accepted: a list of values, or a range such as { from = 1, to = 8, step = 1 }"
        )
    return [with_unit(name, value, hint, f"{where}[{at}]") for at, value in enumerate(given)]


def _range(name: str, given: dict[str, Any], hint: Any, where: str) -> list[Any]:
    found = {key: with_unit(name, value, hint, f"{where}.{key}") for key, value in given.items()}
    for key, value in found.items():
        if type(value) not in (int, float) or not math.isfinite(value):
            raise InvalidInput(f"{where}.{key}: {value!r}; accepted: a number")
    steps = [key for key in ("factor", "step") if key in found]
    if len(steps) != 1:
        raise InvalidInput(f'{where}: a range has either "factor" or "step"')
    least, most, by = found["from"], found["to"], found[steps[0]]
    grows = by > 1 and least > 0 if steps[0] == "factor" else by > 0
    if not grows or most < least:
        raise InvalidInput(
            f"{where}: the range is empty or has no end", "from <= to, step > 0, factor > 1 and from > 0"
        )
    values: list[Any] = []
    try:
        while (value := least * by ** len(values) if steps[0] == "factor" else least + by * len(values)) <= most:
            values.append(round(value) if float in map(type, found.values()) and type(least) is int else value)
            if len(values) > MOST_VALUES:
                raise InvalidInput(f"{where}: more than {MOST_VALUES} values")
    except OverflowError:  # the next one is above all floating-point numbers
        pass
    return values


def decode(hint: Any, value: Any, where: str) -> Any:
    """As the request has it: in JSON a request is given the same values."""
    return decoded(hint, value, where)


def build(kind: Any, values: Mapping[str, Any], where: str) -> Any:
    """The request, or the part of one, of decoded values by names with dots."""
    own: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        first, _, rest = name.partition(".")
        if rest:
            parts.setdefault(first, {})[rest] = value
        else:
            own[name] = value
    for name, inner in parts.items():
        dataclass = next(one for one in choices(hints_of(kind)[name]) if dataclasses.is_dataclass(one))
        if name in own:
            raise InvalidInput(f"{where}: both {name!r} and '{name}.{next(iter(inner))}' are given")
        own[name] = build(dataclass, inner, f"{where}.{name}")
    try:
        return kind(**own)
    except TypeError:
        needed = [
            field.name
            for field in dataclasses.fields(kind)
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        ]
        missing = [name for name in needed if name not in own]
        if not missing:
            raise
        raise InvalidInput(
            f"{where}: {missing[0]!r} is missing", "add it to [fixed], [product] or each of [[cases]]"
        ) from None


def shown(value: Any) -> str | int | float | bool:
    """A parameter as a column of the rows has it."""
    return value if isinstance(value, (str, int, float, bool)) else json.dumps(value, ensure_ascii=False, default=str)


def choices(hint: Any) -> tuple[Any, ...]:
    """The types that a field accepts."""
    return typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
