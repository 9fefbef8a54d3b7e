# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What names stand for: variables with their attributes, in the scopes of modules and procedures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from hocket.rewrite.mpi_procedures import CONSTANTS
from hocket.rewrite.syntax import Node, Source, identifiers

#: Their names are constants, types and procedures without an effect on variables of the program.
INTRINSIC_MODULES = frozenset(
    "iso_fortran_env iso_c_binding ieee_arithmetic ieee_exceptions ieee_features omp_lib omp_lib_kinds".split()
)
MPI_MODULES = frozenset({"mpi", "mpi_f08"})
#: All objects that a pointer may have as its target are one object to the analysis: which, it does not follow.
TARGETS = "(pointers and targets)"


@dataclass
class Symbol:
    """A variable, a named constant or a procedure."""

    name: str  # in lower case
    key: str  # the same for the same object, in all files
    type: str = ""  # "integer", "real", ..., "type(NAME)"; empty if unknown
    kind: str = ""  # as it is written: "8", "dp", "kind=real64"; empty: the default
    bounds: tuple[tuple[Any, Any], ...] | None = None  # of an array: nodes of lower and upper bound, None where absent
    attributes: set[str] = field(default_factory=set)
    is_dummy: bool = False
    is_coarray: bool = False
    common: str = ""  # the block
    is_equivalenced: bool = False
    value: Any = None  # the node of a named constant
    is_initialised: bool = False  # a variable that has a value when the program starts
    conflict: str = ""  # why nothing is known about it
    is_declared: bool = True
    home: Any = field(default=None, compare=False, repr=False)  # the scope in which the nodes have their meaning

    @property
    def alias(self) -> str:
        """Two variables with different ones share no storage (Fortran 2018, 8.5.15, 15.5.2.13 for dummy arguments)."""
        if self.attributes & {"pointer", "target"}:
            return TARGETS
        if self.common:
            return f"(common {self.common})"
        return f"(equivalence in {self.key.rpartition('::')[0]})" if self.is_equivalenced else self.key

    @property
    def is_of_mpi(self) -> bool:
        return self.key.startswith("(MPI)::")

    @property
    def is_array(self) -> bool:
        return self.bounds is not None

    @property
    def is_procedure(self) -> bool:
        return bool(self.attributes & {"external", "procedure"})

    @property
    def is_derived(self) -> bool:
        return self.type.startswith(("type(", "class("))


def _names_in(symbol: Symbol) -> Iterator[str]:
    """Of its bounds, its value and its type."""
    nodes = [one for pair in symbol.bounds or () for one in pair] + [symbol.value]
    for node in nodes:
        if node is not None:
            yield from identifiers(node)
    yield from re.findall(r"[a-z]\w*", symbol.kind)
    if symbol.is_derived:
        yield symbol.type.partition("(")[2].rstrip(")")


@dataclass
class DerivedType:
    name: str
    components: dict[str, Symbol]
    is_complete: bool  # no type-bound procedures, no parent


@dataclass(frozen=True)
class Use:
    module: str
    names: dict[str, str]  # own name -> name in the module
    has_only: bool

    def passes_on(self, unseen: Unseen) -> Unseen:
        """Of what the module uses itself."""
        if self.has_only:
            return Unseen(unseen.text, frozenset(own for own, its in self.names.items() if unseen.has(its)))
        return Unseen(unseen.text) if self.names else unseen


@dataclass(frozen=True)
class Unseen:
    """A module or an included file that is not among the sources. Only `names` may come from it; None: any."""

    text: str
    names: frozenset[str] | None = None

    def has(self, name: str) -> bool:
        return self.names is None or name in self.names


