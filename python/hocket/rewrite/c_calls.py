# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The blocking collectives of C and C++, and whether they may become non-blocking where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hocket.rewrite.buffers import Obligation, Refusal
from hocket.rewrite.c_effects import CCollector, CProgram
from hocket.rewrite.c_items import CItem, items_of
from hocket.rewrite.c_names import OTHERS, Names
from hocket.rewrite.c_source import CFunction, CSource, Cursor, c_walk, is_of_the_system, kind
from hocket.rewrite.c_uniform import Uniform
from hocket.rewrite.costs import Prediction
from hocket.rewrite.mpi_procedures import EXACT_OPERATIONS, ORDERED_OPERATIONS, MpiProcedure, mpi_procedures
from hocket.rewrite.sites import Options
from hocket.rewrite.windows import Window

_EXACT_DATATYPES = frozenset(
    "MPI_CHAR MPI_SIGNED_CHAR MPI_SHORT MPI_INT MPI_LONG MPI_LONG_LONG MPI_LONG_LONG_INT MPI_UNSIGNED_CHAR"
    " MPI_UNSIGNED_SHORT MPI_UNSIGNED MPI_UNSIGNED_LONG MPI_UNSIGNED_LONG_LONG MPI_INT8_T MPI_INT16_T MPI_INT32_T"
    " MPI_INT64_T MPI_UINT8_T MPI_UINT16_T MPI_UINT32_T MPI_UINT64_T MPI_AINT MPI_COUNT MPI_OFFSET".split()
)


@dataclass
class CCall:
    """A blocking collective that is a statement."""

    function: CFunction
    items: list[CItem]
    index: int
    procedure: MpiProcedure
    texts: dict[str, str]  # of the arguments
    actuals: dict[str, Cursor]
    collector: CCollector
    refusals: list[Refusal] = field(default_factory=list)
    obligations: list[Obligation] = field(default_factory=list)
    window: Window | None = None
    prediction: Prediction | None = None

    @property
    def item(self) -> CItem:
        return self.items[self.index]


def calls_of(function: CFunction, program: CProgram) -> Iterator[CCall]:
    """In the order of the text."""
    names = Names(function, known=program.known, defined=program.defined)
    for block in (one for one in c_walk(function.body) if kind(one) == "COMPOUND_STMT"):
        statements = list(block.get_children())
        wanted = [i for i, one in enumerate(statements) if _procedure_of(one, function.source) is not None]
        if not wanted:
            continue
        items = items_of(block, statements, function, program, names)
        for index in wanted:
            procedure = _procedure_of(statements[index], function.source)
            assert procedure is not None
            arguments = list(statements[index].get_arguments())
            texts = _argument_texts(function.source.of(statements[index]))
            keys = [one.name for one in procedure.arguments]
            collector = CCollector(function, program, names)
            if len(texts) == len(arguments) == len(keys):
                pairs = dict(zip(keys, texts, strict=True)), dict(zip(keys, arguments, strict=True))
                yield CCall(function, items, index, procedure, *pairs, collector)
            else:
                reason = Refusal("layout", "a macro makes its arguments", "write them out")
                yield CCall(function, items, index, procedure, {}, {}, collector, [reason])


def blocking_calls_in(source: CSource) -> Iterator[Cursor]:
    """All blocking collectives of a file."""
    for top in source.unit.cursor.get_children():
        for one in c_walk(top) if source.has(top) else ():
            if source.has(one) and _blocking(one) is not None:
                yield one


def _procedure_of(cursor: Cursor, source: CSource) -> MpiProcedure | None:
    """Of a statement that is a blocking collective in plain sight."""
    found = _blocking(cursor)
    return found if found is not None and source.of(cursor).startswith(found.name) else None


def _blocking(cursor: Cursor) -> MpiProcedure | None:
    found = mpi_procedures().get(str(cursor.spelling).lower()) if kind(cursor) == "CALL_EXPR" else None
    if found is None or found.role != "blocking" or not found.starts or found.name != cursor.spelling:
        return None
    called = cursor.referenced
    if called is None or kind(called) != "FUNCTION_DECL" or not is_of_the_system(called):
        return None
    return found if found.is_collective else None


def _argument_texts(call: str) -> list[str]:
    """Divided at the commas of the outermost parentheses."""
    found, depth, at = [""], 0, call.index("(")
    for letter in re.findall(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|\s+|.", call[at + 1 : call.rindex(")")]):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += " " if letter.isspace() else letter
    return [one.strip() for one in found]


