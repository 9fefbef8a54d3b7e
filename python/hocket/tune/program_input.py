# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Keeps what stands on standard input, so that each run of the program can read it."""

from __future__ import annotations

import fcntl
import os
import select
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from hocket.errors import InvalidInput

# A launcher passes its input on to one rank, through pipes of 64 KiB. Programs read more than this from files.
MOST_BYTES = 1 << 30
# A pipe that nobody writes to, as some shells of other hosts and some services give it, must not be waited for silently
# or for ever.
SAY_AFTER_S = 2.0
REFUSE_AFTER_S = 60.0

_HINT = "give it as a file: < FILE; to a program that reads nothing: < /dev/null"


def keep_input(source: int, target: Path, message: Callable[[str], None]) -> Path | None:
    """Copies what the file descriptor `source` gives until its end to the file `target`.

    None = there is nothing to read: a terminal, or a file that is open for writing alone, as nohup leaves it. Raises
    InvalidInput for what cannot be read, has more than MOST_BYTES, or is silent for REFUSE_AFTER_S and does not end.
    """
    if os.isatty(source) or fcntl.fcntl(source, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY:
        return None
    with open(target, "wb") as file:
        size = _copy(source, file, message)
    if size > 0:
        message(f"each run of the program gets the {size} bytes of standard input")
    return target


def _copy(source: int, file: BinaryIO, message: Callable[[str], None]) -> int:
    from hocket import print_bytes

    size = 0
    while _wait(source, message):
        try:
            part = os.read(source, 1 << 20)
        except BlockingIOError:  # another reader was faster
            continue
        except OSError as error:
            raise InvalidInput(f"standard input cannot be read: {error.strerror}", _HINT) from error
        if not part:
            break
        size += file.write(part)
        if size > MOST_BYTES:
            raise InvalidInput(
                f"standard input has more than {print_bytes(MOST_BYTES)}, the most that a run of the program can get",
                "let the program open the file itself, if it has an argument for that",
            )
    return size


def _wait(source: int, message: Callable[[str], None]) -> bool:
    """Until there is something to read, or the end of it."""
    poll = select.poll()
    poll.register(source, select.POLLIN)
    if poll.poll(SAY_AFTER_S * 1e3):
        return True
    message(f"waiting for the end of standard input, which each run of the program gets ({_HINT})")
    if poll.poll((REFUSE_AFTER_S - SAY_AFTER_S) * 1e3):
        return True
    raise InvalidInput(f"standard input gave nothing for {REFUSE_AFTER_S:g} s and did not end", _HINT)
