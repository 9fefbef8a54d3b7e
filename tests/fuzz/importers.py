# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Feeds damaged files to every importer: none may crash, hang, or fail in another way than by InvalidInput.

Each input is a sample of the project with some bytes changed, by a seed that is printed when something goes wrong; so
`--only FORMAT --first N --inputs 1` does input N again. Readers of the core run inside the workers; what the package
otf2 reads lies in a folder of the worker.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

from hocket import Program, _core
from hocket.errors import InvalidInput

SAMPLES = Path(__file__).resolve().parent.parent / "samples" / "traces"
FORMATS = ("dumpi", "otf2", "liballprof", "ti", "goal", "goal-binary", "chakra")
MOST_S = 60  # for one input: more is a hang
_WORDS = (b"\0", b"\xff", b"\x7f", b"\xff\xff\xff\xff", b"\0\0\0\0", b"-1", b"99999999999", b"1e30", b" ", b":", b"\n")

Files = list[tuple[str, bytes]]


def samples(form: str) -> list[Files]:
    """Whole traces: name and content of each file."""
    if form == "goal-binary":
        text = (SAMPLES / "goal" / "app.goal").read_text()
        return [[("app.bin", _core.to_goal_binary(Program.from_goal(text, "app.goal"), 1e9))]]
    folder = SAMPLES / form
    return [
        [(str(path.relative_to(folder)), path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file()]
    ]


def mutated(files: Files, random_: random.Random) -> Files:
    """With one to eight changes in one of the files."""
    place = random_.randrange(len(files))
    name, content = files[place]
    data = bytearray(content)
    for _ in range(random_.choice((1, 1, 1, 2, 3, 8))):
        at = random_.randrange(len(data)) if data else 0
        kind = random_.randrange(7)
        if kind == 0 and data:
            data[at] ^= 1 << random_.randrange(8)
        elif kind == 1 and data:
            data[at] = random_.randrange(256)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            data[at:at] = random_.choice(_WORDS)
        elif kind == 4:
            data[at : at + random_.randrange(1, 9)] = random_.choice(_WORDS)
        elif kind == 5:
            end = at + random_.randrange(1, 64)
            data[at:at] = data[at:end]
        else:
            del data[at : at + random_.randrange(1, 64)]
    changed = list(files)
    changed[place] = (name, bytes(data))
    if len(changed) > 1 and random_.randrange(20) == 0:
        del changed[random_.randrange(len(changed))]
    return changed


def reader(form: str, folder: Path) -> Callable[[Files], object]:
    if form == "dumpi":
        return lambda files: _core.read_dumpi(files, False)
    if form == "liballprof":
        return lambda files: _core.read_liballprof(files, True)
    if form == "ti":
        return lambda files: _core.read_simgrid_ti(files, 1e9)
    if form == "chakra":
        return _core.read_chakra
    if form == "goal-binary":
        return lambda files: _core.program_from_goal_binary(files[0][1], files[0][0])
    if form == "goal":
        from hocket.interop.programs import read_program

        return lambda files: read_program("goal", files)

    def read_otf2(files: Files) -> object:
        from hocket.interop.traces.otf2_reader import read_otf2

        shutil.rmtree(folder, ignore_errors=True)
        for name, content in files:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return read_otf2(folder / "traces.otf2")

    return read_otf2


def try_in_forks() -> None:
    """What another interpreter tries first in 0.2 s, a fork of this process tries in milliseconds."""
    from hocket.interop.traces import otf2_package, otf2_reader

    otf2_package.import_otf2()
    otf2_reader.check_opens = check_opens_in_a_fork  # type: ignore[attr-defined]


def check_opens_in_a_fork(anchor: Path) -> None:
    """As `check_opens` of `hocket.interop.traces.otf2_package`."""
    import otf2

    child = os.fork()
    if child == 0:
        signal.alarm(MOST_S)
        with contextlib.suppress(BaseException):
            otf2.reader.open(str(anchor)).close()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        raise InvalidInput(f"{anchor}: the package otf2 is ended by signal {os.WTERMSIG(status)}", "")


def attempt(form: str, number: int, traces: list[Files], read: Callable[[Files], object]) -> str:
    """ "read" or "refused"; raises what it must not."""
    random_ = random.Random(f"{form} {number}")
    files = mutated(random_.choice(traces), random_)
    signal.alarm(MOST_S)
    try:
        read(files)
    except InvalidInput as error:
        if not error.message or "\n" in error.message:
            raise AssertionError(f"the message has not one line: {error.message!r}") from error
        return "refused"
    finally:
        signal.alarm(0)
    return "read"


def work(form: str, first: int, last: int, step: int, at: Synchronized[int], results: Any) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the worker, also one that is deep in the core
    with tempfile.TemporaryDirectory() as folder:
        if form == "otf2":  # the library writes about each damaged file
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            try_in_forks()
        read, traces = reader(form, Path(folder) / "trace"), samples(form)
        found: Counter[str] = Counter()
        for number in range(first, last, step):
            at.value = number
            try:
                found[attempt(form, number, traces, read)] += 1
            except BaseException as error:
                results.put((form, number, f"{type(error).__name__}: {error}"))
                return
        results.put((form, -1, dict(found)))


def run(form: str, first: int, inputs: int, workers: int) -> tuple[Counter[str], list[str]]:
    """What became of the inputs, and what went wrong."""
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    parts = []
    for worker in range(min(workers, inputs)):
        at = context.Value("q", -1)
        process = context.Process(target=work, args=(form, first + worker, first + inputs, workers, at, results))
        process.start()
        parts.append((process, at))
    found: Counter[str] = Counter()
    wrong = []
    for process, at in parts:
        process.join()
        if process.exitcode != 0:
            what = "hangs" if process.exitcode == -signal.SIGALRM else f"ends with status {process.exitcode}"
            wrong.append(f"{form}: input {at.value}: the reader {what}")
    while not results.empty():
        _, number, what = results.get()
        if number < 0:
            found.update(what)
        else:
            wrong.append(f"{form}: input {number}: {what}")
    return found, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=1_000_000, help="for each format (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first input (default: %(default)s)")
    parser.add_argument("--only", choices=FORMATS, action="append", help="this format; again for more")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="(default: the cores)")
    arguments = parser.parse_args()
    failed = False
    for form in arguments.only or FORMATS:
        begin = time.perf_counter()
        found, wrong = run(form, arguments.first, arguments.inputs, arguments.workers)
        took = time.perf_counter() - begin
        print(
            f"{form}: {sum(found.values()):,} inputs in {took:.1f} s: {found['refused']:,} refused, "
            f"{found['read']:,} read, {len(wrong)} wrong",
            flush=True,
        )
        for line in wrong:
            print(f"  {line}; again: --only {form} --first N --inputs 1")
        failed = failed or bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
