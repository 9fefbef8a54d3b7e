# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What perf/plan_reuse.py makes of its measurements."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PERF = Path(__file__).resolve().parents[2] / "perf"

sys.path.insert(0, str(PERF))
from plan_reuse_summary import row, sentences, summary  # noqa: E402

from mpis import LIMIT_S  # noqa: E402

POINT = {"network": "star", "mpi": "MPI", "program": "ft", "factor": 1.5, "other": False}


def a_round(native_s: float, first_s: float, anew_s: float, served: float = 0.25, same: bool = True) -> dict[str, Any]:
    times = {"native_s": native_s, "first_s": first_s, "anew_s": anew_s}
    shares = {"first_served": served, "anew_served": 0.5, "first_served_time": 0.5, "anew_served_time": 1}
    return {**times, **shares, "same_output": same}


def test_a_share_of_the_gain() -> None:
    # Medians 2, 1.25 and 1 s: gains 1.6 and 2, of which 0.6 of 1 is kept, or log 1.6 of log 2.
    found = summary([a_round(2, 1.25, 1), a_round(2.2, 1.3, 1.1), a_round(1.9, 1.2, 0.9)])
    assert (found["first_gain"], found["anew_gain"]) == pytest.approx((1.6, 2))
    assert (found["share"], found["log_share"]) == pytest.approx((0.6, math.log(1.6) / math.log(2)))
    assert found["share_interval"][0] < 0.6 < found["share_interval"][1]
    # Of the nine pairs native / first in order the third is 2 / 1.3 and the seventh 2.2 / 1.3.
    assert found["first_gain_quartiles"] == pytest.approx([2 / 1.3, 2.2 / 1.3])
    assert (found["first_served"], found["anew_served"]) == (0.25, 0.5)
    assert not found["slower"]


def test_what_is_flagged() -> None:
    slower = {**POINT, "point": "x1.5", **summary([a_round(1, 1.05, 0.5, same=False)] * 2), "failure": None}
    assert slower["slower"]
    assert {"SLOWER: below 0.97", "keeps less than 90%", "OUTPUT DIFFERS"} <= set(row(slower)[-1].split(", "))
    no_gain = {**POINT, "point": "x3", **summary([a_round(1, 1, 0.99)]), "failure": None}
    assert "share" not in no_gain
    assert row(no_gain)[-1] == ""
    assert row(no_gain)[-2] == "25% (50%) / 50% (100%)"
    failed = {**POINT, "point": "x3", **summary([]), "failure": "too slow\nmore"}
    assert row(failed)[-1] == "failed: too slow"
    assert sentences([slower, no_gain, failed])[:2] == [
        "2 points measured; with the first plan 1 are below 0.97 of native",
        "tuned anew 1 of 2 other points gain 3% or more; of these the first plan keeps 90% of the gain at 0",
    ]


def test_a_folder_is_shown_without_what_an_interrupt_left(tmp_path: Path) -> None:
    lines = [
        {"what": "tune", **POINT, "tune_s": 9, "entries": 1},
        {"what": "round", **POINT, **a_round(3, 2, 1)},
        {"what": "round", **POINT, **a_round(3, 2, 1)},
    ]
    text = "\n".join(map(json.dumps, lines))
    (tmp_path / "points.jsonl").write_text(text[:-9])
    command = [sys.executable, str(PERF / "plan_reuse.py"), "--show", "--json", "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    (point,) = json.loads(done.stdout)
    assert (point["point"], point["rounds"], point["first_gain"], point["share"]) == ("x1.5", 1, 1.5, 0.25)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--program", "lu"], "lu is not known; known are: ft ft-2d is"),
        (["--network", "none"], "--network none: no such file"),
        (["--time", "soon"], "soon"),
        (["--time", "-1"], "argument --time: invalid seconds value: '-1'"),
        (["--factors", "0"], "above 0"),
    ],
)
def test_what_is_refused(options: list[str], message: str) -> None:
    command = [sys.executable, str(PERF / "plan_reuse.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
