# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The page of a schedule in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser_window import Browser

from hocket import Network
from hocket.report import schedule_page
from hocket.schedules.transfers import TimedTransfer
from hocket.search.optimal import optimal_schedule

HOSTILE = """<b>&amp;"'</script><img src=x onerror=alert(1)>%{x}{{ 7*7 }}"""


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (400, True)])
def test_arrows_bars_and_rows(browser: Browser, tmp_path: Path, width: int, dark: bool) -> None:
    network = Network.generate("two-clusters:4+4")
    found = optimal_schedule(network, "bcast", 10**6)
    page = tmp_path / "schedule.html"
    drawn = schedule_page.DrawnSchedule(
        HOSTILE, found.makespan_s, found.lower_bound_s, found.status, HOSTILE, found.transfers
    )
    page.write_text(schedule_page.render(drawn, network))
    browser.open(page, width, dark)
    assert browser.console() == []
    assert browser.script("return document.querySelectorAll('.network .arrow').length") == 7
    assert browser.script("return document.querySelectorAll('#transfers tbody tr').length") == 7
    assert browser.script("return document.querySelectorAll('[data-chart=gantt] .bars .point').length") == 14
    assert browser.script("return document.documentElement.scrollWidth <= window.innerWidth")


def test_sizes_of_transfers() -> None:
    def sizes(*numbers: int) -> str:
        moved = [TimedTransfer(0, 1, 0.0, 1.0, number) for number in numbers]
        return schedule_page.DrawnSchedule("", 1.0, 1.0, "optimal", "", moved).sizes

    assert sizes(3389, 3390, 3390) == "of 3.39 kB each"
    assert sizes(1000, 250) == "of 250 B to 1 kB"
