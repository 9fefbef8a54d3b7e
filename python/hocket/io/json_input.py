# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the readers of JSON files share."""

from __future__ import annotations

from collections.abc import Collection
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


_FORMER_NAMES = {"pieces": "segments"}


def with_current_names(values: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    """The object with the names of today in place of those in files of earlier versions, among the `known` ones."""
    renamed = {}
    for name, value in values.items():
        current = _FORMER_NAMES.get(name)
        is_former = current in known and name not in known and current not in values
        renamed[current if current is not None and is_former else name] = value
    return renamed
