# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The page of an overlap result in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser_window import Browser

from hocket.bench.overlap.modes import MODES
from hocket.report.overlap_page import render

HOSTILE = """<b>&amp;"'</script><img src=x onerror=alert(1)>%{x}{{ 7*7 }}"""
CHARTS = [f"{name}-{case}" for case in (0, 1) for name in ("speedup", "overlap", "cpu")]


def _row(mode: str, mpi: str, compute_model: str) -> dict:
    return {
        "mode": mode, "mpi": mpi, "network": HOSTILE, "ranks": 2, "collective": "alltoall", "bytes": 10**6,
        "in_flight": 1, "compute_model": compute_model, "time_s": 0.06, "time_quartiles_s": (0.05, 0.08),
        "speedup": 1.4, "speedup_quartiles": (1.3, 1.5), "speedup_limit": 2.0, "communication": "schedule, thread",
        "communication_s": 0.041, "native_s": 0.04, "compute_s": 0.04, "overlap": -0.1, "overlap_native": 0.4,
        "time_per_max": 1.5, "compute_inflation": 1.1, "cpu_s": 0.05, "compute_cpu_s": 0.04, "bimodal": True,
        "samples": 15,
    }  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("overlap") / "index.html"
    rows = [_row(mode, mpi, model) for model in ("free-core", "real") for mpi in ("A", HOSTILE) for mode in MODES]
    path.write_text(
        render(
            {
                "machine": "here",
                "compute_threads": 1,
                "modes": MODES,
                "rows": rows,
                "notes": [],
                "cables": ["200 Mbit/s"],
                "failures": [],
            }
        ),
        "utf-8",
    )
    return path


@pytest.mark.parametrize(("width", "dark"), [(400, False), (1280, True), (1280, False)])
def test_nothing_is_logged_or_requested(browser: Browser, page: Path, width: int, dark: bool) -> None:
    browser.open(page, width, dark)
    assert browser.console() == []
    assert browser.requests() == [page.as_uri()]
    drawn = browser.script("return [...document.querySelectorAll('[data-chart]')].map((chart) => chart.dataset.chart)")
    assert drawn == CHARTS
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.script(overflow) <= 0


def test_a_bar_for_each_mode_and_mpi(browser: Browser, page: Path) -> None:
    browser.show(page)
    for chart in CHARTS:
        bars = f"return document.querySelectorAll('[data-chart={chart}] .barlayer .point').length"
        assert browser.script(bars) == 2 * len(MODES)
    labels = browser.script(
        "return [...document.querySelectorAll('[data-chart=speedup-0] .ytick text')].map((t) => t.textContent)"
    )
    assert labels[::-1] == list(MODES)  # the first above
