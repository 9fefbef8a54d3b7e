# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Writes rewritten files over the original ones: all of them, or none."""

from __future__ import annotations

from contextlib import ExitStack

from hocket.errors import Error
from hocket.io.files import signals_held, whole_file
from hocket.rewrite.outcomes import Rewritten


def apply(result: Rewritten) -> None:
    """Raises Error if a file is not any more as it was read, OSError if one cannot be written."""
    with signals_held(), ExitStack() as files:
        for path in result.changed:
            files.enter_context(whole_file(path)).write_bytes(result.new[path])
        for path in result.changed:
            if path.read_bytes() != result.old[path]:
                raise Error(
                    f"{path}: it has changed since it was read; no file was written",
                    "run the command again for the file as it is now",
                )
