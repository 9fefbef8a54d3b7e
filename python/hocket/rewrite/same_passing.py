# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What is known about the arguments of a procedure when it begins, and about those of its caller behind the call."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from hocket.rewrite.same_calls import SameCalls
from hocket.rewrite.sameness import ALL, NOBODY, OWN, State, alias_of
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, child_of, identifiers, named, text_of


@dataclass
class SamePassing(SameCalls):
    """Between the variables of procedures that are among the files."""

    def actuals(self, known: Procedure, node: Node) -> dict[str, Node]:
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

    def pass_in(self, dummy: str, actual: Node | None, value: int, start: State, takes_shape: bool) -> None:
        if actual is None or dummy.startswith("("):
            start[f"present:{dummy}"] = ALL
            return
        start[dummy] = value
        symbol, key = self.symbol(actual), self.key(actual)
        is_uncertain = symbol is not None and symbol.attributes & {"optional", "allocatable", "pointer"}
        start[f"present:{dummy}"] = self.state.get(f"present:{key}", NOBODY) if is_uncertain else ALL
        start[f"comm:{dummy}"] = self.level_of_comm(actual)
        if self.own and (self.own == dummy or self.own.startswith(f"{dummy}%")):
            for name in [name for name, level in start.items() if level == OWN]:
                del start[name]
        if not key:
            return
        if takes_shape:
            start[f"shape:{dummy}"] = self.shape(actual)
        for name, one in self.state.items():
            plain = variable_of(name, whole=True)
            if plain.startswith(f"{key}%"):
                start[name.replace(key, dummy, 1)] = one

    def pass_back(self, dummy: str, actual: Node, out: State) -> None:
        if actual.type not in ("identifier", "call_expression", "derived_type_member_expression"):
            return
        base = self.base(actual)
        if base.type != "identifier" or self._is_constant(base) or self.program.find(text_of(base), self.procedure):
            return
        self.assign(actual, out.get(dummy, NOBODY), keeps=actual.type == "call_expression")
        if not (key := self.key(actual)):
            return
        for name, one in out.items():
            if variable_of(name, whole=True).startswith(f"{dummy}%"):
                self.state[name.replace(dummy, key, 1)] = max(one, self.level_here())
        self.state[f"comm:{key}"] = max(out.get(f"comm:{dummy}", NOBODY), self.level_here())
        self.state.pop(f"shape:{key}", None)
        if f"shape:{dummy}" in out:
            self.state[f"shape:{key}"] = max(out[f"shape:{dummy}"], self.level_here())

    def touched(self, procedure: Procedure) -> set[str]:
        """The variables that a procedure names, and those that it calls."""
        if id(procedure) not in self._touches:
            found = self._touches[id(procedure)] = set[str]()
            for name in set(identifiers(procedure.node)):
                found.add(alias_of(name, procedure))
                known = self.program.find(name, procedure)
                for one in [known] if known is not None else self.reach.candidates(name, procedure):
                    if one is not procedure:
                        found |= self.touched(one)
            for one in procedure.inner.values():
                found |= self.touched(one)
            for one in self.program.procedures:  # what an unknown call may reach
                if id(one) in self.reach.unknown and one is not procedure:
                    found |= self.touched(one)
            for group in self.reach.namelists.values():
                found |= {alias_of(name, procedure) for node in group for name in identifiers(node)}
        return self._touches[id(procedure)]

    @cached_property
    def _touches(self) -> dict[int, set[str]]:
        return {}

    def after_unknown(self) -> None:
        """Behind a call of a procedure that is not known: it may be any whose callers are not."""
        for one in self.program.procedures:
            if id(one) in self.reach.unknown:
                touched = self.touched(one)
                for name in {variable_of(name) for name in self.state} & touched:
                    self.drop(name)


def join(states: list[State]) -> State:
    """Where they come together: what is known in all of them."""
    first, *others = states
    return {
        name: max(value, *(one[name] for one in others)) if others else value
        for name, value in first.items()
        if all(name in one for one in others)
    }


def variable_of(name: str, whole: bool = False) -> str:
    """What a level belongs to, with or without the component."""
    for prefix in ("comm:", "shape:", "present:"):
        name = name.removeprefix(prefix)
    return name if whole else name.partition("%")[0]
