# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Versions of file formats: the number in NAME/3. The core's rules, for values of any type."""

from __future__ import annotations

from hocket._core import hint_for_format, is_newer_format


def is_newer(found: object, newest: str) -> bool:
    """Whether it is a later version of the same format, which did not exist when this hocket was made."""
    return is_newer_format(_name(found), newest)


def hint(found: object, newest: str, otherwise: str) -> str:
    """For a format that is refused: what to do about it."""
    return hint_for_format(_name(found), newest, otherwise)


def _name(found: object) -> str:
    return found if isinstance(found, str) and found.isascii() else ""  # formats have names in ASCII
