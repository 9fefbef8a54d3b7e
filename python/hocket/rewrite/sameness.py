# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Whether values of Fortran are the same on all ranks, at one place of the program.

A level says for whom: `ALL` ranks of the program, the `OWN` ranks of the communicator that is looked at, or `NOBODY`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hocket.rewrite.intrinsics import intrinsics
from hocket.rewrite.program import Program
from hocket.rewrite.reach import Reach
from hocket.rewrite.symbols import TARGETS, Procedure, Symbol
from hocket.rewrite.syntax import Node, child_of, identifiers, named, text_of, walk

ALL, OWN, NOBODY = 0, 1, 2
#: Levels by what they belong to: a variable, `variable%component`, `comm:` and `shape:` of them. Absent: `NOBODY`.
State = dict[str, int]

_OF_TYPES = frozenset(
    "bit_size digits epsilon huge kind maxexponent minexponent new_line num_images precision radix range "
    "selected_char_kind selected_int_kind selected_real_kind storage_size tiny".split()
)
_OF_SHAPES = frozenset("allocated lbound len shape size ubound".split())
_DIFFERENT = frozenset({"this_image", "associated", "null", "loc"})
_CONSTANTS = frozenset(
    "int8 int16 int32 int64 real32 real64 real128 c_int c_long c_float c_double c_bool c_char c_int64_t mpi_success "
    "mpi_undefined mpi_proc_null mpi_any_source mpi_any_tag mpi_request_null mpi_root mpi_status_size "
    "mpi_thread_single mpi_thread_funneled mpi_thread_serialized mpi_thread_multiple".split()
)
_MAKE_INTERCOMMUNICATORS = tuple(
    f"mpi_{one}" for one in "intercomm_create comm_spawn comm_accept comm_connect comm_join comm_get_parent".split()
)
_OPERATIONS = frozenset(
    "parenthesized_expression selector math_expression unary_expression relational_expression logical_expression "
    "concatenation_expression array_literal complex_literal extent_specifier argument_list".split()
)
_LITERALS = frozenset({"number_literal", "string_literal", "boolean_literal", "complex_literal"})


