# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The Linux calls that a testbed needs and that Python 3.11 lacks (unshare, setns, mount, prctl, sethostname)."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

# linux/sched.h
NEW_MOUNT = 0x00020000
NEW_UTS = 0x04000000
NEW_IPC = 0x08000000
NEW_USER = 0x10000000
NEW_PID = 0x20000000
NEW_NET = 0x40000000

# sys/mount.h
MOUNT_BIND = 0x1000
MOUNT_RECURSIVE = 0x4000
MOUNT_SLAVE = 0x80000

_PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def set_namespace(descriptor: int, kind: int) -> None:
    _checked(_libc.setns(ctypes.c_int(descriptor), ctypes.c_int(kind)), "setns")


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, options: str | None = None) -> None:
    def text(value: str | None) -> bytes | None:
        return None if value is None else os.fsencode(value)

    result = _libc.mount(text(source), text(target), text(kind), ctypes.c_ulong(flags), text(options))
    _checked(result, f"mount {target}")


def set_host_name(name: str) -> None:
    encoded = name.encode()
    _checked(_libc.sethostname(encoded, ctypes.c_size_t(len(encoded))), "sethostname")


def die_with_parent() -> None:
    """The kernel kills this process when its parent thread ends, however that ends. Not inherited by children."""
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0), "prctl")


def become_root_of_user_namespace(user: int, group: int) -> None:
    """After unshare(NEW_USER): the ordinary user `user` is seen as root inside, and may do there what root may."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


@contextmanager
def in_network_namespace(descriptor: int) -> Iterator[None]:
    """Sockets opened inside belong to that namespace, also after the block. Only for a process with one thread."""
    own = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        set_namespace(descriptor, NEW_NET)
        try:
            yield
        finally:
            set_namespace(own, NEW_NET)
    finally:
        os.close(own)
