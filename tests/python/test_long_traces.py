# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A trace is simulated as it is read, in a memory that does not grow with it, and with the result of its program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hocket import CostModel, Network, simulate
from hocket.errors import InvalidInput
from hocket.simulation.programs import ProgramOptions, Request, Simulated, simulate_what
from hocket.simulation.what_if import RankDelay, WhatIf
from hocket.traces.replay import replay_at
from hocket.traces.trace import Trace
from hocket.traces.traced_rank import COMPLETION, OwnCommunicator, TracedRank, new_calls

RANKS = 4
FUNCTIONS = ["MPI_Init", "MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce", "MPI_Finalize"]


def ring(folder: Path, steps: int, wildcards: bool = False, end: str = "finalize") -> Trace:
    """Ranks pass 1000 bytes to the next one in each step, and every tenth time add up 8 bytes."""
    in_step = 3
    ranks = []
    for rank in range(RANKS):
        calls = new_calls(2 + in_step * steps + steps // 10)
        completions = np.zeros(2 * steps, COMPLETION)
        row = 1
        for step in range(steps):
            receive, send = 2 * step + 1, 2 * step + 2
            previous, following = (rank - 1) % RANKS, (rank + 1) % RANKS
            for i, (name, peer, request) in enumerate((("Irecv", previous, receive), ("Isend", following, send))):
                calls[row + i]["function"] = FUNCTIONS.index(f"MPI_{name}")
                calls[row + i]["peer"] = -2 if wildcards and name == "Irecv" else peer
                calls[row + i]["bytes"], calls[row + i]["tag"], calls[row + i]["communicator"] = 1000, 0, 0
                calls[row + i]["request"] = request
            wait = calls[row + 2]
            wait["function"], wait["request"] = FUNCTIONS.index("MPI_Waitall"), receive
            wait["completions"], wait["num_completions"] = 2 * step, 2
            completions[2 * step] = (receive, previous, 0, 1000)
            completions[2 * step + 1] = (send, -1, -1, -1)
            row += in_step
            if step % 10 == 9:
                calls[row]["function"] = FUNCTIONS.index("MPI_Allreduce")
                calls[row]["communicator"], calls[row]["bytes"] = 0, 8
                row += 1
        calls[row]["function"] = FUNCTIONS.index("MPI_Finalize")
        calls["enter_ns"] = 700 * np.arange(len(calls)) + rank
        calls["exit_ns"] = calls["enter_ns"] + 100
        last = len(calls) if end == "finalize" else len(calls) - 3 * (rank + 1)
        ranks.append(
            TracedRank(calls[:last], FUNCTIONS, [OwnCommunicator(range(RANKS))], completions=completions, end=end)
        )
    return Trace.create(folder, ranks)


def found(folder: Path, network: Network, costs: CostModel, **options: Any) -> Simulated:
    (one,), _ = simulate_what(str(folder), network, Request(), costs, options=ProgramOptions(**options))
    return one


@pytest.mark.parametrize("end", ["finalize", "cut off"])
@pytest.mark.parametrize("wildcards", [False, True])
def test_the_result_is_that_of_the_program(tmp_path: Path, wildcards: bool, end: str) -> None:
    trace = ring(tmp_path / "trace", 200, wildcards, end)
    network = Network.generate(f"star:{RANKS}", bandwidth="1 GB/s", latency="1 us")
    costs = CostModel(send_overhead_s=1e-6, rendezvous_bytes=500)
    what_if = WhatIf(cpu_scale=0.5, delays=(RankDelay(2, 1e-3, 1e-6),), noise="lognormal:0.3")
    replayed = replay_at(costs, trace)
    program = what_if.changed(replayed.program)
    whole = simulate(program, network, costs)
    read = found(tmp_path / "trace", network, costs, what_if=what_if)
    assert read.program is None
    assert read.timeline.makespan_s == whole.makespan_s
    assert read.timeline.finish_s.tolist() == whole.finish_s.tolist()
    assert read.timeline.link_bytes.tolist() == whole.link_bytes.tolist()
    assert read.timeline.num_events == whole.num_events
    assert read.recorded is not None
    assert read.recorded.span_s == replayed.recorded_span_s
    assert [(one.function, one.calls) for one in read.recorded.left_out] == [
        (one.function, one.calls) for one in replayed.left_out
    ]
    assert bool(read.recorded.left_out) == (end != "finalize")
    assert [one.rank for one in read.recorded.incomplete] == ([] if end == "finalize" else list(range(RANKS)))
    # What is recorded over time needs the operations.
    kept = found(tmp_path / "trace", network, costs, what_if=what_if, record=True)
    assert kept.program == program
    assert kept.timeline.makespan_s == whole.makespan_s


PEAK = """
import re, sys
from hocket.cli.main import main
try:
    main()
except SystemExit as end:  # the largest resident set of this program alone
    print(re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1], file=sys.stderr)
    sys.exit(end.code)
"""


def test_the_memory_does_not_grow_with_the_trace(tmp_path: Path) -> None:
    # As a whole, each of these calls takes some 0.4 kB: the longer trace 100 MB more.
    peaks = []
    for steps in (1000, 21_000):
        ring(tmp_path / str(steps), steps)
        command = ["simulate", str(tmp_path / str(steps)), "--network", f"star:{RANKS}", "--bandwidth", "1 GB/s"]
        done = subprocess.run(
            [sys.executable, "-c", PEAK, *command, "--json"], capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout)["results"][0]["events"] > 2 * RANKS * steps
        peaks.append(int(done.stderr.split()[-1]))
    assert peaks[1] - peaks[0] < 30_000  # KiB


def test_damaged_files_and_stops(tmp_path: Path) -> None:
    network = Network.generate(f"star:{RANKS}", bandwidth="1 GB/s")
    ring(tmp_path / "trace", 20_000)
    answers = iter([True, False])
    stopped = found(tmp_path / "trace", network, CostModel(), on_progress=lambda *_: next(answers, False))
    assert not stopped.timeline.completed
    assert np.isnan(stopped.timeline.finish_s).all()
    file = tmp_path / "trace" / "rank-000002.bin"
    content = bytearray(file.read_bytes())
    content[5000:5100] = bytes(100)
    file.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"rank-000002.bin: byte \d+"):
        found(tmp_path / "trace", network, CostModel())
    (tmp_path / "trace" / "rank-000003.bin").unlink()
    with pytest.raises(InvalidInput, match=r"rank-000003.bin is missing"):
        found(tmp_path / "trace", network, CostModel())


def test_ranks_that_wait_for_each_other_are_named(tmp_path: Path) -> None:
    # Both send first, and neither send ends before it is received.
    rows = new_calls(4)
    rows["function"], rows["exit_ns"] = [0, 1, 2, 3], [0, 1, 2, 3]
    rows["enter_ns"] = rows["exit_ns"]
    for row in rows[1:3]:
        row["communicator"], row["bytes"], row["tag"] = 0, 10, 0
    ranks = []
    for rank in range(2):
        own = rows.copy()
        own["peer"][1:3] = 1 - rank
        functions = ["MPI_Init", "MPI_Send", "MPI_Recv", "MPI_Finalize"]
        ranks.append(TracedRank(own, functions, [OwnCommunicator(range(2))]))
    Trace.create(tmp_path / "trace", ranks)
    network = Network.generate("star:2", bandwidth="1 GB/s")
    with pytest.raises(InvalidInput, match="rank 0: send of 10 bytes to rank 1 waits for ever") as refused:
        found(tmp_path / "trace", network, CostModel(rendezvous_bytes=0))
    assert "cycle of waits" in (refused.value.hint or "")