@dataclass
class Scope:
    """The names of a program unit. Names that it does not have are looked for in `parent`."""

    name: str  # "file.f90::module::procedure"
    parent: Scope | None = None
    is_module: bool = False
    symbols: dict[str, Symbol] = field(default_factory=dict)
    types: dict[str, DerivedType] = field(default_factory=dict)
    generics: set[str] = field(default_factory=set)  # names of generic interfaces
    procedures: dict[str, Procedure] = field(default_factory=dict)  # of a module and of used modules
    access: dict[str, str] = field(default_factory=dict)  # "public" or "private", by name; "": of all others
    used: list[Use] = field(default_factory=list)
    unseen: list[Unseen] = field(default_factory=list)
    binding: str = ""  # of MPI: "mpi", "mpi_f08" or "mpif.h"
    binding_only: Any = None  # the included_items of `use mpi, only:`
    binding_file: Any = None  # where that stands
    has_implicit: bool = False  # an implicit statement other than `implicit none`
    problem: str = ""  # a declaration that is not understood
    saves_all: bool = False
    added: dict[str, set[str]] = field(default_factory=dict)  # attributes that a name has here only
    is_explicit: bool = False  # implicit none
    wants_external: bool = False  # implicit none (external)
    _seen: dict[str, Symbol] = field(default_factory=dict)  # by key, of symbols of other scopes

    def chain(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def find(self, name: str) -> Symbol | None:
        """None also where a name of a module that is not among the files may hide that of the host."""
        for scope in self.chain():
            if name in scope.symbols:
                return self._as_seen_here(scope.symbols[name])
            if scope.hides(name):
                return None
        return None

    def _as_seen_here(self, symbol: Symbol) -> Symbol:
        """Its bounds, value and type name other things: those of its own scope, which may mean something else here."""
        if symbol.home is None or symbol.home is self:
            return symbol
        key = f"{symbol.name} {symbol.key}"
        if key not in self._seen:
            self._seen[key] = symbol  # where it needs itself
            other = next((one for one in _names_in(symbol) if not self._means_the_same(one, symbol.home)), "")
            reason = f"{symbol.name} is declared with {other}, which may be something else here"
            self._seen[key] = replace(symbol, conflict=reason) if other else symbol
        return self._seen[key]

    def _means_the_same(self, name: str, home: Scope) -> bool:
        here, there = self.find(name), home.find(name)
        if self.find_type(name) is not home.find_type(name) and home.find_type(name) is not None:
            return False
        if here is None or not here.is_declared:
            is_explicit = any(scope.is_explicit for scope in self.chain())
            return there is None or not there.is_declared or is_explicit
        return there is not None and here.key == there.key

    def has_attribute(self, name: str, attribute: str) -> bool:
        symbol = self.find(name)
        here = any(attribute in scope.added.get(name, ()) for scope in self.chain())
        return here or (symbol is not None and attribute in symbol.attributes)

    def find_type(self, name: str) -> DerivedType | None:
        return next((scope.types[name] for scope in self.chain() if name in scope.types), None)

    def has_generic(self, name: str) -> bool:
        return any(name in scope.generics for scope in self.chain())

    def is_public(self, name: str) -> bool:
        """Whether those that use the module see it."""
        symbol = self.symbols.get(name)
        own = next((one for one in ("public", "private") if symbol is not None and one in symbol.attributes), "")
        return (self.access.get(name) or own or self.access.get("", "public")) == "public"

    def hides(self, name: str) -> bool:
        """Whether what is not among the sources may give the name another meaning than it has outside."""
        return any(one.has(name) for one in self.unseen)

    def unseen_of(self, name: str) -> str:
        """From where an undeclared name may come; empty: from nowhere."""
        return next((one.text for scope in self.chain() for one in scope.unseen if one.has(name)), "")

    def may_be_generic(self, name: str) -> bool:
        """Whether a program's own procedure may be called by the name of an intrinsic one."""
        return self.has_generic(name) or bool(self.unseen_of(name))

    def mpi(self) -> Scope | None:
        """The scope through which the names of MPI come."""
        return next((scope for scope in self.chain() if scope.binding), None)

    def _may_be_intrinsic(self, name: str) -> bool:
        """Of a module such as iso_fortran_env."""
        used = [use for scope in self.chain() for use in scope.used if use.module in INTRINSIC_MODULES]
        return any(not use.has_only or name in use.names for use in used)

    def is_of_mpi(self, name: str) -> bool:
        """Such as `mpi_in_place`; but many programs have an `mpi_rank` of their own."""
        return name.startswith("mpi_") and name.isidentifier() and self.variable(name).is_of_mpi

    def variable(self, name: str) -> Symbol:
        """What `name` stands for; by Fortran's implicit rules if it is not declared."""
        found = self.find(name)
        if found is not None:
            return found
        if name.startswith("mpi_") and self.mpi() is not None and (name in CONSTANTS or not self.unseen_of(name)):
            return Symbol(name, f"(MPI)::{name}", attributes={"parameter"})
        # An undeclared name of an internal procedure may be its host's: they are taken for one variable.
        outermost = [scope for scope in self.chain() if not scope.is_module or scope is self][-1]
        if any(name in scope.symbols for scope in self.chain()):
            outermost = self  # it may be hidden here
        symbol = Symbol(name, f"{outermost.name}::{name}", is_declared=False)
        if any(name in scope.procedures for scope in self.chain()):
            symbol.attributes.add("procedure")
        elif unseen := self.unseen_of(name):
            symbol.conflict = f"{name} may come from {unseen}, which is not among the files"
        elif any(scope.is_explicit for scope in self.chain()) and not self._may_be_intrinsic(name):
            symbol.conflict = f"{name} is declared nowhere: a macro may stand for it"
        elif not any(scope.has_implicit for scope in self.chain()):
            symbol.type = "integer" if name[:1] in "ijklmn" else "real"
        outermost.symbols[name] = symbol
        return symbol


@dataclass
class Procedure:
    """A program, subroutine or function with its body."""

    name: str
    kind: str
    node: Node
    source: Source
    scope: Scope
    dummies: list[str]
    result: str  # the name of a function's result
    body: list[Node]  # executable statements
    declarations_end: int  # the line (from 0) behind the last declaration
    qualifiers: frozenset[str]
    has_explicit_interface: bool  # a module procedure or an internal one
    inner: dict[str, Procedure] = field(default_factory=dict)
    problem: str = ""

    def has_alone(self, symbol: Symbol) -> bool:
        """Whether it is a local variable that shares its storage with no other."""
        is_own = symbol.key.startswith(f"{self.scope.name}::") and not symbol.is_dummy
        return is_own and symbol.alias == symbol.key

    def has_own_function(self, name: str) -> bool:
        """Whether the name of an intrinsic function, if called here, may be the program's own."""
        symbol = self.scope.find(name)
        if symbol is not None and "intrinsic" not in symbol.attributes and (symbol.is_procedure or symbol.is_dummy):
            return True
        return self.scope.may_be_generic(name)

    def is_saved(self, symbol: Symbol) -> bool:
        return self.scope.saves_all or "save" in symbol.attributes or self.kind == "program"
