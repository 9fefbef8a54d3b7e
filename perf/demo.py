# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The demo with every MPI of this machine: the program and its large collectives, native, with hocket, predicted."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from hocket.cli.common import print_table
from mpis import MPIS


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    rows = []
    for mpi in MPIS:
        with tempfile.TemporaryDirectory() as folder:
            command = [str(Path(sys.executable).with_name("hocket")), "demo", "--mpi", mpi.label, "--json"]
            done = subprocess.run([*command, "-o", f"{folder}/result"], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            rows.append((mpi.name, f"failed with exit status {done.returncode}", *[""] * 5))
            continue
        result = json.loads(done.stdout)
        rows.append((mpi.name, "the program", *cells(result, 1, "s"), "", f"{result['speedup']:.2f}"))
        for one in result["collectives"]:
            if one["tuned_s"] is None:  # left native without a measurement
                continue
            name = f"{one['collective']} {one['bytes']} B"
            limit = f"{one['wire_limit_s'] * 1e3:.1f} ms"
            rows.append((mpi.name, name, *cells(one, 1e3, "ms"), limit, f"{one['native_s'] / one['tuned_s']:.2f}"))
    print_table(("MPI", "what", "native", "with hocket", "predicted", "wire limit", "times as fast"), rows)
    return 0


def cells(result: dict[str, float | None], factor: float, unit: str) -> list[str]:
    values = (result["native_s"], result["tuned_s"], result["predicted_s"])
    return ["" if value is None else f"{value * factor:.2f} {unit}" for value in values]


if __name__ == "__main__":
    sys.exit(main())
