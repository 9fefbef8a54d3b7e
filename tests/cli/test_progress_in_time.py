# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What takes a while and ends in time: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

PROGRAM = """
from hocket.cli.common import progress_in_time
with progress_in_time("measuring", 1000.0) as tell:
    tell("a trial")
    tell("launch 1")
print("end")
"""


def test_lines_where_there_is_no_terminal():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == "end\n"
    line = r"hocket: measuring: {}; at most \d+ s more\n"
    assert re.fullmatch(line.format("a trial") + line.format("launch 1"), done.stderr)


def test_a_bar_on_a_terminal_that_leaves_nothing_behind():
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stderr=theirs, env=environment, stdout=subprocess.PIPE
    ) as run:
        os.close(theirs)
        shown = b""
        while True:
            try:
                shown += os.read(ours, 4096)
            except OSError:  # the program has ended
                break
        assert run.stdout is not None
        assert run.stdout.read() == b"end\n"
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert re.search(r"measuring: launch 1 .* at most \d+ s more", text)
    assert shown.rstrip().endswith(b"\x1b[2K")  # the line is erased
    assert "hocket: " not in text
