# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Rewrites C and C++: blocking collectives become non-blocking, with the statements around them between start and wait.

The planner of the windows is that of Fortran. Only statements of the call's own block move, loops stay whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hocket.rewrite.blocks import Item
from hocket.rewrite.buffers import Obligation, Refusal
from hocket.rewrite.c_effects import CCollector, CProgram
from hocket.rewrite.c_items import CItem, items_of
from hocket.rewrite.c_names import OTHERS, Names
from hocket.rewrite.c_source import (
    CFunction,
    CSource,
    Cursor,
    c_walk,
    is_of_the_system,
    kind,
    read_c_source,
)
from hocket.rewrite.c_uniform import Uniform
from hocket.rewrite.change import Edit, Piece, with_edits
from hocket.rewrite.effects import Effects
from hocket.rewrite.mpi_procedures import EXACT_OPERATIONS, ORDERED_OPERATIONS, MpiProcedure, mpi_procedures
from hocket.rewrite.outcomes import Outcome, Rewritten
from hocket.rewrite.sites import Options
from hocket.rewrite.syntax import own_names
from hocket.rewrite.text import names_not_in
from hocket.rewrite.windows import Window, find_window, item_of

_EXACT_DATATYPES = frozenset(
    "MPI_CHAR MPI_SHORT MPI_INT MPI_LONG MPI_LONG_LONG MPI_UNSIGNED MPI_UNSIGNED_LONG MPI_INT8_T MPI_INT16_T"
    " MPI_INT32_T MPI_INT64_T MPI_UINT8_T MPI_UINT16_T MPI_UINT32_T MPI_UINT64_T".split()
)


class _NoSplitter:
    """Loops stay whole."""

    analysis = block = None
    private: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()

    def split(self, item: Item, waited: Effects, is_above: bool = False) -> None:
        return None


@dataclass
class _Call:
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

    @property
    def item(self) -> CItem:
        return self.items[self.index]


def rewrite_c(
    sources: Sequence[CSource],
    options: Options,
    compiler_options: Sequence[str] = (),
    report: Callable[[str], None] = lambda _: None,
) -> Rewritten:
    """One call after the other, the last of a function first, until nothing is left to rewrite."""
    result = Rewritten({one.path: one.text for one in sources}, {})
    current = {one.path: one for one in sources}
    origins = {one.path: list(range(len(one.lines))) for one in sources}
    refused: dict[tuple[str, int], Outcome] = {}
    while True:
        change = _next_change(list(current.values()), origins, options, refused, report)
        if change is None:
            break
        outcome, edits = change
        path = outcome.path
        refused.pop((str(path), outcome.line), None)
        result.outcomes.append(outcome)
        text, lines = with_edits(current[path].lines, edits)
        origins[path] = [origins[path][line] if line >= 0 else -1 for line in lines]
        current[path] = read_c_source(path, text, compiler_options)
    result.new = {path: one.text for path, one in current.items()}
    result.outcomes += refused.values()
    result.outcomes.sort(key=lambda one: (str(one.path), one.line))
    return result


def _next_change(
    sources: Sequence[CSource],
    origins: dict[Any, list[int]],
    options: Options,
    refused: dict[tuple[str, int], Outcome],
    report: Callable[[str], None],
) -> tuple[Outcome, list[Edit]] | None:
    program = CProgram(sources)
    uniform = Uniform(program)
    problem = _problem_of(program)
    for function in program.all:
        report(function.name)
        for call in reversed(list(_calls_of(function, program))):
            if not call.refusals:
                _check(call, program, uniform, options, problem)
            if not call.refusals:
                _find_window(call)
            old = origins[function.source.path]
            line = old[call.item.line - 1] + 1
            outcome = Outcome(function.source.path, line, function.name, call.procedure.name, not call.refusals)
            lines = _old_lines(old)
            if call.refusals:
                some = tuple(replace(one, reason=lines(one.reason)) for one in dict.fromkeys(call.refusals))
                refused[str(function.source.path), line] = replace(outcome, refusals=some)
                continue
            proofs = tuple(Obligation(lines(one.claim), lines(one.proof)) for one in call.obligations)
            return replace(outcome, obligations=proofs), [_edit(call)]
    return None


def _old_lines(origins: list[int]) -> Callable[[str], str]:
    def old(found: re.Match[str]) -> str:
        line = int(found[1])
        return f"line {origins[line - 1] + 1}" if 0 < line <= len(origins) else found[0]

    return lambda text: re.sub(r"\bline (\d+)", old, text)


def _problem_of(program: CProgram) -> Refusal | None:
    """What forbids rewrites everywhere."""
    if own := next((one.name for one in program.all if one.name.startswith("MPI_")), None):
        return Refusal("unknown-call", f"the files define {own}: calls may do more than MPI's")
    for source in program.sources:
        if found := re.search(
            rb"\bMPI_(Comm|Win|File|Session)?_?\w*[eE]rrhandler\w*|\bMPI_ERRORS_RETURN\b", source.text
        ):
            return Refusal("error-handling", f"{source.path} has {found[0].decode()}: a failure may be handled")
        if found := re.search(rb"\b(MPI_Win_\w+|mmap|shmat|shm_open)\b", source.text):
            return Refusal("one-sided", f"{source.path} has {found[0].decode()}: other ranks may access memory")
        if found := re.search(rb"\b_*(sig)?(set|long)jmp\b", source.text):
            return Refusal("early-exit", f"{source.path} has {found[0].decode()}: it may leave any function")
    return None


