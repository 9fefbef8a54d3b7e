# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

import json
import re
import subprocess
import sys

import pytest

from hocket.plan import Plan
from hocket.report.result import read_result

# A program of fewer steps, and fewer calls of each collective, show the same in half of the time.
SHORTER = """
import functools, sys
from hocket.__main__ import main
from hocket.tune import demo
demo.ITERATIONS = 3
demo.TuneOptions = functools.partial(demo.TuneOptions, compare_repetitions=3)
sys.exit(main())
"""


@pytest.mark.begins_early
def test_demo_prints_one_object_and_is_right(tmp_path):
    """Structure and correctness only: times are the machine's business."""
    command = [sys.executable, "-c", SHORTER, "demo", "--json", "--repetitions", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=570)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["ranks"] == 8
    assert found["mpi"]
    assert found["native_s"] > 0
    if found["testbed"]:
        assert found["output_identical"] is True
        for name in ("tuned_s", "speedup", "predicted_s"):
            assert found[name] > 0
    else:  # on one machine there may be nothing to gain
        assert {"tuned_s", "speedup", "predicted_s"} <= set(found)
    folder = tmp_path / "hocket-demo"
    assert (folder / "report.html").stat().st_size > 10_000
    plan = Plan.from_file(folder / "plan.json")
    assert plan.ranks == 8
    result = read_result(folder)
    assert result.command[:3] == ["hocket", "demo", "--mpi"]  # what can be repeated, not a temporary path
    assert found["tuned_s"] is None or result.program.output_identical
    assert all(c.output_identical for c in result.collectives if c.native_s)
    assert found["costs"]["source"] == "fitted", found["notes"]
    assert found["costs"]["training_collectives"] == 21
    assert 0 < found["costs"]["training_error_median"] < 1
    assert (found["costs"]["cores"] > 0) == found["testbed"]
    assert "fitted to 21 collectives" in (folder / "report.html").read_text()
    if found["testbed"]:
        assert {(c["collective"], c["bytes"]) for c in found["collectives"]} == {
            ("bcast", 1_000_000),
            ("allreduce", 1_000_000),
        }
        assert sum(link.tuned_bytes for link in result.link_bytes) > 1_000_000
        launch = r"measuring 2 collective\(s\): launch 1 of at most 3, 2 collective\(s\); at most \d+ s more\n"
        assert re.search(launch, done.stderr), done.stderr
        for c in found["collectives"]:
            assert 0 < c["wire_limit_s"] <= c["predicted_s"]
            assert c["native_s"] > 0
            assert c["tuned_s"] > 0
    assert [path.name for path in tmp_path.iterdir()] == ["hocket-demo"]


def test_an_unknown_mpi_is_named(hocket_cli):
    done = hocket_cli("demo", "--mpi", "lam-7")
    assert done.returncode == 2
    assert "no MPI is called lam-7; found: " in done.stderr
