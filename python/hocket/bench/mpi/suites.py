# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Suite files: those that come with hocket, by name, and the user's own."""

from __future__ import annotations

import tomllib
from pathlib import Path

from hocket.errors import InvalidInput
from hocket.mpi.build_inputs import source_folder


def shipped_suites() -> dict[str, Path]:
    """By name."""
    return {path.stem: path for path in sorted((source_folder() / "mpi/bench/suites").glob("*.toml"))}


def numbered_items() -> dict[str, int]:
    """How many items of each shipped suite have a number."""
    suites = {name: tomllib.loads(path.read_text()) for name, path in shipped_suites().items()}
    return {
        name: len({item["number"] for item in suite["items"] if "number" in item}) for name, suite in suites.items()
    }


def suite_file(text: str) -> Path:
    """The file that `text`, a path or the name of a shipped suite, stands for. Raises InvalidInput."""
    shipped = shipped_suites()
    if text in shipped:
        return shipped[text]
    path = Path(text)
    if not path.is_file():
        raise InvalidInput(f"{text}: no such suite", f"name a file, or one of {', '.join(shipped)}")
    return path.absolute()
