# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Lines of sources have at most 120 columns, and the checker sees those that have more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools/check_lines.py"), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout: the checker asks git for the files")
def test_this_repository_has_no_longer_lines() -> None:
    result = check(ROOT)
    assert result.returncode == 0, result.stderr


def test_a_longer_line_is_found(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / "third_party").mkdir()
    for name in ("page.html", "third_party/other.cpp"):
        (tmp_path / name).write_text("x" * 121)
    (tmp_path / "wide.py").write_text(f"\n# {'é' * 118}\n")
    assert check(tmp_path).returncode == 0
    (tmp_path / "wide.py").write_text(f"\n# {'é' * 119}\n")
    result = check(tmp_path)
    assert result.returncode == 1
    assert result.stderr == "wide.py:2: 121 columns, at most 120 are allowed\n"
