# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The page of a simulation in a real browser: of 18 links, of 49,152, of a program, of one that was stopped."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from browser_window import Browser

from hocket import CostModel, Fabric, Network
from hocket.report.simulation import write_simulation
from hocket.simulation.circuits import circuit_use
from hocket.simulation.patterns import Pattern
from hocket.simulation.programs import ProgramOptions, Request, simulate_what
from hocket.simulation.record import recorded_program, recorded_traffic
from hocket.simulation.traffic import RunOptions, simulate_pattern
from mpis import LONG

HOSTILE = """<b>&amp;"'</script><img src=x onerror=alert(1)>%{x}{{ 7*7 }}"""
CHARTS = ["heat", "utilisation", "finish", "load", "gantt"]
OPTICAL = (
    Network.generate("star:8").to_toml() + '[circuits]\nsetup = "2 ms"\nteardown = "1 ms"\nports = 2\n'
    'accounting = "hidden"\n'
)
MAX_FILE_BYTES = 5_000_000
NAMES = ("small", "large", "program", "stopped", "circuits")
WINDOWS = ((400, False), (1280, True), (1280, False))
PAGES = [(name, *window) for name in NAMES for window in WINDOWS if LONG or name == "circuits" or window == WINDOWS[-1]]


def _pattern_page(folder: Path, network: str, pattern: Pattern, stop: bool = False) -> Path:
    done = simulate_pattern(
        pattern, lambda: Fabric.generate(network), RunOptions(record=True), (lambda *_: False) if stop else None
    )
    write_simulation(recorded_traffic(done, done.to_dict()), folder)
    return folder / "report.html"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("simulations")
    network = Network.from_text(Network.generate("two-clusters:4+4").to_toml().replace('"s0"', json.dumps(HOSTILE)))
    (program,), _ = simulate_what(
        "bcast:pipelined_chain",
        network,
        Request(10**6, segments=16),
        CostModel.usual(),
        None,
        ProgramOptions(record=True),
    )
    values = {"setup_s": 0.1, "solve_s": 0.2, "peak_rss_bytes": 10**7, "results": [program.to_dict(network)]}
    write_simulation(recorded_program(program, network, values), folder / "program")
    optical = Network.from_text(OPTICAL.replace('"h0"', json.dumps(HOSTILE)))
    (circuits,), _ = simulate_what(
        "allgather:ring", optical, Request(10**5), CostModel.usual(), None,
        ProgramOptions(record=True, circuits=circuit_use(optical, "naive", None)),
    )  # fmt: skip
    values |= {"results": [circuits.to_dict(optical)]}
    write_simulation(recorded_program(circuits, optical, values), folder / "circuits")
    ring = Pattern("random-ring", messages=3, spread=0.5)
    return {
        "small": _pattern_page(folder / "small", "two-clusters:4+4", Pattern("shift", messages=3, spread=0.5)),
        "large": _pattern_page(folder / "large", "fat-tree:16x16x32", Pattern("random-permutation", messages=3)),
        "stopped": _pattern_page(folder / "stopped", "fat-tree:16x16x32", ring, stop=True),
        "program": folder / "program" / "report.html",
        "circuits": folder / "circuits" / "report.html",
    }


@pytest.mark.parametrize(("name", "width", "dark"), PAGES)
def test_nothing_is_logged_or_requested(
    browser: Browser, pages: dict[str, Path], name: str, width: int, dark: bool
) -> None:
    browser.open(pages[name], width, dark)
    assert browser.console() == []
    assert browser.requests() == [pages[name].as_uri()]
    assert pages[name].stat().st_size < MAX_FILE_BYTES
    drawn = browser.script("return [...document.querySelectorAll('[data-chart]')].map((chart) => chart.dataset.chart)")
    assert drawn == (["ports", "occupancy", *CHARTS] if name == "circuits" else CHARTS)
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.script(overflow) <= 0


