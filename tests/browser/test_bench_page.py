# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The page of results of `hocket bench run` in a real browser."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from browser_window import Browser

import bench_samples
from hocket.bench.mpi.page import page as render
from hocket.bench.mpi.summary import BenchResult

HOSTILE = """<b>&amp;"'</script><img src=x onerror=alert(1)>%{x}{{ 7*7 }}"""
FIGURES = [f"figure-{number}" for number in range(3, 9)]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of two results of both suites; what is text in them tries to be more."""
    results = []
    for i in range(2):
        for name in ("mbl2-rma", "mbl2-io"):
            found = copy.deepcopy(bench_samples.results(name))
            found.path = Path(f"{HOSTILE.replace('/', '-')}{name}-{i}/results.jsonl")
            found.runs[0] |= {"mpi": HOSTILE, "processor": HOSTILE, "host_names": [HOSTILE]}
            results.append(BenchResult(found))
    path = tmp_path_factory.mktemp("bench") / "index.html"
    path.write_text(render(results, 0.05), "utf-8")
    return path


@pytest.mark.parametrize(("width", "dark"), [(400, True), (1280, False)])
def test_nothing_is_logged_or_requested(browser: Browser, page: Path, width: int, dark: bool) -> None:
    browser.open(page, width, dark)
    assert browser.console() == []
    assert browser.requests() == [page.as_uri()]
    drawn = browser.script("return [...document.querySelectorAll('[data-chart]')].map((chart) => chart.dataset.chart)")
    assert drawn[:6] == FIGURES
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.script(overflow) <= 0
    assert browser.script("return document.querySelectorAll('img').length") == 0


def test_lines_points_and_intervals_of_the_figures(browser: Browser, page: Path) -> None:
    browser.show(page)
    # Lines of each figure: series of the paper, twice, as there are two results of each suite.
    lines = {"figure-3": 4, "figure-4": 4, "figure-5": 2, "figure-6": 3, "figure-7": 3, "figure-8": 2}
    for name, count in lines.items():
        inside = f"document.querySelector('[data-chart=\"{name}\"]')"
        assert browser.script(f"return {inside}.querySelectorAll('.scatterlayer .trace').length") == 2 * count, name
        # Three sizes with --quick; six chunks are enough for an interval.
        assert browser.script(f"return {inside}.querySelectorAll('.scatterlayer .point').length") == 6 * count, name
        assert browser.script(f"return {inside}.querySelectorAll('.errorbar path.yerror').length") == 6 * count, name


def test_tables_and_comparisons(browser: Browser, page: Path) -> None:
    browser.show(page)
    for number in range(1, 5):
        assert browser.script(f"return document.querySelectorAll('#table-{number} tbody tr').length") > 0
    assert browser.script("return document.querySelectorAll('.comparison').length") == 2  # of a suite each
    rows = browser.script("return document.querySelectorAll('tbody[data-fragment=points-0] tr').length")
    assert rows == len(bench_samples.results("mbl2-rma").points)
