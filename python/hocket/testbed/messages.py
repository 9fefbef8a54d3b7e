# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Messages between hocket and a testbed's supervisor: JSON with a length in front, and open files beside it."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

_LENGTH = struct.Struct("!Q")
_MAX_FILES = 4


def send(connection: socket.socket, message: dict[str, Any], files: Sequence[int] = ()) -> None:
    data = json.dumps(message).encode()
    socket.send_fds(connection, [_LENGTH.pack(len(data))], list(files))
    connection.sendall(data)


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next message and the files that came with it; None when the other side has ended."""
    try:
        head, files, _, _ = socket.recv_fds(connection, _LENGTH.size, _MAX_FILES, socket.MSG_WAITALL)
        if len(head) < _LENGTH.size:
            return None
        data = _exactly(connection, _LENGTH.unpack(head)[0])
    except (ConnectionError, TimeoutError):
        return None
    return None if data is None else (json.loads(data), files)


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        part = connection.recv(min(size - len(data), 1 << 20))
        if not part:
            return None
        data += part
    return bytes(data)
