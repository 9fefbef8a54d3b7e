# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Writing files and folders so that nobody ever sees half of one."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any

from hocket.errors import InvalidInput


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Writes a file as `whole_file` does."""
    # An argument of a user's program may be no UTF-8; a result is not lost for that.
    content = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    with whole_file(path) as aside:
        aside.write_bytes(content)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yields the name of a file aside, which becomes `path` when the block has ended; the old file stays if it raises.

    A symbolic link stays one, and its target is written. What is not a file, as a device or a pipe, is yielded itself.
    A file that is replaced keeps its permissions, and its owner where this process may give files away.

    Raises OSError, also for a file that may not be written.
    """
    folder = Path(path).absolute().parent
    path = Path(path).resolve()
    is_special = path.exists() and not path.is_file()
    if not is_special and not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"the folder {folder} does not exist", str(path))
    aside = path if is_special else path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with _like(path, aside) if path.is_file() else nullcontext():
            yield aside
        if not is_special:
            aside.replace(path)
    except OSError as error:
        if str(error.filename) not in ("None", str(aside)):  # of another file
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error  # nobody knows the name of what lay aside
    finally:
        if not is_special:
            with suppress(OSError):
                aside.unlink()


@contextmanager
def _like(old: Path, aside: Path) -> Iterator[None]:
    """Gives `aside` the permissions and the owner of `old`; until it is complete nobody else may read it."""
    if not os.access(old, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(old))
    status = old.stat()
    os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, stat.S_IRUSR | stat.S_IWUSR))
    yield
    with suppress(PermissionError):
        os.chown(aside, status.st_uid, status.st_gid)
    aside.chmod(stat.S_IMODE(status.st_mode))


def printable(path: str) -> str:
    """The path with what is not UTF-8 in it visible, as in a text that others read."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def end_of(file: IO[bytes], num_bytes: int) -> str:
    """The last bytes of an open file, as text."""
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), num_bytes, max(0, size - num_bytes)).decode(errors="replace")


def check_parent(path: Path) -> None:
    """Raises InvalidInput if there is no folder for a file. To know before a measurement is better than after it."""
    if not path.resolve().parent.is_dir():
        raise InvalidInput(f"{path}: the folder {path.resolve().parent} does not exist", "make it, or write elsewhere")


def check_room(folder: Path) -> None:
    """Raises OSError if nothing can be written to a folder. The file has no name: nothing stays behind."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(1 << 16))
        file.flush()
        os.fsync(file.fileno())  # some file systems report only then that they are full


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Yields an empty folder aside, whose files become those of `folder` when the block has ended: all, or none if it
    raises. Other files of `folder` stay; a symbolic link in it is replaced, not followed.

    Raises OSError.
    """
    folder = folder.resolve()
    there = folder.is_dir()
    with signals_held():  # a folder whose name nobody knows would stay behind
        scratch = Path(tempfile.mkdtemp(prefix=".hocket-", dir=folder if there else folder.parent))
    try:
        aside = scratch / "new"  # with the permissions of any folder; those of `scratch` are its owner's
        aside.mkdir()
        yield aside
        with signals_held():
            if not there:
                aside.rename(folder)
            for path in sorted(aside.iterdir()) if there else ():
                path.replace(folder / path.name)
    finally:
        with signals_held():
            shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def signals_held() -> Iterator[None]:
    """What asks this process to end does so at the end of the block. No mask: it would go to another thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers: dict[int, Any] = {
        number: signal.signal(number, lambda number, frame: came.append(number))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in came[:1]:
            signal.raise_signal(number)
