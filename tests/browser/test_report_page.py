# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The report in a real browser: nothing in the console, no request, every figure with all its data."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser_window import Browser
from report_sample import HOSTILE, write_sample

from hocket.report import write_report
from hocket.report.result import Result
from hocket.report.timeline import read_timeline

MAX_FILE_BYTES = 1_000_000


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    folder = tmp_path_factory.mktemp("result")
    result = write_sample(folder)
    return write_report(folder), result


@pytest.fixture(scope="module")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile result & more")
    write_sample(folder, hostile=True)
    return write_report(folder)


@pytest.mark.parametrize(("width", "dark"), [(400, False), (1280, True), (400, True), (1280, False)])
def test_nothing_is_logged_or_requested(
    browser: Browser, report: tuple[Path, Result], width: int, dark: bool, tmp_path: Path
) -> None:
    page, _ = report
    browser.open(page, width, dark)
    assert browser.console() == []
    assert browser.requests() == [page.as_uri()]
    assert page.stat().st_size < MAX_FILE_BYTES


def test_every_figure_shows_all_its_data(browser: Browser, report: tuple[Path, Result]) -> None:
    page, result = report
    browser.show(page)
    folder = page.parent
    assert browser.script("return document.querySelectorAll('[data-chart] .main-svg').length") > 0
    # one point per run
    points = "return document.querySelectorAll('[data-chart=program] .scatterlayer .point').length"
    assert (
        browser.script(points) == len(result.program.native_s) + len(result.program.tuned_s) + 1
    )  # and the prediction
    # two bars and one prediction per measured collective, and a line for its limit
    measured = [entry for entry in result.collectives if entry.native_s]
    bars = "return document.querySelectorAll('[data-chart=collectives] .barlayer .point').length"
    assert browser.script(bars) == 2 * len(measured)
    lines = "return document.querySelectorAll('[data-chart=collectives] .scatterlayer .js-line').length"
    assert browser.script(lines) == len(measured)
    # what was not measured and takes no time has a line instead of a row
    assert browser.script("return document.querySelectorAll('#collectives tbody tr').length") == len(measured)
    assert "barrier, world left native: no gain is predicted" in browser.script(
        "return document.querySelector('.reasons').textContent"
    )
    # one bar per operation
    with_timelines = [entry for entry in result.collectives if entry.timelines.tuned]
    assert len(with_timelines) == 2
    for entry in with_timelines:
        timelines = [
            read_timeline(folder / name) for name in (entry.timelines.native_model, entry.timelines.tuned) if name
        ]
        number = browser.script(
            "return [...document.querySelectorAll('details.collective')].find((d) => d.querySelector('h2').textContent"
            ".startsWith(arguments[0])).querySelector('[data-chart]').dataset.chart",
            entry.collective,
        )
        bars = f"return document.querySelectorAll('[data-chart={number}] .barlayer .point').length"
        assert browser.script(bars) == sum(len(timeline.bars) for timeline in timelines)


def test_where_the_time_goes(browser: Browser, report: tuple[Path, Result]) -> None:
    page, result = report
    browser.show(page)
    assert result.time is not None
    told = browser.script("return document.querySelector('#time').textContent")
    assert "Possible at best, by the recorded run: 3.09 times as fast with every collective at its wire limit" in told
    assert "Served by the plan: 20 of 32 collective calls, 98 % of their time" in told
    widths = browser.script(
        "return [...document.querySelectorAll('#time div.split i')].map((one) => one.getBoundingClientRect().width)"
    )
    assert widths[1] == widths[4] == 0
    assert widths[2] / sum(widths) == pytest.approx(5.1 / 7.3, abs=0.01)  # collectives without the waiting in them


def test_the_whole_program_predicted_beside_measured(browser: Browser, report: tuple[Path, Result]) -> None:
    browser.show(report[0])
    rows = browser.script(
        "return [...document.querySelectorAll('#whole tbody tr')].map((row) => [...row.children].map((cell) =>"
        " cell.textContent.trim()))"
    )
    assert [(row[0], row[1], row[3]) for row in rows] == [("native", "7 s", "0.966"), ("with the plan", "2 s", "1.042")]
    drawn = "return [...document.querySelectorAll(arguments[0] + ' [data-chart]')].map((one) => one.dataset.chart)"
    for name in ("native", "tuned"):
        assert browser.script(drawn, f"#program-{name}") == [f"{name}-timeline", f"{name}-drift"]
        for table, count in (("functions", 2), ("waits", 1), ("ranks", 8)):
            rows = browser.script("return document.querySelectorAll(arguments[0]).length", f"#{name}-{table} tbody tr")
            assert rows == count
    assert browser.console() == []


