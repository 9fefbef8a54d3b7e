# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The syntax tree of a source file. It keeps every byte: each node has its place in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.errors import InvalidInput
from hocket.rewrite import fixed_form
from hocket.rewrite.included import Included, included_in
from hocket.rewrite.libraries import fortran_parser

if TYPE_CHECKING:
    from tree_sitter import Node as Node
else:
    Node = Any

FREE_FORM = (".f90", ".f95", ".f03", ".f08", ".f18")
UNITS = ("program", "subroutine", "function", "module_procedure")
#: Between the tokens of a statement without a meaning of their own.
NOISE = ("&", "comment")


@dataclass
class Source:
    """A file in free form, and its tree. `original` is that of one in fixed form, and `text` the same in free form."""

    path: Path
    text: bytes
    original: bytes | None = None
    included_by: tuple[str, ...] = ()  # real paths of the files that are being read
    declared: bytes = b""  # declarations of names that rewrites of the procedure at hand will add
    include_folders: tuple[Path, ...] = ()  # of --compile -I
    root: Node = field(init=False)

    def __post_init__(self) -> None:
        self.root = fortran_parser().parse(self.text).root_node

    @cached_property
    def lines(self) -> list[bytes]:
        """With their line ends."""
        found = re.findall(rb"[^\n]*\n|[^\n]+$", self.text)  # as the parser counts them
        return [bytes(line) for line in found]

    @cached_property
    def own_names(self) -> frozenset[str]:
        """Those that may be hocket's, in lower case."""
        return own_names(self.text)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where files that it includes may stand."""
        return (self.path.parent, *self.include_folders)

    @cached_property
    def included(self) -> Included:
        return included_in(self.original or self.text, self.folders)

    @property
    def macros(self) -> frozenset[str]:
        """Names that the preprocessor replaces."""
        return self.included.macros


def own_names(text: bytes) -> frozenset[str]:
    """The names in a text that begin with hocket_, in lower case."""
    return frozenset(name.decode().lower() for name in re.findall(rb"(?i)\bhocket_\w*", text))


def read_source(path: Path, include_folders: tuple[Path, ...] = ()) -> Source:
    """Raises InvalidInput for a file that cannot be read, is not Fortran by its name, or is not text."""
    accepted = (*FREE_FORM, *fixed_form.SUFFIXES)
    if path.suffix.lower() not in accepted:
        raise InvalidInput(
            f"{path}: its name ends with {path.suffix or 'nothing'!r}; accepted: {', '.join(accepted)} or in capitals, "
            "and .c, .cc, .cpp, .cxx",
            "name a source file of Fortran, C or C++",
        )
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read: {error.strerror}", "name a Fortran source file") from None
    if b"\0" in text:
        raise InvalidInput(f"{path}: is not a text file", "name a Fortran source file")
    if fixed_form.is_fixed(path, text):
        return Source(path, fixed_form.to_free(text), text, include_folders=include_folders)
    return Source(path, text, include_folders=include_folders)


def children(node: Node) -> list[Node]:
    """Those with a meaning."""
    return [child for child in node.children if child.type not in NOISE]


def named(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type not in NOISE]


def child_of(node: Node, *kinds: str) -> Node | None:
    return next((child for child in node.children if child.type in kinds), None)


def text_of(node: Node) -> str:
    """The tokens in lower case and without spaces; strings as they are."""
    if node.child_count == 0 or node.type in ("string_literal", "identifier", "name"):
        text = (node.text or b"").decode(errors="replace")
        return text if node.type == "string_literal" else text.lower()
    return "".join(text_of(child) for child in children(node))


def source_of(node: Node) -> str:
    """As it stands in the file, on one line."""
    return " ".join((node.text or b"").decode(errors="replace").split())


def line_of(node: Node) -> int:
    """Counted from 1."""
    return int(node.start_point[0]) + 1


def walk(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        at = stack.pop()
        yield at
        stack.extend(reversed(at.children))


def identifiers(node: Node) -> Iterator[str]:
    """The names in a tree, in lower case, in the order of the text."""
    return (text_of(at) for at in walk(node) if at.type == "identifier")


def error_in(node: Node) -> Node | None:
    """The first place that the grammar does not know."""
    if not node.has_error:
        return None
    return next((at for at in walk(node) if at.type == "ERROR" or at.is_missing), node)
