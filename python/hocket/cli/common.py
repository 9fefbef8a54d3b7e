# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What several subcommands share: the option --json, tables, progress, messages."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])


def json_option(function: Function) -> Function:
    """Adds `--json`, passed to the command as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")(function)


# The command that an MPI program is started with, after `--`; passed as the tuple `command`.
command_argument = click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)


def print_json(value: Any) -> None:
    """Prints one JSON object on standard output. Numbers that JSON does not have (inf, nan) become null."""
    print(json.dumps(_plain(value), indent=2, allow_nan=False))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Prints a table on standard output. Columns whose cells are all numbers are the caller's to format."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    is_terminal = sys.stdout.isatty()
    printed = io.StringIO()  # on standard output rich itself would end the process when a reader leaves
    # A pipe has no width: never fold what another program reads.
    console = Console(
        file=printed, force_terminal=is_terminal or None, width=None if is_terminal else 200, markup=False,
        highlight=False,
    )  # fmt: skip
    if title:  # not as the table's title, which would be folded to the width of the table
        console.print(title, style="table.title", soft_wrap=True)
    console.print(table)
    print(printed.getvalue(), end="")


def import_numpy() -> None:
    """Loads numpy without a thread of OpenBLAS for each core, which takes a tenth of a second and serves nothing here.

    What hocket starts later may want these threads: the environment is as before then.
    """
    name = "OPENBLAS_NUM_THREADS"
    if name in os.environ:
        return
    os.environ[name] = "1"
    try:
        import numpy  # noqa: F401
    finally:
        del os.environ[name]


def message(text: str) -> None:
    """Prints a message on standard error, so that standard output stays the result."""
    print(f"hocket: {text}", file=sys.stderr, flush=True)


@contextmanager
def progress(text: str, total: int | None = None) -> Iterator[Callable[[str], None]]:
    """A progress bar on standard error while something above a second runs.

    Yields a function to call after each of the `total` steps, with what comes next. Where standard error is not a
    terminal it prints a line for each step that has a name and is not as the one before.
    """
    if not sys.stderr.isatty():
        latest = ""

        def report(following: str = "") -> None:
            nonlocal latest
            if following not in ("", latest):
                message(f"{text}: {following}")
                latest = following

        yield report
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(text, total=total)

        def advance(following: str = "") -> None:
            bar.update(task, advance=1, description=f"{text}: {following}" if following else text)

        yield advance


@contextmanager
def progress_in_time(text: str, at_most_s: float) -> Iterator[Callable[[str], None]]:
    """Shows something that takes a while and ends in time: a bar on standard error that fills in `at_most_s` seconds.

    Yields a function to call with what comes next. Where standard error is not a terminal it prints a line for each.
    """
    started = time.monotonic()

    def left() -> str:
        return f"at most {max(0.0, at_most_s - (time.monotonic() - started)):.0f} s more"

    if not sys.stderr.isatty():
        yield lambda following: message(f"{text}: {following}; {left()}")
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.table import Column
    from rich.text import Text

    class Filling(BarColumn):  # by itself, while nothing is reported
        def render(self, task: Task) -> Any:
            task.completed = min(time.monotonic() - started, at_most_s)
            return super().render(task)

    class Left(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(left())

    whole = Column(no_wrap=True)
    columns = (TextColumn("{task.description}", markup=False), Filling(bar_width=20), Left(table_column=whole))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(text, total=at_most_s)
        yield lambda following: bar.update(task, description=f"{text}: {following}")


def _plain(value: Any) -> Any:
    """`value` with what numpy and pathlib made of it turned into what JSON knows."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (str, bool)):
        return value
    if hasattr(value, "tolist"):  # numpy
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, int):
        return value
    return str(value)
