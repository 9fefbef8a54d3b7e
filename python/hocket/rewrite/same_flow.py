# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Follows a Fortran program from its start, to find which ranks run each call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from hocket.rewrite.collector import loop_body
from hocket.rewrite.intrinsics import CO_PROCEDURES
from hocket.rewrite.same_calls import SameCalls
from hocket.rewrite.sameness import ALL, NOBODY, OWN, State, alias_of
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, child_of, children, identifiers, line_of, named, text_of, walk

Condition = tuple[int, str]  # a level, and why it is not `ALL`
_ALWAYS: Condition = (ALL, "")
_SKIPPED = frozenset(
    "comment ; & statement_label format_statement close_statement end_if_statement "
    "block_label_start_expression else_clause elseif_clause parenthesized_expression selector end_select_statement "
    "end_block_construct_statement end_associate_statement case_value_range_list default include_statement".split()
)
_MOST_STATES = 12  # of one procedure; then nothing is known where it begins


@dataclass
class _Loop:
    name: str
    inside: Condition
    leaves: list[State] = field(default_factory=list)
    cycles: list[State] = field(default_factory=list)


@dataclass
class _Frame:
    """A procedure that is followed."""

    procedure: Procedure
    around: Condition
    left: Condition = _ALWAYS  # some ranks are gone: they returned, or jumped
    loops: list[_Loop] = field(default_factory=list)
    returns: list[State] = field(default_factory=list)
    labels: dict[str, State] = field(default_factory=dict)
    passed: set[str] = field(default_factory=set)


@dataclass
class SameFlow(SameCalls):
    """Each call gets the conditions under which it runs. A loop is followed until nothing new comes out."""

    runs: dict[int, Condition] = field(default_factory=dict)  # by the id of a call
    is_valid: bool = True  # what was found about the own communicator
    is_reachable: bool = True
    _frames: list[_Frame] = field(default_factory=list)
    _here: Condition = _ALWAYS
    _known: dict[tuple[int, frozenset[tuple[str, int]], int], tuple[State, int]] = field(default_factory=dict)
    _states: dict[int, int] = field(default_factory=dict)

    def follow(self) -> None:
        programs = [one for one in self.program.procedures if one.kind == "program"]
        for one in programs if len(programs) == 1 else ():
            start = dict.fromkeys(self._initial, ALL)
            self._enter(one, start, _ALWAYS)
        for one in self.program.procedures:
            unknown = self.reach.unknown.get(id(one), "")
            if unknown or (id(one) not in self.reach.called and id(one) not in self._states):
                self._enter(one, {}, (NOBODY, unknown) if unknown else _ALWAYS)
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
        before = self.state, self._here, self.is_reachable
        frame = _Frame(procedure, around)
        self._frames.append(frame)
        while True:
            labels = {label: dict(one) for label, one in frame.labels.items()}
            last = frame.around
            frame.left, frame.returns, frame.passed = _ALWAYS, [], set()
            self.procedure, self.state, self._here, self.is_reachable = procedure, dict(state), frame.around, True
            self._statements(procedure.body)
            if missing := set(frame.labels) - frame.passed:
                frame.around = _higher(frame.around, (NOBODY, f"a jump to {min(missing)} is not followed"))
            if frame.labels == labels and frame.around[0] == last[0]:
                break
        ends = [*frame.returns, *([self.state] if self.is_reachable else [])]
        out = join(ends) if ends else {}
        result = out.get(alias_of(procedure.result, procedure), NOBODY) if procedure.result else NOBODY
        self._frames.pop()
        self.state, self._here, self.is_reachable = before
        if self._frames:
            self.procedure = self._frames[-1].procedure
        self._known[known] = out, result
        return out, result

    def level_here(self) -> int:
        left = self._frames[-1].left[0] if self._frames else ALL
        return max(self._here[0], left)

    def _condition_here(self) -> Condition:
        return max(self._here, self._frames[-1].left, key=lambda one: one[0])

    def result_of(self, known: list[Procedure], node: Node) -> int:
        before, results = dict(self.state), [self._call_one(one, node) for one in known]
        self.state = join([before, self.state])  # it need not be called
        return max([*results, self.level_here()])

    def _call_known(self, known: list[Procedure], node: Node) -> None:
        before, ends = dict(self.state), []
        for one in known:
            self.state = dict(before)
            self._call_one(one, node)
            ends.append(self.state)
        self.state = join(ends)

    def _call_one(self, known: Procedure, node: Node) -> int:
        caller, (level, reason) = self.procedure, self._condition_here()
        self._record(node)
        actuals = self._actuals(known, node)
        if any(frame.procedure is known for frame in self._frames):
            self._mark_all(known)
            self.state.clear()
            return NOBODY
        values = {dummy: self.level(actual) for dummy, actual in actuals.items()}
        touched, start = self._touched(known), State()
        moves = bool(self.own) and _variable_of(self.own) in touched
        for name, value in self.state.items():
            if name.startswith("(") or _variable_of(name) in touched or moves:
                start[name] = value
        own = f"{known.scope.name}::"
        start = {name: value for name, value in start.items() if not _variable_of(name).startswith(own)}
        for dummy in known.dummies:
            self._pass(alias_of(dummy, known), actuals.get(dummy), values.get(dummy, NOBODY), start)
        why = f"{known.name} is called in {caller.name}: {reason}" if reason else ""
        out, result = self._enter(known, start, (level, why))
        kept = {
            name: value
            for name, value in self.state.items()
            if not (name.startswith("(") or _variable_of(name) in touched or moves)
        }
        self.state = kept | {name: value for name, value in out.items() if not _variable_of(name).startswith(own)}
        for dummy, actual in actuals.items():
            self._pass_back(alias_of(dummy, known), actual, out)
        return result

    def _actuals(self, known: Procedure, node: Node) -> dict[str, Node]:
        arguments = child_of(node, "argument_list")
        found = {}
        for position, part in enumerate(named(arguments) if arguments is not None else []):
            if part.type == "keyword_argument":
                found[text_of(named(part)[0])] = named(part)[-1]
            elif position < len(known.dummies):
                found[known.dummies[position]] = part
            else:
                self.lose(part)
        return found

    def _pass(self, dummy: str, actual: Node | None, value: int, start: State) -> None:
        if actual is None or dummy.startswith("("):
            start[f"present:{dummy}"] = ALL
            return
        start[dummy] = value
        symbol, key = self.symbol(actual), self.key(actual)
        is_uncertain = symbol is not None and symbol.attributes & {"optional", "allocatable", "pointer"}
        start[f"present:{dummy}"] = self.state.get(f"present:{key}", NOBODY) if is_uncertain else ALL
        start[f"comm:{dummy}"] = self.level_of_comm(actual)
        if not key:
            return
        start[f"shape:{dummy}"] = self.shape(actual)
        for name, one in self.state.items():
            plain = _variable_of(name, whole=True)
            if plain.startswith(f"{key}%"):
                start[name.replace(key, dummy, 1)] = one
        if self.own == dummy or self.own.startswith(f"{dummy}%"):
            for name in [name for name, level in start.items() if level == OWN]:
                del start[name]

    def _pass_back(self, dummy: str, actual: Node, out: State) -> None:
        if actual.type not in ("identifier", "call_expression", "derived_type_member_expression"):
            return
        base = self.base(actual)
        if base.type != "identifier" or self._is_constant(base) or self.program.find(text_of(base), self.procedure):
            return
        self.assign(actual, out.get(dummy, NOBODY), keeps=actual.type == "call_expression")
        if not (key := self.key(actual)):
            return
        for name, one in out.items():
            if _variable_of(name, whole=True).startswith(f"{dummy}%"):
                self.state[name.replace(dummy, key, 1)] = max(one, self.level_here())
        self.state[f"comm:{key}"] = max(out.get(f"comm:{dummy}", NOBODY), self.level_here())
        if f"shape:{dummy}" in out:
            self.state[f"shape:{key}"] = max(out[f"shape:{dummy}"], self.level_here())

    def _touched(self, procedure: Procedure) -> set[str]:
        """The variables that a procedure names, and those that it calls."""
        if id(procedure) not in self._touches:
            found = self._touches[id(procedure)] = set[str]()
            for name in set(identifiers(procedure.node)):
                found.add(alias_of(name, procedure))
                known = self.program.find(name, procedure)
                for one in [known] if known is not None else self.reach.candidates(name, procedure):
                    if one is not procedure:
                        found |= self._touched(one)
            for one in procedure.inner.values():
                found |= self._touched(one)
            for group in self.reach.namelists.values():
                found |= {alias_of(name, procedure) for node in group for name in identifiers(node)}
        return self._touches[id(procedure)]

    @cached_property
    def _touches(self) -> dict[int, set[str]]:
        return {}

    def _mark_all(self, procedure: Procedure) -> None:
        for one in (each for top in procedure.body for each in walk(top)):
            if one.type in ("subroutine_call", "call_expression"):
                self.runs[one.id] = (NOBODY, f"{procedure.name} calls itself")

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
        frame = self._frames[-1]
        frame.passed.add(label)
        if label in frame.labels:
            self.state = join([frame.labels[label], *([self.state] if self.is_reachable else [])])
            self.is_reachable = True

    def _statement(self, node: Node) -> None:
        visit: Callable[[Node], None] | None = getattr(self, f"_{node.type}", None) or getattr(self, node.type, None)
        if visit is not None and node.type.endswith(("statement", "call", "loop", "construct")):
            visit(node)
        elif node.type not in _SKIPPED:
            self._unknown(node)

    def _unknown(self, node: Node) -> None:
        """Whatever it does, its variables may differ behind it, and what is inside may run on some ranks."""
        for one in walk(node):
            if one.type == "identifier" and not self._is_constant(one):
                self.assign(one, NOBODY)
        before = self._here
        self._here = max(before, (NOBODY, f"line {line_of(node)}: not all ranks may run what is inside"))
        for one in walk(node):
            if one.type in ("subroutine_call", "keyword_statement"):
                self._statement(one)
        self._here, self.is_reachable = before, True
        for name in [name for name in self.state if name.startswith("(unit")]:
            del self.state[name]

    def _assignment_statement(self, node: Node) -> None:
        left, right = named(node)[0], named(node)[-1]
        level, comm = self.level(right), self.level_of_comm(right)
        if self.procedure.scope.has_generic("assignment(=)"):
            level = comm = NOBODY
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
            return
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
            self.is_reachable = name not in ("exit", "abort")

    def _record(self, node: Node) -> None:
        here = self._condition_here()
        if here[0] >= self.runs.get(node.id, _ALWAYS)[0]:
            self.runs[node.id] = here

    def _if_statement(self, node: Node) -> None:
        before, ends = self._here, list[State]()
        clauses = [node, *(one for one in node.children if one.type in ("elseif_clause", "else_clause"))]
        for clause in clauses:
            condition = child_of(clause, "parenthesized_expression")
            if condition is not None:
                level = self.level(condition)
                line = line_of(condition)
                self._here = _higher(self._here, (level, f"the branch in line {line} may differ between ranks"))
            otherwise = dict(self.state)
            self._statements(named(clause))
            if self.is_reachable:
                ends.append(self.state)
            self.state, self.is_reachable = otherwise, True
        if clauses[-1].type != "else_clause":
            ends.append(self.state)
        self._end(ends, before)

    def _end(self, ends: list[State], before: Condition) -> None:
        self.is_reachable, self._here = bool(ends), before
        if ends:
            self.state = join(ends)

    def _select_case_statement(self, node: Node) -> None:
        before, ends = self._here, list[State]()
        selector = child_of(node, "selector")
        level = self.level(selector) if selector is not None else NOBODY
        line = line_of(node)
        self._here = _higher(before, (level, f"the branch in line {line} may differ between ranks"))
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
        before, line = self._here, line_of(node)
        bounds = self.highest(named(control)[1:]) if control is not None else ALL
        why = f"the loop in line {line} may end earlier on some ranks"
        loop = _Loop(text_of(label).rstrip(":") if label is not None else "", _higher(before, (bounds, why)))
        self._frames[-1].loops.append(loop)
        head = dict(self.state)
        while True:
            last, inside = dict(head), loop.inside
            loop.leaves, loop.cycles = [], []
            self.state, self._here, self.is_reachable = dict(head), loop.inside, True
            if control is not None:
                self.assign(named(control)[0], bounds)
                loop.leaves.append(dict(self.state))
            elif condition is not None:
                loop.inside = _higher(loop.inside, (self.level(named(condition)[0]), why))
                self._here = loop.inside
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
        self._frames[-1].loops.pop()
        self._end(loop.leaves, before)

    def _keyword_statement(self, node: Node) -> None:
        words = [text_of(one) for one in children(node)]
        if words[0] in ("exit", "cycle"):
            self._leave_loop(words[0], words[1] if len(words) > 1 else "", line_of(node))
        elif words[0] == "return":
            self._frames[-1].returns.append(self.state)
            self._leave(line_of(node))
        elif words[0] in ("goto", "go"):
            targets = [text_of(one) for one in named(node) if one.type == "statement_label_reference"]
            values = [one for one in named(node) if one.type != "statement_label_reference"]
            self._jump(targets, self.highest(values), line_of(node), falls=bool(values))
        elif words[0] != "continue":
            self._unknown_jump(node)

    def _arithmetic_if_statement(self, node: Node) -> None:
        targets = [text_of(one) for one in named(node) if one.type == "statement_label_reference"]
        values = [one for one in named(node) if one.type != "statement_label_reference"]
        self._jump(targets, self.highest(values), line_of(node), falls=False)

    def _stop_statement(self, node: Node) -> None:
        self.is_reachable = False  # a rank takes no part any more

    def _leave(self, line: int, inner: list[_Loop] | None = None) -> None:
        """Some ranks go, if not all of them are here."""
        level = self.level_here()
        if level > ALL:
            why = (level, f"line {line}: some ranks may leave the statements around it")
            frame = self._frames[-1]
            for loop in frame.loops if inner is None else inner:
                loop.inside = _higher(loop.inside, why)
            if inner is None:
                frame.left = _higher(frame.left, why)
        self.is_reachable = False

    def _leave_loop(self, word: str, name: str, line: int) -> None:
        loops = self._frames[-1].loops
        place = next((i for i in reversed(range(len(loops))) if name in ("", loops[i].name)), -1)
        if place < 0:
            self._frames[-1].around = (NOBODY, f"line {line}: where {word} leads to is not followed")
            return
        (loops[place].leaves if word == "exit" else loops[place].cycles).append(self.state)
        self._leave(line, loops[place:])

    def _jump(self, targets: list[str], level: int, line: int, falls: bool) -> None:
        frame, before = self._frames[-1], self._here
        self._here = _higher(before, (level, f"line {line}: some ranks may jump"))
        backward = frame.passed.intersection(targets)
        if self.level_here() > ALL and (backward or not targets):
            frame.around = _higher(frame.around, self._condition_here())
        for target in targets:
            frame.labels[target] = join([self.state, *([frame.labels[target]] if target in frame.labels else [])])
        self._leave(line)
        self._here, self.is_reachable = before, falls

    def _unknown_jump(self, node: Node) -> None:
        self._frames[-1].around = (NOBODY, f"line {line_of(node)}: {text_of(node)} is not followed")


def join(states: list[State]) -> State:
    """Where they come together: what is known in all of them."""
    first, *others = states
    return {
        name: max(value, *(one[name] for one in others)) if others else value
        for name, value in first.items()
        if all(name in one for one in others)
    }


def _higher(one: Condition, other: Condition) -> Condition:
    return other if other[0] > one[0] else one


def _variable_of(name: str, whole: bool = False) -> str:
    """What a level belongs to, with or without the component."""
    for prefix in ("comm:", "shape:", "present:"):
        name = name.removeprefix(prefix)
    return name if whole else name.partition("%")[0]
