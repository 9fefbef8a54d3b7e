# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The result folder: made aside and moved into place when complete, so that a failed run leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from hocket.errors import InvalidInput
from hocket.report.result import RESULT_FILE
from hocket.tune.leftovers import working_folder


@contextlib.contextmanager
def result_folder(target: Path) -> Iterator[Path]:
    """A folder to write into; becomes `target` when the block ends without an error.

    An older result there is replaced; anything else is refused at once.
    """
    target = target.absolute()
    check_target(target)
    with contextlib.ExitStack() as stack:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            aside = stack.enter_context(working_folder(f".{target.name}-", target.parent))
        except OSError as error:
            raise InvalidInput(
                f"{target.parent}: cannot write there: {error.strerror}", hint="name another folder: -o"
            ) from None
        aside.chmod(0o777 & ~_umask())
        yield aside
        if target.exists():
            shutil.rmtree(target)
        aside.rename(target)


def check_target(target: Path) -> None:
    """Raises InvalidInput if something that is not a result of hocket stands where the result shall go."""
    if target.is_dir() and ((target / RESULT_FILE).is_file() or not any(target.iterdir())):
        return
    if target.exists() or target.is_symlink():
        raise InvalidInput(
            f"{target}: exists and is not a result of hocket; it is left alone", hint="name another folder with -o"
        )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
