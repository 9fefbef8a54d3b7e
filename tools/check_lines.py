#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Fails on lines of source files above 120 columns: clang-format leaves those of comments, ruff those of texts.

tools/check_lines.py [FOLDER]   checks what git lists there (the default: the repository this file is in)

Not looked at: third_party, and what is no source of a program: data, tables, page templates. Documents have a test of
their own, which allows long addresses and tables.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

COLUMNS = 120
SOURCES = "*.c *.h *.cpp *.hpp *.inc *.f90 *.F90 *.py *.cmake *CMakeLists.txt *Makefile tools/* .ci/*".split()


def main() -> int:
    parser = argparse.ArgumentParser(description=f"Finds lines above {COLUMNS} columns.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    folder = parser.parse_args().folder
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", *SOURCES]
    listed = subprocess.run([*command, ":!third_party"], cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    files = [path for name in listed.stdout.split("\0") if name and (path := folder / name).is_file()]
    problems = [
        f"{path.relative_to(folder)}:{number}: {len(line)} columns, at most {COLUMNS} are allowed"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > COLUMNS
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"check_lines: {len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
