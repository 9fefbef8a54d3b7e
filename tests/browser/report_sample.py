# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A result folder for tests: schedules and timelines from the core, measured times made up."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

from hocket import Network, Schedule, lower, simulate, wire_limit_s
from hocket.report.convert import timeline_of
from hocket.report.result import (
    AnalysisFiles,
    CollectiveResult,
    LinkBytes,
    ProgramResult,
    Result,
    Served,
    TimelineFiles,
    TimeSplit,
    write_json,
    write_result,
)
from hocket.report.timeline import write_timeline
from hocket.traces.analysed import (
    Drift,
    FunctionTime,
    PathPart,
    ProgramAnalysis,
    RankTime,
    RunAnalysis,
    Timeline,
    WaitTotal,
)

HOSTILE = """<b>&amp;"'</script><img src=x onerror=alert(1)>%{x}{{ 7*7 }}"""
NETWORK = """
format = "hocket.network/1"
name = "two-clusters"
placement = ["a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3"]
""" + "".join(
    f'[[node]]\nname = "{name}"\nkind = "{"switch" if name[0] == "s" else "host"}"\n'
    for name in ("a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3", "s0", "s1")
)
CABLES = [(f"a{i}", "s0", 93) for i in range(4)] + [(f"b{i}", "s1", 790) for i in range(4)] + [("s0", "s1", 93)]
NETWORK += "".join(
    f'[[link]]\nbetween = ["{a}", "{b}"]\nbandwidth = "{rate} Mbit/s"\nlatency = "50 us"\n' for a, b, rate in CABLES
)


def write_sample(folder: Path, hostile: bool = False) -> Result:
    """Two entries in the plan with timelines, one dropped, one not measured."""
    network = Network.from_text(NETWORK, "sample")
    order = network.depth_first_order(0)
    collectives = [
        _entry(folder, network, 0, "bcast", 1_000_000, ("binomial", 1, None), ("pipelined_chain", 64, order)),
        _entry(folder, network, 1, "allreduce", 65_536, ("recursive_doubling", 1, None), ("ring", 1, order)),
    ]
    dropped = replace(
        collectives[1], bytes=8, kept=False, reason="not faster in the measurement", segments=1, order=None
    )
    collectives.append(replace(dropped, algorithm="recursive_doubling", timelines=TimelineFiles()))
    collectives.append(
        CollectiveResult("barrier", list(range(8)), 0, None, 2, "dissemination", 1, None, [], [], None, None, False,
                         "no gain is predicted")
    )  # fmt: skip
    result = Result(
        hocket="0.1.0",
        date_utc="2025-11-21T20:41:00Z",
        command=["mpiexec", "-n", "8", "./kmeans"],
        mpi="Open MPI 4.1.4",
        ranks=8,
        hosts=["a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3"],
        machine="Linux 6.1.0 x86_64, 2 cores",
        network="two-clusters",
        testbed=True,
        program=replace(
            ProgramResult.from_runs([7.21, 7.40, 7.11, 7.30, 7.25], [1.92, 1.88, 1.95, 1.90, 1.93], 1.99, True),
            replayed_native_s=7.0,
            replayed_tuned_s=2.0,
        ),
        collectives=collectives,
        link_bytes=[LinkBytes("s0", "s1", 41_000_000, 10_500_000), LinkBytes("s1", "s0", 31_000_000, 1_050_000)],
        time=TimeSplit(7.3, 1.2, 0.0, 5.5, 0.0, 0.6, 0.4, 2.4),
        served=Served(32, 20, 5.4, 5.3),
        analyses=AnalysisFiles("analysis-native.json", "analysis-tuned.json"),
    )
    if hostile:
        dropped = replace(collectives[2], reason=HOSTILE, algorithm=HOSTILE)
        result = replace(
            result, command=[*result.command, HOSTILE], mpi=HOSTILE, machine=HOSTILE, network=HOSTILE, notes=[HOSTILE],
            hosts=[HOSTILE] * 8, collectives=[*collectives[:2], dropped, collectives[3]],
            link_bytes=[LinkBytes(HOSTILE, "s1", 1, 2)],
        )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "network.toml").write_text(network.to_toml(), encoding="utf-8")
    write_result(result, folder)
    for path, end_s in (("analysis-native.json", 7.0), ("analysis-tuned.json", 2.0)):
        write_json(folder / path, _analysis(end_s, HOSTILE if hostile else "MPI_Bcast").values)
    return result


def _analysis(end_s: float, function: str) -> ProgramAnalysis:
    cells = base64.b64encode(bytes(range(4)) * 8 * 256).decode()
    timeline = Timeline(end_s, list(range(8)), [1024], [cells], [0, 3], [0.0, 1.0], [1.0, end_s])
    run = RunAnalysis(
        end_s,
        [FunctionTime(function, 80, 1.5, 0.5), FunctionTime("computation", 0, 0.5, end_s - 0.5)],
        [RankTime(rank, 0.5, 1.5, 0.25, 0.1, end_s) for rank in range(8)],
        [WaitTotal("late broadcast", function, 7, 0.25)],
        [PathPart("computation", end_s - 0.5), PathPart(function, 0.5)],
        timeline,
    )
    drift = Drift([0.0, end_s], [0.0, 0.1], [0.0, 0.0], [0.0, 0.2])
    return ProgramAnalysis("./kmeans", run, run, drift, [function])


def _entry(
    folder: Path,
    network: Network,
    number: int,
    collective: str,
    size_bytes: int,
    old: tuple[str, int, list[int] | None],
    new: tuple[str, int, list[int] | None],
) -> CollectiveResult:
    makespans_s, files = [], []
    for name, (algorithm, segments, order) in (("native", old), ("tuned", new)):
        program = lower(Schedule.build(collective, algorithm, 8, root=0, segments=segments, order=order), size_bytes)
        timeline = simulate(program, network, record_links=True)
        makespans_s.append(timeline.makespan_s)
        files.append(f"timelines/{number:02}-{name}.json")
        title = f"{algorithm} in {segments} segments" if segments > 1 else algorithm
        write_timeline(timeline_of(program, timeline, network, title), folder / files[-1])
    return CollectiveResult(
        collective=collective,
        members=list(range(8)),
        bytes=size_bytes,
        root=0 if collective == "bcast" else None,
        calls=10,
        algorithm=new[0],
        segments=new[1],
        order=new[2],
        native_s=[factor * makespans_s[0] for factor in (1.18, 1.2, 1.24)],
        tuned_s=[factor * makespans_s[1] for factor in (1.01, 1.02, 1.05)],
        predicted_s=makespans_s[1],
        wire_limit_s=wire_limit_s(collective, network, list(range(8)), size_bytes),
        kept=True,
        output_identical=True,
        timelines=TimelineFiles(*files),
        ratio=1.2,
        ratio_interval=(1.12, 1.31),
        launches=3,
    )
