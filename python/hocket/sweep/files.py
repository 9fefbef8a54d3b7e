# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Files that requests name, by their content, so that a change of one is noticed."""

from __future__ import annotations

import hashlib
from pathlib import Path


def digest_of_path(path: Path) -> str:
    """Of a file, or of all files of a folder with their names in it."""
    digest = hashlib.sha256()
    for one in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if one.is_file():
            digest.update(str(one.relative_to(path)).encode() + b"\0")
            with one.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
