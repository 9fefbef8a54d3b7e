# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The arguments of a call of MPI, and which elements its buffers have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hocket.rewrite.affine import Affine, constant, known_value
from hocket.rewrite.mpi_procedures import DATATYPES, Argument, MpiProcedure
from hocket.rewrite.sets import Range, as_isl, is_empty
from hocket.rewrite.symbols import Symbol
from hocket.rewrite.syntax import Node, child_of, children, named, text_of
from hocket.rewrite.values import Place


@dataclass(frozen=True)
class BoundArguments:
    procedure: MpiProcedure
    node: Node  # the call
    actuals: dict[str, Node]  # by the name of the argument
    error: Node | None  # the variable for the error code

    def actual(self, name: str) -> Node | None:
        return self.actuals.get(name)

    def pairs(self) -> Iterator[tuple[Argument, Node]]:
        return ((one, self.actuals[one.name]) for one in self.procedure.arguments)

    def is_in_place(self) -> bool:
        return any(text_of(node) == "mpi_in_place" for node in self.actuals.values())


def is_collective(bound: BoundArguments) -> bool:
    return bound.procedure.is_collective


def bind(procedure: MpiProcedure, node: Node) -> BoundArguments | None:
    """None if the call does not have the arguments of the procedure."""
    arguments = child_of(node, "argument_list")
    parts = [part for part in children(arguments) if part.type not in ("(", ")", ",")] if arguments is not None else []
    names = [one.name for one in procedure.arguments]
    found: dict[str, Node] = {}
    for position, part in enumerate(parts):
        if part.type == "keyword_argument":
            name, value = text_of(named(part)[0]), named(part)[-1]
        elif position <= len(names):
            name, value = [*names, "ierror"][position], part
        else:
            return None
        if name in found:
            return None
        found[name] = value
    error = found.pop("ierror", None)
    return BoundArguments(procedure, node, found, error) if set(found) == set(names) else None


def buffer_ranges(
    bound: BoundArguments, argument: Argument, actual: Node, symbol: Symbol, place: Place
) -> tuple[Range, ...] | None:
    """The elements of a buffer; None: any of the variable.

    A whole array, or a section, is the buffer's limit. An element stands for those behind it in array element order, as
    many as the count says, if the datatype is that of the variable.
    """
    if actual.type == "identifier" or symbol.bounds is None:
        return None
    arguments = child_of(actual, "argument_list")
    ranges = place.subscripts(symbol, arguments) if actual.type == "call_expression" else None
    if ranges is None or arguments is None:
        return None
    if any(part.type == "extent_specifier" for part in named(arguments)):
        return ranges
    count_node, type_node = bound.actual(argument.count), bound.actual(argument.datatype)
    if count_node is None or type_node is None or not _has_type(place, symbol, text_of(type_node)):
        return None
    if symbol.attributes & {"pointer", "allocatable"} and not _is_one(place.affine(count_node)):
        return _along_first(symbol, ranges, place, count_node) if len(ranges) == 1 else None
    return _along_first(symbol, ranges, place, count_node)


def _is_one(count: Affine | None) -> bool:
    return count is not None and count.number() == 1


def _has_type(place: Place, symbol: Symbol, datatype: str) -> bool:
    """Whether an element of the datatype is known to be no longer than one of the variable."""
    expected = DATATYPES.get(datatype)
    if expected is None or expected[0] != symbol.type:
        return False
    if not expected[1]:  # of the default kind
        return symbol.kind in ("", "4", "8", "double") or (symbol.type in ("real", "complex"))
    return _is_double(place, symbol.kind, symbol.type)


def is_of_type(place: Place, symbol: Symbol, datatype: str) -> bool:
    """Whether an element of the datatype is known to be as long as one of the variable."""
    expected = DATATYPES.get(datatype)
    if expected is None or expected[0] != symbol.type:
        return False
    if expected[1]:
        return _is_double(place, symbol.kind, symbol.type)
    return symbol.kind in ("", "4")


def _is_double(place: Place, kind: str, type_name: str) -> bool:
    if kind in ("double", "real64", "int64", "c_double", "c_double_complex", "c_int64_t", "mpi_offset_kind"):
        return kind.startswith("mpi") or place.scope.find(kind) is None
    if kind.isdigit():
        return int(kind) == (16 if type_name == "complex" else 8)
    symbol = place.scope.find(kind) if kind.isidentifier() else None
    if symbol is None or symbol.value is None:
        return False
    value = text_of(symbol.value)
    return value in ("8", "real64", "int64", "c_double", "kind(1.0d0)", "kind(1.d0)", "kind(0.0d0)", "kind(0.d0)") or (
        value in ("selected_real_kind(15)", "selected_real_kind(15,307)", "selected_real_kind(12)")
    )


def _along_first(symbol: Symbol, ranges: tuple[Range, ...], place: Place, count_node: Node) -> tuple[Range, ...] | None:
    """The column that an element begins, if the count does not reach the next one."""
    first, count = ranges[0].lower, place.affine(count_node)
    if first is None or count is None or any(one.lower is None for one in ranges):
        return _leading(symbol, ranges, place, count_node)
    last = first + count - constant(1)
    if len(ranges) == 1:
        return (Range(first, last),)
    upper = symbol.bounds[0][1] if symbol.bounds is not None else None
    end = place.affine(upper)
    if end is not None and never_above(last, end):
        return (Range(first, last), *ranges[1:])
    return _leading(symbol, ranges, place, count_node)


def _leading(symbol: Symbol, ranges: tuple[Range, ...], place: Place, count_node: Node) -> tuple[Range, ...] | None:
    """Whole leading dimensions where the count is the product of their extents."""
    if symbol.bounds is None:
        return None
    factors = sorted(text_of(one) for one in factors_of(count_node))
    extents: list[str] = []
    for dimension, (lower, upper) in enumerate(symbol.bounds[:-1]):
        start = constant(1) if lower is None else place.affine(lower)
        if upper is None or start is None or ranges[dimension].lower != start or start.number() != 1:
            return None
        if place.affine(upper) is None:
            return None
        extents.append(text_of(upper))
        if sorted(extents) == factors:
            return (*(Range(None, None) for _ in extents), *ranges[dimension + 1 :])
    return None


def factors_of(node: Node) -> list[Node]:
    parts = children(node)
    if node.type == "math_expression" and len(parts) == 3 and parts[1].type == "*":
        return factors_of(parts[0]) + factors_of(parts[2])
    if node.type == "parenthesized_expression":
        return factors_of(named(node)[0])
    return [node]


def never_above(value: Affine, limit: Affine) -> bool:
    difference = value - limit
    names = {one: f"p{i}" for i, one in enumerate(sorted(difference.unknowns()))}
    known = [f"{name} = {known_value(one)}" for one, name in names.items() if known_value(one) is not None]
    parts = [f"{as_isl(difference, names)} >= 1", *known]
    return is_empty(f"[{', '.join(names.values())}] -> {{ [] : {' and '.join(parts)} }}")
