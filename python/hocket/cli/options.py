# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Options that several subcommands share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from hocket.cost.source import CostSource

F = TypeVar("F", bound=Callable[..., Any])


class OutputPath(click.Path):
    """A path to write to. An empty one would be the current folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        if value == "":
            self.fail("the name is empty", parameter, context)
        return super().convert(value, parameter, context)


class FiniteRange(click.FloatRange):
    """click's own lets nan pass any limit, and inf a lower one."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        number = super().convert(value, parameter, context)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", parameter, context)
        return number


_UNITS_S = {"": 1.0, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_MOST_S = 1e9  # decades: what is larger is a slip, and too much for the clocks that wait for it


def seconds(text: str) -> float:
    """Of "20", "20s", "500 ms", "2min" or "1h", as every option takes it that is a time; a number without a unit is of
    seconds. Raises ValueError, as argparse wants it."""
    found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)", text.strip())
    unit = _UNITS_S.get(found[2]) if found else None
    value_s = float(found[1]) * unit if found and unit else 0.0
    if not 0 < value_s <= _MOST_S:
        raise ValueError(text)
    return value_s


class Duration(click.ParamType[float]):
    """A time as `seconds` takes it."""

    name = "time"

    def __init__(self, least_s: float = 0.0) -> None:
        self.least_s = least_s  # 0: any time above it

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float:
        if isinstance(value, float):  # a default
            return value
        try:
            value_s = seconds(str(value))
        except ValueError:
            value_s = 0.0
        if value_s <= 0 or value_s < self.least_s:
            examples = "20, 20s, 2min or 1h" if self.least_s else "20, 20s, 500ms, 2min or 1h"
            least = f" of at least {self.least_s:g} s" if self.least_s else ""
            self.fail(f"{value!r}; accepted: a time{least}, such as {examples}", parameter, context)
        return value_s


class ModelTime(click.ParamType[float]):
    """A time of a network's model, as network files and --latency have it: "50 us", "0 s"; a unit is needed."""

    name = "time"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float:
        if isinstance(value, float):  # a default
            return value
        from hocket import parse_duration

        name = max(parameter.opts, key=len) if parameter is not None else ""
        return parse_duration(str(value), name)


class PortNumbers(click.ParamType[tuple[int, ...]]):
    """Numbers of ports of a node, each of them a case: "2,3,4"."""

    name = "ports"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        words = str(value).split(",")
        if not all(re.fullmatch(r"\s*[0-9]{1,10}\s*", word) and 1 <= int(word) < 2**31 for word in words):
            self.fail(f"{value!r}; accepted: whole numbers from 1 to {2**31 - 1}, such as 2,3,4", parameter, context)
        return tuple(dict.fromkeys(map(int, words)))


def network_option(required: bool = True) -> Callable[[F], F]:
    text = "The network: a file, or a generator such as star:8 or fat-tree:2x2x4 (1 Gbit/s, no latency)."
    return click.option("-N", "--network", "network_text", metavar="FILE|KIND:SHAPE", required=required, help=text)


def generator_options(function: F) -> F:
    for name, example in (("latency", "50 us"), ("bandwidth", "1 Gbit/s")):
        function = click.option(f"--{name}", metavar="TEXT", help=f'Of each link of a generated network: "{example}".')(
            function
        )
    return function


def routing_options(function: F) -> F:
    """--routing and --seed, for a `NetworkSource`."""
    function = click.option(
        "--seed", type=click.IntRange(0, 2**63 - 1), help="Of the hash of --routing ecmp.  [default: 1]"
    )(function)
    return click.option(
        "--routing",
        metavar="TEXT",
        help="Of a generated network: d-mod-k (fat trees), dimension-order (torus, mesh, hypercube), minimal "
        "(dragonfly), or for each of these shortest-path or ecmp.",
    )(function)


def result_options(folder: str, least_repetitions: int, repetitions: int | None) -> Callable[[F], F]:
    """-o/--output and --repetitions, for what `hocket.tune.tune` writes and runs."""

    def decorate(function: F) -> F:
        for option in (
            click.option(
                "--repetitions",
                type=click.IntRange(least_repetitions),
                default=repetitions,
                show_default=repetitions is not None,
                metavar="N",
                help="Runs with the plan, and without." + ("" if repetitions else "  [default: 3 to 5, by time]"),
            ),
            click.option(
                "-o",
                "--output",
                type=OutputPath(),
                default=Path(folder),
                show_default=True,
                help="Result folder.",
            ),
        ):
            function = option(function)
        return function

    return decorate


def message_cost_options(function: F) -> F:
    """--costs, --send-overhead, --receive-overhead, --rendezvous and --sharing; read them with `cost_source`."""
    options = [
        click.option(
            "--costs",
            "costs_folder",
            type=click.Path(path_type=Path),
            metavar="FOLDER",
            help="What messages cost, as a result of `hocket tune` or `hocket demo` has it.",
        ),
        click.option(
            "--send-overhead",
            metavar="DURATION",
            help="CPU time of a rank for each message it sends.  [default: 15 us, or what is calibrated]",
        ),
        click.option(
            "--receive-overhead",
            metavar="DURATION",
            help="CPU time of a rank for each message it receives.  [default: 15 us, or what is calibrated]",
        ),
        click.option(
            "--rendezvous",
            metavar="BYTES",
            help="Messages from this size on wait for the receiver; 0B: all.  [default: 64 KiB, or what is calibrated, "
            "or what tune measures]",
        ),
        click.option(
            "--sharing",
            type=click.Choice(["none", "equal", "maxmin", "reserve"]),
            default="maxmin",
            show_default=True,
            help="How messages share links.",
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def cost_source(
    folder: Path | None,
    send_overhead: str | None,
    receive_overhead: str | None,
    rendezvous: str | None,
    sharing: str,
) -> CostSource:
    """What the options of `message_cost_options` say."""
    from hocket import parse_bytes, parse_duration
    from hocket.cost.source import CostSource

    return CostSource(
        folder=folder,
        send_overhead_s=None if send_overhead is None else parse_duration(send_overhead, "--send-overhead"),
        receive_overhead_s=None if receive_overhead is None else parse_duration(receive_overhead, "--receive-overhead"),
        rendezvous_bytes=None if rendezvous is None else parse_bytes(rendezvous, "--rendezvous"),
        sharing=None if is_default("sharing") else sharing,
    )


def is_default(parameter: str) -> bool:
    """Whether nobody gave this parameter of the command that runs."""
    from click.core import ParameterSource

    return click.get_current_context().get_parameter_source(parameter) in (None, ParameterSource.DEFAULT)


def refuse_given(parameters: Collection[str], why: str, hint: str) -> None:
    """Refuses the first of these parameters of the command that runs that somebody gave: "--root `why`"."""
    from hocket.errors import InvalidInput

    for parameter in click.get_current_context().command.params:
        name = parameter.name or ""
        if name in parameters and not is_default(name):
            raise InvalidInput(f"{max(parameter.opts, key=len)} {why}", hint)
