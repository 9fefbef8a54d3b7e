# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The user's cache folder of built MPI parts: where it is, who uses what in it, and what is removed from it.

A finished build is a folder LABEL-KEY, one that is under way or was interrupted .LABEL-KEY. Whoever writes any of an
MPI's holds LABEL.lock; whoever uses a finished build holds a shared lock on its folder, so that it is not removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import time
from pathlib import Path

from hocket.errors import Error

UNUSED_DAYS = 30
MOST_BUILDS = 4  # of one MPI: each version of hocket, compiler or flags makes another one
_BUILD = re.compile(r"(?P<aside>\.?)(?P<label>\w+-[\w.]+)-[0-9a-f]{16}")

_in_use: dict[Path, int] = {}  # open folders that this process has locked, until it ends


def cache_folder() -> Path:
    """Where the built parts lie: mpi/ in $HOCKET_CACHE_DIR, or in hocket/ in the user's cache folder."""
    named = os.environ.get("HOCKET_CACHE_DIR")
    if named:
        return Path(named).absolute() / "mpi"
    from platformdirs import user_cache_path

    return user_cache_path("hocket") / "mpi"


def make_cache_folder() -> Path:
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(13, "Permission denied")
    except OSError as error:
        raise Error(
            f"{folder}: the cache folder cannot be written: {error.strerror}",
            "name another one: HOCKET_CACHE_DIR=/some/folder",
        ) from error
    return folder


def decisions_folder(build: Path) -> Path | None:
    """Where jobs with this finished build leave to later ones what they have decided and found. None: nowhere.

    Removes what no job has written for UNUSED_DAYS.
    """
    folder = cache_folder().parent / "decisions" / build.name
    oldest = time.time() - UNUSED_DAYS * 86400
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.parent.glob("*/*"):
            if path.is_file() and path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)
        for other in folder.parent.iterdir():
            if other != folder and other.is_dir() and other.stat().st_mtime < oldest:
                with contextlib.suppress(OSError):  # it is not empty
                    other.rmdir()
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def use(build: Path) -> bool:
    """Whether `build` exists; from now on no other process removes it while this one runs."""
    if build in _in_use and os.fstat(_in_use[build]).st_nlink > 0 and build.exists():
        return True
    try:
        folder = os.open(build, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return False
    with contextlib.suppress(OSError):  # a file system without locks
        fcntl.flock(folder, fcntl.LOCK_SH)
    if not build.exists():  # removed while this process waited for the lock
        os.close(folder)
        return False
    os.utime(build)
    if build in _in_use:
        os.close(_in_use[build])
    _in_use[build] = folder
    return True


def remove_unused(folder: Path, label: str) -> None:
    """Removes builds that were interrupted, and finished ones that are old or too many. `label`.lock is held."""
    builds: dict[str, list[Path]] = {}
    for path in folder.iterdir():
        match = _BUILD.fullmatch(path.name)
        if match is None or not path.is_dir():
            continue
        if not match["aside"]:
            builds.setdefault(match["label"], []).append(path)
        elif match["label"] == label:
            shutil.rmtree(path, ignore_errors=True)
        else:
            _remove_if_nobody_builds(path, folder / f"{match['label']}.lock")
    for paths in builds.values():
        paths.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for i, path in enumerate(paths):
            if i >= MOST_BUILDS or time.time() - path.stat().st_mtime > UNUSED_DAYS * 86400:
                _remove_if_nobody_uses(path)


def _remove_if_nobody_builds(path: Path, lock_file: Path) -> None:
    from filelock import FileLock, Timeout

    try:
        with FileLock(lock_file, timeout=0):
            shutil.rmtree(path, ignore_errors=True)
    except Timeout:
        return


def _remove_if_nobody_uses(path: Path) -> None:
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    except OSError:  # in use, or a file system where that cannot be found out
        return
    finally:
        os.close(folder)
