# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Versions of file formats: the number in NAME/3."""

from __future__ import annotations

MADE_BY_NEWER = "made by a newer hocket; update this one"


def is_newer(found: object, newest: str) -> bool:
    """Whether it is a later version of the same format, which did not exist when this hocket was made."""
    name, _, number = newest.rpartition("/")
    if not isinstance(found, str):
        return False
    other, _, version = found.rpartition("/")
    if other != name or not version.isascii() or not version.isdecimal():
        return False
    return len(version) > 9 or int(version) > int(number)  # int() refuses thousands of digits


def hint(found: object, newest: str, otherwise: str) -> str:
    """For a format that is refused: what to do about it."""
    return MADE_BY_NEWER if is_newer(found, newest) else otherwise
