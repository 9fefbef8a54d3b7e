# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What packages and users' shells rely on: recipes agree with pyproject.toml, completion, `--version --verbose`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hocket

ROOT = Path(__file__).resolve().parents[2]


def test_recipes_agree_with_the_project() -> None:
    command = [sys.executable, str(ROOT / "tools/release_check.py"), "versions", "requirements"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert subprocess.run([*command[:2], "cake"], capture_output=True, check=False).returncode == 2


def test_version_with_details(hocket_cli: Callable[..., Any]) -> None:
    done = hocket_cli("--version", "--verbose")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == f"hocket {hocket.__version__}"
    found = dict(line.split(": ", 1) for line in done.stdout.splitlines()[1:])
    assert Path(found["core"]).is_file()
    assert Path(found["package"]) == Path(hocket.__file__).parent
    assert "numpy " in found["with"]


def test_shells_complete_commands_and_options(hocket_cli: Callable[..., Any]) -> None:
    def words(typed: str) -> list[str]:
        env = {"_HOCKET_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
        return [line.partition(",")[2] for line in hocket_cli(env=env).stdout.splitlines()]

    assert words("hocket sw") == ["sweep"]
    assert words("hocket sweep s") == ["show"]
    assert "--bytes" in words("hocket cost --by")
    assert "_hocket_completion" in hocket_cli(env={"_HOCKET_COMPLETE": "bash_source"}).stdout
