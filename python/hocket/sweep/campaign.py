# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Campaign files of format hocket.campaign/1, and the tasks that they stand for."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket import __version__, formats
from hocket.cost.source import CostSource
from hocket.errors import InvalidInput
from hocket.networks.source import NetworkSource
from hocket.networks.variation import VariedNetwork
from hocket.requests import KINDS, class_of, hints_of, to_json
from hocket.sweep import networks
from hocket.sweep.alone import MEASURES
from hocket.sweep.files import digest_of_path
from hocket.sweep.values import build, choices, decode, hint_of, shown, values_of, with_unit
from hocket.sweep.views import View, view_of

if TYPE_CHECKING:
    from hocket import CostModel

FORMAT = "hocket.campaign/1"
MOST_TASKS = 10_000_000
_KEYS = ("format", "request", "title", "networks", "fixed", "product", "cases", "run", "dask", "show")
_RUN = {"workers": int, "scheduler": str, "memory": str, "attempts": int}
#: Fields that may name files, relative to the folder of the campaign.
_FILES = {"what", "trace", "plan", "suite", "network", "networks"}
ACCEPTED = tuple(kind for kind in KINDS if kind != "sweep" and not kind.startswith("testbed-"))
Parameters = dict[str, str | int | float | bool]


@dataclass(frozen=True)
class Task:
    index: int  #: in the order of the campaign
    key: str  #: of the request, what its files hold, its parameters and hocket's version
    request: Any  #: whose network is a name among the campaign's networks
    parameters: Parameters

    @property
    def label(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.parameters.items())

    @property
    def group(self) -> tuple[str, ...]:
        """Tasks of one group take about as long as each other: they differ in numbers only."""
        return tuple(value for value in self.parameters.values() if isinstance(value, str))


@dataclass(frozen=True)
class Campaign:
    path: Path
    kind: str  #: of the requests
    title: str
    text: str  #: of the file
    tasks: tuple[Task, ...]
    networks: dict[str, VariedNetwork]  #: by the names that requests have for them
    files: dict[str, str]  #: that requests name: digests by absolute paths
    views: tuple[View, ...]
    run: dict[str, Any] = field(default_factory=dict)  #: the table [run]
    dask: dict[str, Any] = field(default_factory=dict)  #: the table [dask]


