# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""usage.py FILE COMMAND...: runs the command, and writes its CPU seconds and largest resident set in bytes to FILE.

A process of its own, and a small one: Linux counts what a parent has in memory for a child, up to its exec.
"""

import json
import os
import subprocess
import sys

process = subprocess.Popen(sys.argv[2:])
_, status, used = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump({"cpu_s": used.ru_utime + used.ru_stime, "rss_bytes": used.ru_maxrss * 1024}, file)
sys.exit(process.returncode if process.returncode >= 0 else 128 - process.returncode)
