# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Fixtures of the tests of Python modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket.interop.networks import Imported, Options, import_network
from network_imports import Import


@pytest.fixture
def imported(tmp_path: Path) -> Import:
    """Imports text as a file."""

    def call(text: str | bytes, format_name: str | None = None, **options: object) -> Imported:
        path = tmp_path / "fabric"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return import_network(str(path), format_name, Options(**options))  # type: ignore[arg-type]

    return call
