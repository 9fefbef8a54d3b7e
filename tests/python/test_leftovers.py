# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a killed process left behind is removed by the next start; nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from hocket.tune.leftovers import working_folder

OWNER = """
import sys, os; from pathlib import Path; from hocket.tune.leftovers import working_folder
with working_folder(".result-", Path(sys.argv[1])) as folder:
    (folder / "file").touch(); os.utime(folder, (0, 0)); print(folder, flush=True); input()
"""


def test_only_the_dead_are_cleaned_up(tmp_path: Path) -> None:
    owners = [
        subprocess.Popen([sys.executable, "-c", OWNER, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    dead, living = (Path(owner.stdout.readline().decode().strip()) for owner in owners)
    owners[0].send_signal(signal.SIGKILL)
    owners[0].communicate()
    others = [tmp_path / name for name in (".result-mine", "result", ".other-1.hocket-unfinished")]
    for path in others:
        path.mkdir()
        os.utime(path, (0, 0))
    link = tmp_path / ".result-link.hocket-unfinished"
    link.symlink_to(others[1])
    young = tmp_path / ".result-young.hocket-unfinished"
    young.mkdir()
    assert dead.exists()
    with working_folder(".result-", tmp_path) as folder:
        assert not dead.exists()
        assert {folder, living, link, young, *others} == set(tmp_path.iterdir())
    owners[1].communicate(b"\n")
    assert {link, young, *others} == set(tmp_path.iterdir())
