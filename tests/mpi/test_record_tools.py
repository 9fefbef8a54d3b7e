# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The recorder beside another PMPI tool, and with filters: each call is counted once by each, or left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hocket.mpi.build import build_mpi_parts
from hocket.traces.trace import Trace
from mpis import MpiRunner

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

SOURCES = Path(__file__).parent / "record"


@pytest.mark.parametrize("place", ["before", "behind", "linked"])
def test_another_tool_counts_what_the_recorder_records(runner: MpiRunner, place: str) -> None:
    recorder = build_mpi_parts(runner.mpi).record
    counter = runner.compile(SOURCES / "counter.c", "-shared", "-fPIC", name="libcounter.so")
    linked = [str(counter), f"-Wl,-rpath,{runner.folder}"] if place == "linked" else []
    program = runner.compile(SOURCES / "endings.c", *linked)
    libraries = {"before": [counter, recorder], "behind": [recorder, counter], "linked": [recorder]}[place]
    folder = runner.folder / "trace"
    folder.mkdir()
    done = runner.run(2, program, libraries=libraries, env={"HOCKET_TRACE": str(folder)})
    assert [line for line in done.stdout.splitlines() if "counted" in line] == ["counted 100 2"] * 2
    trace = Trace.open(folder)
    for rank in range(2):
        names = list(trace.names(rank))
        assert (names.count("MPI_Bcast"), names.count("MPI_Barrier"), names.count("MPI_Finalize")) == (100, 2, 1)
        assert trace.complete(rank)


def kept(runner: MpiRunner, hocket_cli: Any, tmp_path: Path, *options: str) -> tuple[Trace, str]:
    command = runner.command(4, runner.compile(SOURCES / "calls.c"))
    done = hocket_cli("record", "--force", "-o", "trace", *options, "--", *command)
    assert done.returncode == 0, done.stderr
    return Trace.open(tmp_path / "trace"), done.stderr


@pytest.mark.one_of_each_family
def test_filters(runner: MpiRunner, hocket_cli: Any, tmp_path: Path) -> None:
    everything, _ = kept(runner, hocket_cli, tmp_path)
    all_names = [list(everything.names(rank)) for rank in range(4)]
    ends = {"MPI_Init", "MPI_Finalize"}

    trace, told = kept(runner, hocket_cli, tmp_path, "--only", "MPI_Bcast,MPI_W*")
    assert "recorded were only MPI_Bcast, MPI_W*: time in other MPI calls counts as computation" in told
    for rank in range(4):
        wanted = [n for n in all_names[rank] if n in ends or n == "MPI_Bcast" or n.startswith("MPI_W")]
        assert list(trace.names(rank)) == wanted
    # Communicators that were made unseen are matched over ranks all the same.
    assert {c.members for c in trace.collectives()} >= {(2, 0), (3, 1)}

    trace, told = kept(runner, hocket_cli, tmp_path, "--without", "p2p,communicator")
    assert trace.meta["without"] == ["p2p", "communicator"]
    assert trace.filters()[0] in told
    left = {str(name) for rank in range(4) for name in np.unique(trace.names(rank))}
    assert "MPI_Allreduce" in left
    assert not left & {"MPI_Send", "MPI_Isend", "MPI_Waitall", "MPI_Comm_split", "MPI_Cart_create"}
    assert len(trace.collectives()) == len(everything.collectives())

    for command in (("trace", "show", "trace"), ("simulate", "trace", "--network", "star:4")):
        assert "recorded was all without p2p, communicator" in hocket_cli(*command).stderr
    assert json.loads((tmp_path / "trace/meta.json").read_text())["format"] == "hocket.trace/3"


@pytest.mark.one_of_each_family
def test_a_filter_of_nothing_known_is_refused(runner: MpiRunner, hocket_cli: Any, tmp_path: Path) -> None:
    done = hocket_cli("record", "-o", "trace", "--only", "sends", "--", *runner.command(2, "true"))
    assert done.returncode == 2
    assert "HOCKET_TRACE_ONLY: found 'sends'; accepted: p2p, collective, rma, io, communicator, other" in done.stderr
    assert not (tmp_path / "trace").exists()
