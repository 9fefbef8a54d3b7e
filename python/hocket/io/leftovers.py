# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Working folders that also vanish when their owner was killed: the next start removes them.

The owner holds a lock on the folder itself, which ends with the process however it ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

_SUFFIX = ".hocket-unfinished"


@contextlib.contextmanager
def working_folder(prefix: str, parent: Path) -> Iterator[Path]:
    """A new folder in `parent`, removed at the end of the block if it is still there. Raises OSError.

    First removes what dead processes of this user left there under the same prefix.
    """
    remove_leftovers(prefix, parent)
    while (made := _made(prefix, parent)) is None:
        pass
    path, folder = made
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(folder)


def _made(prefix: str, parent: Path) -> tuple[Path, int] | None:
    """A new folder and its lock. None: before it was locked another start took it for a leftover."""
    path = Path(tempfile.mkdtemp(prefix=prefix, suffix=_SUFFIX, dir=parent))
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return None
    with contextlib.suppress(OSError):  # a file system without locks, where leftovers are not removed either
        fcntl.flock(folder, fcntl.LOCK_SH)
    if path.exists():
        return path, folder
    os.close(folder)
    return None


def remove_leftovers(prefix: str, parent: Path) -> None:
    for entry in os.scandir(parent):
        if not (entry.name.startswith(prefix) and entry.name.endswith(_SUFFIX)):
            continue
        with contextlib.suppress(OSError):  # removed by another start, or locked by its owner
            found = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
                _remove_unlocked(entry.path)


def _remove_unlocked(path: str) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(folder)
