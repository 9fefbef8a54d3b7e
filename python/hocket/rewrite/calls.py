# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The effects of calls: of intrinsic functions, of MPI, of procedures in the given files, and of all others."""

from __future__ import annotations

from hocket.rewrite.affine import Condition
from hocket.rewrite.effects import Barrier, MpiUse, Summary
from hocket.rewrite.intrinsics import CO_PROCEDURES, intrinsics
from hocket.rewrite.mpi_arguments import BoundArguments, bind, buffer_ranges
from hocket.rewrite.mpi_procedures import mpi_procedures
from hocket.rewrite.recorder import Recorder
from hocket.rewrite.symbols import Procedure, Symbol
from hocket.rewrite.syntax import Node, child_of, children, line_of, named, text_of

_PURE_HINT = "give its file too, or write !$hocket pure in the line before if it accesses its arguments only"
_TWO_FORMS = frozenset({"random_number", "random_seed", "random_init"})


class Calls:
    """Of one `Recorder`, which it adds to."""

    def __init__(self, collector: Recorder) -> None:
        self.collector = collector

    def subroutine(self, node: Node) -> None:
        collector = self.collector
        name_node = children(node)[1]
        arguments = actual_arguments(child_of(node, "argument_list"))
        if name_node.type != "identifier":
            collector.barrier("unknown-call", node, f"{text_of(name_node)} is called through a type", _PURE_HINT)
            return
        name = text_of(name_node)
        known = collector.summaries.procedure(name, collector.procedure)
        if known is None and (name in mpi_procedures() or name.startswith(("mpi_", "pmpi_"))):
            self._mpi(name, node)
        elif known is None and collector.clock(name, node):
            return
        elif known is None and name in CO_PROCEDURES:
            self._coarrays(name, arguments, node)
        elif known is None and name in _TWO_FORMS:
            collector.barrier("unknown-call", node, f"{name} changes the state of the random numbers")
        elif known is None and name == "move_alloc":
            for one in arguments.values():
                collector.write(one)
        else:
            self._procedure(name, known, arguments, node)

    def expression(self, node: Node) -> None:
        """An element, a section, a substring, or a function's result."""
        collector = self.collector
        designator, arguments = node.children[0], child_of(node, "argument_list")
        inside = named(arguments) if arguments is not None else []
        if designator.type == "derived_type_member_expression":
            for part in inside:
                collector.read(part)
            collector.component(designator, False)
            return
        if designator.type != "identifier":  # of a substring of an element
            for part in [designator, *inside]:
                collector.read(part)
            return
        name = text_of(designator)
        symbol = collector.procedure.scope.find(name)
        is_substring = symbol is not None and symbol.type == "character" and any(map(is_section, inside))
        if symbol is not None and (symbol.is_array or is_substring) and not symbol.is_procedure:
            for part in inside:
                collector.read(part)
            collector.add(symbol, False, node, collector.place.subscripts(symbol, arguments))
            return
        known = collector.summaries.procedure(name, collector.procedure)
        if known is None and collector.clock(name, node):
            return
        if known is None and name in intrinsics() and not collector.procedure.has_own_function(name):
            for part in inside:
                collector.read(part)
            return
        collector.effects.has_work = True
        self._procedure(name, known, actual_arguments(arguments), node)

    def _procedure(self, name: str, known: Procedure | None, arguments: dict[str, Node], node: Node) -> None:
        collector = self.collector
        if collector.says_pure:
            for argument in arguments.values():
                self._anything_of(argument)
            collector.effects.has_work = True
            return
        if known is None:
            unseen = collector.procedure.scope.unseen_of(name) if name in intrinsics() else ""
            what = f"{name} may come from {unseen}, which" if unseen else name
            collector.barrier("unknown-call", node, f"{what} is not among the files", _PURE_HINT)
            return
        summary = collector.summaries.of(name, collector.procedure)
        if summary.barrier is not None:
            inner = summary.barrier
            reason = inner.reason if inner.reason.startswith(f"{name}: ") else f"{name}: {inner.reason}"
            collector.found_barrier(Barrier(inner.code, reason, inner.hint, line_of(node)), node)
            return
        collector.effects.mpi += [MpiUse(f"{use.name} (in {name})", use.role, line_of(node)) for use in summary.mpi]
        collector.effects.has_work = collector.effects.has_work or summary.has_work
        for (_, is_write), symbol in summary.others.items():
            collector.add(symbol, is_write, node, None)
        self._bind(known, summary, arguments, node)

    def _anything_of(self, argument: Node) -> None:
        """An argument of a procedure that nothing is known about but that it accesses its arguments only."""
        collector = self.collector
        collector.read(argument)
        if not is_designator(argument):
            return
        symbol = collector.base(argument)
        if symbol is not None and symbol.is_array and not any(map(is_section, subscript_nodes(argument))):
            collector.add(symbol, True, argument, None)  # an element stands for those behind it too
        else:
            collector.write(argument)

    def _bind(self, known: Procedure, summary: Summary, arguments: dict[str, Node], node: Node) -> None:
        collector = self.collector
        if len(arguments) > len(known.dummies):
            collector.barrier("unknown-call", node, f"{known.name} is called with too many arguments")
            return
        bound: list[tuple[Symbol, bool]] = []
        for position, (keyword, argument) in enumerate(arguments.items()):
            dummy = keyword if not keyword.isdigit() else known.dummies[position]
            reads, writes = summary.dummies.get(dummy, (True, True))
            if argument.type == "identifier" and collector.procedure.scope.variable(text_of(argument)).is_procedure:
                collector.barrier("unknown-call", argument, f"{text_of(argument)} is passed as a procedure")
                continue
            if not is_designator(argument):
                collector.read(argument)
                continue
            for part in subscript_nodes(argument):
                collector.read(part)
            symbol = collector.base(argument)
            if symbol is not None and (reads or writes):
                bound.append((symbol, writes))
            is_element = argument.type == "call_expression" and not any(map(is_section, subscript_nodes(argument)))
            # An element that is passed to an array stands for the elements behind it too.
            is_sequence = is_element and known.scope.variable(dummy).is_array
            for is_write in [False] * reads + [True] * writes:
                if is_sequence and symbol is not None:
                    collector.add(symbol, is_write, argument, None)
                elif is_write:
                    collector.write(argument)
                else:
                    collector.read(argument)
        for i, (symbol, writes) in enumerate(bound):
            if any(other.key == symbol.key and (writes or its) for other, its in bound[:i]) and symbol.is_array:
                collector.barrier("aliasing", node, f"{symbol.name} is passed twice to {known.name}, which writes it")

    def _coarrays(self, name: str, arguments: dict[str, Node], node: Node) -> None:
        """A collective of images: it reads and writes its first argument, and waits for the others."""
        collector, dummies = self.collector, CO_PROCEDURES[name]
        bound = {one if not one.isdigit() else dummies[int(one)] if int(one) < len(dummies) else "": value
                 for one, value in arguments.items()}  # fmt: skip
        if "a" not in bound or not set(bound) <= set(dummies):
            collector.barrier("communication", node, f"the arguments of {name} are not understood")
            return
        collector.effects.mpi.append(MpiUse(name.upper(), "blocking", line_of(node)))
        for dummy, actual in bound.items():
            if dummy == "operation":
                continue  # a pure function
            collector.read(actual)
            if dummy in ("a", "stat", "errmsg"):
                collector.write(actual)

    # MPI

    def _mpi(self, name: str, node: Node) -> None:
        collector = self.collector
        known = mpi_procedures().get(name)
        if known is None:
            if collector.clock(name, node):
                return
            code = "error-handling" if "errhandler" in name else "communication"
            collector.barrier(code, node, f"{name} is not in the table of MPI procedures")
            return
        bound = bind(known, node)
        if bound is None:
            collector.barrier("communication", node, f"the arguments of {name} are not understood")
            return
        if known.role != "local":
            collector.effects.mpi.append(MpiUse(known.name, known.role, line_of(node)))
        self.mpi_accesses(bound, node)
        if known.role in ("start", "wait"):
            request = bound.actual("request") or bound.actual("array_of_requests")
            starts = collector.starts_of(collector.base(request) if request is not None else None)
            if starts is None:
                collector.barrier("unknown-request", node, f"which operation {name} starts or completes is not known")
            for start, is_same in starts or []:
                if known.role == "wait":
                    self.buffers(start, is_same)

    def mpi_accesses(self, bound: BoundArguments, node: Node) -> None:
        """Of the call itself."""
        collector = self.collector
        for argument, actual in bound.pairs():
            if argument.is_buffer or argument.use == "kept":
                for part in subscript_nodes(actual):
                    collector.read(part)
            elif argument.use in ("set", "request"):
                if is_designator(actual) and not collector.procedure.scope.is_of_mpi(text_of(actual)):
                    collector.write(actual)
            else:
                collector.read(actual)
        self.buffers(bound, is_same=True)
        if bound.error is not None and not collector.is_ignored(bound.error):
            collector.write(bound.error)

    def buffers(self, bound: BoundArguments, is_same: bool) -> None:
        """What an operation accesses from its start until it is complete; `is_same`: with the same subscripts."""
        collector = self.collector
        collector.within = self._within(bound) if is_same else ()
        for argument, actual in bound.pairs():
            if not (argument.is_buffer or argument.use == "kept"):
                continue
            symbol = collector.base(actual)
            if symbol is None or symbol.is_of_mpi:
                continue
            has_ranges = is_same and argument.is_buffer
            ranges = buffer_ranges(bound, argument, actual, symbol, collector.place) if has_ranges else None
            reads = argument.use != "out" or bound.is_in_place()
            writes = argument.use in ("out", "inout")
            for is_write in [False] * reads + [True] * writes:
                collector.add(symbol, is_write, actual, ranges)
        collector.within = ()

    def _within(self, bound: BoundArguments) -> tuple[Condition, ...]:
        """What holds because all elements that are passed are within the bounds of their arrays."""
        collector, found = self.collector, list[Condition]()
        for argument, actual in bound.pairs():
            symbol = collector.base(actual) if argument.is_buffer and actual.type == "call_expression" else None
            if symbol is not None:
                arguments = child_of(actual, "argument_list")
                found += collector.bounds_of(symbol, collector.place.subscripts(symbol, arguments))
        return tuple(found)


def actual_arguments(node: Node | None) -> dict[str, Node]:
    """By keyword, or by position as text."""
    if node is None:
        return {}
    parts = [part for part in children(node) if part.type not in ("(", ")", ",")]
    found = {}
    for position, part in enumerate(parts):
        if part.type == "keyword_argument":
            found[text_of(named(part)[0])] = named(part)[-1]
        else:
            found[str(position)] = part
    return found


def is_designator(node: Node) -> bool:
    """A variable, a component, an element or a section; perhaps the call of a function."""
    return node.type in ("identifier", "derived_type_member_expression", "call_expression")


def is_section(subscript: Node) -> bool:
    return bool(subscript.type == "extent_specifier")


def subscript_nodes(node: Node) -> list[Node]:
    if node.type != "call_expression":
        return []
    arguments = child_of(node, "argument_list")
    return named(arguments) if arguments is not None else []
