# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""LogGOPSim, if PEERS names a folder with its programs: no package registry has it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from measure import Case, Measured, Way, run_once


def find_loggopsim(folder: str) -> tuple[Path, Path] | str:
    """LogGOPSim and txt2bin; or why there is none."""
    if not folder:
        return "no package in a registry; build it yourself and name the folder of its programs: PEERS=/path"
    programs = [next(Path(folder).rglob(name), None) for name in ("LogGOPSim", "txt2bin")]
    if programs[0] is None or programs[1] is None:
        return f"PEERS={folder} has no programs LogGOPSim and txt2bin"
    return programs[0], programs[1]


def run_loggopsim(programs: tuple[Path, Path], ours: Path, networks: list[str]) -> list[dict[str, Any]]:
    simulator, compiler = programs
    rows = []
    for network in networks:
        case = Case(network, "random-ring", 0.5)
        hocket = Measured(Way("hocket", ours))
        run_once(case, hocket, 600)
        with tempfile.TemporaryDirectory() as name:
            text, binary = Path(name) / "ring.goal", Path(name) / "ring.bin"
            subprocess.run([str(ours), *case.arguments(), f"goal={text}"], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([str(compiler), "-i", str(text), "-o", str(binary)], check=True, capture_output=True)
            # 1 ns a byte, nothing else: a message of 1 MB takes 1 ms.
            command = [
                str(simulator),
                "-f",
                str(binary),
                "-L",
                "0",
                "-o",
                "0",
                "-g",
                "0",
                "-G",
                "1",
                "-O",
                "0",
                "--batchmode",
            ]
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
