# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How long the analysis of a trace takes, how large its page is, and how fast Chromium draws it and zooms in."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/browser"))

from browser_window import Browser, find_chromium, launch

from hocket.cli.common import print_table
from hocket.networks.source import NetworkSource
from hocket.report.analysis_page import render
from hocket.traces.analysis_request import AnalysisRequest, run
from hocket.traces.trace import Trace
from hocket.traces.traced_rank import OwnCommunicator, TracedRank, new_calls

STEP_NS, SEED = 10_000, 1


def halo(folder: Path, ranks: int, calls: int) -> None:
    """A ring: each rank computes for a random time, sends to the next one, receives, and now and then all reduce."""
    random = np.random.default_rng(SEED)
    functions = ["MPI_Init", "MPI_Send", "MPI_Recv", "MPI_Allreduce", "MPI_Finalize"]
    steps = calls // ranks // 2
    made = []
    for rank in range(ranks):
        rows = new_calls(2 * steps + 2)
        kinds = np.tile([1, 2], steps)
        kinds[np.arange(2 * steps) // 2 % 50 == 49] = 3
        rows["function"][1:-1], rows["function"][-1] = kinds, 4
        starts = np.arange(2 * steps) * STEP_NS + random.integers(1, STEP_NS // 3, 2 * steps)
        rows["enter_ns"][1:-1], rows["exit_ns"][1:-1] = starts, starts + random.integers(100, STEP_NS // 2, 2 * steps)
        rows["enter_ns"][-1] = rows["exit_ns"][-1] = 2 * steps * STEP_NS
        rows["enter_ns"][0], rows["exit_ns"][0] = -1000, 0
        rows["communicator"], rows["bytes"], rows["tag"] = 0, 1000, 0
        rows["peer"][1:-1] = np.where(kinds == 1, (rank + 1) % ranks, (rank - 1) % ranks)
        made.append(TracedRank(rows, functions, [OwnCommunicator(range(ranks))]))
    Trace.create(folder, made)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000, help="of all ranks together; default: %(default)s")
    parser.add_argument("--ranks", type=int, default=64, help="default: %(default)s")
    options = parser.parse_args()
    chromium = find_chromium()
    if chromium is None:
        parser.error("needs chromium and chromedriver (Debian: apt-get install chromium chromium-driver)")
    rows: list[tuple[str, str]] = []

    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        halo(folder / "trace", options.ranks, options.calls)
        begin_s = time.perf_counter()
        network = NetworkSource(f"star:{options.ranks}", "10 Gbit/s", "1 us")
        found = run(AnalysisRequest(folder / "trace", network))
        rows.append(("analysed, with the simulation", f"{time.perf_counter() - begin_s:.2f} s"))
        begin_s = time.perf_counter()
        page = folder / "page.html"
        page.write_text(render(found.drawn()))
        rows.append(("page written", f"{time.perf_counter() - begin_s:.2f} s"))
        rows.append(("size of the page", f"{page.stat().st_size / 1e6:.2f} MB"))
        driver = launch(*chromium, folder / "profile")
        browser = Browser(driver)
        try:
            begin_s = time.perf_counter()
            browser.open(page)
            rows.append(("opened, all charts drawn", f"{time.perf_counter() - begin_s:.2f} s"))
            for share in (0.1, 0.001):
                taken_ms = browser.script_until_done(
                    "const [share, done] = arguments, chart = document.querySelector('[data-chart=timeline]');"
                    "const end = chart._fullLayout.xaxis.range[1], begin = performance.now();"
                    "Plotly.relayout(chart, {'xaxis.range': [end / 2, end * (0.5 + share)]})"
                    ".then(() => requestAnimationFrame(() => done(performance.now() - begin)));",
                    share,
                )
                rows.append((f"zoom to {share:.1%} of the time", f"{taken_ms:.0f} ms"))
        finally:
            driver.quit()
    calls = sum(one.calls for one in found.recorded.functions)
    print_table(["", f"{calls:,} calls of {options.ranks} ranks"], rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
