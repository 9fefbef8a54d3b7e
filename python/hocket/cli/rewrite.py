# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket rewrite`: rewrites Fortran, C and C++ programs so that communication runs beside independent computation."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hocket.cli.common import json_option, message, print_json, print_table, progress
from hocket.cli.options import Duration, OutputPath, PortNumbers, network_option, refuse_given
from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from hocket.rewrite.outcomes import Outcome, Rewritten
    from hocket.rewrite.sites import Options
    from hocket.rewrite.verify import Comparison, VerifyRequest
    from hocket.traces.trace import Trace

_WOULD_CHANGE = 3


@click.command()
@click.argument("words", nargs=-1, type=click.UNPROCESSED, required=True, metavar="FILE... [-- COMMAND]")
@click.option("--apply", "applies", is_flag=True, help="Write the files. Without it they stay as they are.")
@click.option("--diff", "shows_diff", is_flag=True, help="Print what changes as a patch.")
@click.option("--check", is_flag=True, help=f"End with status {_WOULD_CHANGE} if something can be rewritten.")
@click.option("--report", "page", type=OutputPath(), help="Write an HTML page with both sides and the proofs.")
@click.option("--explain", is_flag=True, help="Print the proof of every rewrite.")
@click.option("--reassociate", is_flag=True, help="Accept another order of additions in reductions of real numbers.")
@click.option("--ignore-clocks", is_flag=True, help="Move statements across measurements of time too.")
@click.option(
    "--trust-compiler",
    is_flag=True,
    help="Rewrite calls with dummy arguments of external procedures too: they cannot be asynchronous.",
)
@network_option(required=False)
@click.option(
    "--part-bytes",
    metavar="BYTES",
    help="Of a collective in parts: what the network moves in the time of one call more.  "
    "[default: that of --network, or 62500 B]",
)
@click.option(
    "--trace",
    "trace_folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="A trace of the program (hocket record): rewrite only what is predicted to gain by its costs.",
)
@click.option(
    "--rewritten-trace",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="With --trace: a trace of the rewritten program. What its windows took stands beside the prediction.",
)
@click.option(
    "--compile",
    "compile_options",
    default="",
    metavar="OPTIONS",
    help="Options of the compiler, such as '-I include -DNDEBUG'; for Fortran -I only.",
)
@click.option("--whole", is_flag=True, help="Send no collective in parts.")
@click.option("--verify", "verifies", is_flag=True, help="Build and run both programs with COMMAND, and compare.")
@click.option("--ranks", type=PortNumbers(), metavar="N,N,...", help="Of --verify.  [default: as in COMMAND, and 2]")
@click.option("--build", help="Of --verify.  [default: {compiler} -O2 {files} -o {program}]")
@click.option(
    "--input", "inputs", multiple=True, type=click.Path(path_type=Path), help="A file that the program reads."
)
@click.option(
    "--timeout", "timeout_s", type=Duration(), default=600.0, help="Of each run of --verify.  [default: 10min]"
)
@json_option
@click.pass_context
def command(
    context: click.Context,
    words: tuple[str, ...],
    applies: bool,
    shows_diff: bool,
    check: bool,
    page: Path | None,
    explain: bool,
    reassociate: bool,
    ignore_clocks: bool,
    trust_compiler: bool,
    network_text: str | None,
    part_bytes: str | None,
    trace_folder: Path | None,
    rewritten_trace: Path | None,
    compile_options: str,
    whole: bool,
    verifies: bool,
    ranks: tuple[int, ...] | None,
    build: str | None,
    inputs: tuple[Path, ...],
    timeout_s: float,
    as_json: bool,
) -> int:
    """Make blocking MPI calls in FILEs of Fortran, C or C++ non-blocking, with computation between start and wait.

    Nothing is rewritten that is not proved to keep the program's results. Give all files that the calls in them need.

    \b
    Example:
      hocket rewrite solver.f90 grid.f90 --diff
      hocket rewrite solver.f90 grid.f90 --apply --verify -- mpiexec -n 4 {}
    """
    from hocket.report.text import counted
    from hocket.rewrite.rewriter import rewrite
    from hocket.rewrite.sites import Options
    from hocket.rewrite.syntax import read_source

    if rewritten_trace is not None and trace_folder is None:
        refuse_given(("rewritten_trace",), "is compared with --trace", "add --trace FOLDER, of the original program")
    if not verifies:
        idle = ("ranks", "build", "inputs", "timeout_s")
        refuse_given(idle, "is an option of --verify", "add --verify and a command: --verify -- mpiexec -n 4 {}")
    paths, run = _split_words(words, verifies)
    is_c = _is_c(paths)
    request = _verify_request(run, ranks, build, inputs, timeout_s, is_c) if verifies else None
    # A file that is named twice, or by a link too, is one file.
    paths = list({os.path.realpath(path): path for path in reversed(paths)}.values())[::-1]
    options = Options(
        allows_rounding=reassociate,
        ignores_clocks=ignore_clocks,
        makes_parts=not whole,
        part_bytes=_part_bytes(part_bytes, network_text),
        trusts_compiler=trust_compiler,
    )
    trace = _open_trace(trace_folder)
    measured = _open_trace(rewritten_trace)
    with progress("analysing") as advance:
        if is_c:
            result = _rewrite_c(paths, options, compile_options, request, advance, trace)
        else:
            folders = _include_folders(compile_options)
            result = rewrite([read_source(path, folders) for path in paths], options, lambda name: advance(""), trace)
    if measured is not None:
        from hocket.rewrite.measured import measure

        measure(result, measured)
    for warning in result.warnings:
        message(warning)
    comparisons: list[Comparison] = []
    if request is not None:
        from hocket.rewrite.verify import verify

        comparisons = verify(request, result.old, result.new, message)
    is_right = all(one.is_equal for one in comparisons)
    if page is not None:
        from hocket.rewrite.page import write_page

        write_page(page, result, comparisons)
    if applies and is_right:
        from hocket.rewrite.apply import apply

        apply(result)
    if as_json:
        print_json(_as_values(result, comparisons))
    else:
        _print(result, comparisons, shows_diff, explain)
        if applies and is_right:
            message(f"{counted(len(result.changed), 'file')} written")
    if not is_right:
        if applies:
            message("no file was written: see above")
        return 1
    return _WOULD_CHANGE if check and result.changed and not applies else 0


