# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The options of `hocket simulate`, and which of them go with what is simulated."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from hocket.cli.options import OutputPath
from hocket.errors import InvalidInput
from hocket.simulation.circuits import POLICIES
from hocket.simulation.patterns import PARAMETERS
from hocket.simulation.request import APPLICABLE as OF_REQUEST

MOST_DIMENSIONS = 16  #: of --grid
Function = TypeVar("Function", bound=Callable[..., Any])

# The value of a request -> the parameters of the command that it is made of, where their names differ.
_PARAMETERS = {
    "bytes": {"bytes_text"},
    "spread": {"bytes_spread"},
    "plan": {"plan_path"},
    "what_if": {"cpu_scale", "delay", "noise", "noise_seed"},
    "costs": {"costs_folder", "send_overhead", "receive_overhead", "rendezvous"},
}
#: Parameters of the command that go with some of what can be simulated; the others go with everything.
APPLICABLE = {
    kind: set[str]().union(*(_PARAMETERS.get(name, {name}) for name in names))
    for kind, names in {**OF_REQUEST, "jobs": {"bytes", "costs", "threads"}}.items()
}
# --seed is also that of --routing ecmp, which any generated network may have.
_CONDITIONAL = set[str]().union(*APPLICABLE.values()) - {"seed"}


def pattern_options(function: Function) -> Function:
    options = [
        click.option(
            "--messages", type=click.IntRange(1, 2**63 - 1), help="Patterns: from each rank, to each of its peers."
        ),
        click.option(
            "--bytes-spread",
            type=float,
            metavar="S",
            help="Patterns: sizes are random, from BYTES * (1 - S) to BYTES * (1 + S); 0 to 1.",
        ),
        click.option(
            "--ranks", type=click.IntRange(1, 2**31 - 1), help="Patterns: the first so many ranks.  [default: all]"
        ),
        click.option(
            "--in-flight",
            type=click.IntRange(1, 2**31 - 1),
            metavar="K",
            help="Patterns: messages that a rank has on the way at a time.  [default: 1; nearest-neighbour: to all "
            "neighbours]",
        ),
        click.option(
            "--distance",
            type=click.IntRange(-(2**31), 2**31 - 1),
            help="shift: rank r sends to rank r + DISTANCE.  [default: 1]",
        ),
        click.option(
            "--target", type=click.IntRange(0, 2**31 - 1), help="incast: the rank that all send to.  [default: 0]"
        ),
        click.option(
            "--grid",
            metavar="AxBxC",
            callback=_grid,
            help="nearest-neighbour: points in each dimension.  [default: 3D]",
        ),
        click.option("--periodic", is_flag=True, help="nearest-neighbour: close each dimension to a ring."),
        click.option(
            "--threads",
            type=click.IntRange(1, 1024),
            help="Patterns and collectives: at most so many; the result is the same.  [default: the cores; 1 for a "
            "pattern with --reference]",
        ),
        click.option(
            "--links/--no-links",
            default=None,
            help="Patterns: count bytes of links, at a cost.  [default: not with --json alone]",
        ),
        click.option(
            "--circuit-policy",
            type=click.Choice(POLICIES),
            help="Of a network with circuits: one for each message, batches, when wanted, some from start to end, or "
            "those that the program connects.  "
            "[default: lazy; pinned with --pin; program if the program connects circuits]",
        ),
        click.option(
            "--pin",
            metavar="ring|hypercube|A-B,...",
            help="Circuits of the policy pinned, between the hosts of these ranks.  [default: ring]",
        ),
        click.option("--reference", is_flag=True, help="Compute all rates anew at each change: slow, to compare with."),
        click.option(
            "--seed",
            type=click.IntRange(0, 2**63 - 1),
            help="Of random orders and sizes, and of --routing ecmp.  [default: 1]",
        ),
        click.option(
            "--routing", metavar="TEXT", help="Of a generated network: `hocket network generate --help` lists them."
        ),
        click.option(
            "-o",
            "--output",
            type=OutputPath(),
            metavar="FOLDER",
            help="Write result.json, result.npz, report.html and trace.json into a new or empty folder, or over an "
            "earlier result. Of a collective, one algorithm.",
        ),
        click.option(
            "--trace-json",
            type=OutputPath(),
            metavar="FILE",
            help="Write what ranks and links do over time, for Perfetto or chrome://tracing. Of a collective, one "
            "algorithm.",
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def what_if_options(function: Function) -> Function:
    options = [
        click.option(
            "--cpu-scale",
            multiple=True,
            metavar="F|RANKS=F",
            help="Traces and programs: computations take F times as long, those of all ranks or of some: 0.5, 7=1.2, "
            "0-3=1.1. May be repeated.",
        ),
        click.option(
            "--delay",
            multiple=True,
            metavar="RANK=TIME[@AFTER]",
            help="Traces and programs: a rank is late by TIME, once it has computed for AFTER: 7=200ms@1.5s. May be "
            "repeated.",
        ),
        click.option(
            "--noise",
            metavar="KIND:X",
            help="Traces and programs: each computation takes a random factor longer, of spread X: normal:0.1, "
            "lognormal:X, exponential:X (only longer), uniform:X.",
        ),
        click.option(
            "--noise-seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True, help="Of --noise."
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def refuse_others(context: click.Context, kind: str, what: str) -> None:
    """Refuses, by name, options on the command line that mean nothing for what is simulated."""
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) == ParameterSource.COMMANDLINE
        if given and name in _CONDITIONAL - APPLICABLE[kind]:
            names = parameter.secondary_opts if context.params[name] is False else parameter.opts
            option = max(names or parameter.opts, key=len)
            where = sorted(other for other, accepted in APPLICABLE.items() if name in accepted)
            subject = what if kind in PARAMETERS else f"{'several' if kind == 'jobs' else 'a'} {kind} ({what})"
            raise InvalidInput(
                f"{option} does not apply to {subject}", f"it goes with {', '.join(where)}: leave it out"
            )


def _grid(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    hint = "write the points in each dimension, such as 16x16x8"
    fields = text.split("x")
    for field in fields:
        if not re.fullmatch("[0-9]{1,100}", field):
            raise InvalidInput(f"--grid: {text[:60]!r}: {field[:20]!r} is not a number of points", hint)
        if not 0 < int(field) < 2**31:
            raise InvalidInput(f"--grid: {text[:60]!r}: {field} is not in 1..{2**31 - 1}", hint)
    if len(fields) > MOST_DIMENSIONS:
        raise InvalidInput(f"--grid: {len(fields)} dimensions; accepted: 1 to {MOST_DIMENSIONS}", hint)
    return tuple(map(int, fields))
