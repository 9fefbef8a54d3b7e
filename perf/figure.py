# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Figures of measurements, where matplotlib is installed."""

from __future__ import annotations

from types import ModuleType

from hocket.cli.common import message


def load_pyplot() -> ModuleType | None:
    """matplotlib.pyplot, drawing to files; None, and a note, where it is not installed."""
    try:
        import matplotlib
    except ImportError:
        message("no figure: matplotlib is not installed (pip install matplotlib)")
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot
