# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket bench new`: what it writes, and what it refuses. tests/mpi/test_bench_own.py compiles and runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.mark.parametrize("language", ["c", "c++", "fortran", "steps"])
def test_a_folder_with_all_that_is_needed(hocket_cli, tmp_path: Path, language: str) -> None:
    done = json.loads(hocket_cli("bench", "new", "halo_2d", "--language", language, "-o", "mine", "--json").stdout)
    folder = tmp_path / "mine/halo_2d"
    assert done["folder"] == "mine/halo_2d"
    assert sorted(path.name for path in folder.iterdir()) == sorted(done["files"])
    text = "".join(path.read_text() for path in folder.iterdir() if path.name != "hocket_bench.h")
    assert "halo_2d" in text
    assert '"ring"' not in text
    assert "libring" not in text
    assert "SPDX" not in text


def test_what_is_refused(hocket_cli, tmp_path: Path) -> None:
    (tmp_path / "halo").mkdir()
    (tmp_path / "file").write_text("mine")
    for arguments, message in (
        (["halo"], "halo: is there already"),
        (["Halo"], "'Halo' is no name of a pattern"),
        (["../halo"], "'../halo' is no name of a pattern"),
        (["x", "-o", "file"], "file/x: cannot be made"),
    ):
        result = hocket_cli("bench", "new", *arguments)
        assert result.returncode == 2, result.stderr
        assert message in result.stderr
        assert "Traceback" not in result.stderr
    assert (tmp_path / "file").read_text() == "mine"
