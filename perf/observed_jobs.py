# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""2,196 jobs of a supercomputer: how uneven their allocations are, and what schedules for the network would gain.

perf/observed_jobs.py shapes                how hosts lie on leaf switches and cells
perf/observed_jobs.py gain --most-hosts 64  campaigns of the most frequent shapes: the algorithm that an MPI is
                                            assumed to choose, beside the best that hocket finds, by simulation

Assumed: hosts with 25 GB/s; a leaf switch and a cell lead up with the bandwidth of the job's hosts below them, divided
by a taper of 1, 2 or 4, which stands for the job's share beside others; 1 us a cable; one rank a host, ranks in the
order of the hosts' names, that is, switch by switch.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import tempfile
from pathlib import Path
from typing import Any

SHAPES = Path(__file__).resolve().parent.parent / "tests/measured/observed_shapes.csv"
HOST_BYTES_PER_S = 25e9
TAPERS = (1, 2, 4)
COLLECTIVES = ("bcast", "allreduce", "allgather")
SIZES = (1024, 65536, 1048576, 16777216)


def shapes() -> list[tuple[int, int, list[list[int]]]]:
    """Jobs, hosts, and the hosts of each leaf switch of each cell."""
    with SHAPES.open() as file:
        return [
            (int(row["jobs"]), int(row["hosts"]), [list(map(int, cell.split("+"))) for cell in row["shape"].split("/")])
            for row in csv.DictReader(file)
        ]


def show_shapes() -> None:
    found = shapes()
    total = sum(jobs for jobs, _, _ in found)
    print(f"{total} jobs, {len(found)} shapes")
    print("| hosts | jobs | leaf switches (median) | more than one cell | hosts alone on a switch | uneven switches |")
    print("|---|---|---|---|---|---|")
    bounds = [(4, 4), (5, 8), (9, 16), (17, 64), (65, 256), (257, 10_000)]
    for least, most in bounds:
        chosen = [(jobs, hosts, cells) for jobs, hosts, cells in found if least <= hosts <= most]
        jobs = sum(one for one, _, _ in chosen)
        if not jobs:
            continue
        leaves = statistics.median([sum(map(len, cells)) for n, _, cells in chosen for _ in range(n)])
        apart = sum(n for n, _, cells in chosen if len(cells) > 1) / jobs
        hosts = sum(n * h for n, h, _ in chosen)
        alone = sum(n * sum(leaf == 1 for cell in cells for leaf in cell) for n, _, cells in chosen) / hosts
        uneven = sum(n for n, _, cells in chosen if len({leaf for cell in cells for leaf in cell}) > 1) / jobs
        print(f"| {least} to {most} | {jobs} | {leaves:g} | {apart:.0%} | {alone:.0%} | {uneven:.0%} |")


def network_text(name: str, cells: list[list[int]], taper: int) -> str:
    from hocket import Blueprint, Network

    nodes, cables = [], []

    def node(label: str, kind: str) -> int:
        nodes.append(Blueprint.Node(label, kind))
        return len(nodes) - 1

    def join(low: int, high: int, hosts: float) -> None:
        cables.append(Blueprint.Cable(low, high, hosts * HOST_BYTES_PER_S, latency_s=1e-6))

    core = node("core", "switch") if len(cells) > 1 else None
    for c, cell in enumerate(cells):
        top = node(f"cell{c}", "switch") if len(cell) > 1 or core is not None else None
        if core is not None and top is not None:
            join(top, core, sum(cell) / taper)
        for k, hosts in enumerate(cell):
            leaf = node(f"leaf{c}.{k}", "switch")
            if top is not None:
                join(leaf, top, hosts / taper)
            for h in range(hosts):
                join(node(f"h{c}.{k}.{h}", "host"), leaf, 1)
    return Network.build(Blueprint(name, nodes, cables)).to_toml()


def gain(most_hosts: int, number: int) -> None:
    from hocket._core import textbook_algorithm
    from hocket.sweep import SweepRequest, frame, run

    found = sorted((one for one in shapes() if 2 <= one[1] <= most_hosts), key=lambda one: -one[0])
    chosen = found[:number]
    covered = sum(one[0] for one in chosen)
    print(f"{len(chosen)} shapes of {covered} jobs of up to {most_hosts} hosts")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases: dict[str, list[str]] = {"simulate": [], "schedule-search": []}
        jobs_of: dict[str, int] = {}
        for at, (jobs, hosts, cells) in enumerate(chosen):
            for taper in TAPERS:
                file = f"shape{at}-{taper}.toml"
                (folder / file).write_text(network_text(f"shape{at}", cells, taper))
                jobs_of[file] = jobs
                for collective in COLLECTIVES:
                    for size in SIZES:
                        block = size // hosts if collective == "allgather" else size
                        where = f'[[cases]]\nnetwork = "{file}"\nbytes = {max(1, block)}\n'
                        native = textbook_algorithm(collective, hosts, block)
                        cases["simulate"].append(f'{where}what = "{collective}:{native}"\n')
                        cases["schedule-search"].append(f'{where}collective = "{collective}"\n')
        rows: dict[str, Any] = {}
        for kind, lines in cases.items():
            path = folder / f"{kind}.toml"
            path.write_text(f'format = "hocket.campaign/1"\nrequest = "{kind}"\n' + "".join(lines))
            swept = run(SweepRequest(path, folder / kind))
            print(f"{kind}: {swept.ran} tasks in {swept.seconds:.0f} s, {len(swept.failed)} failed")
            rows[kind] = frame(folder / kind).set_index("task")
        found_s = rows["schedule-search"][["makespan_s"]].rename(columns={"makespan_s": "makespan_s_found"})
        both = rows["simulate"].join(found_s, how="inner")
        both["gain"] = both["makespan_s"] / both["makespan_s_found"]
        both["collective"] = both["what"].str.partition(":")[0]
        both["taper"] = both["network"].str.extract(r"-(\d+)\.toml")[0].astype(int)
        both["jobs"] = both["network"].map(jobs_of)
        print("| collective | taper | gain: mean over jobs and sizes | 90th percentile | share of cases above 1.05 |")
        print("|---|---|---|---|---|")
        for (collective, taper), group in both.groupby(["collective", "taper"]):
            gains = [g for g, jobs in zip(group["gain"], group["jobs"], strict=True) for _ in range(jobs)]
            above = sum(g > 1.05 for g in gains) / len(gains)
            print(
                f"| {collective} | {taper} | {statistics.mean(gains):.2f} | {quantile(gains, 0.9):.2f} | {above:.0%} |"
            )


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["shapes", "gain"])
    parser.add_argument("--most-hosts", type=int, default=64)
    parser.add_argument("--shapes", type=int, default=40)
    given = parser.parse_args()
    if given.what == "shapes":
        show_shapes()
    else:
        gain(given.most_hosts, given.shapes)


if __name__ == "__main__":
    main()
