# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Suite files and results for tests of hocket-bench."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema

import hocket.bench.mpi as package
from hocket.bench.mpi.suites import shipped_suites

SCHEMA = json.loads((Path(package.__file__).parent / "records.schema.json").read_text())
# Made once: jsonschema.validate checks the schema too, which takes fifty times as long as a record.
jsonschema.Draft202012Validator.check_schema(SCHEMA)
RECORD = jsonschema.Draft202012Validator(SCHEMA)
HEAD = 'format = "hocket.suite/1"\nname = "test"\nlaunches = 1\nrounds = 1\nsamples = 3\nbudget_s = 0.01\n'


def suite(folder: Path, items: str, head: str = HEAD) -> Path:
    path = folder / "suite.toml"
    path.write_text(head + items)
    return path


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def outcomes(path: Path) -> dict[str, tuple[str, str]]:
    return {
        record["variant"]: (record["status"], record["message"])
        for record in records(path)
        if record["type"] == "outcome"
    }


def small(name: str) -> str:
    """A shipped suite with one size and as few samples as there can be."""
    text = shipped_suites()[name].read_text().replace("\n[quick]", "\n[unused]")
    text = text[: text.index("[unused]")]
    for key, value in (("bytes", '["1 KiB"]'), ("launches", "1"), ("rounds", "1"), ("budget_s", "0.01\nsamples = 3")):
        text = re.sub(rf"(?m)^{key} = .*$", f"{key} = {value}", text)
    return text