def test_ports_are_drawn_with_set_up_transfer_teardown_and_waiting(browser: Browser, pages: dict[str, Path]) -> None:
    browser.show(pages["circuits"])
    kinds = "return document.querySelector('[data-chart=ports]').data.map((trace) => [trace.name, trace.x.length])"
    bars = dict(browser.script(kinds))
    # 56 messages, each with a circuit, on two ports; with both directions of a port at once one bar.
    assert (bars["set up"], bars["tear down"]) == (112, 112)
    assert set(bars) == {"set up", "up, without a message", "transfer", "tear down", "messages wait"}
    points = "return document.querySelectorAll('[data-chart=ports] .barlayer .point').length"
    assert browser.script(points) == sum(bars.values())
    # `naive` takes one port of each host, which counts once where a teardown runs beside a set-up.
    sums = browser.script(
        "const areas = document.querySelector('[data-chart=occupancy]').data.filter((trace) => trace.stackgroup);"
        "return areas[0].y.map((_, i) => areas.reduce((sum, area) => sum + area.y[i], 0));"
    )
    assert max(sums) == pytest.approx(8, rel=1e-3)


def _heat(browser: Browser) -> dict:
    return browser.script(
        "const {x, y, z, customdata} = document.querySelector('[data-chart=heat]').data[0];"
        "return {z, names: customdata.map((row) => row[0])};"
    )


def test_each_link_of_a_small_network_has_a_row(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["small"])
    heat = _heat(browser)
    assert len(heat["names"]) == 18
    assert {"a0 → s0", "s0 → s1", "s1 → s0", "s1 → b3"} <= set(heat["names"])
    assert all(0 <= value <= 100 for row in heat["z"] for value in row)
    labels = browser.script(
        "return [...document.querySelectorAll('[data-chart=heat] .ytick text')].map((t) => t.textContent)"
    )
    assert set(labels) == set(heat["names"])
    # every message of every rank
    bars = "return document.querySelectorAll('[data-chart=gantt] .barlayer .point').length"
    assert browser.script(bars) == 8 * 3


def test_links_of_a_large_network_are_shown_by_level_and_load(browser: Browser, pages: dict[str, Path]) -> None:
    browser.show(pages["large"])
    heat = _heat(browser)
    assert 24 <= len(heat["z"]) <= 96
    assert heat["names"][0].startswith("hosts → level 1: links 1 to ")
    labels = browser.script(
        "return [...document.querySelectorAll('[data-chart=heat] .ytick text')].map((t) => t.textContent)"
    )
    assert labels == ["hosts → level 1", "level 1 → level 2", "level 2 → level 3", "level 1 → hosts",
                            "level 2 → level 1", "level 3 → level 2"]  # fmt: skip
    sums = [sum(row) for row in heat["z"][:16]]
    assert all(later <= earlier + 5 for earlier, later in itertools.pairwise(sums))  # but for rounding
    counts = browser.script("return document.querySelector('[data-chart=finish]').data[0].y.reduce((a, b) => a + b)")
    assert counts == 16 * 16 * 32
    assert browser.script("return document.querySelectorAll('#bottlenecks tbody tr').length") == 24


def test_time_axes_have_units_and_begin_at_zero(browser: Browser, pages: dict[str, Path]) -> None:
    browser.show(pages["large"])
    for chart in ("heat", "utilisation", "gantt"):
        axis = browser.script(
            "const axis = document.querySelector(`[data-chart=${arguments[0]}]`)._fullLayout.xaxis;"
            "return [axis.range[0], axis.title.text, axis.ticksuffix];",
            chart,
        )
        assert axis == [0, "simulated time", " ms"]
    titles = browser.script(
        "return ['utilisation', 'finish', 'load'].map((name) => "
        "document.querySelector(`[data-chart=${name}]`)._fullLayout.yaxis.title.text)"
    )
    assert titles == ["mean of the links", "ranks", "in use until the end"]


def test_hostile_names_are_shown_as_they_are(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["program"])
    assert browser.console() == []
    assert browser.script("return document.querySelectorAll('img, b img').length") == 0
    assert HOSTILE in browser.script("return document.querySelector('#bottlenecks').textContent")


def test_a_stopped_simulation_says_so(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["stopped"])
    assert "was stopped" in browser.script("return document.querySelector('.note').textContent")
