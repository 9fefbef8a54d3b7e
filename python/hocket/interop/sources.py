# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which format a trace or a program of another tool has, and which files belong to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hocket import _core
from hocket.errors import InvalidInput

FORMATS = {
    "dumpi": "DUMPI of sst-dumpi",
    "otf2": "OTF2 of Score-P (its .otf2 file, or the folder)",
    "liballprof": "liballprof",
    "ti": "SimGrid's time-independent traces",
    "goal": "GOAL text",
    "goal-binary": "GOAL as LogGOPSim's txt2bin writes it",
    "chakra": "execution traces of Chakra",
}
PROGRAMS = ("goal", "goal-binary", "chakra")  # what is imported as a Program: it has no MPI calls

_START = 1 << 16  # of a file, in which its format shows
_TI_ACTION = re.compile(
    rb"^\d+ +(init|finalize|compute|sleep|send|isend|recv|irecv|wait|waitall|test|barrier|bcast|reduce|allreduce"
    rb"|alltoall|alltoallv|gather|gatherv|scatter|scatterv|allgather|allgatherv|reducescatter|scan|exscan|comm_\w+"
    rb"|location|sendRecv)\b"
)
_LAST_NUMBER = re.compile(r"(\d+)(?=\D*$)")
_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"PK\x03\x04")  # gzip, bzip2, xz, zstd, zip
_ACCEPTED = "accepted: " + ", ".join(f"{what} ({name})" for name, what in FORMATS.items())


@dataclass(frozen=True)
class Sources:
    """One file a rank in the order of the ranks; of GOAL and OTF2 the one file that stands for all."""

    format: str
    paths: list[Path]

    def read(self) -> list[tuple[str, bytes]]:
        """Name and content of each."""
        return [(str(path), _read(path)) for path in self.paths]


def find_sources(path: Path, format_name: str | None = None) -> Sources:
    """Raises InvalidInput if the path is no trace of a known format, or files of ranks are missing."""
    try:
        if path.is_dir():
            return _in_folder(path, format_name)
        if not path.is_file():
            what = "is neither a file nor a folder" if path.exists() else "no such file or folder"
            raise InvalidInput(f"{path}: {what}", _ACCEPTED)
    except OSError as error:  # such as too long a name
        raise InvalidInput(f"{path}: {error.strerror}", _ACCEPTED) from None
    except ValueError as error:  # a zero byte
        raise InvalidInput(f"the path cannot be read: {error}", "give the path of a file or a folder") from None
    start = start_of(path)
    if format_name in (None, "dumpi", "ti"):
        listed = _listed(path, start)
        if listed is not None:
            return listed
    found = format_name or recognise(start)
    if found is None:
        what = "it is empty" if not start else "its format is not recognised"
        what = "it is compressed: unpack it first" if start.startswith(_COMPRESSED) else what
        raise InvalidInput(f"{path}: {what}", f"{_ACCEPTED}; --format names the format")
    if found in ("otf2", "goal", "goal-binary"):
        return Sources(found, [path])
    return Sources(found, _siblings(path, found, start))


def recognise(start: bytes) -> str | None:
    """The format of a file that begins so."""
    if start.startswith(b"\xff\xaa\xddDUMPI"):
        return "dumpi"
    if start.startswith((4223).to_bytes(8, "little")):
        return "goal-binary"
    if _is_otf2_anchor(start):
        return "otf2"
    lines = [line.strip() for line in start[:4096].splitlines()]
    lines = [line for line in lines if line and not line.startswith((b"#", b"//", b"/*"))]
    first = lines[0] if lines else b""
    if first.startswith(b"num_ranks"):
        return "goal"
    if first.startswith(b"MPI_") and first.count(b":") >= 2:
        return "liballprof"
    if _TI_ACTION.match(first):
        return "ti"
    return "chakra" if start and _core.is_chakra(_whole_messages(start)) else None


def _is_otf2_anchor(start: bytes) -> bool:
    return start[1:6] == b"BOTF2"


def _whole_messages(start: bytes) -> bytes:
    """What of the start is whole, at least: a message may be longer than what was read."""
    at, whole = 0, 0
    for _ in range(2):
        length, shift = 0, 0
        while at < len(start):
            byte = start[at]
            length |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80 or shift > 63:
                break
        at += length
        if at > len(start):
            break
        whole = at
    return start[:whole]


