# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Whether the arguments of a blocking call may stay in use after the call has returned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hocket.rewrite.blocks import Item
from hocket.rewrite.facts import Facts, base_identifier
from hocket.rewrite.mpi_arguments import BoundArguments
from hocket.rewrite.mpi_procedures import EXACT_DATATYPES, EXACT_OPERATIONS, ORDERED_OPERATIONS, Argument
from hocket.rewrite.symbols import Procedure, Symbol
from hocket.rewrite.syntax import Node, named, source_of, text_of, walk


@dataclass(frozen=True)
class Refusal:
    """Why a call stays blocking, and what the user can do."""

    code: str
    reason: str
    hint: str = ""


@dataclass(frozen=True)
class Obligation:
    """What has to hold for a rewrite to be right, and what proves it."""

    claim: str
    proof: str


def kept_names(bound: BoundArguments, procedure: Procedure) -> list[str]:
    """Of the variables that MPI accesses after the call has returned, each once, in their order."""
    names = []
    for argument, actual in bound.pairs():
        if argument.is_buffer or argument.use == "kept":
            names.append(next((text_of(node) for node in walk(actual) if node.type == "identifier"), ""))
    return [name for name in dict.fromkeys(names) if name and not procedure.scope.is_of_mpi(name)]


def check_buffers(bound: BoundArguments, procedure: Procedure) -> tuple[list[Refusal], list[Obligation]]:
    refusals: list[Refusal] = []
    obligations: list[Obligation] = []
    for argument, actual in bound.pairs():
        if not (argument.is_buffer or argument.use == "kept"):
            continue
        if text_of(actual) == "mpi_in_place":
            continue
        found = _refusal_of(argument, actual, procedure)
        if found is not None:
            refusals.append(found)
        else:
            symbol = _base(actual, procedure)
            assert symbol is not None
            obligations.append(
                Obligation(
                    f"no other name reaches {symbol.name}, and it is passed without a copy",
                    f"declarations: {_what(symbol)}, not pointer, target, equivalenced or in common; "
                    "Fortran 2018, 15.5.2.13 and 9.5.4 (simply contiguous)",
                )
            )
    refusals += _same_storage(bound, procedure)
    return refusals, list(dict.fromkeys(obligations))


def refusal_of_actual(actual: Node, procedure: Procedure) -> Refusal | None:
    """Why an actual argument may not stay in use when the call has returned."""
    return _refusal_of(Argument("buf", "inout"), actual, procedure)


def _base(actual: Node, procedure: Procedure) -> Symbol | None:
    node = actual
    while node.type == "call_expression":
        node = node.children[0]
    return procedure.scope.variable(text_of(node)) if node.type == "identifier" else None


def _refusal_of(argument: Argument, actual: Node, procedure: Procedure) -> Refusal | None:
    text = source_of(actual)
    if text_of(actual) == "mpi_bottom":
        return Refusal("unknown-buffer", "the buffer is MPI_BOTTOM with addresses")
    if actual.type == "derived_type_member_expression" or (
        actual.type == "call_expression" and actual.children[0].type == "derived_type_member_expression"
    ):
        return Refusal("derived-type", f"{text} is a component", "copy it to an array of its own")
    symbol = _base(actual, procedure)
    if actual.type not in ("identifier", "call_expression") or symbol is None:
        return Refusal("copy-in", f"{text} is an expression: its value is gone when the call returns", "use a variable")
    if symbol.value is not None or "parameter" in symbol.attributes:
        return Refusal("copy-in", f"{text} is a constant", "use a variable")
    if symbol.conflict:
        return Refusal("unseen", symbol.conflict, "name that file too")
    for attribute in ("pointer", "target"):
        if attribute in symbol.attributes:
            hint = f"declare {symbol.name} without {attribute}, or copy it to a variable without"
            return Refusal(attribute, f"{symbol.name} is a {attribute}: other names may reach it", hint)
    if symbol.is_equivalenced:
        return Refusal("equivalence", f"{symbol.name} is in an equivalence statement", "take it out")
    if symbol.common:
        return Refusal("common", f"{symbol.name} is in common {symbol.common}", "move it to a module")
    if "volatile" in symbol.attributes or procedure.scope.has_attribute(symbol.name, "volatile"):
        return Refusal("volatile", f"{symbol.name} is volatile")
    if symbol.is_derived:
        return Refusal("derived-type", f"{symbol.name} is of a derived type", "copy it to an array of a basic type")
    if symbol.type == "character" and not symbol.is_array and actual.type == "call_expression":
        return Refusal("copy-in", f"{text} is a substring", "use a variable")
    if actual.type == "call_expression" and not symbol.is_array:
        return Refusal("copy-in", f"{text} is the result of a function", "assign it to a variable")
    if "optional" in symbol.attributes or "value" in symbol.attributes:
        return Refusal("unknown-buffer", f"{symbol.name} is an optional or value argument")
    return _copy_in(text, actual, symbol, procedure)


def _copy_in(text: str, actual: Node, symbol: Symbol, procedure: Procedure) -> Refusal | None:
    if symbol.bounds is None:
        return None
    is_assumed_shape = (
        symbol.is_dummy
        and "allocatable" not in symbol.attributes
        and any(upper is None for _, upper in symbol.bounds)
        and not _is_assumed_size(symbol)
    )
    if is_assumed_shape and "contiguous" not in symbol.attributes:
        reason = f"{symbol.name} is of assumed shape: the compiler may pass a copy, which is gone when the call returns"
        return Refusal("copy-in", reason, f"declare {symbol.name} contiguous, or with its extents")
    if actual.type == "call_expression":
        subscripts = named(actual.children[1])
        if any(has_vector(part, procedure) for part in subscripts if part.type != "extent_specifier"):
            return Refusal("copy-in", f"{text} has a vector subscript: a copy is passed", "use a contiguous section")
        if any(part.type == "extent_specifier" for part in subscripts) and not is_contiguous(subscripts):
            reason = f"{text} is not contiguous: the compiler passes a copy, which is gone when the call returns"
            return Refusal("copy-in", reason, "pack it into an array of its own")
    return None


