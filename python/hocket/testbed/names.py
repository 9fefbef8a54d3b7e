# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Testbeds that stay up have a name: an abstract Unix socket, which the kernel removes with its process.

No file says what is up, so no file can be wrong after a crash.
"""

from __future__ import annotations

import errno
import os
import re
import socket

from hocket.errors import Error, InvalidInput

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


def check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name!r} cannot name a testbed",
            "use at most 60 letters, digits, '.', '_' and '-', first a letter or digit",
        )


def listen(name: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind("\0" + _prefix() + name)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Error(
                f"a testbed named {name!r} is already up", "choose another --name, or `hocket testbed down` it"
            ) from error
        raise
    listener.listen()
    return listener


def connect(name: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect("\0" + _prefix() + name)
    except OSError as error:
        connection.close()
        up = ", ".join(names()) or "none"
        hint = "`hocket testbed up NETWORK --name NAME`"
        raise InvalidInput(f"no testbed named {name!r} is up (up: {up})", hint) from error
    return connection


def names() -> list[str]:
    """The testbeds of this user that are up."""
    prefix = "@" + _prefix()
    with open("/proc/net/unix") as file:
        paths = (line.split()[-1] for line in file)
        return sorted({path.removeprefix(prefix) for path in paths if path.startswith(prefix)})


def _prefix() -> str:
    return f"hocket-testbed-{os.getuid()}-"
