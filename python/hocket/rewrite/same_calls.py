# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What calls of MPI, input and output make of the values of variables: the same on all ranks, or not."""

from __future__ import annotations

from dataclasses import dataclass

from hocket.rewrite.mpi_arguments import BoundArguments, bind, factors_of
from hocket.rewrite.mpi_procedures import mpi_procedures
from hocket.rewrite.sameness import ALL, NOBODY, OWN, Sameness
from hocket.rewrite.syntax import Node, child_of, identifiers, named, text_of, walk

#: Collectives whose results all ranks of the communicator get.
_SHARED = frozenset(f"mpi_{i}{name}" for i in ("", "i") for name in ("bcast", "allreduce", "allgather", "allgatherv"))
#: They make one communicator for all ranks of another, or leave ranks without one. The position of the new one.
_WHOLE = {
    "mpi_comm_dup": 1, "mpi_cart_create": 5, "mpi_graph_create": 5, "mpi_dist_graph_create": 8,
    "mpi_dist_graph_create_adjacent": 9, "mpi_comm_idup": 1, "mpi_comm_dup_with_info": 2,
}  # fmt: skip
_OF_THE_COMMAND = frozenset({"get_command_argument", "get_command", "getarg"})
_VARIABLES = ("identifier", "call_expression", "derived_type_member_expression")
_READS_ONLY = ("mpi_finalize", "mpi_barrier", "mpi_init", "mpi_abort")
_ERROR_CODES = ("ierr", "ierror", "mpierr", "ierr_mpi", "mpi_ierr")


