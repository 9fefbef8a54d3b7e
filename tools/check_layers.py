#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Who may include or import whom: fails on what the tables of tools/layers/tables.py forbid, and on circles.

tools/check_layers.py [FOLDER]             checks the repository (the default: the one this file is in)
tools/check_layers.py --headers [FOLDER]   also compiles every header alone that no source file includes first
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from layers.headers import check_headers
from layers.homes import check_homes
from layers.python_imports import Modules, check_python
from layers.sources import Tree, check_includes
from layers.units import check_circles


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks who includes and imports whom.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--headers", action="store_true", help="compile every header alone")
    arguments = parser.parse_args()
    root = arguments.folder.resolve()
    tree, modules = Tree(root), Modules(root)
    problems = [*check_includes(tree), *check_circles(tree), *check_python(modules), *check_homes(tree, modules)]
    if arguments.headers:
        problems += check_headers(tree)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"check_layers: {len(tree.texts) + len(modules.files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
