# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The result of tuning and its HTML report. Reads files and API objects; measures and simulates nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_report(folder: Path, output: Path | None = None) -> Path:
    """Writes the page for a result folder, by default to report.html inside it; returns its path."""
    from hocket.report import page  # jinja2 takes a while to load

    return page.write_report(folder, output)