def read_campaign(path: Path) -> Campaign:
    """@raises InvalidInput with the place in the file, what is wrong with it and what is accepted."""
    text, values = read_toml(path)
    return _Reader(path, values).campaign(text)


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """Of a campaign file, whose values are not checked. @raises InvalidInput if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors of some systems write a mark of UTF-8 first
    except OSError as error:
        raise InvalidInput(
            f"{path}: {error.strerror}", "give a campaign file: docs/reference/campaign-format.md"
        ) from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: no UTF-8 text") from None
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path}: {error}", "the file is TOML: https://toml.io") from None
    except RecursionError:
        raise InvalidInput(f"{path}: lists or tables nested too deep", "a value is a list of plain values") from None


class _Reader:
    def __init__(self, path: Path, values: dict[str, Any]) -> None:
        self.path, self.values = path, values
        self.folder = path.resolve().parent
        self.networks: dict[str, VariedNetwork] = {}
        self.digests: dict[str, str] = {}  # of files, by their paths
        self.made: dict[str, tuple[str, CostModel | None]] = {}  # networks, by their values as JSON

    def campaign(self, text: str) -> Campaign:
        values = self.values
        self._refuse_unknown("", values, _KEYS)
        if values.get("format") != FORMAT:
            hint = formats.hint(found := values.get("format"), FORMAT, f'accepted: format = "{FORMAT}"')
            raise InvalidInput(f"{self.path}: {_wrong('format', found)}", hint)
        kind = values.get("request")
        if kind not in ACCEPTED:
            raise InvalidInput(f"{self.path}: {_wrong('request', kind)}", f"accepted: {', '.join(ACCEPTED)}")
        self.kind, self.cls = kind, class_of(kind)
        self.has_network = NetworkSource in choices(hints_of(self.cls).get("network"))
        self.named = self._table("networks")
        for name, table in self.named.items():
            self._refuse_unknown(f"networks.{name}", self._is_table(f"networks.{name}", table), networks.KEYS)
        tasks = tuple(self._tasks())
        self._refuse_repeated(tasks)
        run = self._table("run")
        self._refuse_unknown("run", run, tuple(_RUN))
        for name, value in run.items():
            if type(value) is not _RUN[name] or (isinstance(value, int) and value < 1):
                accepted = "text" if _RUN[name] is str else "a whole number, at least 1"
                raise InvalidInput(f"{self.path}: run.{name}: {value!r}; accepted: {accepted}")
        dask = self._table("dask")
        self._refuse_unknown("dask", dask, ("slurm",))
        for name, value in dask.items():
            self._is_table(f"dask.{name}", value)
        columns = list(tasks[0].parameters)
        shows = values.get("show", [])
        if not isinstance(shows, list):
            raise InvalidInput(f"{self.path}: show: {shows!r}; accepted: tables [[show]]")
        views = tuple(view_of(one, columns, f"{self.path}: show[{at}]") for at, one in enumerate(shows))
        title = values.get("title", self.path.stem)
        if not isinstance(title, str):
            raise InvalidInput(f"{self.path}: title: {title!r}; accepted: text")
        return Campaign(self.path, kind, title, text, tasks, self.networks, self.digests, views, run, dask)

    def _refuse_unknown(self, where: str, table: dict[str, Any], accepted: tuple[str, ...]) -> None:
        for name in table:
            if name not in accepted:
                place = f"{where}." if where else ""
                raise InvalidInput(f"{self.path}: unknown {place}{name}", f"accepted: {', '.join(accepted)}")

    def _refuse_repeated(self, tasks: tuple[Task, ...]) -> None:
        """Rows are known by their tasks' keys."""
        first: dict[str, Task] = {}
        for task in tasks:
            if (other := first.setdefault(task.key, task)) is not task:
                raise InvalidInput(
                    f"{self.path}: tasks {other.index} and {task.index} are the same: {task.label}",
                    "leave one of the values, or of [[cases]], out",
                )

    def _is_table(self, where: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise InvalidInput(f"{self.path}: {where}: {value!r}; accepted: a table [{where}]")
        return value

    def _table(self, name: str) -> dict[str, Any]:
        return self._is_table(name, self.values.get(name, {}))

    def _tasks(self) -> Iterator[Task]:
        fixed = {
            name: self._value(f"fixed.{name}", name, value) for name, value in self._flat("fixed", self._table("fixed"))
        }
        product = {
            name: [self._value(f"product.{name}[{at}]", name, value) for at, value in enumerate(found)]
            for name, given in self._flat("product", self._table("product"))
            for found in [values_of(name, given, self._hint(f"product.{name}", name), f"{self.path}: product.{name}")]
        }
        cases = self.values.get("cases", [{}])
        if not isinstance(cases, list) or not cases:
            raise InvalidInput(f"{self.path}: cases: {cases!r}; accepted: tables [[cases]]")
        read = [
            {
                name: self._value(f"cases[{at}].{name}", name, value)
                for name, value in self._flat(f"cases[{at}]", self._is_table(f"cases[{at}]", case))
            }
            for at, case in enumerate(cases)
        ]
        for name in product:
            if name in fixed or any(name in case for case in read):
                raise InvalidInput(f"{self.path}: {name} is in [product] and elsewhere", "leave one out")
        total = len(read) * math.prod(map(len, product.values()))
        if total > MOST_TASKS:
            raise InvalidInput(f"{self.path}: {total:,} tasks", f"accepted: at most {MOST_TASKS:,}")
        index = itertools.count()
        for case in read:
            for combination in itertools.product(*product.values()):
                swept = case | dict(zip(product, combination, strict=True))
                yield self._task(next(index), fixed | swept, swept)

    def _flat(self, where: str, table: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
        """Names with dots: TOML makes tables of them. A range is a table, too."""
        for key, value in table.items():
            name = before + key
            if isinstance(value, dict) and not {"from", "to"} <= set(value) and name != "costs.base":
                yield from self._flat(where, value, f"{name}.")
            else:
                yield name, value

    def _hint(self, where: str, name: str) -> Any:
        if self.has_network and name == "network":
            return None
        first, _, rest = name.partition(".")
        if self.has_network and first == "network":
            networks.check_key(rest, f"{self.path}: {where}")
            return None
        return hint_of(self.cls, name, f"{self.path}: {where}")

    def _value(self, where: str, name: str, value: Any) -> tuple[Any, str | int | float | bool]:
        """What the request has, and what the rows show."""
        hint, place = self._hint(where, name), f"{self.path}: {where}"
        if name == "output" and self.kind in MEASURES:
            raise InvalidInput(f"{place}: each task has a folder of its own in that of the rows", "leave it out")
        if name.startswith("network.") and hint is None:
            return networks.checked(name.partition(".")[2], value, place), shown(value)
        if hint is None:
            if isinstance(value, str):
                return self.named.get(value, {"from": value}), value
            self._refuse_unknown(where, self._is_table(where, value), networks.KEYS)
            return value, json.dumps(value)
        value = with_unit(name, value, hint, place)
        shows = shown(value)
        if name in _FILES or hint is Path:
            value = self._placed(value)
        if name == "networks" and isinstance(value, list):
            value = [{"name": one} if isinstance(one, str) else one for one in value]
        return decode(hint, value, place), shows

    def _placed(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._placed(one) for one in value]
        if not isinstance(value, str) or not value:
            return value
        path = self.folder / value
        return str(path) if os.path.exists(path) else value  # of any text: a name may be too long

    def _task(self, index: int, values: dict[str, tuple[Any, Any]], swept: dict[str, tuple[Any, Any]]) -> Task:
        own = {name: value for name, (value, _) in values.items() if name.partition(".")[0] != "network"}
        content = [__version__]
        if self.has_network:
            given = {name: value for name, (value, _) in values.items() if name.partition(".")[0] == "network"}
            if given:
                name, costs = self._network(given)
                own["network"] = NetworkSource(name)
                content.append(name)
            else:
                costs = None
        else:
            own |= {name: value for name, (value, _) in values.items() if name not in own}
            costs = None
        request = build(self.cls, own, f"{self.path}: task {index}")
        request = _with_costs(request, costs)
        parameters: Parameters = {name: shows for name, (_, shows) in swept.items()}
        text = to_json(request)
        for path in map(str, _named_files(own.values())):
            if path.startswith("/"):
                if path not in self.digests:
                    self.digests[path] = digest_of_path(Path(path))
                text = text.replace(json.dumps(path), json.dumps(self.digests[path]))
        content += [text, json.dumps(parameters)]
        return Task(index, hashlib.sha256("\n".join(content).encode()).hexdigest(), request, parameters)

    def _network(self, given: dict[str, Any]) -> tuple[str, CostModel | None]:
        """Its name in requests; and its costs if the changed network would lose them."""
        whole = json.dumps(given, sort_keys=True)
        if whole not in self.made:
            values = dict(given.get("network", {}))
            values |= {name.partition(".")[2]: value for name, value in given.items() if name != "network"}
            where = f"{self.path}: network {values.get('from', '')}"
            checked = {key: networks.checked(key, value, where) for key, value in values.items()}
            network = networks.network_of(checked, self.folder, where)
            name = networks.digest_of(network)
            self.networks[name] = network
            self.made[whole] = name, _own_costs(network)
        return self.made[whole]


def _wrong(name: str, found: Any) -> str:
    return f"{name} is missing" if found is None else f"{name} is {found!r}"


def _named_files(values: Iterable[Any]) -> Iterator[str | Path]:
    """What may be files among the values of a request; words of commands are not."""
    for value in values:
        if isinstance(value, (str, Path)):
            yield value
        elif isinstance(value, tuple):
            yield from (one.name for one in value if isinstance(one, NetworkSource))


def _own_costs(network: VariedNetwork) -> CostModel | None:
    """Of the table [calibration] of a network file whose network is changed."""
    if network.source.toml is None or network == VariedNetwork(network.source):
        return None
    from hocket import CostModel

    return CostModel.of(network.source.load())


def _with_costs(request: Any, costs: CostModel | None) -> Any:
    given = getattr(request, "costs", None)
    if costs is None or not isinstance(given, CostSource) or given.base is not None or given.folder is not None:
        return request
    return replace(request, costs=replace(given, base=costs))
