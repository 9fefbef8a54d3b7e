# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The exceptions that hocket raises on purpose; the C++ core's are translated to these."""

from __future__ import annotations


class Error(Exception):
    """A failure with a message for the user; `hint` says what to do next and may be empty."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class Interrupted(KeyboardInterrupt):
    """Ctrl-C; `hint` says how to go on."""

    def __init__(self, hint: str) -> None:
        super().__init__(hint)
        self.hint = hint


class InvalidInput(Error):
    """Wrong input. The message says where (file, line or key), what was found and what is accepted."""