def start_of(path: Path) -> bytes:
    """As much of a file as shows its format. @raises InvalidInput"""
    try:
        with path.open("rb") as file:
            return file.read(_START)
    except OSError as error:
        raise InvalidInput(
            f"{path}: cannot be read: {error.strerror}",
            f"accepted: a file that you may read; `ls -l {path}` shows its permissions",
        ) from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"{path}: cannot be read: {error.strerror}",
            f"accepted: a file that you may read; `ls -l {path}` shows its permissions",
        ) from error


def _listed(path: Path, start: bytes) -> Sources | None:
    """A file that names others: the .meta file of DUMPI, or SimGrid's list of traces."""
    if b"\0" in start or len(start) >= _START:
        return None
    lines = [line.strip() for line in start.decode(errors="replace").splitlines() if line.strip()]
    keys = dict(line.split("=", 1) for line in lines if "=" in line)
    if "fileprefix" in keys and "numprocs" in keys:
        prefix = Path(keys["fileprefix"]).name
        paths = [one for one in path.parent.iterdir() if one.name.startswith(f"{prefix}-") and one.suffix == ".bin"]
        return Sources("dumpi", _in_order(paths, path))
    if lines and all((path.parent / line).is_file() for line in lines):
        return Sources("ti", [path.parent / line for line in lines])
    return None


def _in_folder(folder: Path, format_name: str | None) -> Sources:
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    except OSError as error:
        raise InvalidInput(
            f"{folder}: cannot be read: {error.strerror}",
            f"accepted: a folder that you may read; `ls -ld {folder}` shows its permissions",
        ) from error
    if any(path.name == "rank-000000.bin" for path in files):
        raise InvalidInput(f"{folder}: it is a trace of hocket already", f"use it as it is: hocket trace show {folder}")
    groups: dict[tuple[str, str, str], list[Path]] = {}
    for path in files:
        found = recognise(start_of(path))
        if found is not None and format_name in (None, found):
            before, after = _around_number(path) if found not in ("otf2", "goal", "goal-binary") else (path.name, "")
            groups.setdefault((found, before, after), []).append(path)
    if not groups:
        raise InvalidInput(f"{folder}: no file in it is of a format that is recognised", _ACCEPTED)
    if len(groups) > 1:
        names = ", ".join(f"{paths[0].name} ({found})" for (found, *_), paths in list(groups.items())[:5])
        raise InvalidInput(f"{folder}: it has {len(groups)} traces: {names}", "name one of these files")
    ((found, *_), paths) = next(iter(groups.items()))
    return Sources(found, paths if found in ("otf2", "goal", "goal-binary") else _in_order(paths, folder))


def _around_number(path: Path) -> tuple[str, str]:
    """What is before and behind the last number of the name."""
    number = _LAST_NUMBER.search(path.stem)
    if number is None:
        return path.name, ""
    return path.stem[: number.start()], path.stem[number.end() :] + path.suffix


def _siblings(path: Path, found: str, start: bytes) -> list[Path]:
    """The files that differ from this one in the number alone."""
    if _LAST_NUMBER.search(path.stem) is None:
        return [path]
    around = _around_number(path)
    same: Callable[[Path], bool] = lambda one: one.is_file() and _around_number(one) == around  # noqa: E731
    paths = [one for one in path.parent.iterdir() if same(one) and _LAST_NUMBER.search(one.stem)]
    if found == "ti" and len(_ranks_of_actions(start)) > 1:  # the file has several ranks
        return [path]
    return _in_order(paths, path)


def _ranks_of_actions(start: bytes) -> set[bytes]:
    return {fields[0] for line in start.splitlines() if (fields := line.split()) and fields[0].isdigit()}


def _in_order(paths: Sequence[Path], where: Path) -> list[Path]:
    if len(paths) == 1:
        return list(paths)
    numbered: dict[int, Path] = {}
    for path in paths:
        number = _LAST_NUMBER.search(path.stem)
        if number is None or int(number[1]) in numbered:
            raise InvalidInput(f"{path}: its name has no number of a rank of its own", "number the files from 0 on")
        numbered[int(number[1])] = path
    for rank in range(len(numbered)):
        if rank not in numbered:
            raise InvalidInput(
                f"{where}: the file of rank {rank} is missing; found {len(numbered)} files, the last of rank "
                f"{max(numbered)}",
                "copy the files of all ranks",
            )
    if not numbered:
        raise InvalidInput(f"{where}: found no file of a rank", "copy the files of all ranks")
    return [numbered[rank] for rank in range(len(numbered))]
