# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The libraries of `hocket[rewrite]`: tree-sitter with its grammar of Fortran, and isl for sets of array elements."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from hocket.errors import Error

INSTALL = "pip install 'hocket[rewrite]'"


def _load(name: str, install: str = INSTALL) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Error(f"rewriting needs the Python package {name}, which cannot be loaded: {error}", install) from None


@functools.cache
def fortran_parser() -> Any:
    """A `tree_sitter.Parser` of Fortran in free form. Raises Error where the package is missing."""
    tree_sitter = _load("tree_sitter")
    return tree_sitter.Parser(tree_sitter.Language(_load("tree_sitter_fortran").language()))


@functools.cache
def isl() -> Any:
    """The module islpy [Verdoolaege, isl: An Integer Set Library, ICMS 2010]."""
    return _load("islpy")


@functools.cache
def clang() -> Any:
    """The module clang.cindex of the package libclang."""
    return _load("clang.cindex", "pip install 'hocket[rewrite-c]'")
