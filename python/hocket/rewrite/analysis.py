# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What procedures do when they are called, and which scalars of a procedure are only temporary."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from hocket.rewrite.blocks import Block, Item, blocks_of, items_of
from hocket.rewrite.collector import Collector
from hocket.rewrite.divergence import Divergence
from hocket.rewrite.effects import Barrier, Summary, shows_order
from hocket.rewrite.facts import Facts, facts_of
from hocket.rewrite.interfaces import Interfaces
from hocket.rewrite.intrinsics import intrinsics
from hocket.rewrite.program import Program
from hocket.rewrite.symbols import TARGETS, Procedure, Symbol
from hocket.rewrite.syntax import Node, identifiers, line_of, text_of, walk


@dataclass
class Analysis:
    """Of all given files. Answers are kept."""

    program: Program
    ignores_clocks: bool = False
    _divergence: Divergence | None = None
    _interfaces: Interfaces | None = None
    _summaries: dict[int, Summary] = field(default_factory=dict)
    _facts: dict[int, Facts] = field(default_factory=dict)
    _items: dict[tuple[int, int], tuple[list[Item], set[str]]] = field(default_factory=dict)

    def procedure(self, name: str, caller: Procedure) -> Procedure | None:
        return self.program.find(name, caller)

    def of(self, name: str, caller: Procedure) -> Summary:
        procedure = self.program.find(name, caller)
        assert procedure is not None
        key = id(procedure)
        if key not in self._summaries:
            line = line_of(procedure.node)
            self._summaries[key] = Summary(barrier=Barrier("unknown-call", f"{name} calls itself", "", line))
            self._summaries[key] = self._summarize(procedure)
        return self._summaries[key]

    def facts(self, procedure: Procedure) -> Facts:
        key = id(procedure)
        if key not in self._facts:
            self._facts[key] = facts_of(procedure)
        return self._facts[key]

    def items(self, block: Block) -> tuple[list[Item], set[str]]:
        """See `items_of`."""
        key = id(block.procedure), block.key
        if key not in self._items:
            self._items[key] = items_of(block, self, self.facts(block.procedure))
        return self._items[key]

    def root_items(self, procedure: Procedure) -> tuple[list[Item], set[str]]:
        """Of the outermost list of statements."""
        return self.items(next(blocks_of(procedure)))

    def problem(self, procedure: Procedure) -> str:
        """Why nothing is known about a procedure; empty if that is not so."""
        found = (scope.problem for scope in procedure.scope.chain() if scope.problem)
        return procedure.problem or next(found, "")

    @cached_property
    def sees_order(self) -> bool:
        """Whether the program can tell which of two messages of other ranks was sent first."""
        return shows_order(source.text for source in self.program.sources)

    def calls_a_function(self, node: Node, caller: Procedure) -> bool:
        """Whether a function of the program, or one that is not known, is called among the arguments of a call."""
        for one in walk(node):
            if one.type != "call_expression" or one.children[0].type != "identifier":
                continue
            name = text_of(one.children[0])
            symbol = caller.scope.find(name)
            is_variable = symbol is not None and (symbol.is_array or symbol.type == "character")
            if symbol is not None and is_variable and not symbol.is_procedure:
                continue
            is_own = self.procedure(name, caller) is not None or caller.has_own_function(name)
            if is_own or name not in intrinsics():
                return True
        return False

    @property
    def divergence(self) -> Divergence:
        if self._divergence is None:
            self._divergence = Divergence(self.program)
        return self._divergence

    @property
    def interfaces(self) -> Interfaces:
        if self._interfaces is None:
            self._interfaces = Interfaces(self.program)
        return self._interfaces

    def _summarize(self, procedure: Procedure) -> Summary:
        if problem := self.problem(procedure):
            return Summary(barrier=Barrier("unknown-call", problem, "", line_of(procedure.node)))
        collector = Collector(procedure, self, self.facts(procedure))
        collector.specification()
        # What returns early does no harm to the caller: a return may leave the procedure, but nothing around the call.
        collector.statements([node for node in procedure.body if node.type not in (";", "statement_label")])
        effects = collector.effects
        barriers = [
            one for one in effects.barriers if not (one.code == "early-exit" and one.reason.startswith("return "))
        ]
        summary = Summary(mpi=effects.mpi, has_work=effects.has_work)
        if barriers:
            first = barriers[0]
            reason = f"{procedure.name}: line {first.line}: {first.reason}"
            summary.barrier = Barrier(first.code, reason, first.hint, first.line)
        own = f"{procedure.scope.name}::"
        for access in effects.accesses:
            symbol = access.symbol
            if symbol.is_dummy and symbol.name in procedure.dummies and symbol.key.startswith(own):
                read, written = summary.dummies.get(symbol.name, (False, False))
                summary.dummies[symbol.name] = (read or not access.is_write, written or access.is_write)
                if symbol.alias != TARGETS:
                    continue
            if symbol.alias == TARGETS:
                symbol = Symbol(TARGETS, TARGETS, attributes={"target"})
            elif symbol.alias == symbol.key and symbol.key.startswith(own) and not procedure.is_saved(symbol):
                continue
            summary.others[symbol.alias, access.is_write] = symbol
        for name in procedure.dummies:
            attributes = procedure.scope.variable(name).attributes
            read, written = summary.dummies.get(name, (False, False))
            # On entry what is intent(out) loses its value, and its memory if it is allocatable.
            summary.dummies[name] = (read, written or "intent(out)" in attributes)
        return summary

    def private(self, block: Block) -> set[str]:
        """Keys of scalars that carry no value into a statement of the block, nor out of the block.

        Every statement of the block, and of those around it, that reads such a scalar has written it before. So two
        statements that write it may change places.
        """
        facts = self.facts(block.procedure)
        if facts.has_jumps:
            return set()
        if not facts.exposed:
            for one in blocks_of(block.procedure):
                facts.exposed[one.key] = self._exposed(one)
        exposed = set[str]().union(*(facts.exposed.get(one.key, set()) for one in block.chain()))
        procedure, own = block.procedure, f"{block.procedure.scope.name}::"
        shared = {
            name for one in procedure.inner.values() for name in set(identifiers(one.node)) - set(one.scope.symbols)
        }
        return {
            symbol.key
            for symbol in procedure.scope.symbols.values()
            if symbol.key.startswith(own)
            and not (symbol.is_dummy or symbol.is_array or symbol.name == procedure.result or symbol.name in shared)
            and symbol.alias == symbol.key
            and (procedure.kind == "program" or not procedure.is_saved(symbol))
            and symbol.key not in exposed
        }

    def _exposed(self, block: Block) -> set[str]:
        found: set[str] = set()
        for node in block.nodes:
            collector = Collector(block.procedure, self, self.facts(block.procedure))
            collector.statements([node])
            found |= collector.effects.exposed
        # A statement with a group of names reads all of them.
        groups = (one for one in walk(block.procedure.node) if one.type == "namelist_statement")
        return found | {block.procedure.scope.variable(name).key for one in groups for name in identifiers(one)}
