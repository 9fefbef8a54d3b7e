# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Files that requests name: by their content, so that a change of one is noticed, and packed for other machines."""

from __future__ import annotations

import dataclasses
import hashlib
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

from hocket.errors import InvalidInput

MOST_BYTES = 1 << 30  #: of all files that are sent to a worker

Packed = dict[str, tuple[str, bytes]]  #: by path: the digest, and the file or folder as tar


def digest_of_path(path: Path) -> str:
    """Of a file, or of all files of a folder with their names in it."""
    digest = hashlib.sha256()
    for one in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if one.is_file():
            digest.update(str(one.relative_to(path)).encode() + b"\0")
            with one.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def packed(digests: dict[str, str]) -> Packed:
    """@raises InvalidInput if they are too large to be sent."""
    found: Packed = {}
    for path, digest in digests.items():
        content = BytesIO()
        with tarfile.open(fileobj=content, mode="w") as archive:
            archive.add(path, arcname=Path(path).name)
        found[path] = digest, content.getvalue()
    if (total := sum(len(content) for _, content in found.values())) > MOST_BYTES:
        raise InvalidInput(
            f"files of {total:,} bytes cannot be sent to workers: at most {MOST_BYTES:,}",
            "run the campaign on this machine, or name smaller files",
        )
    return found


def unpacked(files: Packed, under: str) -> dict[str, str]:
    """Places of the files that are not here, or hold something else here: in new folders under this one."""
    places: dict[str, str] = {}
    for path, (digest, content) in files.items():
        if Path(path).exists() and digest_of_path(Path(path)) == digest:
            continue
        folder = tempfile.mkdtemp(prefix="hocket-sweep-", dir=under)
        with tarfile.open(fileobj=BytesIO(content)) as archive:
            if hasattr(tarfile, "data_filter"):
                archive.extractall(folder, filter="data")
            else:  # Python before 3.11.4. Who sends tasks to a worker may do anything there, with or without a filter.
                archive.extractall(folder)
        places[path] = str(Path(folder, Path(path).name))
    return places


def with_places(request: Any, places: dict[str, str]) -> Any:
    """The request with the files where they are here."""
    if not places:
        return request
    changed = {
        field.name: type(value)(places[str(value)])
        for field in dataclasses.fields(request)
        if isinstance(value := getattr(request, field.name), (str, Path)) and str(value) in places
    }
    return dataclasses.replace(request, **changed) if changed else request
