# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The result folder: made aside and moved into place when complete, so that a failed run leaves nothing behind."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from hocket.errors import Error, InvalidInput
from hocket.io.leftovers import working_folder
from hocket.report.result import RESULT_FILE


class Unfinished(Error):
    """A failure after which what is in the result folder is of use: it is kept under a name of its own."""


@contextlib.contextmanager
def result_folder(target: Path) -> Iterator[Path]:
    """A folder to write into; becomes `target` when the block ends without an error.

    An older result there is replaced; anything else is refused at once. What has come there in the meantime is left
    alone: the result then keeps a name of its own, which the Error names. So does what there is after `Unfinished`.
    """
    check_target(target)
    target = target.resolve()  # a symbolic link stays one
    found = _mark(target)
    with contextlib.ExitStack() as stack:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            aside = stack.enter_context(working_folder(f".{target.name}-", target.parent))
        except OSError as error:
            raise InvalidInput(
                f"{target.parent}: cannot write there: {error.strerror}", hint="name another folder: -o"
            ) from None
        aside.chmod(0o777 & ~_umask())
        try:
            yield aside
        except Unfinished as error:
            kept = _rename_beside(aside, target)
            found_until_then = ", ".join(sorted(path.name for path in kept.iterdir()))
            raise Error(
                f"{error.message}\n{kept} keeps what was found until then: {found_until_then}", error.hint
            ) from error
        if _mark(target) != found:
            kept = _rename_beside(aside, target)
            raise Error(f"{target}: something else was written there in the meantime; the result is in {kept}")
        if target.exists():
            shutil.rmtree(target)
        aside.rename(target)


def check_target(target: Path) -> None:
    """Raises InvalidInput if something that is not a result of hocket stands where the result shall go."""
    if target.resolve().is_mount():  # "." and its parent are one path, so that it would seem to be a mount
        raise InvalidInput(f"{target}: a file system is mounted there", hint="name a folder in it with -o")
    if target.is_dir() and ((target / RESULT_FILE).is_file() or not any(target.iterdir())):
        return
    if target.exists() or target.is_symlink():
        raise InvalidInput(
            f"{target}: exists and is not a result of hocket tune; it is left alone", hint="name another folder with -o"
        )


def _mark(target: Path) -> tuple[int, int] | None:
    """Tells one result from another. None = nothing, or an empty folder."""
    with contextlib.suppress(OSError):
        result = (target / RESULT_FILE).stat()
        return result.st_ino, result.st_mtime_ns
    with contextlib.suppress(OSError):
        return None if not any(target.iterdir()) else (0, 0)
    return (0, 0) if target.exists() else None


def _rename_beside(aside: Path, target: Path) -> Path:
    for number in itertools.count(2):
        path = target.with_name(f"{target.name}-{number}")
        if not path.exists():
            break
    return aside.rename(path)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
