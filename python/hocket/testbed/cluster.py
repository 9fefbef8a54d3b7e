# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The emulated cluster from the inside: namespaces of the hosts, and processes in them.

Runs in process 1 of the testbed's own process namespace. Nothing here has a name outside: namespaces are held by this
process's open files, files lie in a private tmpfs, so all of it goes when this process goes.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from hocket.errors import Error, InvalidInput
from hocket.testbed import messages, namespaces, preload
from hocket.testbed.agent import agent_script
from hocket.testbed.circuit_controller import connect_all, listen, serve
from hocket.testbed.circuit_filter import CircuitFilter
from hocket.testbed.layout import Host, Layout
from hocket.testbed.mpi_settings import host_files, mpi_environment
from hocket.testbed.wiring import read_counters, wire

# The one writable place that every Linux has for memory files; it is covered by a private tmpfs, in each host again.
SHARED_MEMORY = "/dev/shm"
FOLDER = f"{SHARED_MEMORY}/hocket"  # the same files, seen from every host
PRELOADED = f"{FOLDER}/{preload.LIBRARY}"
TEMPORARY = f"{SHARED_MEMORY}/tmp"
CONTROLLER = f"{FOLDER}/controller"  # the socket of the circuit switch, where the layout has one
_HOSTS = f"{SHARED_MEMORY}/hosts"
_KINDS = {  # option of nsenter and name in /proc/PID/ns -> kind for setns; mount last, as it changes all paths
    "net": namespaces.NEW_NET,
    "uts": namespaces.NEW_UTS,
    "ipc": namespaces.NEW_IPC,
    "mount": namespaces.NEW_MOUNT,
}


class Cluster:
    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._hosts: dict[int, dict[str, int]] = {}  # node -> kind -> open namespace
        _cover_file_systems()
        self._write_files()
        for host in layout.hosts:
            self._hosts[host.node] = _make_host(host)
        self._fabric = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        self.notes = [*layout.notes, *wire(layout, self._fabric, self._network_namespaces())]
        self._frames: CircuitFilter | None = None
        if layout.circuits:
            self._frames = CircuitFilter()
            connect_all(self._frames, self._nodes())
        self._write_agent()

    def counters(self) -> list[int]:
        return read_counters(self.layout, self._fabric, self._network_namespaces())

    def start(
        self, command: Sequence[str], environment: Mapping[str, str], folder: str, host_name: str, files: Sequence[int]
    ) -> int:
        """Start the command on a host with standard input, output and error `files`; returns its process id.

        @throws Error  if the host is unknown or the command cannot be started.
        """
        host = next((host for host in self.layout.hosts if host.name == host_name), None)
        if host is None:
            names = " ".join(host.name for host in self.layout.hosts)
            raise InvalidInput(f"the testbed has no host {host_name!r}", f"its hosts are: {names}")
        if self._frames:
            self._start_controller(self._frames, files[2])
        failure_read, failure_write = os.pipe2(os.O_CLOEXEC)
        process = os.fork()
        if process == 0:
            try:
                self._become(command, environment, folder, host, files)
            except BaseException as error:
                os.write(failure_write, str(error).encode()[:4096])
            finally:
                os._exit(127)
        os.close(failure_write)
        with os.fdopen(failure_read, "rb") as file:
            failure = file.read().decode(errors="replace")
        if failure:
            raise Error(f"cannot start {command[0]!r} on host {host.name}: {failure}")
        return process

    def kill_all(self) -> None:
        """End every process in the testbed but this one, and remove the files they left."""
        if os.getpid() != 1:  # kill(-1) anywhere else would end every process of the user
            raise AssertionError("the testbed's supervisor is not process 1 of its own namespace")
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        deadline = time.monotonic() + 5
        with suppress(ChildProcessError):
            while time.monotonic() < deadline:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    time.sleep(0.002)
        for host in self.layout.hosts:
            _empty_host_folder(f"{_HOSTS}/{host.name}")
        if self._frames:
            connect_all(self._frames, self._nodes())  # its controller may have been killed at any moment

    def _start_controller(self, frames: CircuitFilter, errors: int) -> None:
        """One for each command; it ends with all that the command leaves. `errors`: the command's standard error."""
        with listen(CONTROLLER) as listener:
            if os.fork() == 0:
                try:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    os.dup2(errors, 2)
                    _close_all_but(listener.fileno(), frames.fileno())
                    serve(listener, frames, self._nodes())
                finally:
                    os._exit(1)

    def _nodes(self) -> list[Host]:
        """Of a circuit switch, as schedules number them: by rank."""
        by_name = {host.name: host for host in self.layout.hosts}
        return [by_name[name] for name in self.layout.rank_hosts]

    def _network_namespaces(self) -> dict[int, int]:
        return {node: kinds["net"] for node, kinds in self._hosts.items()}

    def _become(
        self, command: Sequence[str], environment: Mapping[str, str], folder: str, host: Host, files: Sequence[int]
    ) -> None:
        os.setsid()
        for kind, number in _KINDS.items():
            namespaces.set_namespace(self._hosts[host.node][kind], number)
        os.chdir(folder)
        for number, file in enumerate(files):
            os.dup2(file, number)
        for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.execvpe(command[0], list(command), {**environment, "HOSTNAME": host.name})

    def _write_files(self) -> None:
        os.mkdir(FOLDER)
        os.mkdir(_HOSTS)
        lines = ["127.0.0.1 localhost", *(f"{host.address} {host.name}" for host in self.layout.hosts)]
        _write(f"{FOLDER}/hosts", "\n".join(lines) + "\n")
        for name, text in host_files(self.layout.rank_hosts).items():
            _write(f"{FOLDER}/{name}", text)
        shutil.copy(preload.library(), PRELOADED)

    def _write_agent(self) -> None:
        # /proc may still be the one of the process namespace outside: ask it for the number that it has for us.
        own = os.readlink("/proc/self")
        paths = {
            host: {kind: f"/proc/{own}/fd/{self._hosts[host.node][kind]}" for kind in _KINDS}
            for host in self.layout.hosts
        }
        _write(f"{FOLDER}/ssh", agent_script(paths))
        os.chmod(f"{FOLDER}/ssh", 0o755)


