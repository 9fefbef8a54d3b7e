# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""docs/reference/algorithms.md has every algorithm with its collective, source and segments, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import hocket

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "algorithms.md"


def _rows() -> dict[tuple[str, str], dict[str, str]]:
    """By collective and algorithm, the cells of its row by the heads of their columns."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    section = ""
    heads: list[str] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section, heads = line[3:].lower(), []
        elif line.startswith("|") and not heads:
            heads = [cell.strip() for cell in line.strip("|").split("|")]
        elif line.startswith("| `"):
            cells = dict(zip(heads, (cell.strip() for cell in line.strip("|").split("|")), strict=True))
            for collective in cells.get("of", section).split(", "):
                for name in re.findall(r"`(\w+)`", cells["algorithm"]):
                    assert (collective, name) not in found
                    found[collective, name] = cells
    return found


def test_the_page_has_every_algorithm() -> None:
    rows = _rows()
    known = {(one.collective, one.name): one for one in hocket.algorithms()}
    assert rows.keys() == known.keys()
    for key, algorithm in known.items():
        assert algorithm.source in rows[key]["source"].split(", "), key
        assert rows[key]["in segments"] == ("yes" if algorithm.pipelines else "no"), key
        orderly = algorithm.collective == "reduce" and algorithm.name != "bine"
        order = rows[key].get("keeps the order", "yes" if orderly else "no")
        assert order == ("yes" if algorithm.preserves_order else "no"), key
