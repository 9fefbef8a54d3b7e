# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Applies the rewrite of one call to the text of its file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hocket.rewrite import text as texts
from hocket.rewrite.blocks import Item
from hocket.rewrite.buffers import Obligation, kept_names
from hocket.rewrite.half_text import finish_call, halves_text, has_halves, start_call
from hocket.rewrite.halves import Halves
from hocket.rewrite.part_counts import MAX_PARTS
from hocket.rewrite.pipeline_text import PipelineText
from hocket.rewrite.sites import Site
from hocket.rewrite.strip_text import StripText, strip_names
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Source, text_of, walk
from hocket.rewrite.windows import Parts, item_of


@dataclass(frozen=True)
class Piece:
    """New text in place of lines; `origins` are the lines (from 0) of the old text that it comes from."""

    text: bytes
    origins: tuple[int, ...]


@dataclass(frozen=True)
class Edit:
    """Pieces in place of the lines from `first` to before `end`."""

    first: int
    end: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Change:
    """The edits of one rewrite, and what they rely on."""

    region: tuple[Edit, ...]  # from the start to behind the wait
    declarations: Edit
    obligations: tuple[Obligation, ...]
    others: tuple[Edit, ...] = ()
    asynchronous: tuple[str, ...] = ()  # variables that `declarations` makes so

    @property
    def edits(self) -> tuple[Edit, ...]:
        return (self.declarations, *self.region, *self.others)

    def is_too_wide(self, source: Source) -> bool:
        """Whether a new line is longer than Fortran allows."""
        pieces = [piece.text for edit in self.edits for piece in edit.pieces]
        lines = [line.rstrip() for text in pieces for line in text.splitlines()]
        wide = {line for line in lines if len(line) > texts.MAX_COLUMNS}
        return bool(wide) and not wide <= {line.rstrip() for line in source.lines}

    def hidden_intrinsic(self, procedure: Procedure) -> str:
        """An intrinsic function that new lines call by a name that means something else here, or may; empty: none."""
        scope, old = procedure.scope, set(procedure.source.lines)
        pieces = [piece.text for edit in self.edits for piece in edit.pieces]
        new = b"\n".join(line for text in pieces for line in text.splitlines(keepends=True) if line not in old)
        names: dict[str, None] = dict.fromkeys(
            re.findall(r"\b(int|kind|max|min|mod|real|sqrt)\s*\(", new.decode(errors="replace"))
        )
        for name in names:
            symbol = scope.find(name)
            is_own = symbol is not None and symbol.is_declared and "intrinsic" not in symbol.attributes
            if is_own or scope.may_be_generic(name) or any(name in one.procedures for one in scope.chain()):
                return name
        return ""

    def overlaps(self, other: Change) -> bool:
        """Whether one stands in what the other changes, or between its start and its wait."""
        return any(
            (one[0] < two[1] and two[0] < one[1]) or one[0] == two[0] for one in self._spans() for two in other._spans()
        )

    def _spans(self) -> list[tuple[int, int]]:
        whole = (min(one.first for one in self.region), max(one.end for one in self.region))
        return [whole, *((one.first, one.end) for one in self.others)]


def change_of(site: Site) -> Change:
    """The rewrite of a call that `examine` has found a window for."""
    source = site.procedure.source
    if site.halves is not None:
        return _halves_change(site, site.halves)
    asynchronous, obligations = _attributes(site)
    is_f08 = site.procedure.scope.mpi().binding == "mpi_f08"  # type: ignore[union-attr]
    request_type = "type(MPI_Request)" if is_f08 else "integer"
    if site.strip is not None:
        names = strip_names(source)
        region = _strip_region(site, StripText(site.item, site.bound, site.strip, names, source, site.part_bytes))
        declarations = [f"{request_type} :: {names.requests}({MAX_PARTS})", f"integer :: {', '.join(names.integers)}"]
    elif site.pipeline is not None:
        pipeline = PipelineText.of(site.item, site.bound, site.pipeline, source)
        loop = site.pipeline.item
        region = [_edit([loop], [Piece(pipeline.text(), _lines(loop))])]
        declarations = pipeline.declarations(request_type)
        asynchronous = [pipeline.doubles[one].name if one in pipeline.doubles else one for one in asynchronous]
    else:
        requests = texts.new_names(source, len(site.bound.procedure.starts))
        start = texts.start_text(site.item, site.bound, requests, source)
        place = site.lift.branch if site.lift is not None else site.item
        wait = texts.wait_text(site.item, place, site.bound, requests, source)
        region = _region(site, start, wait, requests)
        declarations = [f"{request_type} :: {', '.join(requests)}"]
    if asynchronous:
        declarations.append(f"asynchronous :: {', '.join(asynchronous)}")
    at = site.procedure.declarations_end
    declared = Edit(at, at, (Piece(texts.declaration_lines(site.procedure, declarations), ()),))
    only = _only_edit(site, is_f08)
    others = (only,) if only is not None else ()
    return Change(tuple(region), declared, tuple(obligations), others, tuple(asynchronous))


