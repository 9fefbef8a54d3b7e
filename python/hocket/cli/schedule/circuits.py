# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket schedule --circuits`: collectives on a circuit-switched network."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hocket.cli.common import message, print_json, print_table
from hocket.cli.options import ModelTime, is_default, refuse_given
from hocket.cli.reporter import TerminalReporter
from hocket.cli.watch import INTERRUPTED, Bar, watched
from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from hocket.circuits.schedules import CircuitAnswer, CircuitInstance

Function = TypeVar("Function", bound=Callable[..., Any])

_TABLE_ROWS = 40
_OF_ONE = {
    "ranks", "root", "bandwidth", "latency", "bytes_text", "ports", "setup_s", "teardown_s", "accounting", "injection",
    "stop", "controller", "segments", "matrix",
}  # fmt: skip
_ANSWERS = {"circuits", "as_json", "time_limit_s"}
_OF_TRACE = {"circuits", "as_json", "ports", "setup_s", "teardown_s", "accounting", "bandwidth", "latency", "used"}
_FILES = {"circuits", "instances", "check"}


def circuit_options(function: Function) -> Function:
    file = click.Path(path_type=Path, dir_okay=False)
    options = [
        click.option("--circuits", is_flag=True, help="On a circuit-switched network; what follows goes with it."),
        click.option("--ports", type=click.IntRange(1), metavar="K", help="Of each node."),
        click.option("--setup", "setup_s", type=ModelTime(), help="Of circuits."),
        click.option("--teardown", "teardown_s", type=ModelTime(), help="Of circuits."),
        click.option("--injection", type=click.Choice(["one", "all"]), default="one", show_default=True,
                     help="A node sends one message at a time, or on all ports at once."),
        click.option("--stop", type=click.Choice(["all", "circuit"]), default="all", show_default=True,
                     help="Circuits are torn down together, or each by itself."),
        click.option("--accounting", type=click.Choice(["equations", "hidden"]), default="equations", show_default=True,
                     help="Set-up and teardown one after the other, or a teardown hidden behind the next set-up."),
        click.option("--controller", type=click.Choice(["parallel", "serial"]), default="parallel", show_default=True,
                     help="Set-ups and teardowns at once, or one at a time."),
        click.option("--matrix", "matrix", type=file, metavar="FILE",
                     help="Of alltoallv: the bytes that each rank sends to each, as text or .npy."),
        click.option("--use", "used", multiple=True, metavar="COLLECTIVE:ALGORITHM",
                     help="For the collectives of a TRACE: an algorithm that may be chosen; default: all."),
        click.option("--instances", type=file, metavar="FILE.jsonl",
                     help="Answer each line, a JSON object with id, collective, p, k, bytes, s, d, alpha, beta."),
        click.option("--check", type=file, metavar="FILE.jsonl",
                     help="Replay such answers by other code; with --instances as answers to these."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def run(context: click.Context, what: str | None, *, instances: Path | None, check: Path | None, **given: Any) -> int:
    from hocket.circuits.schedules import COLLECTIVES, TIME_LIMIT_S

    if what is not None and (instances is not None or check is not None):
        raise InvalidInput(f"{what}: --instances and --check name the collectives", "leave it out")
    if what is not None and Path(what).is_dir():
        from hocket.cli.schedule import circuit_reuse

        _refuse_options_beside(context, _OF_TRACE)
        return circuit_reuse.run(Path(what), **given)
    of_files = _FILES if check is not None else _FILES | {"time_limit_s"}
    _refuse_options_beside(context, _ANSWERS | _OF_ONE if what is not None else of_files)
    limit_s = TIME_LIMIT_S if is_default("time_limit_s") else given["time_limit_s"]
    if check is not None:
        return _check(check, instances)
    if instances is not None:
        return _answer(instances, limit_s)
    if what is None:
        raise InvalidInput("no collective is given", "for instance: hocket schedule bcast --circuits --ports 2")
    if what not in COLLECTIVES:
        hint = f"accepted: {', '.join(COLLECTIVES)}, or the folder of a trace"
        raise InvalidInput(f"{what}: no collective on circuits, and no such folder", hint)
    if what == "alltoallv":
        refuse_given({"bytes_text"}, "does not apply to alltoallv", "--matrix FILE has its bytes")
    else:
        refuse_given({"matrix"}, f"does not apply to {what}", "it goes with alltoallv")
    if what not in ("bcast", "reduce"):
        refuse_given({"root", "segments"}, f"does not apply to {what} --circuits", "it goes with bcast and reduce")
    segments = "auto" if is_default("segments") else given["segments"]
    return _one(_instance(what, **given | {"segments": segments}), limit_s, given["as_json"])


def _refuse_options_beside(context: click.Context, accepted: set[str]) -> None:
    for parameter in context.command.params:
        name = parameter.name or ""
        if isinstance(parameter, click.Option) and name not in accepted and not is_default(name):
            raise InvalidInput(f"{max(parameter.opts, key=len)} does not apply to --circuits here", "leave it out")


def _instance(
    what: str,
    *,
    segments: int | str,
    ranks: int | None,
    root: int,
    bandwidth: str | None,
    latency: str | None,
    bytes_text: str | None,
    ports: int | None,
    setup_s: float | None,
    teardown_s: float | None,
    accounting: str,
    injection: str,
    stop: str,
    controller: str,
    matrix: Path | None,
    **_: Any,
) -> CircuitInstance:
    from hocket import parse_bandwidth, parse_bytes, parse_duration
    from hocket.circuits.schedules import CircuitInstance

    rows = None
    if what == "alltoallv":
        if matrix is None:
            raise InvalidInput("alltoallv --circuits needs --matrix FILE", "the bytes that each rank sends to each")
        from hocket.io.traffic_matrix import read_traffic_matrix

        rows = read_traffic_matrix(matrix).tolist()
        ranks, bytes_text = len(rows) if ranks is None else ranks, "0 B"
    if bandwidth is None or latency is None or bytes_text is None or None in (ranks, ports, setup_s, teardown_s):
        raise InvalidInput(
            "--circuits needs --ranks, --ports, --bytes, --latency, --bandwidth, --setup and --teardown",
            'for instance: --ranks 32 --ports 2 --bytes "1 MB" --latency "100 us" --bandwidth "1 Gbit/s" --setup 5ms '
            "--teardown 5ms",
        )
    divides = what in ("bcast", "reduce")
    return CircuitInstance.of(
        {
            "collective": what,
            "p": ranks,
            "k": ports,
            "bytes": parse_bytes(bytes_text, "--bytes"),
            "s": setup_s,
            "d": teardown_s,
            "alpha": parse_duration(latency, "--latency"),
            "beta": 1 / parse_bandwidth(bandwidth, "--bandwidth"),
            "injection": injection,
            "stop": stop,
            "accounting": accounting,
            "controller": controller,
            "segments": segments if divides or segments != "auto" else 1,
            "root": root,
            "matrix": rows,
        }
    )


def _one(instance: CircuitInstance, limit_s: float, as_json: bool) -> int:
    from hocket.circuits.schedules import CircuitScheduleRequest
    from hocket.circuits.schedules import run as find

    with watched(_Searching("searching")) as watch:
        answer = find(CircuitScheduleRequest(instance, limit_s), TerminalReporter(watch))
    if as_json:
        print_json(answer.values)
    else:
        _print(answer)
    if watch.interrupted:
        message("interrupted: this is the best schedule that was found by then")
    return INTERRUPTED if watch.interrupted else 0


def _answer(path: Path, limit_s: float) -> int:
    from hocket.circuits.schedules import answer_lines

    text = _read(path)
    failures = 0
    bar = _Searching("searching", sum(1 for line in text.splitlines() if line.strip()))
    with watched(bar) as on_progress:
        for answer in answer_lines(text, limit_s, on_progress):
            print(json.dumps(answer, allow_nan=False), flush=True)
            bar.done += 1
            if "error" in answer:
                failures += 1
                message(f"{path}:{answer['line']}: {answer['error']}")
            if on_progress.interrupted:
                break
    if on_progress.interrupted:
        message(f"interrupted after {bar.done} of {bar.total} instances")
        return INTERRUPTED
    return 1 if failures else 0


def _check(path: Path, instances: Path | None) -> int:
    from hocket.circuits.schedules import check_lines

    answers = wrong = 0
    for number, name, problems in check_lines(_read(path), None if instances is None else _read(instances)):
        answers += 1
        wrong += bool(problems)
        for problem in problems:
            print(f"{path}:{number or 'end'}: {json.dumps(name)}: {problem}")
    if not answers:
        raise InvalidInput(f"{path}: has no answers", "accepted: what `hocket schedule --circuits FILE --json` printed")
    print(f"{answers} answers replayed, {wrong} wrong")
    return 1 if wrong else 0


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")  # a line that is not UTF-8 is reported as such
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}") from None


def _print(answer: CircuitAnswer) -> None:
    from hocket.report import text

    one = answer.instance
    how = "the least" if answer.optimal else f"none takes less than {text.seconds(answer.lower_bound_s)}"
    blocks = answer.schedule["blocks"]
    segments = f", {blocks} segments" if one.collective in ("bcast", "reduce") and blocks > 1 else ""
    print(f"{one.collective}: {text.seconds(answer.makespan_s)} by {answer.algorithm}{segments}; {how}")
    print(f"model: {one.model()}")
    messages, circuits = answer.schedule["messages"], answer.schedule["circuits"]
    configurations = len({circuit["configuration"] for circuit in circuits})
    print(
        f"{text.counted(len(circuits), 'circuit')} in {text.counted(configurations, 'configuration')}, "
        f"{text.counted(len(messages), 'message')}"
    )
    rows = [
        (
            f"{one['from']} -> {one['to']}",
            circuits[one["circuit"]]["configuration"],
            _blocks(one["blocks"]),
            *(text.seconds(time_s) for time_s in one["time_s"]),
        )
        for one in messages[:_TABLE_ROWS]
    ]
    print_table(["message", "configuration", "blocks", "begin", "end"], rows)
    if len(messages) > _TABLE_ROWS:
        print(f"... and {len(messages) - _TABLE_ROWS:,} more: --json lists all")


def _blocks(blocks: list[int]) -> str:
    return ",".join(map(str, blocks)) if len(blocks) <= 8 else f"{len(blocks)} blocks"


class _Searching(Bar):
    """Instances that are answered, where their number is known."""

    def __init__(self, text: str, total: int | None = None) -> None:
        super().__init__(text)
        self.total = total
        self.done = 0

    def fields(self, elapsed_s: float, *_: Any) -> dict[str, Any]:
        return {"completed": self.done, "total": self.total, "passed": f"{elapsed_s:.0f} s"}
