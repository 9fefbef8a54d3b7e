# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the readers of JSON files share. The checks raise InvalidInput: where, what was found, what is accepted."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from hocket.errors import InvalidInput


def refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The `object_pairs_hook` of every reader: JSON itself takes the last of several equal keys without a word."""
    result: dict[str, Any] = {}
    for name, value in pairs:
        if name in result:
            raise InvalidInput(f'the key "{name}" occurs twice in one object')
        result[name] = value
    return result


def object_of(
    document: object,
    where: str,
    required: set[str],
    optional: set[str],
    formats: Sequence[str] = (),
    hint: str = "",
) -> Mapping[str, Any]:
    """The object, with all required keys and no other than the optional ones; `formats`: accepted as its "format"."""
    if not isinstance(document, dict):
        raise InvalidInput(f"{where}: expected an object, found {shown(document)}", hint=hint)
    if formats and document.get("format") not in formats:
        found = shown(document["format"]) if "format" in document else "missing"
        accepted = ", ".join(json.dumps(name) for name in formats)
        raise InvalidInput(f"{where}: format is {found}; accepted: {accepted}", hint=hint)
    if unknown := sorted(set(document) - required - optional):
        raise InvalidInput(
            f"{where}: unknown key {shown(unknown[0])}; accepted: {', '.join(sorted(required | optional))}"
        )
    if missing := sorted(required - set(document)):
        raise InvalidInput(f'{where}: key "{missing[0]}" is missing', hint=hint)
    return document


def integer_of(entry: Mapping[str, Any], key: str, where: str, low: int, high: int) -> int:
    value = entry[key]
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InvalidInput(f"{where}: {key} is {shown(value)}; accepted: a whole number from {low} to {high}")
    return value


def seconds_of(entry: Mapping[str, Any], key: str, where: str) -> float | None:
    value = entry.get(key)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= sys.float_info.max:
        raise InvalidInput(f"{where}: {key} is {shown(value)}; accepted: seconds, not negative, or null")
    return float(value)


def number_of(value: object, where: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= sys.float_info.max:
        raise InvalidInput(f"{where} is {shown(value)}; accepted: a number, not negative")
    return float(value)


def truth_of(entry: Mapping[str, Any], key: str, where: str) -> bool:
    value = entry.get(key, False)
    if not isinstance(value, bool):
        raise InvalidInput(f"{where}: {key} is {shown(value)}; accepted: true or false")
    return value


def text_of(entry: Mapping[str, Any], key: str, where: str) -> str:
    value = entry.get(key, "")
    if not isinstance(value, str):
        raise InvalidInput(f"{where}: {key} is {shown(value)}; accepted: text")
    return value


def ranks_of(entry: Mapping[str, Any], key: str, where: str, limit: int) -> tuple[int, ...]:
    """Different ranks below the limit."""
    value = entry[key]
    if not isinstance(value, list) or not value:
        raise InvalidInput(f"{where}: {key} is {shown(value)}; accepted: a list of ranks")
    seen: set[int] = set()
    for rank in value:
        if not isinstance(rank, int) or isinstance(rank, bool) or not 0 <= rank < limit:
            raise InvalidInput(f"{where}: {key} holds {shown(rank)}; accepted: ranks from 0 to {limit - 1}")
        if rank in seen:
            raise InvalidInput(f"{where}: {key} holds rank {rank} twice")
        seen.add(rank)
    return tuple(value)


def shown(value: object) -> str:
    """For a message: its JSON, cut short."""
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."
