# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""CommonStart: ranks start together, also with clocks that differ by a thousand seconds. See common_start_check.cpp."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mpis import ROOT, MpiRunner

pytestmark = [pytest.mark.one_of_each_family, pytest.mark.in_turns]

AHEAD_S = 1000


def program_of(runner: MpiRunner) -> Path:
    sources = ["mpi/common/common_start.cpp", "mpi/common/backoff.cpp", "src/hocket/base/error.cpp"]
    return runner.compile(
        ROOT / "tests/mpi/common_start_check.cpp",
        "-std=c++20", "-O2", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX",
        f"-I{ROOT / 'mpi'}", f"-I{ROOT / 'src'}", *(str(ROOT / source) for source in sources),
        name="common_start_check", language="c++",
    )  # fmt: skip


def values(output: str) -> list[float]:
    found = re.search(r"apart (\S+) early (\d+) missed (\d+) longest (\S+)", output)
    assert found, output
    return [float(value) for value in found.groups()]


def test_starts_on_one_clock(runner: MpiRunner) -> None:
    for ranks in (1, 2, 5):
        apart_s, early, missed, longest_s = values(runner.run(ranks, program_of(runner), 0).stdout)
        assert apart_s < 1e-6  # the very same time; what is left is rounding
        assert early == 0
        assert missed < 20
        assert longest_s == ranks


def can_shift_clocks() -> bool:
    command = ["unshare", "--time", "--fork", "--monotonic", "1", "true"]
    return shutil.which("unshare") is not None and subprocess.run(command, capture_output=True).returncode == 0


@pytest.mark.skipif(not can_shift_clocks(), reason="no time namespaces here: needs root and unshare of util-linux 2.36")
def test_starts_on_clocks_that_differ(runner: MpiRunner, tmp_path: Path) -> None:
    shifted = tmp_path / "shifted"
    shifted.write_text(
        "#!/bin/sh\n"
        "rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n"
        f'exec unshare --time --fork --monotonic $(({AHEAD_S} * rank)) "$@"\n'
    )
    shifted.chmod(0o755)
    apart_s, early, _, _ = values(runner.run(3, shifted, program_of(runner), AHEAD_S).stdout)
    assert apart_s < 0.1  # of 2000; some exchange of thirty takes less than that on the busiest machine
    assert early == 0