def _strip_region(site: Site, text: StripText) -> list[Edit]:
    """From the loop above the call, or the call, to the loop below it."""
    source, strip, call = site.procedure.source, text.strip, site.item
    first = strip.above.item if strip.above is not None else call
    last = strip.below.item if strip.below is not None else call
    comments = texts.comments_of(call, source) if strip.above is not None else b""
    between = [*strip.between_above, *strip.between_below]
    pieces = [Piece(text.starts(), _lines(first))]
    pieces += [_kept(one, source) for one in strip.between_above]
    pieces += [Piece(comments, _lines(call))] if comments else []
    pieces += [_kept(one, source) for one in strip.between_below]
    pieces += [Piece(text.waits(), _lines(last)[-1:])]
    return [_edit([first, call, *between, last], pieces)]


def _halves_change(site: Site, halves: Halves) -> Change:
    """Both halves behind the procedure, unless they are there, and their calls."""
    source, scope = site.procedure.source, site.procedure.scope
    requests = texts.new_names(source, len(halves.requests))
    start = start_call(site.item, halves, requests, source)
    wait = finish_call(site.item, halves, requests, source)
    request_type = "type(MPI_Request)" if scope.mpi().binding == "mpi_f08" else "integer"  # type: ignore[union-attr]
    declarations = [f"{request_type} :: {', '.join(requests)}"]
    asynchronous = [
        one for one in site.buffer_names if one not in site.plain and not scope.has_attribute(one, "asynchronous")
    ]
    declarations += [f"asynchronous :: {', '.join(asynchronous)}"] * bool(asynchronous)
    at = site.procedure.declarations_end
    declared = Edit(at, at, (Piece(texts.declaration_lines(site.procedure, declarations), ()),))
    others = []
    if not has_halves(halves):
        row = int(halves.procedure.node.children[-1].end_point[0]) + 1
        others.append(Edit(row, row, (Piece(halves_text(halves, request_type), ()),)))
    return Change(tuple(_region(site, start, wait, requests)), declared, (), tuple(others), tuple(asynchronous))


def _region(site: Site, start: bytes, wait_bytes: bytes, requests: list[str]) -> list[Edit]:
    """The statements from the first to the last that changes its place, in their new order."""
    source, window, call, lift = site.procedure.source, site.window, site.item, site.lift
    assert window is not None
    above = [_early(one, source) for one in window.before]
    above.append(Piece(start, _lines(call)))
    above += [_late(one, source) for one in window.inside_above]
    above += [_early(one, source) for one in window.inside_below]
    used = [*window.before, *window.inside_above, call, *window.inside_below]
    at = int(call.node.start_point[0])
    if lift is None:
        wait = Piece(wait_bytes, (at,))
        return [_edit([*used, *window.after], [*above, wait, *(_late(one, source) for one in window.after)])]
    wait = Piece(wait_bytes, (at,))
    row = int(lift.branch.node.start_point[0])
    null = Piece(texts.null_text(lift.branch, call, requests, source), (at,))
    below = [_early(one, source) for one in lift.window.inside_below]
    below += [wait, *(_late(one, source) for one in lift.window.after)]
    return [Edit(row, row, (null,)), _edit(used, above), _edit([*lift.window.inside_below, *lift.window.after], below)]


