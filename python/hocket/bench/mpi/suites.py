# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Suite files: those that come with hocket, by name, and the user's own."""

from __future__ import annotations

from pathlib import Path

from hocket.errors import InvalidInput
from hocket.mpi.build import source_folder


def shipped_suites() -> dict[str, Path]:
    """By name."""
    return {path.stem: path for path in sorted((source_folder() / "mpi/bench/suites").glob("*.toml"))}


def suite_file(text: str) -> Path:
    """The file that `text`, a path or the name of a shipped suite, stands for. Raises InvalidInput."""
    shipped = shipped_suites()
    if text in shipped:
        return shipped[text]
    path = Path(text)
    if not path.is_file():
        raise InvalidInput(f"{text}: no such suite", f"name a file, or one of {', '.join(shipped)}")
    return path.absolute()
