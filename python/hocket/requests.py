# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Requests: what a command asks for, as a frozen value of plain data, from the command line, Python or JSON.

A module that has requests has a function `run(request, reporter)` beside them, which carries them out.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import types
import typing
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from hocket.errors import InvalidInput
from hocket.io.json_input import with_current_names
from hocket.reporter import SILENT, Reporter

#: The name of a request in JSON -> its module and class.
KINDS: dict[str, str] = {
    "simulate": "hocket.simulation.request:SimulateRequest",
    "simulate-jobs": "hocket.simulation.jobs:JobsRequest",
    "schedule": "hocket.schedules.request:ScheduleRequest",
    "schedule-search": "hocket.schedules.request:SearchRequest",
    "schedule-optimal": "hocket.schedules.request:OptimalRequest",
    "schedule-crossover": "hocket.schedules.request:CrossoverRequest",
    "schedule-circuits": "hocket.circuits.schedules:CircuitScheduleRequest",
    "schedule-circuit-reuse": "hocket.circuits.reuse:CircuitReuseRequest",
    "advise": "hocket.advise.request:AdviseRequest",
    "cost": "hocket.cost.request:CostRequest",
    "cost-circuits": "hocket.circuits.costs:CircuitCostRequest",
    "cost-circuit-maps": "hocket.circuits.maps:CircuitMapRequest",
    "record": "hocket.traces.recording:RecordRequest",
    "run": "hocket.tune.run:RunRequest",
    "tune": "hocket.tune.request:TuneRequest",
    "demo": "hocket.tune.demo:DemoRequest",
    "calibrate": "hocket.calibrate.request:CalibrateRequest",
    "site-install": "hocket.site.install:InstallRequest",
    "site-check": "hocket.site.check:CheckRequest",
    "site-tables": "hocket.site.tables:TablesRequest",
    "trace-show": "hocket.traces.profile:ProfileRequest",
    "testbed-up": "hocket.testbed.request:UpRequest",
    "testbed-run": "hocket.testbed.request:RunRequest",
    "testbed-down": "hocket.testbed.request:DownRequest",
    "testbed-list": "hocket.testbed.request:ListRequest",
    "network-show": "hocket.networks.request:ShowRequest",
    "network-route": "hocket.networks.request:RouteRequest",
    "network-generate": "hocket.networks.request:GenerateRequest",
    "network-import": "hocket.networks.request:ImportRequest",
    "bench-run": "hocket.bench.mpi.request:BenchRequest",
    "bench-show": "hocket.bench.mpi.request:ShowRequest",
    "bench-compare": "hocket.bench.mpi.request:CompareRequest",
    "bench-fidelity": "hocket.bench.fidelity.request:FidelityRequest",
    "bench-overlap": "hocket.bench.overlap.request:OverlapRequest",
    "bench-circuits": "hocket.bench.circuits.request:CircuitBenchRequest",
    "sweep": "hocket.sweep.request:SweepRequest",
}


def run(request: Any, reporter: Reporter = SILENT) -> Any:
    """Carries out any request. What has a form in JSON has it as `values`, as the command prints it with --json."""
    return import_module(type(request).__module__).run(request, reporter)


def key(request: Any) -> str:
    """The same for equal requests in every process, whatever the files hold that it names."""
    return hashlib.sha256(to_json(request).encode()).hexdigest()


def to_json(request: Any) -> str:
    """One line, which `from_json` makes an equal request of. Values that have their default are left out."""
    cls: Any = type(request)
    kind = _kind_of(cls)
    if kind is None:
        raise TypeError(f"{type(request).__name__} is not a request that has a form in JSON")
    return json.dumps({"request": kind, **_encoded(request)}, allow_nan=False)


def from_json(text: str) -> Any:
    """@raises InvalidInput if it is not a request, or a value of it is none that the request knows."""
    try:
        values = json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"a request: no JSON: {error}") from None
    if not isinstance(values, dict) or values.get("request") not in KINDS:
        raise InvalidInput("a request: its kind is missing", f'accepted for "request": {", ".join(KINDS)}')
    return _of_fields(class_of(values.pop("request")), values, "request")


def class_of(kind: str) -> Any:
    """The class of a kind of request, one of KINDS."""
    module, _, name = KINDS[kind].partition(":")
    return getattr(import_module(module), name)


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    """The types of the fields of a request, or of a part of it."""
    return typing.get_type_hints(kind)


@cache
def _kind_of(cls: Any) -> str | None:
    own = f"{cls.__module__}:{cls.__name__}"
    return next((kind for kind, where in KINDS.items() if where == own), None)


@cache
def _defaults(cls: Any) -> list[tuple[str, Any]]:
    return [(field.name, field.default) for field in dataclasses.fields(cls)]


def _encoded(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            name: _encoded(given)
            for name, default in _defaults(type(value))
            if (given := getattr(value, name)) is not default and given != default
        }
    if isinstance(value, tuple):
        return [_encoded(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, float):
        return value
    return {name: _encoded(one) for name, one in value.to_dict().items()}  # a CostModel


def _of_fields(kind: Any, values: dict[str, Any], where: str) -> Any:
    hints = hints_of(kind)
    values = with_current_names(values, hints)
    for name in values:
        if name not in hints:
            raise InvalidInput(f"{where}: unknown {name!r}", f"accepted: {', '.join(hints)}")
    missing = [
        field.name
        for field in dataclasses.fields(kind)
        if field.name not in values
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise InvalidInput(f"{where}: {missing[0]!r} is missing")
    return kind(**{name: decoded(hints[name], value, f"{where}.{name}") for name, value in values.items()})


def decoded(hint: Any, value: Any, where: str) -> Any:
    """`value` as the first of the types that `hint` accepts."""
    accepted = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    for one in accepted:
        if typing.get_origin(one) is tuple and isinstance(value, (list, tuple)):
            item = typing.get_args(one)[0]
            return tuple(decoded(item, of_list, where) for of_list in value)
        if dataclasses.is_dataclass(one) and isinstance(value, dict):
            return _of_fields(one, value, where)
        if one is types.NoneType and value is None:
            return None
        if one is float and (type(value) in (int, float) or value in ("inf", "-inf")):
            return float(value)
        if one is Path and isinstance(value, str):
            return Path(value)
        if one in (str, int, bool) and type(value) is one:
            if one is int and abs(value) >= 1 << 63:
                raise InvalidInput(f"{where}: {value}; accepted: whole numbers below 2^63")
            return value
        if hasattr(one, "to_dict") and isinstance(value, dict):  # a CostModel
            return _cost_model(one, value, where)
    names = [_accepted(one) for one in accepted if one is not types.NoneType]
    raise InvalidInput(f"{where}: {value!r}; accepted: {' or '.join(names)}")


def _accepted(kind: Any) -> str:
    names = {str: "text", int: "a whole number", float: "a number", bool: "true or false", Path: "a path"}
    return names.get(kind) or ("a list" if typing.get_origin(kind) is tuple else "a table")


def _cost_model(kind: Any, values: dict[str, Any], where: str) -> Any:
    try:
        return kind(**{name: math.inf if value == "inf" else value for name, value in values.items()})
    except TypeError:
        raise InvalidInput(f"{where}: costs with a value of another name or type") from None
