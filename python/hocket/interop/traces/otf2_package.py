# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The package `otf2` of Score-P's authors, which not everybody needs."""

from __future__ import annotations

from typing import Any

from hocket.errors import InvalidInput

SIZES = "hocket.sizes"  # name of an attribute for the sizes of v-variants; other readers skip it


def import_otf2() -> Any:
    """Raises InvalidInput with what to install if it is not there."""
    try:
        import otf2
    except ImportError as error:
        raise InvalidInput("OTF2 needs the package otf2, which is not installed", "pip install otf2") from error
    return otf2
