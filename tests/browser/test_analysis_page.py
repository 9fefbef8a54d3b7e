# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The page of a traced program in a real browser: what is drawn comes from levels of detail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from browser_window import Browser

from hocket import CostModel
from hocket.cost.source import CostSource
from hocket.networks.source import NetworkSource
from hocket.report.analysis_page import render
from hocket.traces.analysis_request import AnalysisRequest, run
from hocket.traces.trace import Trace
from hocket.traces.traced_rank import OwnCommunicator, TracedRank, new_calls

HOSTILE = """<b>&amp;"'</script><img src=x onerror=alert(1)>%{x}{{ 7*7 }}"""
CALLS = 4000  # of each rank: more than the coarsest level has columns
PERIOD_NS, BARRIER_NS = 1000, 400


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three ranks: a barrier at the end of each microsecond."""
    folder = tmp_path_factory.mktemp("analysis")
    rows = new_calls(CALLS + 2)
    rows["function"][1:-1] = 1
    rows["function"][-1] = 2
    rows["communicator"] = 0
    rows["exit_ns"] = np.arange(CALLS + 2) * PERIOD_NS
    rows["enter_ns"] = rows["exit_ns"] - BARRIER_NS
    rank = TracedRank(rows, ["MPI_Init", "MPI_Barrier", "MPI_Finalize"], [OwnCommunicator(range(3))])
    Trace.create(folder / "trace", [rank] * 3, program=[HOSTILE])
    free = CostSource(base=CostModel())  # else the simulated run is far longer, and so is the axis of both
    found = run(AnalysisRequest(folder / "trace", NetworkSource("star:3", "10 Gbit/s", "1 ns"), free))
    path = folder / "page.html"
    path.write_text(render(found.drawn()))
    return path


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (400, False)])
def test_nothing_is_logged_or_requested(browser: Browser, page: Path, width: int, dark: bool) -> None:
    browser.open(page, width, dark)
    assert browser.console() == []
    assert browser.requests() == [page.as_uri()]
    drawn = browser.script("return [...document.querySelectorAll('[data-chart]')].map((chart) => chart.dataset.chart)")
    assert drawn == ["timeline", "drift"]
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.script(overflow) <= 0
    assert HOSTILE in browser.script("return document.querySelector('h1').textContent")


def _cells(browser: Browser) -> dict:
    return browser.script(
        "const {x0, dx, z, customdata} = document.querySelector('[data-chart=timeline]').data[0];"
        "return {x0, dx, z, text: customdata[0][0]};"
    )


def test_a_closer_look_shows_finer_cells(browser: Browser, page: Path) -> None:
    browser.open(page)
    whole = _cells(browser)
    assert np.array(whole["z"]).shape == (3, 1024)
    zoom = (
        "const chart = document.querySelector('[data-chart=timeline]'), done = arguments[arguments.length - 1];"
        "Plotly.relayout(chart, {'xaxis.range': arguments[0]}).then(() => setTimeout(() => done(true), 200));"
    )
    browser.script_until_done(zoom, [2.0, 2.1])  # milliseconds
    near = _cells(browser)
    assert near["dx"] < whole["dx"] / 7
    assert len(near["z"][0]) <= 2048
    # A hundred periods of a barrier and a computation: both are seen, where the whole has only what is most.
    assert set(np.unique(whole["z"][0])) <= {0, 1}
    assert np.count_nonzero(np.diff(near["z"][0])) > 100
    share = near["text"].split(": ")[1]
    assert share.endswith("% of the time")
    browser.script_until_done(zoom, [0, CALLS * PERIOD_NS * 1e-6])
    assert np.array(_cells(browser)["z"]).shape[1] == 1024
