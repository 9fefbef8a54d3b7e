# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""An emulated cluster on this machine, and programs on it."""

from __future__ import annotations

import functools
import os
import selectors
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from hocket.errors import Error, InvalidInput
from hocket.io.files import end_of
from hocket.io.terminal_input import input_for_command
from hocket.testbed import messages, names, preload
from hocket.testbed.cluster import CONTROLLER, FOLDER, PRELOADED, environment_for
from hocket.testbed.layout import Cable, Host, Layout, Port, make_layout
from hocket.testbed.mpi_settings import with_defaults

if TYPE_CHECKING:
    from hocket import Network

_LONGEST_WAIT_S = 3600.0  # of one call of poll(2), whose time-out is an int of milliseconds: 24 days at most


@dataclass(frozen=True)
class RunResult:
    command: list[str]
    returncode: int  # negative: the signal that ended it
    stdout: str  # empty unless captured
    stderr: str
    wall_s: float
    link_bytes: list[int]  # sent over each directed link, by the indices of network.links

    @property
    def bytes_crossed(self) -> int:
        """Sum over the links: 0 proves that nothing used the network."""
        return sum(self.link_bytes)


class Testbed:
    """`with Testbed(network) as bed: bed.run([...])`. Ends with the block, or with this process however it ends.

    `name` makes it stay up after this process, for `attach(name)`.
    """

    __test__ = False  # pytest: not a test class

    def __init__(self, network: Network | Layout, name: str | None = None) -> None:
        """@throws InvalidInput  what the network asks for cannot be emulated
        @throws Error  namespaces are refused, or the name is taken; nothing is left of the testbed"""
        if name is not None:
            names.check_name(name)
        layout = network if isinstance(network, Layout) else make_layout(network)
        self._process, self._connection = _start_supervisor()
        try:
            start = {
                "layout": layout.to_json(),
                "name": name,
                "parent": os.getpid(),
                "die_with_parent": name is None and threading.current_thread() is threading.main_thread(),
            }
            messages.send(self._connection, start)
            self._use(self._ask())
        except BaseException:
            self.close()
            raise
        if name is not None:
            self._connection.close()
            self._process = None
            self._connection = names.connect(name)

    @classmethod
    def attach(cls, name: str) -> Testbed:
        """The testbed of that name, which stays up when this object is closed."""
        bed = cls.__new__(cls)
        bed._process = None
        bed._connection = names.connect(name)
        try:
            messages.send(bed._connection, {"do": "information"})
            bed._use(bed._ask())
        except BaseException:
            bed.close()
            raise
        return bed

    def __enter__(self) -> Testbed:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Idempotent."""
        self._connection.close()
        if self._process is not None:
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def down(self) -> None:
        """End a testbed that has a name."""
        messages.send(self._connection, {"do": "down"})
        self._ask()
        while messages.receive(self._connection) is not None:
            pass  # until its end of the connection is closed
        self.close()

    @property
    def preloaded(self) -> Path:
        """The library that all programs inside have, unless they set LD_PRELOAD without it."""
        return Path(PRELOADED)

    @property
    def controller(self) -> Path | None:
        """The socket of the circuit switch's controller, inside; None if the testbed has no such switch."""
        return Path(CONTROLLER) if self._layout.circuits else None

    @property
    def hosts(self) -> list[str]:
        return [host.name for host in self._layout.hosts]

    def run(
        self,
        command: Sequence[str],
        *,
        mpi: Any = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        capture: bool = True,
        host: str | None = None,
        cwd: str | os.PathLike[str] | None = None,
        files: tuple[IO[bytes], IO[bytes], IO[bytes]] | None = None,
    ) -> RunResult:
        """Run a command on the host of rank 0 (or on `host`) and wait until nothing of it is left.

        An MPI launcher there starts rank r on the host that the network's placement gives to rank r. `mpi`: an object
        with `mpiexec`, whose folder goes first in PATH. `env` is added to this process's environment; both go before
        the testbed's own settings. `ssh HOST COMMAND` works inside. The command's standard input, output and error are
        `files`; without them it is captured and gets no input, or has those of this process if `capture` is False.
        @throws Error  the command cannot be started, or did not end within `timeout` seconds
        """
        environment = self._environment(command, mpi, env)
        # `ssh` is the testbed's own, in a folder that is there inside only.
        if command[0] != "ssh" and shutil.which(command[0], path=environment["PATH"]) is None:
            raise InvalidInput(f"command not found: {command[0]!r}", "give its path, or put its folder into PATH")
        request = {
            "do": "run",
            "command": list(command),
            "environment": environment,
            "folder": os.path.abspath(cwd or os.getcwd()),
            "host": host or self._layout.rank_hosts[0],
        }
        if files is not None:
            messages.send(self._connection, request, [file.fileno() for file in files])
            return self._wait(request, {}, timeout, files[2])
        if capture:
            with open(os.devnull) as nothing:
                return self._run_captured(request, nothing, timeout)
        with input_for_command() as entry:
            sys.stdout.flush()
            sys.stderr.flush()
            messages.send(self._connection, request, [entry, 1, 2])
            return self._wait(request, {}, timeout)

    def _run_captured(self, request: dict[str, Any], entry: IO[str], timeout: float | None) -> RunResult:
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        with open(out_read, "rb", buffering=0) as out, open(err_read, "rb", buffering=0) as err:
            try:
                messages.send(self._connection, request, [entry.fileno(), out_write, err_write])
            finally:
                os.close(out_write)
                os.close(err_write)
            return self._wait(request, {"stdout": out, "stderr": err}, timeout)

    def _wait(
        self, request: dict[str, Any], pipes: dict[str, Any], timeout: float | None, errors: IO[bytes] | None = None
    ) -> RunResult:
        texts = {name: bytearray() for name in pipes}
        deadline = None if timeout is None else time.monotonic() + timeout
        answer: dict[str, Any] | None = None
        with selectors.DefaultSelector() as selector:
            selector.register(self._connection, selectors.EVENT_READ)
            for name, pipe in pipes.items():
                selector.register(pipe, selectors.EVENT_READ, name)
            try:
                while selector.get_map():
                    left = None if deadline is None or answer else deadline - time.monotonic()
                    if left is not None and left <= 0:
                        self._stop()
                        end = f"{request['command'][0]!r} did not end within {timeout:g} s and was killed"
                        tail = bytes(texts.get("stderr", b"")).decode(errors="replace")[-500:]
                        tail = end_of(errors, 500) if errors else tail
                        raise Error(end, f"its last words: {tail}" if tail else "allow more time with --timeout")
                    for key, _ in selector.select(None if left is None else min(left, _LONGEST_WAIT_S)):
                        if key.fileobj is self._connection:
                            selector.unregister(self._connection)
                            answer = self._ask()
                        else:
                            part = key.fileobj.read(1 << 16)  # type: ignore[union-attr]
                            texts[key.data].extend(part)
                            if not part:
                                selector.unregister(key.fileobj)
            except KeyboardInterrupt:
                if answer is None:
                    self._stop()
                raise
        assert answer is not None
        return RunResult(
            command=request["command"],
            returncode=answer["returncode"],
            stdout=texts.get("stdout", bytearray()).decode(errors="replace"),
            stderr=texts.get("stderr", bytearray()).decode(errors="replace"),
            wall_s=answer["wall_s"],
            link_bytes=answer["link_bytes"],
        )

    def _stop(self) -> None:
        """Kill everything inside and wait until it is dead."""
        messages.send(self._connection, {"do": "stop"})
        self._ask()

    def _environment(self, command: Sequence[str], mpi: Any, env: Mapping[str, str] | None) -> dict[str, str]:
        own = environment_for(self._layout)
        # The temporary folder is the host's, not the user's: what is in it must not survive.
        outside = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
        environment = preload.with_library(with_defaults(own, {**outside, **(env or {})}), PRELOADED)
        folders = [FOLDER]  # has `ssh`
        if mpi is not None:
            folders.append(str(Path(mpi.mpiexec).parent))
        elif os.sep in command[0] and Path(command[0]).name.startswith(("mpi", "prte", "orte")):
            folders.append(str(Path(command[0]).absolute().parent))  # its helpers lie beside it
        environment["PATH"] = os.pathsep.join([*folders, environment.get("PATH", os.defpath)])
        return environment

    def _use(self, information: dict[str, Any]) -> None:
        self.information = information
        self.notes: list[str] = information["notes"]
        self._layout = Layout.from_json(information["layout"])

    def _ask(self) -> dict[str, Any]:
        received = messages.receive(self._connection)
        if received is None:
            raise Error("the testbed ended unexpectedly", "was its supervisor killed, or the machine out of memory?")
        answer = received[0]
        if "error" in answer:
            if "HOCKET_DEBUG" in os.environ and "traceback" in answer:
                sys.stderr.write(answer["traceback"])
            raise (InvalidInput if answer.get("invalid") else Error)(answer["error"], answer["hint"])
        return answer


