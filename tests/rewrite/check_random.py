#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Rewrites random programs, runs both with an MPI that is as early and as late as it may be, and compares all values.

make fuzz-rewrite ARGUMENTS='--programs 10000 --seed 7'
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
FAKE = HERE / "early_and_late"
sys.path.insert(0, str(HERE))

from random_programs import random_file  # noqa: E402

from hocket.rewrite.rewriter import rewrite  # noqa: E402
from hocket.rewrite.sites import Options  # noqa: E402
from hocket.rewrite.syntax import Source  # noqa: E402

# The subroutines are external; -O0 moves no access. A part for each few elements.
WHOLE = Options(trusts_compiler=True, makes_parts=False)
IN_PARTS = Options(trusts_compiler=True, part_bytes=1)
FLAGS = ["-O0", "-w", "-fallow-argument-mismatch", "-ffree-line-length-none", f"-I{FAKE}"]


@dataclass
class Result:
    num_calls: int = 0
    num_rewritten: int = 0
    num_split: int = 0
    num_parts: int = 0
    num_stages: int = 0
    wrong: list[str] = field(default_factory=list)  # one line for each subroutine that differs
    unstable: bool = False  # the result, rewritten again, changed


def check(seed: int, count: int, folder: Path, in_parts: bool = False) -> Result:
    """`count` random subroutines in one file. Raises CalledProcessError if they do not compile.

    `in_parts`: collectives may go in parts. Then the numbers of operations, and so their order, do not count.
    """
    options = IN_PARTS if in_parts else WHOLE
    text = random_file(seed, count)
    source = Source(folder / "original.f90", text.encode())
    rewritten = rewrite([source], options)
    new = rewritten.new[source.path]
    result = Result(len(rewritten.outcomes), sum(one.is_rewritten for one in rewritten.outcomes))
    result.num_parts = sum("same parts" in o.claim for one in rewritten.outcomes for o in one.obligations)
    result.num_stages = sum("second stage" in o.claim for one in rewritten.outcomes for o in one.obligations)
    result.num_split = sum("iterations" in o.claim for one in rewritten.outcomes for o in one.obligations)
    again = rewrite([Source(source.path, new)], options)
    result.unstable = again.new[source.path] != new
    expected = _run(_compile(folder, "original", text.encode()), "early", in_parts)
    assert len(expected) == count
    program = _compile(folder, "rewritten", new)
    for mode in ("early", "late"):
        found = _run(program, mode, in_parts)
        if len(found) != len(expected):
            result.wrong.append(f"seed {seed}, {mode}: the rewritten program fails after {len(found)} cases")
        for one, other in zip(expected, found, strict=False):
            if one != other:
                result.wrong.append(f"seed {seed}, case_{one.split()[0]}, {mode}: {one} became {other}")
    return result


def _compile(folder: Path, name: str, text: bytes) -> Path:
    source, program = folder / f"{name}.f90", folder / f"{name}.x"
    source.write_bytes(text)
    fake = folder / "fake.o"
    if not fake.exists():
        subprocess.run(["gcc", "-c", "-O1", str(FAKE / "early_and_late.c"), "-o", str(fake)], check=True)
    subprocess.run(["gfortran", *FLAGS, str(source), str(fake), "-o", str(program)], check=True, cwd=folder)
    return program


def _run(program: Path, mode: str, in_parts: bool) -> list[str]:
    env = {**os.environ, "EARLY_AND_LATE": mode} | ({"EARLY_AND_LATE_EACH": "1"} if in_parts else {})
    done = subprocess.run([str(program)], env=env, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=100, help="subroutines in one file")
    arguments = parser.parse_args()
    total = Result()
    for number in range(0, arguments.programs, arguments.at_once):
        count = min(arguments.at_once, arguments.programs - number)
        with tempfile.TemporaryDirectory() as name:
            in_parts = number // arguments.at_once % 2 == 1
            found = check(arguments.seed * 1_000_000 + number, count, Path(name), in_parts)
        total.num_calls += found.num_calls
        total.num_rewritten += found.num_rewritten
        total.num_split += found.num_split
        total.num_parts += found.num_parts
        total.num_stages += found.num_stages
        total.wrong += found.wrong
        total.unstable = total.unstable or found.unstable
        for line in found.wrong:
            print(line)
        print(
            f"{number + count} programs: {total.num_rewritten} of {total.num_calls} calls rewritten, "
            f"{total.num_split} loops split, {total.num_parts} calls in parts, {total.num_stages} loops in stages, "
            f"{len(total.wrong)} differences",
            flush=True,
        )
    return 1 if total.wrong or total.unstable else 0


if __name__ == "__main__":
    sys.exit(main())
