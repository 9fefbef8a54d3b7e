# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Patterns of a user's own in hocket-bench: in steps, and in C, C++ and Fortran as `hocket bench new` writes them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from bench_files import HEAD, outcomes, records, suite

from hocket.bench.mpi.results import read_results
from hocket.bench.template.request import TemplateRequest, run
from hocket.mpi.build import build_bench
from hocket.mpi.discover import Mpi
from mpis import MpiRunner

pytestmark = [pytest.mark.one_of_each_family, pytest.mark.in_turns]

STEPS = """
[[patterns]]
name = "ring"
steps = [{ do = "irecv", from = "left" }, { do = "isend", to = "right" }, { do = "wait" }]
[[patterns]]
name = "all"
steps = [
    { do = "sendrecv", to = "others", from = "others", tag = 3, times = 2 },
    { do = "send", to = "rank+1", on = "even", bytes = "16 B" },
    { do = "recv", from = "rank-1", on = "odd", bytes = "16 B" },
    { do = "compute", us = 5, on = "first" },
    { do = "barrier" },
]
[[patterns]]
name = "one_sided"
steps = [{ do = "put", to = "others", times = 2 }, { do = "get", from = "right" }, { do = "fence" }]
[[patterns]]
name = "flushed"
steps = [{ do = "put", to = "last", on = "first" }, { do = "get", from = "right" }, { do = "flush" }]
[[patterns]]
name = "reduce_bcast"
steps = [{ use = "coll.reduce", root = "last" }, { use = "coll.bcast", bytes = "64 B" }]
[[items]]
use = "pattern.*"
bytes = ["8 B", "1 KiB"]
"""


@pytest.fixture
def program(mpi: Mpi) -> Path:
    return build_bench(mpi)


@pytest.mark.parametrize("ranks", [2, 4])
def test_steps(runner: MpiRunner, program: Path, ranks: int) -> None:
    path = runner.folder / "results.jsonl"
    runner.run(ranks, program, "--quiet", "-o", path, suite(runner.folder, STEPS))
    found = outcomes(path)
    assert len(found) == 5
    assert set(found.values()) == {("ok", "")}
    ring = next(r for r in records(path) if r["type"] == "chunk" and r["point"] == 0)
    assert ring["bytes_moved"] == ranks * 8


def test_a_message_that_does_not_fit_is_an_error(runner: MpiRunner, program: Path) -> None:
    path = runner.folder / "results.jsonl"
    items = (
        '[[patterns]]\nname = "wrong"\nsteps = [{ do = "isend", to = "right" },'
        ' { do = "recv", from = "left", bytes = "4 B" }]\n[[items]]\nuse = "pattern.wrong"\nbytes = "8 B"\n'
    )
    done = runner.run(2, program, "--quiet", "-o", path, suite(runner.folder, items), check=False)
    assert done.returncode != 0  # 75, if the launcher hands it on
    assert outcomes(path)["pattern.wrong ranks=2"][0] == "error"


@pytest.mark.parametrize("language", ["c", "c++", "fortran", "steps"])
def test_a_template_compiles_and_is_right(mpi: Mpi, runner: MpiRunner, program: Path, language: str) -> None:
    if language == "fortran" and mpi.mpifort is None:
        pytest.skip(f"{mpi.name} has no mpifort")
    done = run(TemplateRequest("halo", language, runner.folder))
    if language != "steps":
        wrappers = {"MPICC": mpi.mpicc, "MPICXX": mpi.mpicxx, "MPIFORT": mpi.mpifort}
        words = ["make", "-s", "-C", done.folder, *(f"{name}={path}" for name, path in wrappers.items())]
        subprocess.run([str(word) for word in words], check=True, capture_output=True)
    path = runner.folder / "results.jsonl"
    runner.run(3, program, "--quick", "--budget", "0.01", "--quiet", "-o", path, done.folder / "halo.toml")
    kind = "pattern" if language == "steps" else "plugin"
    assert outcomes(path) == {f"{kind}.halo ranks=3": ("ok", "")}
    results = read_results(path)
    assert [chunks[0].bytes_moved for chunks in results.chunks.values()] != []
    for point in results.points:
        assert point.size_bytes is not None
        assert results.chunks[point.index][0].bytes_moved == 3 * point.size_bytes


def test_a_plugin_whose_data_are_wrong(mpi: Mpi, runner: MpiRunner, program: Path) -> None:
    folder = run(TemplateRequest("liar", "c", runner.folder)).folder
    source = (folder / "liar.c").read_text()
    assert "p->sent[j] = byte_of(p, p->setting.rank, j);" in source
    (folder / "liar.c").write_text(source.replace("p->sent[j] = byte_of(", "p->sent[j] = 1 + byte_of("))
    subprocess.run(["make", "-s", "-C", folder, f"MPICC={mpi.mpicc}"], check=True, capture_output=True)
    path = runner.folder / "results.jsonl"
    runner.run(2, program, "--quiet", "--budget", "0.01", "--launches", "1", "-o", path, folder / "liar.toml")
    assert outcomes(path)["plugin.liar ranks=2"] == ("wrong_data", "a message has arrived with other data")


