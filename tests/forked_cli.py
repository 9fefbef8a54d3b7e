# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The command `hocket` in processes that are forked from one that has imported it: most of a short command is imports.

Each is a process as any, with its own folder, environment, streams and exit status. `ForkedCommands` starts this file,
once for each worker of pytest, as the process that forks.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HOCKET = Path(sys.executable).with_name("hocket")
# What a process takes notice of when it starts: with other values of these a command is started, not forked.
_AT_START = ("PYTHON", "LD_", "LC_", "LANG", "GLIBC_", "MALLOC_", "OPENBLAS_", "OMP_NUM", "TZ")
_BESIDE = ("hocket.__main__", "numpy", "rich.console", "rich.progress", "rich.table")


class ForkedCommands:
    """Runs `hocket`, one command at a time."""

    def __init__(self) -> None:
        self._requests, other = socket.socketpair()
        self._environment = _at_start(os.environ)
        with other:
            command = [sys.executable, "-P", __file__, str(other.fileno())]
            self._server = subprocess.Popen(command, pass_fds=[other.fileno()])

    def close(self) -> None:
        self._requests.close()
        self._server.wait()

    def run(
        self, arguments: Sequence[str], cwd: Path, env: Mapping[str, str], timeout: float, stdin: str | None
    ) -> subprocess.CompletedProcess[str]:
        """As `subprocess.run`, with the output as text."""
        command = [str(HOCKET), *arguments]
        if _at_start(env) != self._environment:
            return subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=timeout, cwd=cwd, input=stdin, env=env
            )
        request = json.dumps({"command": command, "cwd": str(cwd), "env": dict(env)}).encode()
        (read_input, write_input), (read_output, write_output), (read_error, write_error) = (os.pipe() for _ in "012")
        given = [0 if stdin is None else read_input, write_output, write_error]
        socket.send_fds(self._requests, [len(request).to_bytes(4, "little")], given)
        for descriptor in (read_input, write_output, write_error):
            os.close(descriptor)
        self._requests.settimeout(None)
        self._requests.sendall(request)
        process = self._number()
        with ThreadPoolExecutor(3) as streams:
            streams.submit(_write, write_input, stdin or "")
            output, error = streams.submit(_read, read_output), streams.submit(_read, read_error)
            self._requests.settimeout(timeout)
            try:
                status = self._number()
            except TimeoutError:
                os.kill(process, signal.SIGKILL)
                self._requests.settimeout(None)
                self._number()
                raise subprocess.TimeoutExpired(command, timeout) from None
        return subprocess.CompletedProcess(command, status, output.result(), error.result())

    def _number(self) -> int:
        return int.from_bytes(self._requests.recv(4), "little", signed=True)


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(_AT_START)}


def _read(descriptor: int) -> str:
    with open(descriptor) as stream:
        return stream.read()


def _write(descriptor: int, text: str) -> None:
    try:
        with open(descriptor, "w") as stream:
            stream.write(text)
    except BrokenPipeError:  # the command need not read it
        pass


def _is_forked(requests: socket.socket) -> bool:
    """Forks a process for each request, where this returns True; says which it is, and with what status it ended."""
    while True:
        size, descriptors, _, _ = socket.recv_fds(requests, 4, 3)
        if not size:
            return False
        request = requests.recv(int.from_bytes(size, "little"), socket.MSG_WAITALL)
        if (process := os.fork()) == 0:
            requests.close()
            _become(json.loads(request), descriptors)
            return True
        for descriptor in descriptors:
            os.close(descriptor)
        requests.sendall(process.to_bytes(4, "little"))
        _, status = os.waitpid(process, 0)
        requests.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "little", signed=True))


def _become(request: dict[str, Any], descriptors: Sequence[int]) -> None:
    for stream, descriptor in enumerate(descriptors):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv[:] = request["command"]


if __name__ == "__main__":
    import gc
    import importlib
    import pkgutil

    import hocket.cli

    for name in (*_BESIDE, *(found.name for found in pkgutil.walk_packages(hocket.cli.__path__, "hocket.cli."))):
        importlib.import_module(name)
    gc.freeze()  # what is there is not copied because a collection looks at it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _is_forked(socket.socket(fileno=int(sys.argv[1]))):
        from hocket.__main__ import main

        main()
