# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Every source that is cited exists in docs/literature.bib, once."""

from __future__ import annotations

import re
from pathlib import Path

import hocket

ROOT = Path(__file__).resolve().parents[2]
ENTRY = re.compile(r"^@\w+\{(\w+),", re.MULTILINE)
# [Thakur05] or [Hockney94, eq. 3] in a comment; a year tells a citation from a subscript or a type;
# two papers bear none.
CITATION = re.compile(r"\[([A-Z][A-Za-z]*\d{2,4}|Hourai|Suzuki)(?:,[^\]]*)?\]")


def keys() -> list[str]:
    return ENTRY.findall((ROOT / "docs/literature.bib").read_text())


def test_keys_are_unique_and_sorted():
    assert len(set(keys())) == len(keys())
    assert keys() == sorted(keys(), key=str.lower)


def test_sources_of_algorithms_exist():
    assert {algorithm.source for algorithm in hocket.algorithms()} <= set(keys())


def test_citations_in_sources_exist():
    missing = {}
    files = [
        path for folder in ("src", "python", "mpi", "tests", "docs") for path in sorted((ROOT / folder).rglob("*"))
    ]
    for path in files:
        if path.suffix in {".hpp", ".cpp", ".h", ".c", ".py", ".md"} and path.name != Path(__file__).name:
            for key in CITATION.findall(path.read_text(errors="replace")):
                if key not in keys():
                    missing.setdefault(key, str(path.relative_to(ROOT)))
    assert not missing