def _calls_of(function: CFunction, program: CProgram) -> Iterator[_Call]:
    """In the order of the text."""
    names = Names(function, known=program.known)
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
                yield _Call(function, items, index, procedure, *pairs, collector)
            else:
                reason = Refusal("layout", "a macro makes its arguments", "write them out")
                yield _Call(function, items, index, procedure, {}, {}, collector, [reason])


def _procedure_of(cursor: Cursor, source: CSource) -> MpiProcedure | None:
    """Of a statement that is a blocking collective in plain sight."""
    found = mpi_procedures().get(str(cursor.spelling).lower()) if kind(cursor) == "CALL_EXPR" else None
    if found is None or found.role != "blocking" or not found.starts or found.name != cursor.spelling:
        return None
    called = cursor.referenced
    if called is None or kind(called) != "FUNCTION_DECL" or not is_of_the_system(called):
        return None
    is_collective = not {one.name for one in found.arguments} & {"dest", "source", "tag"}
    return found if is_collective and source.of(cursor).startswith(found.name) else None


def _argument_texts(call: str) -> list[str]:
    """Divided at the commas of the outermost parentheses."""
    found, depth, at = [""], 0, call.index("(")
    for letter in re.findall(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|.", call[at + 1 : call.rindex(")")], re.DOTALL):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [" ".join(one.split()) for one in found]


def _check(call: _Call, program: CProgram, uniform: Uniform, options: Options, problem: Refusal | None) -> None:
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


def _check_buffers(call: _Call) -> None:
    seen: dict[str, str] = {}
    for argument in call.procedure.arguments:
        text = call.texts[argument.name]
        if not (argument.is_buffer or argument.use == "kept") or text == "MPI_IN_PLACE":
            continue
        symbol = call.collector.names.pointee(call.actuals[argument.name])
        if symbol is OTHERS:
            reason = f"other names may reach {text}"
            hint = "declare it restrict, or state that with // hocket restrict NAME in the function"
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


def _check_reduction(call: _Call, options: Options) -> None:
    operation, datatype = call.texts.get("op"), call.texts.get("datatype", "")
    if operation is None:
        return
    claim = "the result does not depend on the order of the reduction"
    if operation.lower() in EXACT_OPERATIONS:
        call.obligations.append(Obligation(claim, f"{operation} is exact"))
    elif operation.lower() not in ORDERED_OPERATIONS:
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


def _find_window(call: _Call) -> None:
    waited = CCollector(call.function, call.collector.program, call.collector.names)
    for argument in call.procedure.arguments:
        text, actual = call.texts[argument.name], call.actuals[argument.name]
        if (argument.is_buffer or argument.use == "kept") and text != "MPI_IN_PLACE":
            symbol = call.collector.names.pointee(actual)
            for is_write in (False, True):
                if not is_write or argument.use in ("out", "inout"):
                    waited.access(symbol, is_write, actual)
    splitter: Any = _NoSplitter()
    call.window = find_window(list(call.items), call.index, call.item.effects, waited.effects, frozenset(), splitter)
    if not call.window.has_work:
        for side, stop in (("before", call.window.above), ("after", call.window.below)):
            reason = f"no independent work {side} the call: {stop.reason}"
            call.refusals.append(Refusal(stop.code, reason, stop.hint))
        return
    lines = ", ".join(f"line {item_of(one).line}" for one in call.window.inside)
    call.obligations += [
        Obligation(
            "between start and wait nothing writes what is sent or accesses what is received",
            f"statements in {lines}: they access other objects",
        ),
        Obligation("calls of MPI start in the same order on every rank", "no call of MPI was crossed"),
        Obligation(
            "the compiler does not move accesses over start or wait",
            "the buffer's address is passed to MPI, so any function may access it, as far as the compiler knows",
        ),
    ]
    if call.window.before or call.window.after:
        claim = "statements that change places do not depend on each other"
        call.obligations.append(Obligation(claim, "their accesses were compared"))


def _edit(call: _Call) -> Edit:
    """The statements from the first to the last that changes its place, in their new order."""
    window, source, item = call.window, call.function.source, call.item
    assert window is not None
    request = names_not_in(own_names(source.text), 1, "hocket_request")[0]
    line = source.lines[item.line - 1]
    indent = line[: len(line) - len(line.lstrip())]
    arguments = ", ".join(call.texts.values())
    comments = b"".join(source.lines[item.first_line : item.line - 1])
    start = f"MPI_Request {request};", f"{call.procedure.starts[0]}({arguments}, &{request});"
    end = item.cursor.extent.end
    comment = source.lines[end.line - 1][end.column - 1 :].partition(b";")[2].strip()
    wait = indent + f"MPI_Wait(&{request}, MPI_STATUS_IGNORE);\n".encode()
    own = tuple(range(item.first_line, item.last_line + 1))

    def kept(one: Any) -> Piece:
        place = item_of(one)
        text = b"".join(source.lines[place.first_line : place.last_line + 1])
        return Piece(text, tuple(range(place.first_line, place.last_line + 1)))

    at = item.line - 1
    pieces = [kept(one) for one in window.before]
    pieces.append(Piece(comments, own[: at - item.first_line]))
    text = b"".join(indent + one.encode() + b"\n" for one in start)
    pieces.append(Piece(text[:-1] + (b"  " + comment if comment else b"") + b"\n", (at, at)))
    pieces += [kept(one) for one in window.inside]
    pieces.append(Piece(wait, (at,)))
    pieces += [kept(one) for one in window.after]
    used = [item_of(one) for one in [*window.before, *window.inside, *window.after]] + [item]
    return Edit(min(one.first_line for one in used), max(one.last_line for one in used) + 1, tuple(pieces))
