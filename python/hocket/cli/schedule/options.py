# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The options of `hocket schedule`, and which of them go together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from hocket.cli.options import Duration, FiniteRange, OutputPath, generator_options, network_option
from hocket.cli.schedule.output import FORMATS
from hocket.errors import InvalidInput

Function = TypeVar("Function", bound=Callable[..., Any])

_ON_NETWORK = {"network_text", "bandwidth", "latency", "root", "bytes_text", "drawing", "form"}
_OPTIMAL = _ON_NETWORK | {"optimal", "method", "time_limit_s"}
#: What is asked for -> the options that mean something for it.
_APPLICABLE = {
    "a list of algorithms": set[str](),
    "FILE.json": {"bytes_text", "network_text", "form"},
    "--algorithm": {"algorithm", "ranks", "root", "segments", "order", "bytes_text", "form"},
    "--network": _ON_NETWORK | {"chunks"},
    "--optimal": _OPTIMAL | {"chunks", "gap", "threads"},
    "--method paper": _OPTIMAL | {"chunks", "cuts"},
    "--crossover": {"crossover", "network_text", "bandwidth", "latency", "root"},
    "--circuits": {
        "circuits",
        "ports",
        "setup_s",
        "teardown_s",
        "injection",
        "stop",
        "accounting",
        "controller",
        "instances",
        "check",
        "matrix",
        "used",
        "ranks",
        "root",
        "bandwidth",
        "latency",
        "bytes_text",
        "segments",
        "time_limit_s",
    },
}


def schedule_options(function: Function) -> Function:
    options = [
        click.option("-n", "--ranks", type=click.IntRange(1), help="Number of ranks."),
        click.option(
            "-a", "--algorithm", help="Its name; without it and --network the algorithms of the collective are listed."
        ),
        click.option("--root", type=click.IntRange(0), default=0, show_default=True),
        click.option(
            "--segments",
            "--pieces",
            "segments",
            type=click.IntRange(1),
            default=1,
            show_default=True,
            help="How fine to cut for pipelining.",
        ),
        click.option("--order", metavar="RANKS", help="Ranks in the order of the algorithm, such as 0,2,1,3."),
        network_option(required=False),
        generator_options,
        click.option("-b", "--bytes", "bytes_text", metavar="BYTES", help='Message or block: "1 MB".'),
        click.option(
            "--crossover", is_flag=True, help="Times of bcast or reduce over sizes, in one segment and pipelined."
        ),
        click.option("--optimal", is_flag=True, help="Search the fastest schedule of one segment on a tree."),
        click.option(
            "--chunks",
            metavar="auto|N",
            callback=_chunks,
            help="How fine to cut on a network; auto: as is predicted to be fastest.  [default: auto]",
        ),
        click.option(
            "--time-limit",
            "time_limit_s",
            type=Duration(),
            default=60.0,
            show_default="1min",
            metavar="TIME",
            help="Of the search; then it gives the best schedule so far and how far from the optimum it may be.",
        ),
        click.option(
            "--gap",
            type=FiniteRange(0),
            default=0.0,
            show_default=True,
            metavar="PART",
            help="Be content with a schedule that takes at most 1 + PART times the least: 0.01.",
        ),
        click.option(
            "--threads", type=click.IntRange(1, 1024), default=1, show_default=True, help="Of the search for --optimal."
        ),
        click.option(
            "--method",
            type=click.Choice(["hocket", "paper"]),
            default="hocket",
            show_default=True,
            help="Of --optimal; paper: the search of [Hourai] as published, to compare with.",
        ),
        click.option(
            "--cuts",
            type=click.Choice(["none", "sender", "receiver", "both"]),
            default="both",
            show_default=True,
            help="Of --method paper: which equivalent branches it leaves out.",
        ),
        click.option(
            "--draw",
            "drawing",
            type=OutputPath(),
            metavar="FILE",
            help="Draw the network and the transfers: FILE.html, .png, .svg or .pdf.",
        ),
        click.option(
            "--format",
            "form",
            type=click.Choice(list(FORMATS)),
            help="What to print.  [default: list; on a network a table of transfers]",
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def asked_for(given: dict[str, Any], is_file: bool) -> str:
    """A key of _APPLICABLE."""
    if is_file:
        return "FILE.json"
    if given["network_text"] is None:
        return "--algorithm" if given["algorithm"] is not None else "a list of algorithms"
    if given["crossover"]:
        return "--crossover"
    if given["optimal"]:
        return "--method paper" if given["method"] == "paper" else "--optimal"
    return "--network"


def refuse_others(context: click.Context, kind: str, what: str) -> None:
    """Refuses, by name, options on the command line that mean nothing for what is asked for."""
    conditional = set[str]().union(*_APPLICABLE.values())
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) == ParameterSource.COMMANDLINE
        option = max(parameter.opts, key=len)
        if given and name in conditional - _APPLICABLE[kind]:
            places = [other for other, names in _APPLICABLE.items() if name in names]
            hint = "leave one of them out" if option in _APPLICABLE else f"it goes with {', '.join(places)}"
            raise InvalidInput(f"{what}: {option} does not apply to {kind}", hint)
        if given and name == "form" and context.params["as_json"]:
            raise InvalidInput(f"{what}: --format and --json are two forms of output", "leave one of them out")


def _chunks(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    if text is None or text == "auto":
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text) < 2**31):
        raise InvalidInput(f"--chunks: {text!r} is not a number of chunks", "write a number such as 32, or auto")
    return int(text)
