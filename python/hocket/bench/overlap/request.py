# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket bench overlap` asks for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket.bench.common import check_folder, chosen_mpis
from hocket.bench.overlap.measure import Case, OverlapOptions
from hocket.bench.overlap.modes import COMPUTE_MODELS, check_choices
from hocket.bench.overlap.overlap import measure_all, num_launches
from hocket.errors import InvalidInput
from hocket.io.files import write_whole
from hocket.networks.source import NetworkSource
from hocket.reporter import SILENT, Reporter


@dataclass(frozen=True)
class OverlapRequest:
    output: Path | None = None  #: the folder for the result; None = it is not written
    network: NetworkSource | None = None  #: to emulate; None = this machine as it is
    mpis: tuple[str, ...] = ()  #: parts of their names; none = all
    ranks: int | None = None  #: without a network; None = 2
    collective: str = "alltoall"
    sizes: tuple[int, ...] = (1_000_000,)  #: of a block, as MPI counts, in bytes
    in_flight: tuple[int, ...] = (1,)  #: collectives at once
    compute: str = "both"  #: "real", "free-core" or "both"
    ratio: float = 1.0  #: computation / the MPI's own communication
    modes: tuple[str, ...] = ()  #: none = all
    algorithm: str | None = None  #: None = one as LibNBC has it
    segments: int = 1
    core: str = "any"
    launches: int = 3
    repetitions: int = 5  #: of each mode in a launch
    timeout_s: float = 300.0  #: of a launch
    force: bool = False  #: replace an earlier result


@dataclass(frozen=True)
class OverlapResult:
    values: dict[str, Any]  #: the document of format hocket.overlap/1; its rows may be none
    attempts: int  #: `values["failures"]` has those that failed


def run(request: OverlapRequest, reporter: Reporter = SILENT) -> OverlapResult:
    check_choices(request.collective, request.algorithm, request.modes, request.core)
    output = request.output
    if output is not None and not request.force and (output / "overlap.json").exists():
        raise InvalidInput(f"{output}: holds an earlier result", "--force replaces it; -o names another folder")
    network = None if request.network is None else request.network.load()
    if network is not None and request.ranks is not None:
        raise InvalidInput(f"--ranks: network {network.name} says how many there are: {network.num_ranks}")
    if network is not None and network.num_ranks < 2:
        raise InvalidInput(f"network {network.name} has one rank: nothing is sent", "give it more hosts or ranks")
    mpis = chosen_mpis(request.mpis)
    if min(request.sizes) < 1:
        raise InvalidInput("--bytes: 0 bytes are nothing to hide", "give 1 B or more")
    options = OverlapOptions(
        network.num_ranks if network is not None else request.ranks or 2,
        request.modes,
        request.algorithm,
        request.segments,
        request.core,
        request.ratio,
        request.launches,
        request.repetitions,
        timeout_s=request.timeout_s,
    )
    cases = _cases(request)
    if output is not None:
        check_folder(output)
    with reporter.steps("overlap", num_launches(cases, mpis, options)) as advance:
        document = measure_all(cases, mpis, network, options, advance, reporter.message)
    if document["rows"] and output is not None:
        from hocket.report.overlap_page import render

        output.mkdir(parents=True, exist_ok=True)
        write_whole(output / "index.html", render(document))
        write_whole(output / "overlap.json", json.dumps(document, indent=1) + "\n")
    return OverlapResult(document, len(mpis) * len(cases))


def _cases(request: OverlapRequest) -> list[Case]:
    models = COMPUTE_MODELS if request.compute == "both" else (request.compute,)
    return [
        Case(request.collective, size, count, model)
        for size in dict.fromkeys(request.sizes)
        for count in dict.fromkeys(request.in_flight)
        for model in models
    ]
