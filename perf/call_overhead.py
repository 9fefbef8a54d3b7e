# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a call costs that is recorded, one that is interposed, rerouted or not, and what the self-check adds to rerouted
ones, with every MPI of this machine."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from hocket.mpi.build import build_mpi_parts
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import run_command, with_preload
from hocket.plan import Plan, PlanEntry, write_plan
from mpis import MPIS

HERE = Path(__file__).resolve().parent
ROUNDS = 5
CHECKED_RANKS = 2
CHECKED_CALLS = {1000: 500_000, 100_000: 20_000}  # by bytes; about as long each


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    for mpi in MPIS:
        parts = build_mpi_parts(mpi, report=lambda text: print(text, file=sys.stderr))
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            plan = folder / "plan.json"
            served = (("bcast", "linear"), ("allgather", "ring"))
            entries = [PlanEntry(collective, (0,), 1000, 2000, name, 1) for collective, name in served]
            write_plan(Plan(1, "none", entries), plan)
            interpose = compile_with(mpi, "interpose_overhead", folder)
            record = compile_with(mpi, "record_overhead", folder)
            print(f"{mpi.name}: interposed")
            print(run(mpi, interpose, [parts.interpose], {"HOCKET_PLAN": str(plan), "HOCKET_SELF_CHECK": "off"}))
            for progress in ("on", "auto"):
                print(f"{mpi.name}: the non-blocking ones with progress {progress}")
                lines = run(mpi, interpose, [parts.interpose], {"HOCKET_PROGRESS": progress}).splitlines()
                print("\n".join(lines[-2:]))
            without, with_recorder = [], []
            for i in range(ROUNDS):  # in turns, since the machine's speed drifts
                without.append(float(run(mpi, record, [], {})))
                (folder / f"trace{i}").mkdir()
                with_recorder.append(
                    float(run(mpi, record, [parts.record], {"HOCKET_TRACE": str(folder / f"trace{i}")}))
                )
            added = sorted(b - a for a, b in zip(without, with_recorder, strict=True))
            least, median, most = added[0], statistics.median(added), added[-1]
            print(f"{mpi.name}: recorded: added {median:.0f} ns ({least:.0f} to {most:.0f})", flush=True)
            checked = compile_with(mpi, "self_check_overhead", folder)
            for size_bytes, calls in CHECKED_CALLS.items():
                print(
                    f"{mpi.name}: {self_check_cost(mpi, checked, parts.interpose, plan, size_bytes, calls)}", flush=True
                )
            print()
    return 0


def self_check_cost(mpi: Mpi, program: Path, interpose: Path, plan: Path, size_bytes: int, calls: int) -> str:
    """Of rerouted broadcasts, by the time of the whole loop with and without the self-check."""
    members = tuple(range(CHECKED_RANKS))
    entry = PlanEntry("bcast", members, size_bytes, size_bytes, "binomial", 1)
    write_plan(Plan(CHECKED_RANKS, "none", (entry,)), plan)
    times: dict[str, list[float]] = {"off": [], "on": []}
    counts = plan.with_name("statistics.json")
    for _ in range(ROUNDS):
        for switch, found in times.items():
            environment = {"HOCKET_PLAN": str(plan), "HOCKET_SELF_CHECK": switch, "HOCKET_STATISTICS": str(counts)}
            arguments = [str(size_bytes), str(calls)]
            found.append(float(run(mpi, program, [interpose], environment, CHECKED_RANKS, arguments)))
    shares = sorted(on / off - 1 for off, on in zip(times["off"], times["on"], strict=True))
    call_us = 1e6 * statistics.median(times["off"]) / calls
    added = f"{statistics.median(shares):+.1%} ({shares[0]:+.1%} to {shares[-1]:+.1%})"
    (entry,) = json.loads(counts.read_text())["entries"]
    if entry["fell_back_at_call"] is not None:
        added += f", and fell back at call {entry['fell_back_at_call']}"
    return f"{calls} rerouted broadcasts of {size_bytes} B, {call_us:.1f} us each: self-check {added}"


def compile_with(mpi: Mpi, name: str, folder: Path) -> Path:
    program = folder / name
    subprocess.run([str(mpi.mpicc), "-O2", str(HERE / f"{name}.c"), "-o", str(program), "-ldl"], check=True)
    return program


def run(
    mpi: Mpi,
    program: Path,
    libraries: Sequence[Path],
    environment: Mapping[str, str],
    ranks: int = 1,
    arguments: Sequence[str] = (),
) -> str:
    command = [str(mpi.mpiexec), "-n", str(ranks), str(program), *arguments]
    command, needed = with_preload(command, mpi, libraries, environment)
    done = run_command(command, env=needed, timeout=300, capture=True)
    if done.returncode != 0:
        raise SystemExit(f"{program.name} failed with {mpi.name}: {done.stderr}")
    return done.stdout.rstrip()


if __name__ == "__main__":
    sys.exit(main())