@dataclass
class Sameness:
    """Values and assignments. How statements follow each other is for those who derive from it."""

    program: Program
    reach: Reach
    own: str = ""  # the communicator that is looked at
    state: State = field(default_factory=dict)
    #: What later calls may change, such as the buffers of persistent requests.
    lost: set[str] = field(default_factory=set)
    procedure: Procedure = field(init=False)
    _mentioned: dict[str, bool] = field(default_factory=dict)

    def mentions(self, text: str) -> bool:
        """Whether a text without blanks stands anywhere in the program, such as "operator(" of its own operators."""
        if text not in self._mentioned:
            texts = (one.text.lower().replace(b" ", b"") for one in self.program.sources)
            self._mentioned[text] = any(text.encode() in one for one in texts)
        return self._mentioned[text]

    def level_here(self) -> int:
        """Of the conditions under which a statement runs."""
        raise NotImplementedError

    def result_of(self, known: list[Procedure], node: Node) -> int:
        """Of a function that is called."""
        raise NotImplementedError

    def after_unknown(self) -> None:
        """Behind a call of a procedure that is not known."""
        raise NotImplementedError

    def key(self, node: Node) -> str:
        """Of a whole variable, or of a component of one; empty if other names may reach it, or it is an element."""
        if node.type == "identifier":
            alias = alias_of(text_of(node), self.procedure)
            symbol = self.procedure.scope.find(text_of(node))
            if symbol is None:
                is_lost = bool(self.procedure.scope.unseen_of(text_of(node)))
            else:
                is_lost = symbol.is_coarray or "volatile" in symbol.attributes
            return "" if is_lost or alias == TARGETS or alias.startswith("(") else alias
        if node.type != "derived_type_member_expression":
            return ""
        base, component = self.key(node.children[0]), self._component(node)
        if not base or component is None or "pointer" in component.attributes:
            return ""
        return f"{base}%{component.name}"

    def _component(self, node: Node) -> Symbol | None:
        if node.type == "identifier":
            return self.procedure.scope.find(text_of(node))
        member = child_of(node, "type_member")
        if node.type != "derived_type_member_expression" or member is None:
            return None
        outer = self._component(node.children[0])
        found = self.procedure.scope.find_type(outer.type.partition("(")[2].rstrip(")")) if outer else None
        return found.components.get(text_of(member)) if found is not None else None

    def symbol(self, node: Node) -> Symbol | None:
        return self._component(node)

    def base(self, node: Node) -> Node:
        while node.type != "identifier" and node.children:
            node = node.children[0]
        return node

    # Values

    def level(self, node: Node) -> int:
        kind = node.type
        if kind in _LITERALS or not node.is_named:
            return ALL
        if kind in ("identifier", "derived_type_member_expression"):
            symbol = self.symbol(node)
            # A whole array has as many values as its shape says.
            shape = self.shape(node) if symbol is not None and symbol.is_array else ALL
            return max(self._variable(node), shape)
        if kind == "call_expression":
            return self._call(node)
        if kind == "keyword_argument":
            return self.level(named(node)[-1])
        if kind not in _OPERATIONS:
            self._forget(node)
            return NOBODY
        if kind == "relational_expression" and text_of(named(node)[-1]) == "mpi_comm_null":
            comm = self.key(named(node)[0])
            return OWN if comm and comm == self.own else NOBODY
        if self.mentions("operator("):
            self._forget(node)
            return NOBODY
        return self.highest(named(node))

    def highest(self, nodes: list[Node]) -> int:
        return max((self.level(one) for one in nodes), default=ALL)

    def _variable(self, node: Node) -> int:
        if node.type == "identifier":
            name, symbol = text_of(node), self.procedure.scope.find(text_of(node))
            if symbol is None and name in _CONSTANTS:
                return ALL
            if symbol is not None and "parameter" in symbol.attributes:
                return ALL
        key = self.key(node)
        if not key:
            return NOBODY
        at = key
        while at not in self.state and "%" in at:
            at = at.rpartition("%")[0]
        symbol = self.symbol(node)
        shape = self.state.get(f"shape:{key}", NOBODY) if symbol and "allocatable" in symbol.attributes else ALL
        return max(self.state.get(at, NOBODY), shape)

    def _call(self, node: Node) -> int:
        first, arguments = node.children[0], child_of(node, "argument_list")
        parts = named(arguments) if arguments is not None else []
        if first.type != "identifier":  # an element of a component, or a procedure of a type
            symbol = self.symbol(first)
            if symbol is not None and (symbol.is_array or symbol.type == "character"):
                return max(self.level(first), self.highest(parts))
            self._forget(node)
            return NOBODY
        name, symbol = text_of(first), self.procedure.scope.find(text_of(first))
        if symbol is not None and (symbol.is_array or (symbol.type == "character" and _is_section(node))):
            return max(self._variable(first), self.highest(parts))
        known = self.program.find(name, self.procedure)
        candidates = [known] if known is not None else self.reach.candidates(name, self.procedure)
        if candidates:
            return self.result_of(candidates, node)
        if name not in intrinsics() or name in _DIFFERENT or self.procedure.has_own_function(name):
            self._forget(node)
            return NOBODY
        if name in _OF_TYPES:
            return ALL
        if name == "present" and parts:
            return self.state.get(f"present:{self.key(parts[0])}", NOBODY)
        if name in _OF_SHAPES and parts and parts[0].type == "identifier":
            return max(self.shape(parts[0]), self.highest(parts[1:]))
        return self.highest(parts)

    def shape(self, node: Node) -> int:
        """Of the bounds of a variable, and whether it is allocated."""
        symbol, key = self.symbol(node), self.key(node)
        if symbol is None or not key:
            return NOBODY
        if f"shape:{key}" in self.state:
            return self.state[f"shape:{key}"]
        is_open = symbol.bounds is None or any(upper is None for _, upper in symbol.bounds)
        if symbol.attributes & {"allocatable", "pointer"} or is_open:
            return ALL if symbol.type == "character" and symbol.kind.removeprefix("len=").isdigit() else NOBODY
        bounds = [one for pair in symbol.bounds or () for one in pair if one is not None]
        for name in (name for one in bounds for name in identifiers(one)):
            found = self.procedure.scope.find(name)
            if found is None or not found.attributes & {"parameter", "intent(in)"}:
                return NOBODY
        return self.highest(bounds)

    def level_of_comm(self, node: Node) -> int:
        """Whether all ranks, or all that the own communicator has, are in this communicator together."""
        if text_of(node) == "mpi_comm_world" and self.procedure.scope.find("mpi_comm_world") is None:
            return ALL
        key = self.key(node)
        found = self.state.get(f"comm:{key}", NOBODY) if key else NOBODY
        # Between two groups each gets what the other one gave: of intercommunicators nothing is the same.
        is_own = bool(key) and key == self.own and not any(map(self.mentions, _MAKE_INTERCOMMUNICATORS))
        return min(found, OWN) if is_own else found

    def _forget(self, node: Node) -> None:
        """What an unknown function gets as an argument may change."""
        self.after_unknown()
        for one in walk(node):
            if one.type == "identifier" and not self._is_constant(one):
                self.assign(one, NOBODY)

    def _is_constant(self, node: Node) -> bool:
        symbol = self.procedure.scope.find(text_of(node))
        return symbol is not None and "parameter" in symbol.attributes

    # Assignments

    def assign(self, node: Node, level: int, keeps: bool = False) -> None:
        """`keeps`: the variable, or a part of it, may keep its old value."""
        level = max(level, self.level_here())
        if node.type == "call_expression":
            arguments = child_of(node, "argument_list")
            level = max(level, self.highest(named(arguments)) if arguments is not None else NOBODY)
            node, keeps = node.children[0], True
        key = self.key(node)
        if not key:
            base = self.key(self.base(node))
            if base and self.base(node).id != node.id:
                self.drop(base)
            return
        old = self._variable(node) if keeps else ALL
        for one in list(self.state):
            plain = one.removeprefix("comm:").removeprefix("shape:")
            if plain.startswith(f"{key}%") or one == f"comm:{key}":
                del self.state[one]
        self.state[key] = NOBODY if key in self.lost else max(level, old)
        if f"shape:{key}" in self.state:
            self.state[f"shape:{key}"] = max(self.state[f"shape:{key}"], level)
        outer = key
        while "%" in outer:
            outer = outer.rpartition("%")[0]
            if outer in self.state:
                self.state[outer] = max(self.state[outer], level)
        self.changes(key)

    def drop(self, key: str) -> None:
        """Nothing is known about a variable any more, nor about its components."""
        for one in list(self.state):
            plain = one.removeprefix("comm:").removeprefix("shape:")
            if plain == key or plain.startswith(f"{key}%"):
                del self.state[one]
        self.changes(key)

    def changes(self, key: str) -> None:
        """Other ranks are in the own communicator now: what was the same there need not be."""
        if self.own and (self.own == key or self.own.startswith(f"{key}%")):
            for name in [name for name, level in self.state.items() if level == OWN]:
                del self.state[name]


def alias_of(name: str, procedure: Procedure) -> str:
    """As `Scope.variable` has it, but a name that is not declared, such as that of an intrinsic, stays unknown."""
    found = procedure.scope.find(name)
    if found is not None:
        return found.alias
    scope = procedure.scope
    outermost = [one for one in scope.chain() if not one.is_module or one is scope][-1]
    return f"{outermost.name}::{name}"


def _is_section(node: Node) -> bool:
    return any(one.type == "extent_specifier" for one in walk(node))
