# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the readers of JSON files share."""

from __future__ import annotations

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