def _is_c(paths: list[Path]) -> bool:
    from hocket.rewrite.c_source import SUFFIXES

    some = [path.suffix in SUFFIXES for path in paths]
    if any(some) and not all(some):
        raise InvalidInput("files of C and of Fortran cannot be rewritten together", "call hocket rewrite for each")
    return any(some)


def _rewrite_c(
    paths: list[Path],
    options: Options,
    text: str,
    request: VerifyRequest | None,
    advance: Callable[[str], None],
    trace: Trace | None,
) -> Rewritten:
    import shutil

    from hocket.mpi.discover import default_mpi
    from hocket.rewrite.c_rewriter import rewrite_c
    from hocket.rewrite.c_source import mpi_options, read_c_source
    from hocket.rewrite.libraries import clang

    clang()  # that it is missing comes before what else is
    words = _words(text)
    if request is not None:
        from hocket.rewrite.verify import compiler_of

        words += mpi_options(compiler_of(request, paths))
    elif "mpi.h" not in " ".join(words):
        words += mpi_options("mpicc" if shutil.which("mpicc") else str(default_mpi().mpicc))
    sources = [read_c_source(path, options=words) for path in paths]
    return rewrite_c(sources, options, words, lambda name: advance(""), trace)


def _words(text: str) -> list[str]:
    import shlex

    try:
        return shlex.split(text)
    except ValueError as error:
        raise InvalidInput(f"--compile {text!r}: {error}", "write it as for a shell: '-I include -DNDEBUG'") from None


def _include_folders(text: str) -> tuple[Path, ...]:
    """Of -I in the compiler's options."""
    found, words = list[Path](), iter(_words(text))
    for word in words:
        folder = next(words, "") if word == "-I" else word.removeprefix("-I")
        if not word.startswith("-I") or not folder:
            raise InvalidInput(f"--compile {word!r}: of Fortran's compiler -I FOLDER is understood", "leave it out")
        found.append(Path(folder))
    return tuple(found)


def _open_trace(folder: Path | None) -> Trace | None:
    from hocket.traces.trace import Trace

    return Trace.open(folder) if folder is not None else None


def _part_bytes(text: str | None, network_text: str | None) -> int:
    """Latency times bandwidth of the network's slowest route: Hockney's n_1/2."""
    from hocket import parse_bytes
    from hocket.rewrite.sites import Options

    if text is not None:
        return max(1, parse_bytes(text, "--part-bytes"))
    if network_text is None:
        return Options.part_bytes
    from hocket.networks.routes import slowest_route
    from hocket.networks.source import NetworkSource

    network = NetworkSource(network_text).load()
    latency_s, bandwidth_bytes_per_s = slowest_route(network, network.num_ranks)
    if latency_s > 0:
        return max(1, round(latency_s * bandwidth_bytes_per_s))
    message(f"{network_text} gives its links no latency: parts are as without --network (--part-bytes sets them)")
    return Options.part_bytes


