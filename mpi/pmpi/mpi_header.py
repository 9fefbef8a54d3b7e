# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors
"""Reads the functions that an mpi.h declares."""

from __future__ import annotations

import re
from typing import NamedTuple

DECLARATION = re.compile(r"([A-Za-z_][\w\s*]*?)\b(P?MPIX?_[A-Z]\w*)\s*\(([^;{}]*?)\)\s*;")


class Function(NamedTuple):
    """A function that returns an error code, with its parameters as the header has them."""

    parameters: list[str]

    def signature(self) -> str:
        return ", ".join(self.parameters) or "void"

    def argument_names(self) -> list[str]:
        return [parameter_name(p) for p in self.parameters if p != "..."]

    def is_variadic(self) -> bool:
        return self.parameters[-1:] == ["..."]


def without_attributes(text: str) -> str:
    """Removes __attribute__((...)) with any nesting, and line markers."""
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    pieces, at = [], 0
    for start in re.finditer(r"__attribute__\s*(?=\()|__extension__", text):
        if start.start() < at:
            continue
        pieces.append(text[at : start.start()])
        at, depth = start.end(), 0
        while at < len(text) and start.group().startswith("__attribute__"):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
            if depth == 0:
                break
    return "".join(pieces) + text[at:]


def split_parameters(text: str) -> list[str]:
    text = " ".join(text.split())
    if text in ("void", ""):
        return []
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def parameter_name(parameter: str) -> str:
    pointer_to_function = re.search(r"\(\s*\*\s*(\w+)\s*\)", parameter)
    if pointer_to_function:
        return pointer_to_function[1]
    words: list[str] = re.findall(r"\w+", re.sub(r"\[[^\]]*\]", "", parameter))
    return words[-1]


def functions(preprocessed: str) -> dict[str, Function]:
    """Name -> function, in alphabetical order, of each MPI_X that the header declares together with PMPI_X."""
    text = without_attributes(preprocessed)
    declared = {m[2]: (m[1].split(), split_parameters(m[3])) for m in DECLARATION.finditer(text)}
    return {
        name: Function(parameters)
        for name, (result, parameters) in sorted(declared.items())
        if name.startswith("MPI") and "P" + name in declared and "int" in result
    }