@dataclass
class SameCalls(Sameness):
    """Of statements that give values to variables in other ways than an assignment."""

    def mpi(self, name: str, node: Node) -> None:
        name = name.removeprefix("p")
        arguments = child_of(node, "argument_list")
        parts = named(arguments) if arguments is not None else []
        table = mpi_procedures().get(name)
        bound = bind(table, node) if table is not None else None
        if bound is None:
            self._other(name, parts)
            return
        if bound.error is not None:
            self.assign(bound.error, ALL)
        for argument, actual in bound.pairs():
            if argument.use not in ("out", "inout", "set", "request") or self.procedure.scope.is_of_mpi(
                text_of(actual)
            ):
                continue
            comm = bound.actual("comm")
            if comm is None or (name not in _SHARED and name != "mpi_comm_size"):
                self.assign(actual, NOBODY)
            else:
                self.assign(actual, self.level_of_comm(comm), keeps=not self._is_whole(bound, actual))

    def _is_whole(self, bound: BoundArguments, actual: Node) -> bool:
        """Whether all of a variable gets new values."""
        symbol, count = self.symbol(actual), bound.actual("count")
        if symbol is None or symbol.is_derived:
            return False
        name = text_of(actual)
        if symbol.type == "character":
            return count is not None and text_of(count) in (f"len({name})", symbol.kind.removeprefix("len="))
        if symbol.bounds is None:
            return count is None or (text_of(count).isdigit() and int(text_of(count)) > 0)
        names = [one for pair in symbol.bounds for bound in pair if bound is not None for one in identifiers(bound)]
        symbols = [self.procedure.scope.find(one) for one in names]
        if count is None or not all(one and one.attributes & {"parameter", "intent(in)"} for one in symbols):
            return False
        extents = [text_of(upper) for lower, upper in symbol.bounds if upper is not None and lower is None]
        factors = sorted(text_of(one) for one in factors_of(count))
        return text_of(count) == f"size({name})" or (len(extents) == len(symbol.bounds) and sorted(extents) == factors)

    def _other(self, name: str, parts: list[Node]) -> None:
        positions = {place: part for place, part in enumerate(parts) if part.type != "keyword_argument"}
        is_plain = len(positions) == len(parts)
        if is_plain and name in _WHOLE and _WHOLE[name] < len(parts):
            self._new_comm(parts[_WHOLE[name]], self.level_of_comm(parts[0]))
            others = [part for place, part in positions.items() if place > _WHOLE[name]]
        elif is_plain and name == "mpi_comm_split" and len(parts) > 3:
            color, one = parts[1], parts[3]
            self._new_comm(one, max(self.level_of_comm(parts[0]), self.level(color)))
            if self.own and self.key(one) == self.own and color.type == "identifier" and (key := self.key(color)):
                self.state[key] = min(self.state.get(key, NOBODY), OWN)
            others = parts[4:]
        elif is_plain and name == "mpi_dims_create" and len(parts) > 2:
            self.assign(parts[2], max(self.level(parts[0]), self.level(parts[2])))
            others = parts[3:]
        elif is_plain and name in ("mpi_initialized", "mpi_finalized", "mpi_init_thread") and len(parts) > 1:
            self.assign(parts[name == "mpi_init_thread"], ALL)
            others = parts[1 + (name == "mpi_init_thread") :]
        else:
            others = [] if name in _READS_ONLY else parts
            if name.endswith("_init") or name.startswith(("mpi_win", "mpi_buffer", "mpi_file_i")):
                self.lost |= {self.key(self.base(part)) for part in parts} - {""}
        for part in others:
            if part is parts[-1] and text_of(part) in _ERROR_CODES:
                self.assign(part, ALL)  # an error ends the program
            else:
                self.lose(part)

    def _new_comm(self, node: Node, level: int) -> None:
        self.assign(node, NOBODY)
        if key := self.key(node):
            self.state[f"comm:{key}"] = max(level, self.level_here())

    def lose(self, node: Node) -> None:
        """An argument of a procedure that is not known."""
        node = named(node)[-1] if node.type == "keyword_argument" else node
        if node.type in _VARIABLES:
            self.level(node)  # it may be a function
            base = self.base(node)
            if base.type == "identifier" and not self._is_constant(base):
                self.assign(node, NOBODY)

    def intrinsic(self, name: str, parts: list[Node]) -> None:
        """A subroutine that is not among the files, or one of the language."""
        for part in parts:
            value = named(part)[-1] if part.type == "keyword_argument" else part
            if name in _OF_THE_COMMAND and value.type == "identifier":
                self.assign(value, ALL)
            else:
                self.lose(part)

    # Input and output

    def read_statement(self, node: Node) -> None:
        """What files hold may be another thing for each rank, and at another place."""
        unit_node = child_of(node, "unit_identifier")
        unit = named(unit_node)[-1] if unit_node is not None and named(unit_node) else None
        symbol = self.symbol(self.base(unit)) if unit is not None else None
        is_internal = unit is not None and symbol is not None and symbol.type == "character"
        level = self.level(unit) if unit is not None and is_internal else NOBODY
        items = child_of(node, "input_item_list")
        if items is not None and any(one.type != "identifier" for one in named(items)):
            level = NOBODY  # how many values they take is not known
        formats = [one for one in node.children if one.type == "format_identifier"]
        level = max([level, *(self.highest(named(one)) for one in formats)])
        for one in node.children:
            if one.type == "keyword_argument":
                word, value = text_of(named(one)[0]), named(one)[-1]
                if word == "nml":
                    self._namelist(text_of(value), level)
                elif value.type in _VARIABLES and word not in ("fmt", "rec", "advance", "pos"):
                    self.assign(value, NOBODY)
            elif one.type == "input_item_list":
                for item in named(one):
                    if item.type in _VARIABLES:
                        self.assign(item, level)
                    else:
                        self._forget(item)

    def _namelist(self, group: str, level: int) -> None:
        found = self.reach.namelists.get(group)
        if not found:
            self.state.clear()
        for node in found or ():
            for one in walk(node):
                if one.type == "identifier":
                    self.assign(one, level, keeps=True)

    def write_statement(self, node: Node) -> None:
        unit_node = child_of(node, "unit_identifier")
        items = child_of(node, "output_item_list")
        level = self.highest(named(items)) if items is not None else ALL
        if unit_node is not None and named(unit_node):
            target = named(unit_node)[-1]
            symbol = self.symbol(self.base(target))
            if symbol is not None and symbol.type != "integer":
                formats = [one for one in node.children if one.type == "format_identifier"]
                level = max([level, *(self.highest(named(one)) for one in formats if text_of(one) != "*")])
                self.assign(target, level, keeps=False)
        for one in node.children:
            if one.type == "keyword_argument" and text_of(named(one)[0]) in ("iostat", "iomsg", "size", "id"):
                self.assign(named(one)[-1], NOBODY)

    def open_statement(self, node: Node) -> None:
        for one in node.children:
            if one.type == "keyword_argument" and text_of(named(one)[0]) in ("newunit", "iostat", "iomsg"):
                self.assign(named(one)[-1], NOBODY)

    def allocate_statement(self, node: Node) -> None:
        level = self.level_here()
        words = [text_of(named(one)[0]) for one in named(node) if one.type == "keyword_argument"]
        if "mold" in words or "source" in words:
            level = NOBODY
        for one in named(node):
            if one.type == "keyword_argument":
                self.assign(named(one)[-1], NOBODY)
            elif one.type in ("sized_allocation", "identifier", "derived_type_member_expression"):
                name = one if one.type != "sized_allocation" else named(one)[0]
                bounds = [each for part in named(one)[1:] for each in named(part)] if name is not one else []
                self.assign(name, NOBODY)
                if key := self.key(name):
                    self.state[f"shape:{key}"] = max(level, self.highest(bounds))

    def deallocate_statement(self, node: Node) -> None:
        for one in named(node):
            self.assign(named(one)[-1] if one.type == "keyword_argument" else one, NOBODY)
            if one.type != "keyword_argument" and (key := self.key(one)):
                self.state[f"shape:{key}"] = self.level_here()
