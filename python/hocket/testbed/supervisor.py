# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The process that is a testbed: `python -m hocket.testbed.supervisor SOCKET`.

It makes the namespaces and forks process 1 of the new process namespace, which builds the cluster and serves requests.
When process 1 ends, the kernel kills every process of its namespace, and with the last of them all namespaces, cables
and mounts vanish. Process 1 ends when this process does (parent-death signal), and this process when hocket does; so
whoever is killed, and however, nothing is left.
"""

from __future__ import annotations

import errno
import os
import selectors
import signal
import socket
import sys
import time
import traceback
from contextlib import suppress
from typing import Any

from hocket.errors import Error, InvalidInput
from hocket.testbed import messages, namespaces
from hocket.testbed.cluster import Cluster
from hocket.testbed.layout import Layout
from hocket.testbed.names import listen

_ALL = namespaces.NEW_PID | namespaces.NEW_NET | namespaces.NEW_MOUNT | namespaces.NEW_UTS | namespaces.NEW_IPC
REFUSED_HINT = (
    "Linux user namespaces are needed, or root with CAP_SYS_ADMIN and CAP_NET_ADMIN; see user.max_user_namespaces, "
    "kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns in `sysctl -a`; containers "
    "often forbid namespaces"
)


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    received = messages.receive(control)
    if received is None:
        return
    request = received[0]
    # The caller says whether it may be watched: the signal comes at the end of the thread that started us.
    if request["die_with_parent"]:
        namespaces.die_with_parent()
        if os.getppid() != request["parent"]:
            return
    try:
        listener = listen(request["name"]) if request["name"] else None
        _enter_new_namespaces()
    except Error as error:
        messages.send(control, {"error": error.message, "hint": error.hint})
        return
    outside = os.getpid()
    process = os.fork()
    if process == 0:
        try:
            _serve(control, listener, request, outside)
        except BaseException as error:
            _report(control, error)
        finally:
            os._exit(1)
    control.close()
    if listener:
        listener.close()
    os.waitpid(process, 0)


def _enter_new_namespaces() -> None:
    user, group = os.geteuid(), os.getegid()
    try:
        try:
            if user != 0:
                raise PermissionError
            namespaces.unshare(_ALL)
        except PermissionError:
            namespaces.unshare(_ALL | namespaces.NEW_USER)
            namespaces.become_root_of_user_namespace(user, group)
    except OSError as error:
        raise Error(f"this system refuses namespaces: {error.strerror or error}", REFUSED_HINT) from error


def _report(control: socket.socket, error: BaseException) -> None:
    hint = getattr(error, "hint", "")
    refused = isinstance(error, OSError) or hasattr(error, "code")  # NetlinkError has a code
    if refused and getattr(error, "errno", getattr(error, "code", None)) in (errno.EPERM, errno.EACCES):
        hint = REFUSED_HINT
    elif refused:
        hint = "the kernel needs veth, bridge and sch_tbf (CONFIG_VETH, CONFIG_BRIDGE, CONFIG_NET_SCH_TBF)"
    message = str(error) if isinstance(error, Error) else f"cannot set up the testbed: {error}"
    with suppress(OSError):
        messages.send(control, {"error": message, "hint": hint, "traceback": traceback.format_exc()})


def _serve(control: socket.socket, listener: socket.socket | None, request: dict[str, Any], outside: int) -> None:
    namespaces.die_with_parent()
    cluster = Cluster(Layout.from_json(request["layout"]))
    information = {
        "name": request["name"],
        "network": cluster.layout.network,
        "process": outside,
        "started_s": time.time(),
        "layout": request["layout"],
        "notes": cluster.notes,
    }
    # Sent first, so that whoever sees the name in the list can talk to a complete testbed.
    messages.send(control, information)
    if listener:
        control.close()
    _Server(cluster, information, listener, None if listener else control).loop()


class _Server:
    """Answers requests; one command runs at a time, since two would share the cables."""

    def __init__(
        self,
        cluster: Cluster,
        information: dict[str, Any],
        listener: socket.socket | None,
        control: socket.socket | None,
    ) -> None:
        self._cluster = cluster
        self._information = information
        self._listener = listener  # of a named testbed
        self._control = control  # of one that ends with its maker
        self._selector = selectors.DefaultSelector()
        self._owner: socket.socket | None = None  # the connection whose command runs
        self._command: list[str] = []
        self._process = 0
        self._start_s = 0.0
        self._before: list[int] = []

    def loop(self) -> None:
        wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake_write)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(wake_read, selectors.EVENT_READ)
        for source in (self._listener, self._control):
            if source:
                self._selector.register(source, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj == wake_read:
                    with suppress(BlockingIOError):
                        os.read(wake_read, 4096)
                    self._reap()
                elif key.fileobj is self._listener and self._listener:
                    self._accept(self._listener)
                elif isinstance(key.fileobj, socket.socket):
                    self._handle(key.fileobj)

    def _accept(self, listener: socket.socket) -> None:
        connection, _ = listener.accept()
        # Names in the abstract socket space have no permissions: ask the kernel who calls.
        user = int.from_bytes(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[4:8], sys.byteorder)
        if user != os.getuid():
            connection.close()
            return
        connection.settimeout(10)
        self._selector.register(connection, selectors.EVENT_READ)

    def _handle(self, connection: socket.socket) -> None:
        received = messages.receive(connection)
        if received is None:
            if connection is self._control:
                os._exit(0)
            if connection is self._owner:
                self._finish(None)
            self._selector.unregister(connection)
            connection.close()
            return
        request, files = received
        try:
            self._answer(connection, request, files)
        except Error as error:
            invalid = isinstance(error, InvalidInput)
            self._send(connection, {"error": error.message, "hint": error.hint, "invalid": invalid})
        finally:
            for file in files:
                os.close(file)

    def _answer(self, connection: socket.socket, request: dict[str, Any], files: list[int]) -> None:
        match request["do"]:
            case "information":
                self._send(connection, {**self._information, "command": self._command})
            case "down":
                if self._listener:
                    self._listener.close()  # the name is free before the caller knows
                self._send(connection, {})
                os._exit(0)
            case "stop":
                if connection is self._owner:
                    self._finish(None)
            case "run":
                if self._owner is not None:
                    raise Error(
                        f"the testbed is busy with: {' '.join(self._command)}",
                        "wait for its end, or bring up another testbed; two programs would share the cables",
                    )
                self._before = self._cluster.counters()
                self._start_s = time.monotonic()
                self._process = self._cluster.start(
                    request["command"], request["environment"], request["folder"], request["host"], files
                )
                self._owner, self._command = connection, request["command"]

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if process == 0:
                    return
                if process == self._process:
                    self._finish(os.waitstatus_to_exitcode(status))

    def _finish(self, returncode: int | None) -> None:
        """The command has ended (or is ended now: None): answer its owner when nothing of it is left."""
        wall_s = time.monotonic() - self._start_s
        connection, self._owner, self._command, self._process = self._owner, None, [], 0
        self._cluster.kill_all()
        sent = [after - before for before, after in zip(self._before, self._cluster.counters(), strict=True)]
        if connection:
            self._send(connection, {"returncode": returncode, "wall_s": wall_s, "link_bytes": sent})

    @staticmethod
    def _send(connection: socket.socket, message: dict[str, Any]) -> None:
        with suppress(OSError):  # the caller has gone: its end of the socket says so next
            messages.send(connection, message)


if __name__ == "__main__":
    main()
