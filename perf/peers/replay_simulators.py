# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Replays of one trace by hocket, by SimGrid's replay of TI traces and by LogGOPSim, with costs that mean the same.

All have a star: each rank's cable has half the latency, and a message of s bytes takes, with an overhead of o at each
end,

    hocket     o + L + s G + o
    SimGrid    o + L + (s + 16) G + o   16 bytes of envelope, which SMPI adds to each message
    LogGOPSim  o + L + (s - 1) G + o    and the receiver's CPU is busy for (s - 1) G + o

where L is the latency and G the time of a byte.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from install import Failure

from hocket.interop.traces.exporting import ExportRequest
from hocket.interop.traces.exporting import run as export

HERE = Path(__file__).resolve().parent
FLOPS_PER_S = 1e9  # of a simulated core; only computations that the trace has in seconds are made of it
EVERYTHING = 2**31 - 1


@dataclass(frozen=True)
class Costs:
    latency_ns: int = 2000
    ns_per_byte: float = 1
    overhead_ns: int = 0
    eager_bytes: int = EVERYTHING  # from here on a sender waits for its receiver


@dataclass
class Way:
    """One simulator: its command, and how its output tells the predicted time."""

    name: str
    command: Sequence[str]
    pattern: str
    unit_s: float = 1.0
    predicted_s: float = 0.0
    cpu_s: list[float] = field(default_factory=list)
    rss_bytes: list[int] = field(default_factory=list)

    def run(self) -> None:
        """Raises Failure with the end of its output where it fails."""
        with tempfile.NamedTemporaryFile("r") as usage:
            command = [sys.executable, "-S", str(HERE / "usage.py"), usage.name, *self.command]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            used = json.loads(usage.read() or "{}")
        found = re.search(self.pattern, done.stdout)
        if done.returncode != 0 or found is None:
            raise Failure(f"`{' '.join(self.command)}` ended with {done.returncode}: {done.stdout[-800:]}")
        self.predicted_s = float(found[1]) * self.unit_s
        self.cpu_s.append(used["cpu_s"])
        self.rss_bytes.append(used["rss_bytes"])

    @property
    def median_cpu_s(self) -> float:
        return statistics.median(self.cpu_s)


def hocket(trace: Path, ranks: int, costs: Costs) -> Way:
    overhead = f"{costs.overhead_ns} ns"
    network = ["--network", f"star:{ranks}", "--bandwidth", f"{1000 / costs.ns_per_byte} MB/s", "--latency",
               f"{costs.latency_ns / 2} ns"]  # fmt: skip
    options = ["--send-overhead", overhead, "--receive-overhead", overhead, "--rendezvous", f"{costs.eager_bytes} B"]
    command = [sys.executable, "-m", "hocket", "simulate", str(trace), *network, *options, "--json"]
    return Way("hocket", command, r'"makespan_s": ([0-9.e+-]+)')


def loggopsim(program: Path, trace: Path, folder: Path, costs: Costs) -> Way:
    """Exports the trace for it into `folder`."""
    binary = folder / "program.goal"
    export(ExportRequest(trace, "goal-binary", binary))
    parameters = {"-L": costs.latency_ns, "-o": costs.overhead_ns, "-g": 0, "-G": int(costs.ns_per_byte), "-O": 0,
                  "-S": min(costs.eager_bytes, EVERYTHING)}  # fmt: skip
    options = [str(word) for pair in parameters.items() for word in pair]
    command = [str(program), "-f", str(binary), "-b", *options]
    return Way("LogGOPSim", command, r"Maximum finishing time at host \d+: (\d+)", 1e-9)


def simgrid(programs: tuple[Path, Path], trace: Path, ranks: int, folder: Path, costs: Costs) -> Way:
    """Exports the trace for it into `folder`, with a platform beside. Collectives are the messages that hocket takes
    for them too."""
    files, platform, hosts, listed = (folder / name for name in ("ti", "platform.xml", "hosts", "traces.txt"))
    export(ExportRequest(trace, "ti", files, flops_per_s=FLOPS_PER_S, messages=True))
    # The list that the replay reads has paths as seen from its working directory.
    listed.write_text("".join(f"{files / name}\n" for name in (files / "traces.txt").read_text().split()))
    hosts.write_text("".join(f"n{rank}\n" for rank in range(ranks)))
    platform.write_text(f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="star" prefix="n" suffix="" radical="0-{ranks - 1}" speed="{FLOPS_PER_S:.0f}f"
           bw="{1e9 / costs.ns_per_byte:.0f}Bps" lat="{costs.latency_ns / 2}ns" sharing_policy="SPLITDUPLEX"/>
</platform>
""")
    overhead_s = costs.overhead_ns * 1e-9
    settings = {
        # The model of max-min sharing without factors: what hocket computes.
        "network/model": "CM02", "network/TCP-gamma": 0, "network/crosstraffic": 0, "network/weight-S": 0,
        "network/bandwidth-factor": 1, "network/latency-factor": 1,
        # A message starts when it is sent, whether or not it is expected, and is complete for its sender at once.
        "smpi/send-is-detached-thresh": costs.eager_bytes, "smpi/async-small-thresh": costs.eager_bytes,
        "smpi/os": f"0:{overhead_s}:0", "smpi/ois": f"0:{overhead_s}:0", "smpi/or": f"0:{overhead_s}:0",
        "smpi/np": ranks, "smpi/hostfile": hosts, "smpi/replay": listed, "smpi/tmpdir": folder,
        "smpi/privatization": "no", "smpi/display-timing": "yes", "contexts/stack-size": 64, "precision/timing": 1e-12,
    }  # fmt: skip
    command = [*map(str, programs), *(f"--cfg={name}:{value}" for name, value in settings.items()), str(platform)]
    return Way("SimGrid", command, r"Simulated time: ([0-9.e+-]+) seconds")
