# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which pairs of hosts may exchange frames: a set in the kernel's filter of bridges (nf_tables), by netlink.

A change is one transaction of the kernel, and takes some 0.1 ms. The transactions of pyroute2 (0.9.7, nftsocket) read
no answers, so that a kernel which refuses one would not be noticed: hence the messages are made here.
"""

from __future__ import annotations

import itertools
import os
import socket
import struct
from collections.abc import Iterable, Sequence
from contextlib import suppress

from hocket.errors import Error

Pair = tuple[bytes, bytes]  # hardware addresses of target and source: the first 12 bytes of a frame

_NETLINK_NETFILTER = 12
_NF_TABLES = 10  # NFNL_SUBSYS_NFTABLES
_BATCH_BEGIN, _BATCH_END = 0x10, 0x11
_NEW_TABLE, _NEW_CHAIN, _NEW_RULE, _NEW_SET, _NEW_ELEMENTS, _DELETE_ELEMENTS = 0, 3, 6, 9, 12, 14
_BRIDGE = 7  # NFPROTO_BRIDGE
_FORWARD = 2  # NF_BR_FORWARD: between two ports of a bridge
_DROP, _ACCEPT = 0, 1
_REQUEST, _ACKNOWLEDGE, _CREATE = 0x1, 0x4, 0x400
_ERROR = 2  # NLMSG_ERROR: also what acknowledges
_NESTED = 0x8000
_REGISTER_VERDICT, _REGISTER = 0, 1
_TABLE, _SET, _CHAIN = b"hocket\0", b"circuits\0", b"forward\0"
_PAIR_BYTES = 12
_MOST_PAIRS = 1000  # in a message: the length of a list has 16 bits


class CircuitFilter:
    """Of the bridges of the network namespace that this process is in when it makes the object. Drops all at first."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_NETFILTER)
        self._numbers = itertools.count(1)
        name = _attribute(1, _TABLE)
        hook = _nested(4, _number(1, _FORWARD), _number(2, 0))
        try:
            self._commit(
                [
                    (_NEW_TABLE, name),
                    (_NEW_SET, name + _attribute(2, _SET) + _number(3, 0) + _number(5, _PAIR_BYTES) + _number(10, 1)),
                    (_NEW_CHAIN, name + _attribute(3, _CHAIN) + hook + _number(5, _DROP) + _attribute(7, b"filter\0")),
                    (_NEW_RULE, name + _attribute(2, _CHAIN) + _nested(4, *_rule())),
                ]
            )
        except OSError as error:
            self.close()
            raise Error(
                f"the switch cannot filter frames: {error.strerror}",
                "the kernel needs nf_tables for bridges (CONFIG_NF_TABLES_BRIDGE)",
            ) from error

    def close(self) -> None:
        self._socket.close()

    def fileno(self) -> int:
        return self._socket.fileno()

    def allow(self, pairs: Iterable[Pair]) -> None:
        """Exactly these pairs, from one moment to the next. Raises OSError."""
        self._commit([(_DELETE_ELEMENTS, _LIST), *((_NEW_ELEMENTS, part) for part in _elements(pairs))])

    def _commit(self, messages: Sequence[tuple[int, bytes]]) -> None:
        marker = struct.pack("!BBH", socket.AF_UNSPEC, 0, _NF_TABLES)
        head = struct.pack("!BBH", _BRIDGE, 0, 0)
        parts = [self._message(_BATCH_BEGIN, _REQUEST, marker)]
        for kind, content in messages:
            flags = _REQUEST | _ACKNOWLEDGE | (0 if kind == _DELETE_ELEMENTS else _CREATE)
            parts.append(self._message(_NF_TABLES << 8 | kind, flags, head + content))
        parts.append(self._message(_BATCH_END, _REQUEST, marker))
        self._socket.send(b"".join(parts))
        failure = 0
        with suppress(BlockingIOError):  # the kernel has answered everything before `send` returns
            while True:
                answer = self._socket.recv(1 << 16, socket.MSG_DONTWAIT)
                if struct.unpack_from("=H", answer, 4)[0] == _ERROR:
                    failure = failure or -struct.unpack_from("=i", answer, 16)[0]
        if failure:
            raise OSError(failure, os.strerror(failure))

    def _message(self, kind: int, flags: int, content: bytes) -> bytes:
        return struct.pack("=IHHII", 16 + len(content), kind, flags, next(self._numbers), 0) + content


def _attribute(kind: int, content: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(content), kind) + content + bytes(-len(content) % 4)


def _number(kind: int, value: int) -> bytes:
    return _attribute(kind, struct.pack("!I", value))


def _nested(kind: int, *contents: bytes) -> bytes:
    return _attribute(kind | _NESTED, b"".join(contents))


def _rule() -> tuple[bytes, ...]:
    """Accept a frame whose first 12 bytes are in the set."""
    verdict = _nested(2, _nested(2, _number(1, _ACCEPT)))
    return (
        _expression(b"payload\0", _number(1, _REGISTER), _number(2, 0), _number(3, 0), _number(4, _PAIR_BYTES)),
        _expression(b"lookup\0", _attribute(1, _SET), _number(2, _REGISTER), _number(4, 1)),
        _expression(b"immediate\0", _number(1, _REGISTER_VERDICT), verdict),
    )


def _expression(name: bytes, *contents: bytes) -> bytes:
    return _nested(1, _attribute(1, name), _nested(2, *contents))


_LIST = _attribute(1, _TABLE) + _attribute(2, _SET)  # alone it means all elements


def _elements(pairs: Iterable[Pair]) -> list[bytes]:
    keys = [_nested(1, _nested(1, _attribute(1, target + source))) for target, source in pairs]
    parts = range(0, len(keys), _MOST_PAIRS)
    return [_LIST + _nested(3, *keys[first : first + _MOST_PAIRS]) for first in parts]
