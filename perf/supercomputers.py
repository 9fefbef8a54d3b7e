# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How good are the choices and the predictions of `hocket advise --measured` on jobs that it has not seen?

TABLES is a folder of measured collectives (measurements.csv.gz, allocations.csv.gz) with the program judge.py, which
lists the instances without times and judges the choices. Each job in turn (or each system, --leave systems) is taken
out of the measurements; the command learns from the rest and chooses for the instances of what was taken out. The
choices of all together are judged. --jobs learns from so many of the other jobs only, drawn at random.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from hocket.advise.measured.request import MeasuredRequest, run
from hocket.cli.common import message

Row = dict[str, str]


def read(path: Path) -> list[Row]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: list[Row]) -> None:
    with gzip.open(path, "wt") if path.suffix == ".gz" else path.open("w") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def job_of(row: Row) -> str:
    return row["test_id"].rpartition("/")[0]


def system_of(row: Row) -> str:
    return row["test_id"].partition("/")[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, metavar="TABLES")
    parser.add_argument("--leave", choices=("jobs", "systems", "nothing"), default="jobs", help="what is taken out")
    parser.add_argument("--candidates", default="textbook", help="of judge.py")
    parser.add_argument("--jobs", type=int, metavar="N", help="learn from N of the other jobs")
    parser.add_argument("--seed", type=int, default=1, help="of the jobs drawn")
    parser.add_argument("--choices", type=Path, help="keep the choices of all in this file")
    parser.add_argument("--judge-python", default=sys.executable, help="a Python with pandas, for judge.py")
    arguments = parser.parse_args()
    tables = arguments.tables
    judge = [arguments.judge_python, str(tables / "judge.py"), "--data", str(tables / "measurements.csv.gz")]
    judge += ["--candidates", arguments.candidates, "--name", "textbook"]
    measurements = read(tables / "measurements.csv.gz")
    of = {"jobs": job_of, "systems": system_of, "nothing": lambda row: "nothing"}[arguments.leave]
    drawn = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as scratch_name:
        scratch = Path(scratch_name)
        instances = scratch / "instances.csv"
        subprocess.run([*judge, "--list", str(instances)], check=True)
        (scratch / "allocations.csv.gz").write_bytes((tables / "allocations.csv.gz").read_bytes())
        choices: list[Row] = []
        listed = read(instances)
        for left_out in sorted({of(row) for row in listed}):
            rest = [row for row in measurements if of(row) != left_out or arguments.leave == "nothing"]
            jobs = sorted({job_of(row) for row in rest})
            if arguments.jobs is not None:
                jobs = drawn.sample(jobs, min(arguments.jobs, len(jobs)))
            write(scratch / "measurements.csv.gz", [row for row in rest if job_of(row) in jobs])
            write(instances, [row for row in listed if of(row) == left_out])
            output = scratch / "choices.csv"
            done = run(MeasuredRequest(scratch, instances, tables / "allocations.csv.gz", output))
            message(f"{left_out}: {done.instances} instances, learnt from {done.learnt} measurements")
            choices += read(output)
        every = arguments.choices or scratch / "choices.csv"
        write(every, choices)
        return subprocess.run([*judge, str(every)]).returncode


if __name__ == "__main__":
    sys.exit(main())
