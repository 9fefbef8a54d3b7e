# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Fast schedules of collectives on circuit-switched networks, one instance or many."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hocket.errors import InvalidInput
from hocket.io.json_input import refuse_duplicates, with_current_names
from hocket.reporter import SILENT, Reporter

TIME_LIMIT_S = 3.0  # of an instance

COLLECTIVES = ("bcast", "reduce", "allgather", "allreduce", "alltoall", "alltoallv")
_NUMBERS = ("bytes", "s", "d", "alpha", "beta")
_CHOICES = {
    "injection": ("one", "all"),
    "stop": ("all", "circuit"),
    "accounting": ("equations", "hidden"),
    "controller": ("parallel", "serial"),
}


@dataclass(frozen=True)
class CircuitInstance:
    """What is asked for. The names are those of a line of `hocket schedule --circuits --instances`."""

    collective: str
    p: int  #: nodes, one rank on each
    k: int  #: ports of a node
    bytes: (
        float  #: the message of bcast, reduce, allreduce; the block of a rank of allgather, for one peer of alltoall;
    )
    #: 0 of alltoallv
    s: float  #: set-up, in seconds
    d: float  #: teardown
    alpha: float  #: a message of n bytes takes alpha + n beta
    beta: float
    injection: str = "one"  #: a node sends one message at a time, or on "all" ports at once
    stop: str = "all"  #: circuits are torn down together, or each "circuit" by itself
    accounting: str = "equations"  #: s + d between circuits, or "hidden": max(s, d)
    controller: str = "parallel"  #: set-ups and teardowns at once, or "serial": one at a time
    segments: int | str = 1  #: equal segments of bcast and reduce; "auto": as is fastest
    root: int = 0
    matrix: tuple[tuple[int, ...], ...] | None = None  #: of alltoallv, the bytes that node i (row) sends to j (column)

    def __post_init__(self) -> None:
        """Raises InvalidInput for a value that is wrong."""
        if self.collective not in COLLECTIVES:
            raise InvalidInput(f"collective is {self.collective!r}: expected {', '.join(COLLECTIVES)}")
        for key in _NUMBERS:
            number = getattr(self, key)
            if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 <= number < math.inf:
                raise InvalidInput(f"{key} is {number!r}: expected a number, at least 0")
            object.__setattr__(self, key, float(number))  # equal instances have equal text
        for key, least in (("p", 1), ("k", 1), ("root", 0)):
            whole = getattr(self, key)
            if isinstance(whole, bool) or not isinstance(whole, int) or not least <= whole < 2**31:
                raise InvalidInput(f"{key} is {whole!r}: expected a whole number from {least} to {2**31 - 1}")
        for key, names in _CHOICES.items():
            if getattr(self, key) not in names:
                raise InvalidInput(f"{key} is {getattr(self, key)!r}: expected {' or '.join(names)}")
        segments = self.segments
        if segments != "auto" and not (type(segments) is int and 1 <= segments < 2**31):
            raise InvalidInput(f"segments is {segments!r}: expected a whole number, at least 1, or auto")
        if self.root >= self.p:
            raise InvalidInput(f"root is {self.root}: expected 0 to {self.p - 1}")
        if self.collective == "alltoallv":
            object.__setattr__(self, "matrix", _matrix(self.matrix, self.p))
            if self.bytes != 0 or self.segments != 1 or self.controller == "serial":
                raise InvalidInput(
                    "alltoallv has a matrix, and neither bytes nor segments nor a serial controller", "leave them out"
                )
        elif self.matrix is not None:
            raise InvalidInput(f"matrix: {self.collective} has none", "it goes with alltoallv")
        if self.root != 0 and self.collective not in ("bcast", "reduce"):
            raise InvalidInput(f"root is {self.root}: {self.collective} has none", "leave it out")

    @staticmethod
    def of(values: Mapping[str, Any]) -> CircuitInstance:
        """Raises InvalidInput for a key that is unknown, or a value that is missing or wrong; `id` is the caller's."""
        known = CircuitInstance.__dataclass_fields__
        values = with_current_names(dict(values), known)
        for key in values:
            if key not in known and key != "id":
                raise InvalidInput(f"unknown key {key!r}; accepted: id, {', '.join(known)}")
        if values.get("collective") == "alltoallv":
            values = {"bytes": 0, **values}
        needed = ("collective", "p", "k", *_NUMBERS)
        missing = [key for key in needed if key not in values]
        if missing:
            raise InvalidInput(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
        given = [key for key in known if key in needed or values.get(key) is not None]
        return CircuitInstance(**{key: values[key] for key in given})

    def model(self) -> str:
        """In words, for the reader of an answer."""
        at_once = "one message at a time" if self.injection == "one" else "on all ports at once"
        stop = "together" if self.stop == "all" else "each by itself"
        between = "s + d" if self.accounting == "equations" or self.controller == "serial" else "max(s, d)"
        direct = "; each block goes directly from its source to its target" if self.collective == "alltoallv" else ""
        controller = ", one set-up or teardown at a time" if self.controller == "serial" else ""
        return (
            f"{self.p} nodes with {self.k} {'port' if self.k == 1 else 'ports'}; "
            f"a message of n bytes takes {self.alpha:g} + n {self.beta:g} s, is "
            f"stored and forwarded whole; a node sends {at_once}; set-up {self.s:g} s, teardown {self.d:g} s"
            f"{controller}; circuits are torn down {stop}, {between} before the next ones are open{direct}"
        )


@dataclass(frozen=True)
class CircuitScheduleRequest:
    """A fast schedule of one instance."""

    instance: CircuitInstance
    time_limit_s: float = TIME_LIMIT_S
    seed: int = 1


@dataclass(frozen=True)
class CircuitAnswer:
    instance: CircuitInstance
    makespan_s: float
    lower_bound_s: float
    optimal: bool
    algorithm: str
    pipelined_reference_s: float | None  #: s + d + min over m of (m - 1 + r)(alpha + n beta / m), of bcast
    schedule: dict[str, Any]  #: `blocks` of `block_bytes`, `circuits` and `messages`

    @property
    def gap(self) -> float:
        return self.makespan_s / self.lower_bound_s - 1 if self.lower_bound_s > 0 else 0.0

    @property
    def values(self) -> dict[str, Any]:
        return {
            "makespan_s": self.makespan_s,
            "lower_bound_s": self.lower_bound_s,
            "gap": self.gap,
            "status": "optimal" if self.optimal else "feasible",
            "algorithm": self.algorithm,
            "pipelined_reference_s": self.pipelined_reference_s,
            "model": self.instance.model(),
            "instance": asdict(self.instance),
            "schedule": self.schedule,
        }


def run(request: CircuitScheduleRequest, reporter: Reporter = SILENT) -> CircuitAnswer:
    return solve(request.instance, request.time_limit_s, request.seed, reporter.progress)


def solve(
    instance: CircuitInstance,
    time_limit_s: float = TIME_LIMIT_S,
    seed: int = 1,
    on_progress: Callable[[], bool] | None = None,
) -> CircuitAnswer:
    """The fastest schedule that is found, and a time that none can beat. Raises InvalidInput."""
    from hocket import circuit_schedule

    if instance.collective == "alltoallv":
        return _solve_matrix(instance, time_limit_s, on_progress)
    asked = asdict(instance)
    root = asked.pop("root")
    del asked["matrix"]
    segments = asked.pop("segments")
    found = circuit_schedule(
        **asked, segments=None if segments == "auto" else segments, time_limit_s=time_limit_s, seed=seed,
        on_progress=on_progress,
    )  # fmt: skip
    if not math.isfinite(found["makespan_s"]) or not math.isfinite(found["lower_bound_s"]):
        raise InvalidInput("its times are larger than a number can be", "bytes, beta, alpha, s or d are too large")
    schedule = {"blocks": found["blocks"], **found["schedule"]}
    if root != 0 and instance.collective in ("bcast", "reduce"):
        _exchange(schedule, root)
    reference_s = found["reference_s"]
    return CircuitAnswer(
        instance,
        found["makespan_s"],
        found["lower_bound_s"],
        found["optimal"],
        found["algorithm"],
        reference_s if reference_s is not None and math.isfinite(reference_s) else None,
        schedule,
    )


def _solve_matrix(
    instance: CircuitInstance, time_limit_s: float, on_progress: Callable[[], bool] | None
) -> CircuitAnswer:
    import numpy as np

    from hocket.circuits import alltoallv

    hidden = instance.accounting == "hidden"
    problem = alltoallv.Problem(
        np.array(instance.matrix, dtype=np.int64),
        instance.k,
        instance.s,
        instance.d,
        max(instance.s, instance.d) if hidden else instance.s + instance.d,
        instance.alpha,
        instance.beta,
        instance.injection == "one",
        instance.stop == "all",
    )
    found = alltoallv.plan(problem, time.monotonic() + time_limit_s, on_progress)
    makespan_s, schedule = alltoallv.schedule(problem, found)
    bound_s = alltoallv.lower_bound_s(problem)
    if not math.isfinite(makespan_s):
        raise InvalidInput("its times are larger than a number can be", "the matrix, beta, alpha, s or d are too large")
    optimal = makespan_s - bound_s <= 1e-9 * makespan_s
    return CircuitAnswer(instance, makespan_s, bound_s, optimal, "decomposition", None, schedule)


def _matrix(values: Any, p: int) -> tuple[tuple[int, ...], ...]:
    from hocket.io.traffic_matrix import MOST_BYTES

    rows = values if isinstance(values, (list, tuple)) else ()
    if len(rows) != p or not all(isinstance(row, (list, tuple)) and len(row) == p for row in rows):
        raise InvalidInput(f"matrix: expected {p} rows of {p} numbers, the bytes that each node sends to each")
    for number in (number for row in rows for number in row):
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MOST_BYTES:
            raise InvalidInput(f"matrix: {number!r}: expected whole numbers of bytes from 0 to {MOST_BYTES}")
    return tuple(tuple(row) for row in rows)


def answer_lines(
    text: str, time_limit_s: float = TIME_LIMIT_S, on_progress: Callable[[], bool] | None = None
) -> Iterator[dict[str, Any]]:
    """An answer for each line of `text` that is not empty, a JSON object. For one that is wrong `line` and `error`."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name: Any = None
        try:
            values = _object(line)
            name = values.get("id")
            if "id" not in values:
                raise InvalidInput("id is missing")
            yield {"id": name, **solve(CircuitInstance.of(values), time_limit_s, on_progress=on_progress).values}
        except InvalidInput as error:
            yield {"id": name, "line": number, "error": str(error)}


def check_lines(text: str, instances: str | None = None) -> Iterator[tuple[int, Any, tuple[str, ...]]]:
    """Line number, id and problems of each answer in `text`; `instances` are asked for instead of what answers name."""
    from hocket.circuits.check import check_answer

    asked: dict[str, Mapping[str, Any]] = {}
    broken: dict[int, str] = {}
    for number, line in enumerate((instances or "").splitlines(), 1):
        if not line.strip():
            continue
        try:
            one = _object(line)
        except InvalidInput as error:
            broken[number] = str(error)
            continue
        name = repr(one.get("id"))
        if name in asked:
            raise InvalidInput(f"line {number} of the instances: id {name} occurs twice", "give each an id of its own")
        asked[name] = one
    answered: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            answer = _object(line)
        except InvalidInput as error:
            yield number, None, (str(error),)
            continue
        name = repr(answer.get("id"))
        if "error" in answer and "schedule" not in answer:
            broken.pop(answer.get("line", 0), None)
            answered.add(name)
            yield number, answer.get("id"), (f"is an error: {answer['error']}",)
        elif instances is not None and name not in asked:
            yield number, answer.get("id"), ("is no answer to an instance",)
        elif name in answered:
            yield number, answer.get("id"), ("is the second answer with this id",)
        else:
            answered.add(name)
            yield number, answer.get("id"), check_answer(answer, asked.get(name))
    for number, said in broken.items():
        yield 0, None, (f"line {number} of the instances has no answer: {said}",)
    for name, values in asked.items():
        if name not in answered:
            yield 0, values.get("id"), ("this instance has no answer",)


def _object(line: str) -> dict[str, Any]:
    try:
        line.encode()
    except UnicodeEncodeError:
        raise InvalidInput("no UTF-8 text") from None
    try:
        value = json.loads(line, object_pairs_hook=refuse_duplicates)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidInput(f"no JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInput("expected a JSON object")
    return value


def _exchange(schedule: dict[str, Any], root: int) -> None:
    """Nodes 0 and `root` change roles."""
    roles = {0: root, root: 0}
    for circuit in schedule["circuits"]:
        circuit["nodes"] = sorted(roles.get(node, node) for node in circuit["nodes"])
    for message in schedule["messages"]:
        message["from"] = roles.get(message["from"], message["from"])
        message["to"] = roles.get(message["to"], message["to"])
