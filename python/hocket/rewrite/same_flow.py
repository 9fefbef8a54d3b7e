# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Follows a Fortran program from its start, to find which ranks run each call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from hocket.rewrite.collector import loop_body
from hocket.rewrite.intrinsics import CO_PROCEDURES
from hocket.rewrite.same_jumps import ALWAYS, Condition, Frame, Loop, SameJumps, higher
from hocket.rewrite.same_passing import join, variable_of
from hocket.rewrite.sameness import ALL, NOBODY, State, alias_of
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, child_of, children, identifiers, line_of, named, text_of, walk

_ARGUMENTS = frozenset(
    "identifier keyword_argument number_literal string_literal boolean_literal complex_literal array_literal "
    "null_literal".split()
)
_SKIPPED = frozenset(
    "comment ; & statement_label format_statement close_statement end_if_statement "
    "block_label_start_expression else_clause elseif_clause parenthesized_expression selector end_select_statement "
    "end_block_construct_statement end_associate_statement case_value_range_list default include_statement".split()
)
_NEVER = "(never)"  # behind a procedure that does not return
_NOT_LEAVES = frozenset("if_statement do_loop select_case_statement block_construct".split())
_MOST_STATES = 12  # of one procedure; then nothing is known where it begins


@dataclass
class SameFlow(SameJumps):
    """Each call gets the conditions under which it runs. A loop is followed until nothing new comes out."""

    runs: dict[int, Condition] = field(default_factory=dict)  # by the id of a call
    is_valid: bool = True  # what was found about the own communicator
    _known: dict[tuple[int, frozenset[tuple[str, int]], int], tuple[State, int]] = field(default_factory=dict)
    _states: dict[int, int] = field(default_factory=dict)

    def follow(self) -> None:
        programs = [one for one in self.program.procedures if one.kind == "program"]
        for one in programs if len(programs) == 1 else ():
            start = dict.fromkeys(self._initial, ALL)
            self._enter(one, start, ALWAYS)
        for one in self.program.procedures:
            unknown = self.reach.unknown.get(id(one), "")
            if unknown or (id(one) not in self.reach.called and id(one) not in self._states):
                self._enter(one, {}, (NOBODY, unknown) if unknown else ALWAYS)
        for one in self.program.procedures:  # such as those that only call each other
            if id(one) not in self._states:
                self._enter(one, {}, (NOBODY, f"no call of {one.name} was found"))

    @cached_property
    def _initial(self) -> list[str]:
        scopes = [*self.program.modules.values(), *(one.scope for one in self.program.procedures)]
        return [one.alias for scope in scopes for one in scope.symbols.values() if one.is_initialised]

    # Procedures

    def _enter(self, procedure: Procedure, state: State, around: Condition) -> tuple[State, int]:
        """The state behind a call, and the level of the result."""
        known = id(procedure), frozenset(state.items()), around[0]
        if known in self._known:
            return self._known[known]
        self._states[id(procedure)] = self._states.get(id(procedure), 0) + 1
        if self._states[id(procedure)] > _MOST_STATES and state:
            return self._enter(procedure, {}, around)
        before = self.state, self.here, self.is_reachable
        problem = procedure.problem or next((one.problem for one in procedure.scope.chain() if one.problem), "")
        frame = Frame(procedure, higher(around, (NOBODY, problem)) if problem else around)
        self.frames.append(frame)
        while True:
            labels = {label: dict(one) for label, one in frame.labels.items()}
            last = frame.around
            frame.left, frame.returns, frame.passed = ALWAYS, [], set()
            self.procedure, self.state, self.here, self.is_reachable = procedure, dict(state), frame.around, True
            self._statements(procedure.body)
            if missing := set(frame.labels) - frame.passed:
                frame.around = higher(frame.around, (NOBODY, f"a jump to {min(missing)} is not followed"))
            if frame.labels == labels and frame.around[0] == last[0]:
                break
        ends = [*frame.returns, *([self.state] if self.is_reachable else [])]
        out = join(ends) if ends else {_NEVER: ALL}
        result = out.get(alias_of(procedure.result, procedure), NOBODY) if procedure.result else NOBODY
        self.frames.pop()
        self.state, self.here, self.is_reachable = before
        if self.frames:
            self.procedure = self.frames[-1].procedure
        self._known[known] = out, result
        return out, result

    def result_of(self, known: list[Procedure], node: Node) -> int:
        before, results = dict(self.state), [self._call_one(one, node) for one in known]
        self.state, self.is_reachable = join([before, self.state]), True  # it need not be called
        return max([*results, self.level_here()])

    def _call_known(self, known: list[Procedure], node: Node) -> None:
        before, ends = dict(self.state), list[State]()
        for one in known:
            self.state, self.is_reachable = dict(before), True
            self._call_one(one, node)
            if self.is_reachable:
                ends.append(self.state)
        self._end(ends, self.here)

    def _call_one(self, known: Procedure, node: Node) -> int:
        caller, (level, reason) = self.procedure, self.condition_here()
        self._record(node)
        actuals = self.actuals(known, node)
        running = [frame.procedure is known for frame in self.frames]
        if any(running):
            for frame in self.frames[running.index(True) :]:
                frame.around = higher(frame.around, (NOBODY, f"{known.name} calls itself"))
            self.state.clear()
            return NOBODY
        values = {dummy: self.level(actual) for dummy, actual in actuals.items()}
        touched, start = self.touched(known), State()
        moves = bool(self.own) and variable_of(self.own) in touched
        for name, value in self.state.items():
            if name.startswith("(") or variable_of(name) in touched or moves:
                start[name] = value
        own = f"{known.scope.name}::"
        start = {name: value for name, value in start.items() if not variable_of(name).startswith(own)}
        for dummy in known.dummies:
            bounds = known.scope.variable(dummy).bounds or ()
            takes_shape = all(one is None for pair in bounds for one in pair)
            self.pass_in(alias_of(dummy, known), actuals.get(dummy), values.get(dummy, NOBODY), start, takes_shape)
        why = f"{known.name} is called in {caller.name}: {reason}" if reason else ""
        out, result = self._enter(known, start, (level, why))
        if _NEVER in out:
            self.is_reachable = False
        kept = {
            name: value
            for name, value in self.state.items()
            if not (name.startswith("(") or variable_of(name) in touched or moves)
        }
        self.state = kept | {name: value for name, value in out.items() if not variable_of(name).startswith(own)}
        for dummy, actual in actuals.items():
            self.pass_back(alias_of(dummy, known), actual, out)
        return result

    def changes(self, key: str) -> None:
        if self.own and (self.own == key or self.own.startswith(f"{key}%")) and self.level_here() > ALL:
            self.is_valid = False
        super().changes(key)

    # Statements

    def _statements(self, nodes: list[Node]) -> None:
        for node in nodes:
            if node.type == "statement_label" and node.is_named:
                self._label(text_of(node))
            elif self.is_reachable and node.is_named:
                self._statement(node)

    def _label(self, label: str) -> None:
        frame = self.frames[-1]
        frame.passed.add(label)
        if label in frame.labels:
            self.state = join([frame.labels[label], *([self.state] if self.is_reachable else [])])
            self.is_reachable = True

    def _statement(self, node: Node) -> None:
        if node.type not in _NOT_LEAVES:
            self._functions(node)
        for one in node.children:
            if one.type == "keyword_argument" and text_of(named(one)[0]) in ("end", "err", "eor"):
                self.jump([text_of(named(one)[-1])], NOBODY, line_of(node), falls=True)
        visit: Callable[[Node], None] | None = getattr(self, f"_{node.type}", None) or getattr(self, node.type, None)
        if visit is not None and node.type.endswith(("statement", "call", "loop", "construct")):
            visit(node)
        elif node.type not in _SKIPPED:
            self._unknown(node)

    def _functions(self, node: Node) -> None:
        """Those that a statement calls, wherever they stand in it."""
        for one in walk(node):
            if one.type == "call_expression" and one.children[0].type == "identifier":
                name = text_of(one.children[0])
                if self.program.find(name, self.procedure) or self.reach.candidates(name, self.procedure):
                    self.level(one)

    def _unknown(self, node: Node) -> None:
        """Whatever it does, its variables may differ behind it, and what is inside may run on some ranks."""
        for one in walk(node):
            if one.type == "identifier" and not self._is_constant(one):
                self.assign(one, NOBODY)
        before = self.here
        self.here = max(before, (NOBODY, f"line {line_of(node)}: not all ranks may run what is inside"))
        self._functions(node)
        for one in walk(node):
            if one.type in ("subroutine_call", "keyword_statement", "arithmetic_if_statement"):
                self._statement(one)
        self.after_unknown()
        self.here, self.is_reachable = before, True

    def _assignment_statement(self, node: Node) -> None:
        left, right = named(node)[0], named(node)[-1]
        level, comm = self.level(right), self.level_of_comm(right)
        if self.mentions("assignment("):
            level = comm = NOBODY
            self.after_unknown()
        self.assign(left, level)
        if key := self.key(left):
            self.state[f"comm:{key}"] = max(comm, self.level_here())
            symbol = self.symbol(left)
            if symbol is not None and "allocatable" in symbol.attributes:
                self.state[f"shape:{key}"] = max(self.state.get(f"shape:{key}", NOBODY), level)

    def _print_statement(self, node: Node) -> None:
        for one in (each for part in named(node) if part.type == "output_item_list" for each in named(part)):
            self.level(one)

    def _where_statement(self, node: Node) -> None:
        for one in walk(node):
            if one.type == "assignment_statement":
                self.level(named(one)[-1])
                self.assign(named(one)[0], NOBODY)

    def _block_construct(self, node: Node) -> None:
        for one in named(node):
            for name in identifiers(one) if one.type == "variable_declaration" else ():
                self.drop(alias_of(name, self.procedure))
        self._statements([one for one in named(node) if one.type != "variable_declaration"])
        for one in named(node):  # the outer variables of these names are others
            for name in identifiers(one) if one.type == "variable_declaration" else ():
                self.drop(alias_of(name, self.procedure))

    def _subroutine_call(self, node: Node) -> None:
        self._record(node)
        first, arguments = children(node)[1], child_of(node, "argument_list")
        parts = named(arguments) if arguments is not None else []
        name = text_of(first)
        if first.type != "identifier":
            for part in [self.base(first), *parts]:
                self.lose(part)
            self.after_unknown()
            return
        if any(part.type not in _ARGUMENTS and not part.type.endswith("expression") for part in parts):
            self.unknown_jump(node)  # such as an alternate return
        known = self.program.find(name, self.procedure)
        candidates = [known] if known is not None else self.reach.candidates(name, self.procedure)
        if candidates:
            self._call_known(candidates, node)
        elif name.startswith(("mpi_", "pmpi_")):
            self.mpi(name, node)
            self.is_reachable = name != "mpi_abort"
        elif name in CO_PROCEDURES:
            for part in parts:
                self.assign(named(part)[-1] if part.type == "keyword_argument" else part, NOBODY)
        else:
            self.intrinsic(name, parts)
            self.after_unknown()
            self.is_reachable = name not in ("exit", "abort")

    def _record(self, node: Node) -> None:
        here = self.condition_here()
        if here[0] >= self.runs.get(node.id, ALWAYS)[0]:
            self.runs[node.id] = here

    def _if_statement(self, node: Node) -> None:
        before, ends = self.here, list[State]()
        clauses = [node, *(one for one in node.children if one.type in ("elseif_clause", "else_clause"))]
        for clause in clauses:
            condition = child_of(clause, "parenthesized_expression")
            if condition is not None:
                level = self.level(condition)
                line = line_of(condition)
                self.here = higher(self.here, (level, f"the branch in line {line} may differ between ranks"))
            otherwise = dict(self.state)
            self._statements(named(clause))
            if self.is_reachable:
                ends.append(self.state)
            self.state, self.is_reachable = otherwise, True
        if clauses[-1].type != "else_clause":
            ends.append(self.state)
        self._end(ends, before)

    def _end(self, ends: list[State], before: Condition) -> None:
        self.is_reachable, self.here = bool(ends), before
        if ends:
            self.state = join(ends)

    def _select_case_statement(self, node: Node) -> None:
        before, ends = self.here, list[State]()
        selector = child_of(node, "selector")
        level = self.level(selector) if selector is not None else NOBODY
        line = line_of(node)
        self.here = higher(before, (level, f"the branch in line {line} may differ between ranks"))
        start, has_default = self.state, False
        for clause in (one for one in node.children if one.type == "case_statement"):
            has_default = has_default or child_of(clause, "default") is not None
            self.state, self.is_reachable = dict(start), True
            self._statements(named(clause))
            if self.is_reachable:
                ends.append(self.state)
        if not has_default:
            ends.append(start)
        self._end(ends, before)

    def _do_loop(self, node: Node) -> None:
        statement, label = child_of(node, "do_statement"), child_of(node, "block_label_start_expression")
        assert statement is not None
        control, condition = child_of(statement, "loop_control_expression"), child_of(statement, "while_statement")
        if control is None and condition is None and child_of(statement, "concurrent_statement") is not None:
            self._unknown(node)
            return
        before, line = self.here, line_of(node)
        bounds = self.highest(named(control)[1:]) if control is not None else ALL
        why = f"the loop in line {line} may end earlier on some ranks"
        loop = Loop(text_of(label).rstrip(":") if label is not None else "", higher(before, (bounds, why)))
        self.frames[-1].loops.append(loop)
        head = dict(self.state)
        while True:
            last, inside = dict(head), loop.inside
            loop.leaves, loop.cycles = [], []
            self.state, self.here, self.is_reachable = dict(head), loop.inside, True
            if control is not None:
                self.assign(named(control)[0], bounds)
                loop.leaves.append(dict(self.state))
            elif condition is not None:
                loop.inside = higher(loop.inside, (self.level(named(condition)[0]), why))
                self.here = loop.inside
                loop.leaves.append(dict(self.state))
            self._statements(loop_body(node))
            end = child_of(node, "end_do_label_loop_statement")
            for one in named(end) if end is not None else ():
                if one.type == "statement_label":
                    self._label(text_of(one))
            ends = [*loop.cycles, *([self.state] if self.is_reachable else [])]
            head = join([last, *ends])
            if head == last and loop.inside == inside:
                break
        self.frames[-1].loops.pop()
        self._end(loop.leaves, before)
