# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from hocket.errors import Error
from hocket.measure.compare import Launch
from hocket.measure.local import LocalRunner
from hocket.report.result import CollectiveResult, ProgramResult
from hocket.report.rows import Row
from hocket.tune.measurement import Measurement
from hocket.tune.output import compare_output
from hocket.tune.summary import COLUMNS, _measured, _row


def written(folder: Path, texts: list[str]) -> list[Path]:
    folder.mkdir()
    paths = [folder / str(i) for i in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text.encode())
    return paths


@pytest.mark.parametrize(
    ("native", "tuned", "same", "remark"),
    [
        (["a\n", "a\n"], ["a\n", "a\n"], True, ""),
        (["a\nt 1\n", "a\nt 2\n"], ["a\nt 3\n", "a\nt 3\n"], True, "1 of 2 lines of output differ from run to run"),
        (["a\nt 1\n", "a\nt 2\n"], ["b\nt 1\n", "a\nt 1\n"], False, 'line 1: native "a", with the plan "b"'),
        (["a\n", "a\n"], ["a\n", "b\n"], False, 'line 1: native "a", with the plan "b"'),
        (["a\n", "a\n"], ["a\nb\n", "a\n"], False, "number of lines"),
        (["a\n"], ["a"], False, "line ends"),
        (["", "\n"], ["", ""], None, ""),
        (["t 1\n", "t 2\n"], ["t 3\n", "t 3\n"], None, "every line of output differs from run to run"),
        (["", ""], ["a\n", "a\n"], False, "number of lines"),
        (["a\n", "a\nb\n"], ["a\n", "a\n"], None, "number of lines of output differs from run to run even without"),
        (["a\nb\nc\n"] * 2, ["a\nb\nx\n", "a\ny\nc\n"], False, 'line 2: native "b", with the plan "y"'),
        (["x" * 99 + "\n"], ["x" * 98 + "y\n"], False, f'native "{"x" * 70}", with the plan "{"x" * 70}"'),
        (["a\n" + "x" * 200_000 + "1\n"], ["a\n" + "x" * 200_000 + "1\n"], True, ""),
        (["a\n" + "x" * 200_000 + "1\n"], ["a\n" + "x" * 200_000 + "2\n"], False, "line 2"),
        (["x" * 200_000 + "1\nb\n", "x" * 150_000 + "\nb\n"], ["x\nb\n"], True, "1 of 2 lines"),
        (["a\nb\n", "b\na\n"], ["a\nb\n", "b\na\n"], True, "in another order in some runs"),
        (["a\nb\n"] * 2, ["b\na\n"] * 2, True, "in another order in some runs"),
        (["a\nb\nt 1\n", "b\nt 2\na\n"], ["t 3\nb\na\n"], True, "and 1 of 3 differ even without the plan"),
        (["a\nb\n", "b\na\n"], ["a\nc\n"], None, "every line of output differs from run to run"),
        (["a\nb\nc\n", "b\na\nc\n"], ["a\nb\nd\n"], False, 'line 3: native "c", with the plan "d"'),
        (["x" * 65_536 + "\nb\n"], ["x" * 65_536 + "\r\nb\n"], False, "line ends"),
    ],
)
def test_output(tmp_path, native, tuned, same, remark):
    found = compare_output(written(tmp_path / "native", native), written(tmp_path / "tuned", tuned))
    assert found[0] is same
    assert remark in found[1]
    assert bool(remark) == bool(found[1])


@pytest.mark.parametrize(
    ("same", "told"), [(True, "the same in all runs"), (False, "NOT the same"), (None, "nothing to compare")]
)
def test_what_is_told_of_the_output(same, told):
    (line,) = [one for one in _measured(ProgramResult.from_runs([2.0], [1.0], None, same)) if one.startswith("output")]
    assert told in line


@pytest.mark.parametrize(("nonblocking", "told"), [(0, "30"), (30, "30 non-blocking"), (10, "30, 10 non-blocking")])
def test_nonblocking_calls_are_marked(nonblocking, told):
    entry = CollectiveResult(
        "bcast", [0, 1], 8, 0, 30, "binomial", 1, None, [2.0], [1.0], None, None, True, nonblocking_calls=nonblocking
    )
    assert _row(Row("world", ((entry,),)), 60.0)[COLUMNS.index("calls")] == told


def test_an_entry_that_saves_next_to_nothing_is_dropped():
    measurement = Measurement.judged([Launch((2e-3, 3e-3), (1e-3, 1e-3))] * 3, True)
    assert measurement.worth(1000, 10.0).reason == ""
    assert "its 11 calls would save 16 ms of 10.7 s" in measurement.worth(11, 10.7).reason


COMPARE = """
import resource, sys
from pathlib import Path
from types import SimpleNamespace
from hocket.measure.local import LocalRunner
from hocket.tune.output import compare_output
runner, folder = LocalRunner(SimpleNamespace(family="mpich", vendor="")), Path(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for name in "abc":
    command = ["sh", "-c", f"yes 'a line of output' | head -n 2000000; echo {name}; yes | head -c 20000000 >&2"]
    runner.run(command, output=folder / name)
assert (folder / "a").stat().st_size > 34_000_000
print(compare_output([folder / "a", folder / "a"], [folder / "a", folder / "b"]))
print(compare_output([folder / "a", folder / "b"], [folder / "a", folder / "c"]))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


def test_output_of_any_size_takes_little_memory(tmp_path):
    done = subprocess.run([sys.executable, "-c", COMPARE, tmp_path], capture_output=True, text=True, check=True)
    different, varying, used_bytes = done.stdout.splitlines()
    assert different == """(False, 'output differs in line 2000001: native "a", with the plan "b"')"""
    assert varying == "(True, '1 of 2000001 lines of output differ from run to run even without the plan')"
    assert int(used_bytes) < 16 << 20


def test_the_last_lines_of_a_run_that_fails(tmp_path):
    runner = LocalRunner(SimpleNamespace(family="mpich", vendor=""))
    script = "seq 100000; echo why >&2; exit 3"
    with pytest.raises(Error, match=r"the program failed with exit status 3: (.|\n)*\n  \| why$"):
        runner.run(["sh", "-c", script], output=tmp_path / "output")
    with pytest.raises(Error, match=r"\n  \| 99993\n(.|\n)*\n  \| 100000$"):
        runner.run(["sh", "-c", "seq 100000; exit 3"], output=tmp_path / "output")
