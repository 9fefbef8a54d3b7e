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


def test_this_repository_keeps_its_layers():  # that every header compiles alone: `make headers`
    result = check()
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"src/hocket/base/a.hpp": '#include "hocket/network/b.hpp"\n', "src/hocket/network/b.hpp": ""},
            "src/hocket/base/a.hpp:1: may not include src/hocket/network/b.hpp: network (level 1) is not below base "
            "(level 0); allowed: nothing",
        ),
        (
            {"src/hocket/network/a.hpp": '#include "hocket/schedule/b.hpp"\n', "src/hocket/schedule/b.hpp": ""},
            "schedule (level 1) is not below network (level 1); allowed: base",
        ),
        (
            {"mpi/record/a.c": '#include "hocket/simulation/b.hpp"\n', "src/hocket/simulation/b.hpp": ""},
            "mpi/record/a.c:1: may not include src/hocket/simulation/b.hpp: the MPI parts may use "
            "base, collectives, cost, decision, network, plan, program, schedule, trace only",
        ),
        (
            {"mpi/runtime/a.cpp": '\n#include "interpose/b.hpp"\n', "mpi/interpose/b.hpp": ""},
            "mpi/runtime/a.cpp:2: may not include mpi/interpose/b.hpp: of mpi/, runtime may include "
            "runtime, common, include, selection only",
        ),
        (
            {"mpi/interpose/a.cpp": "#include <hocket.h>\n", "mpi/include/hocket.h": ""},
            "mpi/interpose/a.cpp:1: may not include mpi/include/hocket.h: of mpi/, interpose may include",
        ),
        ({"src/hocket/base/a.cpp": '#include "hocket.h"\n', "mpi/include/hocket.h": ""}, "the core knows no MPI"),
        ({"src/hocket/odd/a.cpp": ""}, "src/hocket/odd/a.cpp: module 'odd' is not in the table"),
        ({"mpi/odd/a.cpp": ""}, "mpi/odd/a.cpp: module 'odd' is not in the table"),
        (
            {"src/hocket/plan/a.hpp": '#include "hocket/replay/b.hpp"\n', "src/hocket/replay/b.hpp": ""},
            "not below plan",
        ),
        ({"mpi/probes/a.cpp": 'auto format = "hocket.plan/2";\n'}, "mpi/probes/a.cpp: names the format of a Plan"),
        ({"python/hocket/tune/a.py": 'FORMAT = "hocket.plan/2"\n'}, "tune/a.py: names the format of a Plan"),
        ({"src/hocket/base/a.cpp": '#include "hocket/base/none.hpp"\n'}, "which does not exist"),
        ({"src/hocket/cost/a.cpp": "#pragma omp parallel\n"}, "OpenMP"),
        (
            {"python/hocket/report/a.py": "import os\nfrom hocket.mpi.launch import run_command\n"},
            "python/hocket/report/a.py:2: hocket.report may not import hocket.mpi: mpi (level 10) is not below report "
            "(level 7); allowed: _core,",
        ),
        (
            {"python/hocket/plan.py": "def late():\n    import hocket.cli.main\n"},
            "python/hocket/plan.py:2: hocket.plan may not import hocket.cli",
        ),
        (
            {"python/hocket/mpi/a.py": "from hocket._core import simulate\n"},
            "python/hocket/mpi/a.py:1: hocket.mpi may not import hocket._core: mpi starts without the core; "
            "allowed: errors, io",
        ),
        ({"python/hocket/odd.py": ""}, "python/hocket/odd.py: hocket.odd is not in PYTHON_LEVELS"),
    ],
)
def test_a_forbidden_include_is_found(tmp_path, files, message):
    result = check(write(tmp_path, files))
    assert result.returncode == 1
    assert message in result.stderr


