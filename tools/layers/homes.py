# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Formats that are read and written outside the module that is their home."""

from __future__ import annotations

from layers.python_imports import Modules
from layers.sources import Tree
from layers.tables import ONE_HOME


def check_homes(tree: Tree, modules: Modules) -> list[str]:
    texts = {tree.name(path): text for path, text in tree.texts.items()}
    texts |= {path.relative_to(tree.root).as_posix(): path.read_text() for path in modules.files.values()}
    return [
        f"{name}: names {what}, which is read and written in {home} only"
        for word, home, what in ONE_HOME
        for name, text in texts.items()
        if word in text and not name.startswith(home)
    ]
