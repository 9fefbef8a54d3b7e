# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Programs in the formats of other tools: GOAL text and binary, execution traces of Chakra."""

from __future__ import annotations

from hocket import Program, _core
from hocket.errors import InvalidInput


def read_program(format_name: str, files: list[tuple[str, bytes]]) -> tuple[Program, list[str]]:
    """Of name and content of each file, and notes on what was left out or assumed. Raises InvalidInput."""
    if format_name == "chakra":
        return _core.read_chakra(files)
    name, content = files[0]
    if format_name == "goal-binary":
        return _core.program_from_goal_binary(content, name), []
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{name}: byte {error.start}: found no UTF-8; accepted: GOAL text", "check the file"
        ) from None
    return Program.from_goal(text, name), []
