# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The request that the options of `hocket simulate` make."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.cli.options import cost_source
from hocket.networks.source import NetworkSource
from hocket.simulation.patterns import PARAMETERS

if TYPE_CHECKING:
    from hocket.simulation.jobs import JobsRequest
    from hocket.simulation.request import SimulateRequest


def request_of(
    what: str,
    kind: str,
    *,
    network_text: str,
    bandwidth: str | None,
    latency: str | None,
    routing: str | None,
    seed: int | None,
    bytes_text: str | None,
    bytes_spread: float | None,
    plan_path: Path | None,
    costs_folder: Path | None,
    send_overhead: str | None,
    receive_overhead: str | None,
    rendezvous: str | None,
    sharing: str,
    links: bool | None,
    as_json: bool,
    record: bool,
    cpu_scale: tuple[str, ...],
    delay: tuple[str, ...],
    noise: str | None,
    noise_seed: int,
    **others: Any,  # named as the request names them
) -> SimulateRequest:
    from hocket import parse_bytes
    from hocket.simulation.request import SimulateRequest
    from hocket.simulation.what_if import what_if_from

    is_pattern = kind in PARAMETERS
    of_network = seed if not is_pattern or routing == "ecmp" else None
    return SimulateRequest(
        what,
        NetworkSource(network_text, bandwidth, latency, routing, of_network),
        cost_source(costs_folder, send_overhead, receive_overhead, rendezvous, sharing),
        bytes=None if bytes_text is None else parse_bytes(bytes_text, "--bytes"),
        spread=bytes_spread,
        seed=seed if is_pattern else None,
        plan=plan_path,
        links=is_pattern and ((not as_json or record) if links is None else links),
        record=record,
        what_if=what_if_from(cpu_scale, delay, noise, noise_seed),
        **others,
    )


def jobs_request_of(what: Sequence[str], given: dict[str, Any]) -> JobsRequest:
    """Of WHAT@RANKS, several of them."""
    from hocket import parse_bytes
    from hocket.simulation.jobs import JobsRequest, job_from

    return JobsRequest(
        tuple(map(job_from, what)),
        NetworkSource(*(given[name] for name in ("network_text", "bandwidth", "latency", "routing", "seed"))),
        cost_source(
            *(given[name] for name in ("costs_folder", "send_overhead", "receive_overhead", "rendezvous", "sharing"))
        ),
        bytes=None if given["bytes_text"] is None else parse_bytes(given["bytes_text"], "--bytes"),
        threads=given["threads"],
    )
