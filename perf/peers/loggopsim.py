# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""LogGOPSim, of which CHECKOUTS names a folder with its sources: no package registry has it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from install import Failure, run
from measure import Case, Measured, Way, run_once

from hocket import Program, _core


def build_loggopsim(folder: Path, checkouts: str) -> Path:
    """The simulator, compiled with optimisation from a copy of the sources in `checkouts`.

    Raises Failure, with what is missing, where it cannot be built.
    """
    built = folder.resolve() / "loggopsim"
    program = built / "LogGOPSim"
    if program.exists():
        return program
    source = next(Path(checkouts).rglob("LogGOPSim.cpp"), None) if checkouts else None
    if source is None:
        raise Failure(
            "no package in a registry; CHECKOUTS=FOLDER names a folder with a clone of github.com/spcl/LogGOPSim"
        )
    if shutil.which("gengetopt") is None:
        raise Failure("its build needs gengetopt: apt-get install gengetopt libgraphviz-dev")
    shutil.copytree(source.parent, built, dirs_exist_ok=True)
    options = built / "loggopsim_cmdline"
    run(folder, "loggopsim", ["gengetopt", "--input", f"{options}.ggo", "-F", options.name, "--output-dir", str(built)])
    compiler = [os.environ.get("CXX", "g++"), "-O3", "-DNDEBUG", "-std=c++14", "-w", "-fpermissive"]
    sources = [str(built / "LogGOPSim.cpp"), "-x", "c++", f"{options}.c"]
    run(folder, "loggopsim", [*compiler, *sources, "-lcgraph", "-o", str(program)])
    return program


def run_loggopsim(simulator: Path, ours: Path, networks: list[str]) -> list[dict[str, Any]]:
    rows = []
    for network in networks:
        case = Case(network, "random-ring", 0.5)
        hocket = Measured(Way("hocket", ours))
        run_once(case, hocket, 600)
        with tempfile.TemporaryDirectory() as name:
            text, binary = Path(name) / "ring.goal", Path(name) / "ring.bin"
            subprocess.run([str(ours), *case.arguments(), f"goal={text}"], check=True, stdout=subprocess.DEVNULL)
            binary.write_bytes(_core.to_goal_binary(Program.from_goal(text.read_text()), float("inf")))
            # 1 ns a byte, nothing else: a message of 1 MB takes 1 ms.
            costs = ["-L", "0", "-o", "0", "-g", "0", "-G", "1", "-O", "0"]
            command = [str(simulator), "-f", str(binary), *costs, "--batchmode"]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"error: LogGOPSim ended with {process.returncode}: {' '.join(command)}")
        rows.append(
            {
                "nodes": case.nodes,
                "user_s": usage.ru_utime,
                "peak_rss_bytes": usage.ru_maxrss * 1024,
                "hocket_user_s": hocket.median("user_s"),
                "hocket_peak_rss_bytes": int(hocket.median("peak_rss_bytes")),
            }
        )
    return rows