def test_drawing_has_every_node_and_both_directions_of_every_cable(
    browser: Browser, report: tuple[Path, Result]
) -> None:
    browser.show(report[0])
    first = "document.querySelector('svg.network')"
    assert browser.script(f"return {first}.querySelectorAll('.node').length") == 10
    assert browser.script(f"return {first}.querySelectorAll('.link').length") == 18
    titles = browser.script(f"return [...{first}.querySelectorAll('.link title')].map((t) => t.textContent)")
    assert "s0 → s1: 93 Mbit/s, latency 50 µs" in titles
    # The root a0 is the first voice of the chain and sends the message once; the pipelined chain crosses s0 -> s1 once.
    second = "document.querySelectorAll('details.collective')[0].querySelectorAll('svg.network')[1]"
    titles = browser.script(f"return [...{second}.querySelectorAll('.link title')].map((t) => t.textContent)")
    assert "s0 → s1: 93 Mbit/s, latency 50 µs; 1 MB" in titles
    assert "s1 → s0: 93 Mbit/s, latency 50 µs; 0 B" in titles


def test_time_axes_begin_at_zero(browser: Browser, report: tuple[Path, Result]) -> None:
    browser.show(report[0])
    starts = browser.script(
        "return [...document.querySelectorAll('[data-chart]')].flatMap((chart) => Object.entries(chart._fullLayout)"
        ".filter(([key, axis]) => /^xaxis/.test(key) && axis.range).map(([key, axis]) => axis.range[0]))"
    )
    assert len(starts) >= 8
    assert all(start == 0 for start in starts)


def test_the_table_of_collectives_needs_no_scrolling(browser: Browser, report: tuple[Path, Result]) -> None:
    browser.show(report[0])
    too_wide = (
        "const one = document.querySelector('#collectives').parentElement; return one.scrollWidth - one.clientWidth"
    )
    assert browser.script(too_wide) <= 0


@pytest.mark.parametrize("width", [1280, 400, 320])
def test_page_is_never_wider_than_the_window(browser: Browser, report: tuple[Path, Result], width: int) -> None:
    browser.show(report[0], width)
    assert browser.script("return document.documentElement.scrollWidth") <= width


def test_hostile_text_is_shown_as_it_is(browser: Browser, hostile_report: Path) -> None:
    browser.open(hostile_report)
    assert browser.console() == []
    assert browser.script("return document.querySelectorAll('img, b img').length") == 0
    assert HOSTILE in browser.script("return document.querySelector('#notes .note').textContent")
    assert HOSTILE in browser.script("return document.querySelector('h1').textContent")
    assert HOSTILE in browser.script("return document.querySelector('#collectives').textContent")
    # plotly shows the host names, cut or whole, but makes no markup of them
    labels = browser.script("return [...document.querySelectorAll('.ytick text')].map((t) => t.textContent)")
    assert any("<b>&amp;" in label and "onerror" in label for label in labels)


def test_scheme_changes_while_open(browser: Browser, report: tuple[Path, Result]) -> None:
    browser.open(report[0], dark=False)
    colour = "return getComputedStyle(document.querySelector('.xtick text')).fill"
    background = "return getComputedStyle(document.body).backgroundColor"
    light = browser.script(colour), browser.script(background)
    browser.set_dark(True)
    browser.script("return new Promise((done) => setTimeout(done, 300))")
    dark = browser.script(colour), browser.script(background)
    assert _brightness(light[0]) < 80 < 180 < _brightness(dark[0])
    assert _brightness(light[1]) > 180 > 80 > _brightness(dark[1])


def _brightness(colour: str) -> float:
    """Mean of "rgb(1, 2, 3)"."""
    values = [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    return sum(values) / 3