def _edit(used: Sequence[Item | Parts], pieces: Sequence[Piece]) -> Edit:
    items = [item_of(one) for one in used]
    return Edit(min(one.first_line for one in items), max(one.last_line for one in items) + 1, tuple(pieces))


def _early(one: Item | Parts, source: Source) -> Piece:
    if isinstance(one, Item):
        return _kept(one, source)
    return Piece(texts.early_text(one, source), _lines(one.item))


def _late(one: Item | Parts, source: Source) -> Piece:
    if isinstance(one, Item):
        return _kept(one, source)
    return Piece(texts.late_text(one, source), _lines(one.item)[-1:])


def _kept(item: Item, source: Source) -> Piece:
    return Piece(texts.lines_of(item, source), _lines(item))


def _lines(item: Item) -> tuple[int, ...]:
    return tuple(range(item.first_line, item.last_line + 1))


def _attributes(site: Site) -> tuple[list[str], list[Obligation]]:
    """Names for an asynchronous statement, and what keeps the accesses of these and of the others in their place."""
    plain = site.plain
    scope = site.procedure.scope
    asynchronous = [
        one
        for one in kept_names(site.bound, site.procedure)
        if one not in plain and not scope.has_attribute(one, "asynchronous")
    ]
    obligations = []
    if asynchronous:
        claim = f"the compiler does not move accesses of {', '.join(asynchronous)} over start or wait"
        obligations.append(Obligation(claim, "asynchronous was added (MPI 4.1, 19.1.17; Fortran 2018, 8.5.4)"))
    if plain:
        # MPI_F_sync_reg would prove it: with mpif.h it crashes in MPICH 4.0.2.
        claim = f"the compiler does not move accesses of {', '.join(plain)} over the wait"
        obligations.append(Obligation(claim, "assumed, as --trust-compiler allows"))
    return asynchronous, obligations


def _only_edit(site: Site, is_f08: bool) -> Edit | None:
    """Adds the new names to `use mpi, only:`."""
    scope, source = site.procedure.scope.mpi(), site.procedure.source
    items = scope.binding_only if scope is not None else None
    if items is None:
        return None
    has = {text_of(node) for node in walk(items) if node.type in ("identifier", "local_name")}
    # A program that does not name its procedures calls them without an interface: MPICH's module has not all of them.
    names_procedures = site.name.lower() in has
    wanted = [*site.bound.procedure.starts, "MPI_Wait"] if names_procedures else []
    wanted += (
        ["MPI_STATUS_IGNORE"] if site.bound.actual("status") is None or len(site.bound.procedure.starts) > 1 else []
    )
    wanted += ["MPI_REQUEST_NULL"] * (site.lift is not None)
    wanted += ["MPI_Request"] * is_f08
    new = [name for name in wanted if name.lower() not in has]
    if not new:
        return None
    row = int(items.end_point[0])
    line, column = source.lines[row], int(items.end_point[1])
    addition = f", {', '.join(new)}".encode()
    if len(line) + len(addition) > texts.MAX_COLUMNS:
        addition = b", &" + texts.line_end(source) + b"    " + ", ".join(new).encode()
    return Edit(row, row + 1, (Piece(line[:column] + addition + line[column:], (row,)),))


def with_changes(source: Source, changes: Sequence[Change]) -> tuple[bytes, list[int]]:
    """The new text, and the old line (from 0) of each of its lines, -1 for a new one."""
    return with_edits(source.lines, [edit for one in changes for edit in one.edits])


def with_edits(lines: Sequence[bytes], edits: Sequence[Edit]) -> tuple[bytes, list[int]]:
    """See `with_changes`."""
    text, origins, at = b"", list[int](), 0
    for edit in sorted(edits, key=lambda edit: (edit.first, edit.end)):
        text += b"".join(lines[at : edit.first])
        origins += range(at, edit.first)
        for piece in edit.pieces:
            text += piece.text
            count = piece.text.count(b"\n")  # a \r alone ends no line
            known = [*piece.origins[:count]]
            origins += known + [piece.origins[-1] if piece.origins else -1] * (count - len(known))
        at = max(at, edit.end)
    return text + b"".join(lines[at:]), origins + list(range(at, len(lines)))