@pytest.mark.parametrize(
    ("files", "circle", "ties"),
    [
        pytest.param(
            {
                "src/hocket/base/a.hpp": '#include "hocket/base/b.hpp"\n',
                "src/hocket/base/b.hpp": '\n#include "hocket/base/a.hpp"\n',
            },
            "src/hocket/base/a.hpp -> src/hocket/base/b.hpp -> src/hocket/base/a.hpp",
            ["src/hocket/base/b.hpp:2 includes src/hocket/base/a.hpp"],
            id="headers of the core",
        ),
        pytest.param(
            {
                "mpi/probes/a.hpp": "",
                "mpi/probes/a.cpp": '#include "probes/a.hpp"\n#include "probes/b.hpp"\n',
                "mpi/probes/b.hpp": '#include "probes/a.hpp"\n',
            },
            "mpi/probes/a -> mpi/probes/b -> mpi/probes/a",
            ["mpi/probes/a.cpp:2 includes mpi/probes/b.hpp", "mpi/probes/b.hpp:1 includes mpi/probes/a.hpp"],
            id="a source file and its header are one",
        ),
        pytest.param(
            {
                "mpi/record/record.h": "void hocket_low(void);\nextern int hocket_count;\n",
                "mpi/record/a.c": '#include "record.h"\nint hocket_count = 1;\nvoid f(void) { hocket_low(); }\n',
                "mpi/record/b.c": '#include "record.h"\nvoid hocket_low(void) {\n    ++hocket_count;\n}\n',
            },
            "mpi/record/a -> mpi/record/b -> mpi/record/a",
            [
                "mpi/record/a.c:3 uses hocket_low of mpi/record/b.c",
                "mpi/record/b.c:3 uses hocket_count of mpi/record/a.c",
            ],
            id="calls through a header that several share",
        ),
        pytest.param(
            {
                "python/hocket/plan.py": "import hocket.traces.trace\n",
                "python/hocket/traces/trace.py": "\nfrom hocket.plan import Plan\n",
            },
            "hocket.plan -> hocket.traces.trace -> hocket.plan",
            [
                "python/hocket/plan.py:1 imports hocket.traces.trace",
                "python/hocket/traces/trace.py:2 imports hocket.plan",
            ],
            id="Python at the top",
        ),
        pytest.param(
            {
                "python/hocket/search/__init__.py": "from hocket.search.a import thing\n",
                "python/hocket/search/a.py": "from .b import other\n",
                "python/hocket/search/b.py": "from hocket.search import thing\n",
            },
            "hocket.search -> hocket.search.a -> hocket.search.b -> hocket.search",
            ["python/hocket/search/b.py:1 imports hocket.search"],
            id="Python through the __init__ of its own package",
        ),
        pytest.param(
            {
                "python/hocket/search/__init__.py": "from hocket.search.b import thing\n",
                "python/hocket/search/a.py": "",
                "python/hocket/search/b.py": "import hocket.schedules.transfers\n",
                "python/hocket/schedules/transfers.py": "from hocket.search.a import name\n",
            },
            "hocket.schedules.transfers -> hocket.search -> hocket.search.b -> hocket.schedules.transfers",
            ["python/hocket/schedules/transfers.py:1 imports hocket.search.a, after hocket.search/__init__"],
            id="Python through the __init__ of another package, which runs first",
        ),
        pytest.param(
            {
                "python/hocket/advise/a.py": "def late():\n    from hocket.advise.b import name\n",
                "python/hocket/advise/b.py": "from hocket.advise.a import late\n",
            },
            "hocket.advise.a -> hocket.advise.b -> hocket.advise.a",
            ["python/hocket/advise/a.py:2 imports hocket.advise.b"],
            id="Python in a function",
        ),
        pytest.param(
            {
                "python/hocket/advise/a.py": "if TYPE_CHECKING:\n    from hocket.advise.b import Name\n",
                "python/hocket/advise/b.py": "import hocket.advise.a\n",
            },
            "hocket.advise.a -> hocket.advise.b -> hocket.advise.a",
            ["python/hocket/advise/a.py:2 imports hocket.advise.b"],
            id="Python for a type alone",
        ),
    ],
)
def test_a_circle_is_found(tmp_path, files, circle, ties):
    result = check(write(tmp_path, files))
    assert result.returncode == 1
    assert f": {circle}; none is allowed\n" in result.stderr
    for tie in ties:
        assert f"    {tie}\n" in result.stderr


def test_what_is_no_circle_is_let_be(tmp_path):
    files = {
        "python/hocket/__init__.py": "if TYPE_CHECKING:\n    from hocket.traces.trace import Trace\n",
        "python/hocket/traces/trace.py": "from hocket import Error\n",  # `Trace` is handed on at first use
        "python/hocket/search/__init__.py": "from hocket.search.a import thing\n",
        "python/hocket/search/a.py": "from hocket.search.b import other\n",  # inside the package
        "python/hocket/search/b.py": "",
        "mpi/record/record.h": "void hocket_low(void); /* of b.c */\n",
        "mpi/record/a.c": '#include "record.h"\nvoid f(void) { hocket_low(); }\n',
        "mpi/record/b.c": '#include "record.h"\nvoid hocket_low(void) {\n    int f; /* a name of its own */\n}\n',
    }
    result = check(write(tmp_path, files))
    assert result.returncode == 0, result.stderr


def test_a_header_that_needs_another_first_is_found(tmp_path):
    write(tmp_path, {"src/hocket/base/a.hpp": "#pragma once\ninline std::string name() { return {}; }\n"})
    result = check("--headers", tmp_path)
    assert result.returncode == 1
    assert "src/hocket/base/a.hpp: does not compile alone" in result.stderr
    write(tmp_path, {"src/hocket/base/a.cpp": '#include <string>\n#include "hocket/base/a.hpp"\n'})
    assert check("--headers", tmp_path).returncode == 1
    write(tmp_path, {"src/hocket/base/a.cpp": '#include "hocket/base/a.hpp"\n'})  # the build finds it
    assert check("--headers", tmp_path).returncode == 0