def environment_for(layout: Layout) -> dict[str, str]:
    """The environment variables of a program in the testbed; what the user has set goes before them."""
    shared = len(set(layout.rank_hosts)) < len(layout.rank_hosts)
    return {"TMPDIR": TEMPORARY, **mpi_environment(FOLDER, f"{FOLDER}/ssh", shared)}


def _close_all_but(*files: int) -> None:
    """The standard streams stay, too."""
    first = 3
    for file in sorted(files):
        os.closerange(first, file)
        first = file + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _cover_file_systems() -> None:
    # Mounts made here stay here; mounts made outside later still come in.
    namespaces.mount("none", "/", flags=namespaces.MOUNT_RECURSIVE | namespaces.MOUNT_SLAVE)
    # Containers may forbid a new /proc. The old one serves, with other process numbers.
    with suppress(OSError):
        namespaces.mount("proc", "/proc", "proc")
    namespaces.mount("tmpfs", SHARED_MEMORY, "tmpfs", options="mode=1777")


def _make_host(host: Host) -> dict[str, int]:
    """A process makes the namespaces, hands them over as open files and ends."""
    folder = f"{_HOSTS}/{host.name}"
    os.mkdir(folder)
    _empty_host_folder(folder)
    ours, theirs = socket.socketpair()
    process = os.fork()
    if process == 0:
        try:
            namespaces.unshare(namespaces.NEW_NET | namespaces.NEW_UTS | namespaces.NEW_IPC | namespaces.NEW_MOUNT)
            namespaces.set_host_name(host.name)
            namespaces.mount(f"{FOLDER}/hosts", "/etc/hosts", flags=namespaces.MOUNT_BIND)
            namespaces.mount(FOLDER, f"{folder}/hocket", flags=namespaces.MOUNT_BIND)
            bind_all = namespaces.MOUNT_BIND | namespaces.MOUNT_RECURSIVE
            namespaces.mount(folder, SHARED_MEMORY, flags=bind_all)
            with suppress(OSError):  # some containers forbid it, and UCX then looks at the interfaces outside
                namespaces.mount("sysfs", "/sys", "sysfs")
            names = ["mnt" if kind == "mount" else kind for kind in _KINDS]
            messages.send(theirs, {}, [os.open(f"/proc/self/ns/{name}", os.O_RDONLY) for name in names])
        except BaseException as error:
            messages.send(theirs, {"error": str(error)})
        finally:
            os._exit(0)
    theirs.close()
    with ours:
        answer = messages.receive(ours)
    os.waitpid(process, 0)
    if answer is None or "error" in answer[0]:
        reason = answer[0]["error"] if answer else "its process ended"
        raise Error(f"cannot make host {host.name} of the testbed: {reason}")
    for file in answer[1]:
        os.set_inheritable(file, False)
    return dict(zip(_KINDS, answer[1], strict=True))


def _empty_host_folder(folder: str) -> None:
    """As a freshly started host has it: the mount point of the common files, and an empty folder for temporary ones."""
    for entry in os.scandir(folder):
        if entry.name == "hocket":
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            with suppress(OSError):
                os.unlink(entry.path)
    os.chmod(folder, stat.S_ISVTX | 0o777)
    os.makedirs(f"{folder}/hocket", exist_ok=True)
    os.mkdir(f"{folder}/tmp")
    os.chmod(f"{folder}/tmp", stat.S_ISVTX | 0o777)
