#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How long `hocket rewrite` takes for one large file: the kernels of tests/rewrite many times, under other names.

.venv/bin/python perf/rewrite_speed.py --lines 20000
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

from hocket.rewrite.rewriter import rewrite
from hocket.rewrite.syntax import Source

KERNELS = Path(__file__).resolve().parents[1] / "tests/rewrite/kernels"
MODULES = ("stencils", "transforms", "linear_algebra", "particles", "statistics")


def large_file(num_lines: int) -> str:
    text, number = "", 0
    while text.count("\n") < num_lines:
        for module in MODULES:
            part = (KERNELS / f"{module}.f90").read_text()
            text += re.sub(rf"\bmodule {module}\b", f"module {module}_{number}", part)
        number += 1
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=20_000)
    arguments = parser.parse_args()
    text = large_file(arguments.lines)
    started_s, cpu_s = time.perf_counter(), time.process_time()
    result = rewrite([Source(Path("large.f90"), text.encode())])
    rewritten = sum(one.is_rewritten for one in result.outcomes)
    print(
        f"{text.count(chr(10))} lines, {len(result.outcomes)} blocking calls, {rewritten} rewritten: "
        f"{time.perf_counter() - started_s:.1f} s, {time.process_time() - cpu_s:.1f} s of CPU time"
    )


if __name__ == "__main__":
    main()