def check(call: CCall, program: CProgram, uniform: Uniform, options: Options, problem: Refusal | None) -> None:
    refusals, item, function = call.refusals, call.item, call.function
    if problem is not None:
        refusals.append(problem)
    if item.annotation("keep"):
        refusals.append(Refusal("keep", "// hocket keep stands before it"))
    if line := function.directive_line:
        refusals.append(Refusal("directive", f"line {line}: a directive of the preprocessor stands in the function"))
    if function.name not in program.functions:
        refusals.append(Refusal("unknown-call", f"{function.name} is defined twice, or may be replaced by the linker"))
    labels = (
        "LABEL_STMT",
        "GOTO_STMT",
        "INDIRECT_GOTO_STMT",
        "SWITCH_STMT",
        "LAMBDA_EXPR",
        "CXX_TRY_STMT",
        "ASM_STMT",
        "StmtExpr",
    )
    for one in c_walk(function.body):
        if kind(one) in (*labels, "GCC_ASM_STMT", "MS_ASM_STMT"):
            reason = f"line {one.extent.start.line}: {kind(one).lower().replace('_', ' ')} is not analysed"
            refusals.append(Refusal("unknown", reason))
            break
    refusals += [Refusal(one.code, one.reason, one.hint) for one in item.effects.barriers]
    if "//" in function.source.of(item.cursor) or "/*" in function.source.of(item.cursor):
        refusals.append(Refusal("layout", "a comment stands inside the call", "take it out"))
    if line := item.annotation("uniform"):
        call.obligations.append(Obligation("all ranks run this call", f"stated by line {line}"))
    elif reason := uniform.reason(function, item.cursor):
        hint = "let all ranks run the same call, or state that they do with // hocket uniform before it"
        refusals.append(Refusal("divergence", reason, hint))
    else:
        proof = "no condition around it, or around calls of its function, may differ between ranks"
        call.obligations.append(Obligation("all ranks run the same call", proof))
    _check_buffers(call)
    _check_reduction(call, options)


def _check_buffers(call: CCall) -> None:
    seen: dict[str, str] = {}
    for argument in call.procedure.arguments:
        text = call.texts[argument.name]
        if not (argument.is_buffer or argument.use == "kept") or text == "MPI_IN_PLACE":
            continue
        symbol = call.collector.names.pointee(call.actuals[argument.name])
        if symbol is OTHERS:
            reason = f"other names may reach {text}"
            hint = "declare a pointer restrict, or state // hocket restrict NAME in the function"
            call.refusals.append(Refusal("pointer", reason, hint))
        elif argument.is_buffer and symbol.key in seen:
            call.refusals.append(
                Refusal("aliasing", f"{seen[symbol.key]} and {text} are one object", "use MPI_IN_PLACE")
            )
        else:
            seen[symbol.key] = text
            line = call.collector.names.stated.get(symbol.key.lstrip("*"))
            proof = f"stated by line {line}" if line else "restrict (C17, 6.7.3.1), or its address goes nowhere else"
            call.obligations.append(Obligation(f"no other name reaches {text}", proof))


def _check_reduction(call: CCall, options: Options) -> None:
    operation, datatype = call.texts.get("op"), call.texts.get("datatype", "")
    if operation is None:
        return
    claim = "the result does not depend on the order of the reduction"
    is_predefined = call.collector.is_constant(call.actuals["op"])
    if is_predefined and operation.lower() in EXACT_OPERATIONS:
        call.obligations.append(Obligation(claim, f"{operation} is exact"))
    elif not is_predefined or operation.lower() not in ORDERED_OPERATIONS:
        call.refusals.append(Refusal("unknown-call", f"{operation} is an operation of the program's own"))
    elif datatype in _EXACT_DATATYPES:
        call.obligations.append(Obligation(claim, f"{operation} of {datatype} is exact"))
    elif (line := call.item.annotation("reassociate")) or options.allows_rounding:
        by = f"// hocket reassociate in line {line}" if line else "the option --reassociate"
        call.obligations.append(Obligation("another order of the reduction is accepted", f"stated by {by}"))
    else:
        reason = f"{operation} of {datatype} may round differently in the non-blocking form"
        hint = "accept that with --reassociate, or with // hocket reassociate in the line before the call"
        call.refusals.append(Refusal("rounding", reason, hint))