def _is_assumed_size(symbol: Symbol) -> bool:
    """The declaration's last bound is `*`, which `bounds` has as None with the node of no bound."""
    return "assumed-size" in symbol.attributes


def has_vector(part: Node, procedure: Procedure) -> bool:
    if part.type == "array_literal":
        return True
    names = [text_of(node) for node in walk(part) if node.type == "identifier"]
    if part.type == "call_expression":
        return any(node.type == "extent_specifier" for node in walk(part))
    return any(procedure.scope.variable(name).is_array for name in names)


def is_contiguous(subscripts: list[Node]) -> bool:
    """Simply contiguous (9.5.4): whole dimensions, one range without a stride, then single subscripts."""
    is_full = True
    for part in subscripts:
        texts = [child.type for child in part.children] if part.type == "extent_specifier" else []
        if part.type == "extent_specifier" and texts.count(":") > 1:
            return False
        if part.type == "extent_specifier" and not is_full:
            return False
        is_full = is_full and texts == [":"]
    return True


def _same_storage(bound: BoundArguments, procedure: Procedure) -> Iterator[Refusal]:
    """One variable as two buffers: MPI forbids that they overlap, which is not checked here."""
    bases = [
        (_base(actual, procedure), argument)
        for argument, actual in bound.pairs()
        if argument.is_buffer and text_of(actual) != "mpi_in_place"
    ]
    known = [(symbol, argument) for symbol, argument in bases if symbol is not None]
    if len({symbol.key for symbol, _ in known}) < len(known):
        texts = {text_of(actual) for argument, actual in bound.pairs() if argument.is_buffer}
        if len(texts) == 1:
            yield Refusal("aliasing", "the same buffer is sent and received", "use MPI_IN_PLACE")


def _what(symbol: Symbol) -> str:
    if symbol.is_dummy:
        return f"{symbol.name} is a dummy argument"
    if "allocatable" in symbol.attributes:
        return f"{symbol.name} is allocatable"
    return f"{symbol.name} is {'an array' if symbol.is_array else 'a scalar'}"


def check_error_code(bound: BoundArguments, facts: Facts, handles_errors: bool) -> Refusal | None:
    if handles_errors:
        reason = "the program sets an error handler: a failure would be reported at another place"
        return Refusal("error-handling", reason, "leave MPI's errors to end the program")
    name = text_of(bound.error) if bound.error is not None else ""
    if name and name in facts.read_errors:
        return Refusal("error-handling", f"the error code {name} is read", "leave MPI's errors to end the program")
    return None


def check_status(bound: BoundArguments, procedure: Procedure, facts: Facts) -> Refusal | None:
    """MPICH 4.0 and MPI_PROC_NULL: the status has other values after MPI_Irecv and MPI_Wait than after MPI_Recv."""
    status, source = bound.actual("status"), bound.actual("source")
    base = base_identifier(status) if status is not None else None
    if status is None or base is None or source is None or text_of(base) == "mpi_status_ignore":
        return None
    symbol = procedure.scope.variable(text_of(base))
    is_own = procedure.has_alone(symbol)
    is_read = not is_own or text_of(base) in facts.read_statuses
    if not is_read or text_of(source).isdigit() or text_of(source) == "mpi_any_source":
        return None
    what = "is read" if is_own or symbol.is_dummy else "may be read elsewhere"
    reason = f"{source_of(status)} {what}: MPICH fills it differently if {source_of(source)} is MPI_PROC_NULL"
    return Refusal("status", reason, "pass MPI_STATUS_IGNORE")


def check_reduction(
    bound: BoundArguments, item: Item, procedure: Procedure, allows_rounding: bool
) -> tuple[Refusal | None, Obligation | None]:
    """MPI may reduce in another order in the non-blocking form: only some results do not depend on it."""
    operation, datatype = bound.actual("op"), bound.actual("datatype")
    if operation is None or datatype is None:
        return None, None
    name, type_name = text_of(operation), text_of(datatype)
    claim = "the result does not depend on the order of the reduction"
    if not procedure.scope.is_of_mpi(name):
        return Refusal("unknown-call", f"{source_of(operation)} is an operation of the program's own"), None
    if name in EXACT_OPERATIONS:
        return None, Obligation(claim, f"{source_of(operation)} is exact")
    if name in ORDERED_OPERATIONS and type_name in EXACT_DATATYPES:
        return None, Obligation(claim, f"{source_of(operation)} of {source_of(datatype)} is exact")
    line = item.annotation("reassociate")
    if name in ORDERED_OPERATIONS and (line or allows_rounding):
        by = f"!$hocket reassociate in line {line}" if line else "the option --reassociate"
        return None, Obligation("another order of the reduction is accepted", f"stated by {by}")
    if name in ORDERED_OPERATIONS:
        reason = f"{source_of(operation)} of {source_of(datatype)} may round differently in the non-blocking form"
        hint = "accept that with --reassociate, or with !$hocket reassociate in the line before the call"
        return Refusal("rounding", reason, hint), None
    return Refusal("unknown-call", f"{source_of(operation)} is an operation of the program's own"), None