def _start_supervisor() -> tuple[subprocess.Popen[bytes] | None, socket.socket]:
    ours, theirs = socket.socketpair()
    package = str(Path(__file__).parents[2])
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "hocket.testbed.supervisor", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=None if "HOCKET_DEBUG" in os.environ else subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches hocket alone, which then stops what runs inside
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))},
        )
    return process, ours


@functools.cache
def available() -> tuple[bool, str]:
    """Whether testbeds work here, tried by a cluster of two hosts and a switch, and why not."""
    hosts = (Host(0, "a", 1), Host(1, "b", 2))
    rate = 1e9 / 8
    cables = tuple(
        Cable((Port(node, "eth0", 2 * node, rate, 0.0), Port(2, f"n2p{node}", 2 * node + 1, rate, 0.0)))
        for node in (0, 1)
    )
    layout = Layout("probe", 4, hosts, (), (2,), cables, (), ("a", "b"))
    if shutil.which("nsenter") is None:
        return False, "nsenter is missing (Debian: util-linux)"
    try:
        with Testbed(layout) as bed:
            result = bed.run(["ssh", "b", "true"], timeout=10)
    except Error as error:
        return False, f"{error.message} ({error.hint})" if error.hint else error.message
    if result.returncode != 0:
        return False, f"a process cannot enter a host: {result.stderr.strip()}"
    return True, ""
