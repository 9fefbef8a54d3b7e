# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The layers of the architecture hold, and the checker sees what it must see."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECKER = ROOT / "tools/check_layers.py"


def check(*arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(CHECKER), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **env})


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.timeout(300)
def test_this_repository_keeps_its_layers_and_every_header_compiles_alone():
    from mpis import MPIS

    result = check("--headers", **({"MPICC": str(MPIS[0].mpicc)} if MPIS else {}))
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"src/hocket/base/a.hpp": '#include "hocket/network/b.hpp"\n', "src/hocket/network/b.hpp": ""},
            "network (level 1) is not below base (level 0)",
        ),
        (
            {"src/hocket/network/a.hpp": '#include "hocket/schedule/b.hpp"\n', "src/hocket/schedule/b.hpp": ""},
            "schedule (level 1) is not below network (level 1)",
        ),
        (
            {"mpi/record/a.c": '#include "hocket/simulation/b.hpp"\n', "src/hocket/simulation/b.hpp": ""},
            "the MPI parts may use base, collectives, plan, program, schedule, trace only",
        ),
        ({"src/hocket/base/a.cpp": '#include "hocket.h"\n', "mpi/include/hocket.h": ""}, "the core knows no MPI"),
        ({"src/hocket/odd/a.cpp": ""}, "module 'odd' is not in the table"),
        (
            {"src/hocket/plan/a.hpp": '#include "hocket/replay/b.hpp"\n', "src/hocket/replay/b.hpp": ""},
            "not below plan",
        ),
        ({"mpi/bench/a.cpp": 'auto format = "hocket.plan/2";\n'}, "mpi/bench/a.cpp: names the format of a Plan"),
        ({"python/hocket/tune/a.py": 'FORMAT = "hocket.plan/2"\n'}, "tune/a.py: names the format of a Plan"),
        ({"src/hocket/base/a.cpp": '#include "hocket/base/none.hpp"\n'}, "which does not exist"),
        ({"src/hocket/cost/a.cpp": "#pragma omp parallel\n"}, "OpenMP"),
        (
            {
                "src/hocket/base/a.hpp": '#include "hocket/base/b.hpp"\n',
                "src/hocket/base/b.hpp": '#include "hocket/base/a.hpp"\n',
            },
            "circular include: src/hocket/base/a.hpp -> src/hocket/base/b.hpp -> src/hocket/base/a.hpp",
        ),
        (
            {"python/hocket/report/a.py": "from hocket.mpi.launch import run_command\n"},
            "hocket.report may not import hocket.mpi",
        ),
        ({"python/hocket/plan.py": "import hocket.cli.main\n"}, "hocket.plan may not import hocket.cli"),
    ],
)
def test_a_forbidden_include_is_found(tmp_path, files, message):
    result = check(write(tmp_path, files))
    assert result.returncode == 1
    assert message in result.stderr


def test_a_header_that_needs_another_first_is_found(tmp_path):
    write(tmp_path, {"src/hocket/base/a.hpp": "#pragma once\ninline std::string name() { return {}; }\n"})
    result = check("--headers", tmp_path)
    assert result.returncode == 1
    assert "src/hocket/base/a.hpp: does not compile alone" in result.stderr
    write(tmp_path, {"src/hocket/base/a.cpp": '#include <string>\n#include "hocket/base/a.hpp"\n'})
    assert check("--headers", tmp_path).returncode == 1
    write(tmp_path, {"src/hocket/base/a.cpp": '#include "hocket/base/a.hpp"\n'})  # the build finds it
    assert check("--headers", tmp_path).returncode == 0
