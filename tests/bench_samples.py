# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Recorded results of `hocket bench run`.

mbl2-rma and mbl2-io: one launch of each suite with --quick, MPICH 4.0.2, two ranks on two cores; of each point six
chunks with three samples are kept. bench-launches: twelve launches, all samples.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from hocket.bench.mpi.results import Results, add_record

SAMPLES = Path(__file__).parent / "samples"


def records(name: str) -> list[dict[str, Any]]:
    text = gzip.decompress((SAMPLES / f"{name}.jsonl.gz").read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()]


def results(name: str) -> Results:
    found = Results(Path(name) / "results.jsonl")
    for record in records(name):
        add_record(found, record)
    return found


def write(name: str, folder: Path) -> Path:
    """As `hocket bench run` leaves it."""
    folder.mkdir(parents=True)
    text = "".join(json.dumps(record) + "\n" for record in records(name))
    (folder / "results.jsonl").write_text(text)
    return folder
