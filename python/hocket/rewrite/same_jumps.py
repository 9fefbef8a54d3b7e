# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Statements that leave others: returns, exits, jumps. Where only some ranks go, the others run on without them."""

from __future__ import annotations

from dataclasses import dataclass, field

from hocket.rewrite.same_passing import SamePassing, join
from hocket.rewrite.sameness import ALL, NOBODY, State
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, children, line_of, named, text_of

Condition = tuple[int, str]  # a level, and why it is not `ALL`
ALWAYS: Condition = (ALL, "")


@dataclass
class Loop:
    name: str
    inside: Condition
    leaves: list[State] = field(default_factory=list)
    cycles: list[State] = field(default_factory=list)


@dataclass
class Frame:
    """A procedure that is followed."""

    procedure: Procedure
    around: Condition
    left: Condition = ALWAYS  # some ranks are gone: they returned, or jumped
    loops: list[Loop] = field(default_factory=list)
    returns: list[State] = field(default_factory=list)
    labels: dict[str, State] = field(default_factory=dict)
    passed: set[str] = field(default_factory=set)


@dataclass
class SameJumps(SamePassing):
    """In the procedure that is followed, and in those that called it."""

    is_reachable: bool = True
    frames: list[Frame] = field(default_factory=list)
    here: Condition = ALWAYS

    def level_here(self) -> int:
        left = self.frames[-1].left[0] if self.frames else ALL
        return max(self.here[0], left)

    def condition_here(self) -> Condition:
        return max(self.here, self.frames[-1].left, key=lambda one: one[0])

    def _keyword_statement(self, node: Node) -> None:
        words = [text_of(one) for one in children(node)]
        if words[0] in ("exit", "cycle"):
            self._leave_loop(words[0], words[1] if len(words) > 1 else "", line_of(node))
        elif words[0] == "return":
            self.frames[-1].returns.append(self.state)
            self.leave(line_of(node))
        elif words[0] in ("goto", "go"):
            targets = [text_of(one) for one in named(node) if one.type == "statement_label_reference"]
            values = [one for one in named(node) if one.type != "statement_label_reference"]
            self.jump(targets, self.highest(values), line_of(node), falls=bool(values))
        elif words[0] != "continue":
            self.unknown_jump(node)

    def _arithmetic_if_statement(self, node: Node) -> None:
        targets = [text_of(one) for one in named(node) if one.type == "statement_label_reference"]
        values = [one for one in named(node) if one.type != "statement_label_reference"]
        self.jump(targets, self.highest(values), line_of(node), falls=False)

    def _stop_statement(self, node: Node) -> None:
        self.is_reachable = False  # a rank takes no part any more

    def leave(self, line: int, inner: list[Loop] | None = None) -> None:
        """Some ranks go, if not all of them are here."""
        level = self.level_here()
        if level > ALL:
            why = (level, f"line {line}: some ranks may leave the statements around it")
            frame = self.frames[-1]
            for loop in frame.loops if inner is None else inner:
                loop.inside = higher(loop.inside, why)
            if inner is None:
                frame.left = higher(frame.left, why)
        self.is_reachable = False

    def _leave_loop(self, word: str, name: str, line: int) -> None:
        loops = self.frames[-1].loops
        place = next((i for i in reversed(range(len(loops))) if name in ("", loops[i].name)), -1)
        if place < 0:
            self.frames[-1].around = (NOBODY, f"line {line}: where {word} leads to is not followed")
            return
        (loops[place].leaves if word == "exit" else loops[place].cycles).append(self.state)
        self.leave(line, loops[place:])

    def jump(self, targets: list[str], level: int, line: int, falls: bool) -> None:
        frame, before = self.frames[-1], self.here
        self.here = higher(before, (level, f"line {line}: some ranks may jump"))
        backward = frame.passed.intersection(targets)
        if self.level_here() > ALL and (backward or not targets):
            frame.around = higher(frame.around, self.condition_here())
        for target in targets:
            frame.labels[target] = join([self.state, *([frame.labels[target]] if target in frame.labels else [])])
        self.leave(line)
        self.here, self.is_reachable = before, falls

    def unknown_jump(self, node: Node) -> None:
        self.frames[-1].around = (NOBODY, f"line {line_of(node)}: {text_of(node)} is not followed")


def higher(one: Condition, other: Condition) -> Condition:
    return other if other[0] > one[0] else one
