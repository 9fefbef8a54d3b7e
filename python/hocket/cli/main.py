# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket VERB`: finds the subcommand's file, and turns every failure into one clear message and an exit status."""

from __future__ import annotations

import errno
import importlib
import importlib.util
import os
import signal
import sys
import traceback
from typing import NoReturn

import click

from hocket import __version__
from hocket.errors import Error, InvalidInput

# Verb and its line in `hocket --help`, in the order of work. Each lives in hocket.cli.<verb> as `command`, and is
# imported only when it is called; a verb without a file is not shown.
VERBS = {
    "tune": "Make a program's communication faster: record, advise, run, compare, report.",
    "demo": "Tune a bundled program on an emulated cluster.",
    "record": "Run a command and record its MPI calls.",
    "calibrate": "Measure this MPI and fit a network model.",
    "advise": "Choose faster schedules for a recorded program and write a plan.",
    "run": "Run a command with a plan.",
    "coarrays": "Compile a coarray program with faster collective subroutines.",
    "simulate": "Predict the time of a traffic pattern, a schedule, a program or a trace on a network.",
    "schedule": "Build, search, check and show the schedule of a collective.",
    "cost": "Closed forms and lower bounds.",
    "bench": "Run the MPI benchmark suite.",
    "testbed": "An emulated cluster on this machine, from a network file.",
    "network": "Show, generate, convert and import network files.",
    "trace": "Show recorded traces.",
    "rewrite": "Rewrite a Fortran, C or C++ program so that communication runs beside computation.",
    "sweep": "Run a campaign of simulations.",
    "site": "Install hocket once for all users of a cluster.",
    "report": "Make an HTML report from a result.",
    "doctor": "Show what this machine has and what will work.",
}


_SEE_WHERE = "run the command again with --debug to see where it failed"


class _Terminated(BaseException):
    """SIGTERM or SIGHUP was received: unwinds like an interrupt, so that what was started is ended."""

    def __init__(self, number: int) -> None:
        self.number = number


class Verbs(click.Group):
    def list_commands(self, context: click.Context) -> list[str]:
        return [verb for verb in VERBS if importlib.util.find_spec(f"hocket.cli.{verb}") is not None]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(context):
            return None
        command: click.Command = importlib.import_module(f"hocket.cli.{name}").command
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = arguments[0]
        if not name.startswith("-") and name not in self.list_commands(context):
            import difflib

            close = difflib.get_close_matches(name, self.list_commands(context), n=1)
            raise InvalidInput(
                f"hocket has no command {name!r}",
                f"did you mean `hocket {close[0]}`?" if close else "`hocket --help` lists the commands",
            )
        return super().resolve_command(context, arguments)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(verb, VERBS[verb]) for verb in self.list_commands(context)])


def _show_version(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    if not given or context.resilient_parsing:
        return
    print(f"hocket {__version__}")
    if "--verbose" in sys.argv[1:]:
        from hocket.cli.version import details

        for name, value in details().items():
            print(f"{name}: {value}")
    context.exit()


@click.command(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    epilog="Example: hocket tune --network cluster.toml -- mpiexec -n 8 ./app",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit; with --verbose what a report of a bug needs.",
)
@click.option("--verbose", is_flag=True, expose_value=False, help="With --version.")
@click.option("--debug", is_flag=True, help="Show a traceback when something fails.")
def cli(debug: bool) -> None:
    """hocket makes the communication of an unmodified MPI program faster on the network it has."""


def main() -> NoReturn:
    """The entry point of the command `hocket`."""
    # --debug is accepted anywhere before `--`, and must work for errors in the command line itself.
    _open_standard_streams()
    if instruction := os.environ.get("_HOCKET_COMPLETE"):  # of a shell, which reads what may come next
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(cli, {}, "hocket", "_HOCKET_COMPLETE", instruction))
    arguments = sys.argv[1:]
    end = arguments.index("--") if "--" in arguments else len(arguments)
    debug = "--debug" in arguments[:end]
    arguments = [word for i, word in enumerate(arguments) if i >= end or word != "--debug"] or ["--help"]
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(number, _terminate)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where the caller ignores it, no exit status would be known
    try:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # hocket.__main__ made it so
            signal.signal(signal.SIGINT, signal.default_int_handler)
        _require_current_folder()
        sys.exit(_invoke(arguments))
    except Error as error:
        _fail(error.message, error.hint, 2 if isinstance(error, InvalidInput) else 1, debug)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "hocket"
        hint = f"`{command} --help` shows what it accepts"
        if (
            isinstance(error, click.NoSuchOption)
            and "--" not in sys.argv
            and "COMMAND" in (error.ctx.get_usage() if error.ctx else "")
        ):
            hint = f"write -- before the command: `{command} ... -- mpiexec ...`; {hint}"
        _fail(error.format_message(), hint, 2, debug)
    except click.ClickException as error:
        _fail(error.format_message(), "", error.exit_code, debug)
    except (click.Abort, KeyboardInterrupt) as error:
        _fail("interrupted", getattr(error, "hint", ""), 130, debug=False)
    except _Terminated as error:
        _fail(f"ended by {signal.Signals(error.number).name}", "", 128 + error.number, debug=False)
    except BrokenPipeError:
        # The reader has left, as in `hocket ... | head`: nothing more may be written, not even when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:  # the machine's, such as a full disk
        name = error.filename or ("standard output" if _was_printing(error) else "")
        where = "make room, or write to another disk" if error.errno == errno.ENOSPC else _SEE_WHERE
        _fail(f"{name}: {error.strerror}" if name else str(error.strerror or error), where, 1, debug)
    except MemoryError:
        hint = "take a smaller network or fewer messages; `hocket simulate` needs less without -o and --links"
        _fail("not enough memory", hint, 1, debug)
    except Exception as error:  # our own bug
        message = f"internal error: {type(error).__name__}: {error}".splitlines()[0]
        _fail(message, f"this is a bug in hocket; {_SEE_WHERE}", 1, debug)


def _invoke(arguments: list[str]) -> int:
    """Not cli.main(), which ends with status 1 when a reader leaves."""
    try:
        with cli.make_context("hocket", arguments) as context:
            status = cli.invoke(context)
    except click.exceptions.Exit as error:  # of --help
        status = error.exit_code
    sys.stdout.flush()
    return status if isinstance(status, int) else 0


def _was_printing(error: OSError) -> bool:
    """Files have names in their errors, and are not written by modules of the command line."""
    frames = list(traceback.walk_tb(error.__traceback__))
    return bool(frames) and frames[-1][0].f_globals.get("__name__", "").startswith(("hocket.cli.", "click.", "rich."))


def _drop_output() -> None:
    """What cannot be written is not tried again when Python ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_standard_streams() -> None:
    """A stream that the caller has closed is nobody's: what is written to it goes nowhere, not into the next file."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)  # the least number that is free, this one
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def _require_current_folder() -> None:
    try:
        os.getcwd()
    except FileNotFoundError:
        raise Error("the current folder does not exist any more", "change to another folder") from None


def _terminate(number: int, frame: object) -> NoReturn:
    raise _Terminated(number)


def _fail(message: str, hint: str, status: int, debug: bool) -> NoReturn:
    if debug:
        traceback.print_exc()
    try:
        print(f"error: {message}", file=sys.stderr)
        if hint:
            print(f"hint: {hint}", file=sys.stderr)
    except OSError:  # a reader that has left, a full disk
        pass
    _drop_output()
    sys.exit(status)