def _split_words(words: tuple[str, ...], verifies: bool) -> tuple[list[Path], tuple[str, ...]]:
    """click drops the `--`: what follows the last Fortran file is the command."""
    if not verifies:
        return [Path(word) for word in words], ()
    from hocket.rewrite.c_source import SUFFIXES as C_SUFFIXES
    from hocket.rewrite.fixed_form import SUFFIXES
    from hocket.rewrite.syntax import FREE_FORM

    suffixes = (*FREE_FORM, *SUFFIXES, *C_SUFFIXES)
    end = next((i for i, word in enumerate(words) if not word.lower().endswith(suffixes)), len(words))
    if end == 0 or end == len(words):
        missing = "a file of Fortran, C or C++" if end == 0 else "a command behind the files"
        raise InvalidInput(f"--verify needs {missing}", "hocket rewrite a.f90 --verify -- mpiexec -n 4 {}")
    return [Path(word) for word in words[:end]], words[end:]


def _verify_request(
    run: tuple[str, ...],
    ranks: tuple[int, ...] | None,
    build: str | None,
    inputs: tuple[Path, ...],
    timeout_s: float,
    is_c: bool,
) -> VerifyRequest:
    from hocket.rewrite.verify import C_BUILD, DEFAULT_BUILD, VerifyRequest, check_request

    request = VerifyRequest(run, ranks or (), build or (C_BUILD if is_c else DEFAULT_BUILD), inputs, timeout_s)
    check_request(request)
    return request


def _print(result: Rewritten, comparisons: list[Comparison], shows_diff: bool, explain: bool) -> None:
    from hocket.rewrite.differences import unified_diff

    if shows_diff:
        if not result.changed:
            message("nothing can be rewritten; without --diff the reasons are shown")
        for path in result.changed:
            print(unified_diff(path, result.old[path], result.new[path]), end="")
        for comparison in comparisons:
            message(_compared(comparison))
        return
    rows = [
        (f"{one.path}:{one.line}", one.procedure, one.name, _rewritten(one) if one.is_rewritten else _why(one))
        for one in result.outcomes
    ]
    if rows:
        print_table(("where", "procedure", "call", "result"), rows)
    count = sum(one.is_rewritten for one in result.outcomes)
    print(f"{count} of {len(rows)} blocking calls can be rewritten")
    _print_prediction(result)
    for one in result.outcomes if explain else ():
        print(f"\n{one.path}:{one.line}: {one.name}")
        for obligation in one.obligations if one.is_rewritten else ():
            print(f"  - {obligation.claim}\n    proved by: {obligation.proof}")
        for refusal in one.refusals:
            print(
                f"  refused ({refusal.code}): {refusal.reason}" + (f"\n    hint: {refusal.hint}" * bool(refusal.hint))
            )
    for comparison in comparisons:
        print(_compared(comparison))


def _compared(comparison: Comparison) -> str:
    from hocket.report.text import counted

    verdict = comparison.difference or "the same lines of output and files, bit for bit"
    times = f"{comparison.original_s:.2f} s and {comparison.rewritten_s:.2f} s"
    return f"{counted(comparison.ranks, 'rank')}: {verdict} ({times})"


def _rewritten(outcome: Outcome) -> str:
    one = outcome.prediction
    if one is None:
        return "rewritten"
    from hocket.rewrite.timeline import milliseconds

    measured = f"; {milliseconds(outcome.measured_s)} measured" if outcome.measured_s is not None else ""
    times = f"{milliseconds(one.original_s)} to {milliseconds(one.rewritten_s)} predicted{measured}"
    return f"rewritten: gain {one.gain:.2f} ({times}), {one.calls} calls"


def _print_prediction(result: Rewritten) -> None:
    """Of the whole program, and which predictions are for several calls together."""
    from hocket.rewrite.timeline import saved_share

    share = saved_share(result)
    if share is None or result.times is None:
        return
    print(f"predicted gain: {share:.1%} of the recorded run's time, where messages move on while the program computes")
    for one in result.outcomes:
        if one.is_rewritten and (one.path, one.line) in result.times.unclear:
            why = "its calls in the trace may be those of others, too: medians of all of them"
            message(f"{one.path}:{one.line}: {one.name}: {why}")


def _why(outcome: Outcome) -> str:
    return "; ".join(dict.fromkeys(f"{one.code}: {one.reason}" for one in outcome.refusals))


def _as_values(result: Rewritten, comparisons: list[Comparison]) -> dict[str, Any]:
    from dataclasses import asdict

    from hocket.rewrite.timeline import saved_share

    return {
        "format": "hocket.rewrite/1",
        "files": [{"path": path, "is_changed": path in result.changed} for path in result.old],
        "calls": [
            asdict(one) | {"predicted_gain": one.prediction.gain if one.prediction is not None else None}
            for one in result.outcomes
        ],
        "predicted_share": saved_share(result),
        "comparisons": [asdict(one) for one in comparisons],
    }