def test_a_plugin_that_ends_the_program_with_status_0(mpi: Mpi, hocket_cli, tmp_path: Path) -> None:
    source = (run(TemplateRequest("ender", "c", tmp_path)).folder / "ender.c").read_text()
    start = "    MPI_Request requests[2];\n"
    assert start in source
    (tmp_path / "ender/ender.c").write_text("#include <unistd.h>\n" + source.replace(start, f"    _exit(0);\n{start}"))
    subprocess.run(["make", "-s", "-C", tmp_path / "ender", f"MPICC={mpi.mpicc}"], check=True, capture_output=True)
    options = ["--launches", "1", "--budget", "1", "-o", "found", "--json", "--", mpi.mpiexec, "-n", "2"]
    done = hocket_cli("bench", "run", "ender/ender.toml", *options)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert {point["status"] for point in shown["points"]} == {"crash"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[[plugins]]\nfile = 'nothing.so'\n", "nothing.so: cannot be loaded"),
        ("[[plugins]]\nfile = '/proc/self/exe'\n", "/proc/self/exe: "),
        ("[[patterns]]\nname = 'a'\nsteps = [{ do = 'isnd', to = 'left' }]\n", 'there is no step "isnd"'),
        ("[[patterns]]\nname = 'a'\nsteps = [{ do = 'isend', to = 'up' }]\n", '"up" is no rank; accepted: left'),
        ("[[patterns]]\nname = 'a'\nsteps = [{ do = 'isend' }]\n", 'isend needs "to"'),
        ("[[patterns]]\nname = 'a'\nsteps = [{ do = 'wait', to = 'left' }]\n", 'wait has no "to"'),
        ("[[patterns]]\nname = 'a'\nsteps = [{ do = 'compute' }]\n", '"us" belongs to compute'),
        ("[[patterns]]\nname = 'a'\nsteps = []\n", 'the pattern "a" has no steps'),
        ("[[patterns]]\nname = 'a'\nsteps = [{ do = 'fence' }]\n", ':7: the pattern "a" has a fence but no put or get'),
        ("[[patterns]]\nname = 'a'\nsteps = [{ do = 'flush' }]\n", 'the pattern "a" has a flush but no put or get'),
        (
            "[[patterns]]\nname = 'a'\nsteps = [{ do = 'put', to = 'left' }, { do = 'fence' }, { do = 'flush' }]\n",
            ':7: the pattern "a" has fence and flush; accepted: one of them',
        ),
        (
            "[[patterns]]\nname = 'a'\nsteps = [{ do = 'isend', to = 'left', bytes = ['8 B', '64 KiB'] }]\n",
            ":9: a step has one size, this one 2",
        ),
        *(
            (
                f"[[patterns]]\nname = 'a'\nsteps = [{{ do = 'put', to = 'left' }},{{ do = '{do}', on = '{on}' }}]\n",
                f':9: a {do} on "{on}"; accepted: all, as each rank waits for the others',
            )
            for do, on in (("fence", "even"), ("fence", "0"), ("barrier", "first"), ("barrier", "others"))
        ),
        ("[[patterns]]\nname = ''\nsteps = [{ do = 'barrier' }]\n", ':7: the name "pattern."; accepted: letters'),
        ("[[patterns]]\nname = \"a\\nb\"\nsteps = [{ do = 'barrier' }]\n", "accepted: letters, digits, _, - and ."),
        (
            "[[patterns]]\nname = 'a'\nsteps = [{ do = 'put', to = 'left', times = 2000000000 }]\n",
            ":9: times is the number 2000000000; accepted: a whole number from 1 to 1000000",
        ),
        (
            "[[patterns]]\nname = 'a'\nsteps = [{ do = 'barrier', times = 999999 }, { do = 'barrier', times = 2 }]\n",
            ':7: the pattern "a" has 1000001 steps',
        ),
        ("[[patterns]]\nname = 'a'\nsteps = [{ use = 'coll.bcst' }]\n", 'there is no item "coll.bcst"'),
        ("[[patterns]]\nname = 'a'\nsteps = [{ use = 'coll.bcast', rot = 1 }]\n", 'unknown key "rot" in a step'),
        ("[[items]]\nuse = 'pattern.a'\n", 'there is no item "pattern.a"'),
    ],
)
def test_what_is_refused(runner: MpiRunner, program: Path, content: str, message: str) -> None:
    given = suite(runner.folder, content, HEAD)
    done = runner.run(2, program, "--dry-run", given, check=False)
    assert done.returncode == 2
    assert done.stderr.count("error: ") == 1
    assert message in done.stderr
    assert done.stdout == ""
