# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The message of a collective as rows, which can be sent in parts: elements, columns or planes of an array."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from hocket.rewrite.affine import Affine, constant
from hocket.rewrite.mpi_arguments import BoundArguments, factors_of, is_collective, is_of_type, never_above
from hocket.rewrite.mpi_procedures import Argument
from hocket.rewrite.sets import Range
from hocket.rewrite.symbols import Procedure, Symbol
from hocket.rewrite.syntax import Node, child_of, named, source_of, text_of
from hocket.rewrite.values import Place, triplet


@dataclass(frozen=True)
class RowBuffer:
    """Row r, counted from 1, has the subscript first + r - 1 in `dimension`; dimensions before it are whole."""

    argument: str
    symbol: Symbol
    is_written: bool
    dimension: int  # from 0
    first: Affine
    first_text: str
    behind: tuple[str, ...]  # texts of the subscripts behind that dimension
    fixed: tuple[Range, ...]  # the same as ranges

    def rows(self, lower: Affine | None, upper: Affine | None) -> tuple[Range, ...]:
        """The elements of rows `lower` to `upper`."""
        whole = Range(None, None)
        begin = None if lower is None else self.first + lower - constant(1)
        end = None if upper is None else self.first + upper - constant(1)
        return (*(whole for _ in range(self.dimension)), Range(begin, end), *self.fixed)


@dataclass(frozen=True)
class Rows:
    """`count` rows of `unit` elements in each buffer."""

    count: str
    units: tuple[str, ...]  # factors of the elements in a row
    element_bytes: int
    buffers: tuple[RowBuffer, ...]
    elements: int | None  # of the message, where that is a known number

    @property
    def size_bytes(self) -> int | None:
        """Of the message, where that is known."""
        return None if self.elements is None else self.elements * self.element_bytes


def rows_of(bound: BoundArguments, procedure: Procedure, place: Place, written: Collection[str]) -> Rows | str:
    """Of a collective that does the same with each element; otherwise why it cannot be sent in parts.

    `written` are the aliases of what the procedure writes anywhere: an extent among them may not be what it was.
    """
    pairs = [(one, node) for one, node in bound.pairs() if one.is_buffer]
    if not is_collective(bound) or any(one.count != "count" for one, _ in pairs):
        return f"{bound.procedure.name} cannot be sent in parts"
    count, datatype = bound.actuals["count"], text_of(bound.actuals["datatype"])
    total = place.affine(count)
    if total is None or "&" in source_of(count):
        return f"the count {source_of(count)} may change, or is not understood"
    found: list[RowBuffer] = []
    shapes: set[tuple[str, tuple[str, ...]]] = set()
    for argument, node in pairs:
        if text_of(node) == "mpi_in_place":
            continue
        base = node.children[0] if node.type == "call_expression" else node
        if base.type != "identifier":
            return f"{source_of(node)} is not an array"
        symbol = procedure.scope.variable(text_of(base))
        if symbol.bounds is None or not is_of_type(place, symbol, datatype):
            return f"{source_of(node)} is not an array of {source_of(bound.actuals['datatype'])}"
        one = _buffer(argument, node, symbol, count, procedure, place, written)
        if one is None:
            return f"the rows of {source_of(node)} are not understood"
        found.append(one[0])
        shapes.add((one[1], one[2]))
    if len(shapes) != 1 or not found:
        return "the buffers have different shapes"
    rows, units = shapes.pop()
    number = total.number()
    size = 16 if "complex" in datatype else 8 if "double" in datatype or datatype.endswith("8") else 4
    return Rows(rows, units, size, tuple(found), number)


_Shape = tuple[RowBuffer, str, tuple[str, ...]]


def _buffer(
    argument: Argument,
    node: Node,
    symbol: Symbol,
    count: Node,
    procedure: Procedure,
    place: Place,
    written: Collection[str],
) -> _Shape | None:
    """The buffer, the text of the number of its rows, and the factors of a row's length. The longest rows there are."""
    bounds = symbol.bounds
    assert bounds is not None
    arguments = child_of(node, "argument_list") if node.type == "call_expression" else None
    subscripts: list[Node | None] = [*named(arguments)] if arguments is not None else [None] * len(bounds)
    if len(subscripts) != len(bounds) or any("&" in source_of(one) for one in subscripts if one is not None):
        return None
    extents = list[str]()
    for (lower, upper), subscript in zip(bounds[:-1], subscripts, strict=False):
        extent = _extent(lower, upper, procedure, written)
        if extent is None or not _is_whole(subscript, place):
            break
        extents.append(extent)
    for dimension in range(len(extents), -1, -1):
        behind = subscripts[dimension + 1 :]
        if any(one is None or one.type == "extent_specifier" for one in behind):
            continue
        count_node = _rest(count, extents[:dimension])
        first = _first(subscripts[dimension], bounds[dimension][0], place)
        if "allocatable" in symbol.attributes and _is_whole_text(subscripts[dimension]):
            continue  # its bounds are those of an allocate statement
        rows = place.affine(count_node)
        if count_node is None or first is None or rows is None:
            continue
        end = place.affine(bounds[dimension][1])
        is_last = dimension == len(bounds) - 1
        if not is_last and (end is None or not never_above(first[0] + rows - constant(1), end)):
            continue
        ranges = tuple(Range(place.affine(one), place.affine(one)) for one in behind)
        texts = tuple(source_of(one) for one in behind if one is not None)
        buffer = RowBuffer(argument.name, symbol, argument.use != "in", dimension, *first, texts, ranges)
        return buffer, source_of(count_node), tuple(extents[:dimension])
    return None


def _rest(count: Node, extents: list[str]) -> Node | None:
    """The factor of the count that is left without the extents."""
    left = factors_of(count) if extents else [count]
    for extent in extents:
        at = next((i for i, one in enumerate(left) if text_of(one) == extent), None)
        if at is None:
            return None
        del left[at]
    return left[0] if len(left) == 1 else None


def _first(subscript: Node | None, lower: Node | None, place: Place) -> tuple[Affine, str] | None:
    """The subscript of the first row, and its text."""
    node = subscript
    if subscript is not None and subscript.type == "extent_specifier":
        node, _, stride = triplet(subscript)
        if stride is not None:
            return None
    if node is not None:
        value = place.affine(node)
        return None if value is None else (value, source_of(node))
    if lower is None:
        return constant(1), "1"
    value = place.affine(lower)  # what it was on entry: a number is the same now
    return (value, source_of(lower)) if value is not None and value.number() is not None else None


def _extent(lower: Node | None, upper: Node | None, procedure: Procedure, written: Collection[str]) -> str | None:
    """Of a dimension that begins with 1, as text."""
    if upper is None or (lower is not None and text_of(lower) != "1"):
        return None
    if upper.type == "number_literal":
        return text_of(upper)
    symbol = procedure.scope.variable(text_of(upper)) if upper.type == "identifier" else None
    if symbol is None or (symbol.value is None and (symbol.alias in written or symbol.alias != symbol.key)):
        return None
    return text_of(upper)


def _is_whole(subscript: Node | None, place: Place) -> bool:
    """Whether it stands for a dimension from its begin, which is 1: all of it, or its first element."""
    if subscript is None or _is_whole_text(subscript):
        return True
    value = place.affine(subscript) if subscript.type != "extent_specifier" else None
    return value is not None and value.number() == 1


def _is_whole_text(subscript: Node | None) -> bool:
    return subscript is None or text_of(subscript).startswith(":")
