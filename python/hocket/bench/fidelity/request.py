# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket bench fidelity` asks for."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.bench.common import check_folder, chosen_mpis
from hocket.bench.fidelity.fidelity import QUICK, Setting, measure_all, num_launches, settings
from hocket.bench.fidelity.measure import FidelityOptions
from hocket.bench.fidelity.settings import (
    COLLECTIVES,
    PLACEMENTS,
    QUICK_SIZES,
    SIZES,
    Case,
    all_cases,
    bundled_networks,
)
from hocket.errors import Error, InvalidInput
from hocket.io.files import write_whole
from hocket.networks.source import NetworkSource
from hocket.reporter import SILENT, Reporter

if TYPE_CHECKING:
    from hocket import Network


@dataclass(frozen=True)
class FidelityRequest:
    """An empty tuple stands for all that there are, or for what is usual."""

    output: Path | None = None  #: the folder for the result; None = it is not written
    quick: bool = False  #: a sample
    networks: tuple[NetworkSource, ...] = ()
    mpis: tuple[str, ...] = ()  #: parts of their names
    placements: tuple[str, ...] = ()
    collectives: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()  #: of a rank's buffer, in bytes
    launches: int | None = None  #: that measure each case


@dataclass(frozen=True)
class FidelityResult:
    values: dict[str, Any]  #: the document of format hocket.fidelity/1


def run(request: FidelityRequest, reporter: Reporter = SILENT) -> FidelityResult:
    """Writes fidelity.json and index.html, and while it measures fidelity.partial.json with what is known by then."""
    for name in request.collectives:
        if name not in COLLECTIVES:
            raise InvalidInput(f"--collective: {name} is not measured; accepted: {', '.join(COLLECTIVES)}")
    options = QUICK if request.quick else FidelityOptions()
    if request.launches is not None:
        options = dataclasses.replace(options, launches=request.launches)
    networks = [source.load() for source in request.networks] or bundled_networks()
    mpis = chosen_mpis(request.mpis)
    _check_networks(networks)
    cases = _cases(request)
    chosen = settings(networks, mpis, request.quick, request.placements or PLACEMENTS)
    if not chosen:
        raise InvalidInput("--placement: on these networks of equal hosts around a switch all orders are one: in order")
    if request.output is not None:
        check_folder(request.output)
    document = _measured(chosen, cases, options, request.output, reporter)
    if not document["points"]:
        raise Error(
            f"nothing could be measured: all {len(document['failures'])} attempts failed, as reported above",
            "`hocket doctor` shows what works",
        )
    if request.output is not None:
        from hocket.report.fidelity_page import render

        write_whole(request.output / "index.html", render(document))
        _partial(request.output).replace(request.output / "fidelity.json")
    return FidelityResult(document)


def _measured(
    chosen: Sequence[Setting],
    cases: Sequence[Case] | None,
    options: FidelityOptions,
    output: Path | None,
    reporter: Reporter,
) -> dict[str, Any]:
    document: dict[str, Any] = {}
    number = 0
    try:
        with reporter.steps("fidelity", num_launches(chosen, options)) as advance:
            for number, result in enumerate(measure_all(chosen, cases, options, advance, reporter.message), start=1):
                document = result.to_json()
                if output is not None:
                    output.mkdir(parents=True, exist_ok=True)
                    write_whole(_partial(output), json.dumps(document, indent=1) + "\n")
                reporter.message(f"{number} of {len(chosen)} settings: {len(result.points)} points")
    except BaseException:  # such as Ctrl-C
        kept = f"; their points are in {_partial(output)}" if number and output is not None else ""
        reporter.message(f"{number} of {len(chosen)} settings were measured{kept}")
        raise
    return document


def _partial(output: Path) -> Path:
    """An earlier whole result is not replaced by a part of a new one."""
    return output / "fidelity.partial.json"


def _check_networks(networks: Sequence[Network]) -> None:
    names = [network.name for network in networks]
    if len(set(names)) < len(names):
        raise InvalidInput(
            f"--network: two networks are called {max(names, key=names.count)}", "rename one in its file"
        )
    for network in networks:
        if network.num_ranks < 2:
            raise InvalidInput(f"network {network.name} has one rank: nothing is sent", "give it more hosts or ranks")


def _cases(request: FidelityRequest) -> list[Case] | None:
    """None = a sample that differs from setting to setting."""
    if request.quick and not request.collectives and not request.sizes:
        return None
    if 0 in request.sizes:
        raise InvalidInput("--bytes: a collective of 0 bytes is not measured; accepted: 1 B and more")
    return all_cases(request.sizes or (QUICK_SIZES if request.quick else SIZES), request.collectives or COLLECTIVES)
