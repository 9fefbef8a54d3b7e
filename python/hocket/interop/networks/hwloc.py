# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""One machine, from hwloc's XML: what shares a cache, a memory or a socket is behind one switch; each core is a rank.

hwloc [Broquedis10] knows which parts share what, but seldom how fast: the bandwidth of memory if the firmware reports
it, distances between memories as numbers without a unit. A level that has one part only is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hocket.interop.networks.draft import Cable, Draft
from hocket.interop.networks.hostlist import quoted
from hocket.interop.networks.hwloc_values import Matrix, distances, memory_values, processors
from hocket.interop.networks.recognise import Content
from hocket.interop.networks.values import Options
from hocket.interop.networks.xml_reader import Element, parse
from hocket.report.text import counted

# hwloc 1.x has other names, and caches of one type with a depth.
_RENAMED = {"Socket": "Package", "Node": "NUMANode", "System": "Machine"}
_PLACES = {"Machine", "Group", "Package", "Die", "Core", "PU", "NUMANode"}
_MEMORY = {"NUMANode", "MemCache"}
_CARRIERS = {"pu": "PU", "core": "Core", "l3": "L3Cache", "numa": "NUMANode", "package": "Package"}


@dataclass
class Place:
    """A part of the machine with processors."""

    kind: str
    line: int
    children: list[Place] = field(default_factory=list)
    memories: list[Element] = field(default_factory=list)  # NUMA nodes beside its processors
    name: str = ""
    carries_rank: bool = False


def read(content: Content, draft: Draft, options: Options) -> None:
    root = parse(content.source_name, content.data)
    if root.tag not in ("topology", "root"):
        draft.refuse(root.line, f"the XML element is {quoted(root.tag)}", "expected: topology, as hwloc writes it")
    version = root.attributes.get("version", "1")
    if version.split(".")[0] not in ("1", "2", "3"):
        draft.refuse(root.line, f"version {quoted(version)} of hwloc's XML is not known", "accepted: 1, 2.x and 3.x")
    machines = [child for child in root.each("object") if _kind(child) == "Machine"]
    if len(machines) != 1:
        draft.refuse(root.line, f"it has {len(machines)} objects of type Machine", "expected: one machine")
    machine = _Machine(draft, machines[0])
    if machine.place is None:
        draft.refuse(machines[0].line, "the machine has no processor", "export it whole: lstopo machine.xml")
    _choose_carriers(machine.place, options.ranks_on, draft)
    place = _without_single(machine.place)
    _name(place)
    draft.keeps_order = True
    _Builder(draft, root, machines[0]).build(place)


class _Machine:
    """The places of a machine, without processors that this program may not use."""

    def __init__(self, draft: Draft, machine: Element) -> None:
        self.draft = draft
        self.allowed = processors(machine, "allowed_cpuset", draft)
        self.forbidden = 0
        self.place = self._place(machine)
        if self.forbidden:
            draft.ignored.append(f"{counted(self.forbidden, 'processing unit')} outside of allowed_cpuset")

    def _place(self, element: Element) -> Place | None:
        kind = _kind(element)
        place = Place(kind, element.line)
        if kind == "PU":
            own = processors(element, "cpuset", self.draft)
            if own is not None and self.allowed is not None and not own & self.allowed:
                self.forbidden += 1
                return None
            return place
        self._add_children(element, place)
        if kind == "NUMANode":  # of hwloc 1.x, where memory encloses its processors
            place.memories.append(element)
        return place if place.children else None

    def _add_children(self, element: Element, place: Place) -> None:
        for child in element.each("object"):
            kind = _kind(child)
            if kind in _MEMORY and not any(_has_processors(grandchild) for grandchild in child.each("object")):
                place.memories.extend(_numa_nodes(child))
            elif kind in _PLACES or kind.endswith("Cache"):
                below = self._place(child)
                if below is not None:
                    place.children.append(below)


def _kind(element: Element) -> str:
    kind = element.attributes.get("type", "")
    if kind == "Cache":
        return f"L{element.attributes.get('depth', '')}Cache"
    return _RENAMED.get(kind, kind)


def _has_processors(element: Element) -> bool:
    return _kind(element) == "PU" or any(_has_processors(child) for child in element.each("object"))


def _numa_nodes(element: Element) -> list[Element]:
    if _kind(element) == "NUMANode":
        return [element]
    return [node for child in element.each("object") for node in _numa_nodes(child)]


def _choose_carriers(root: Place, ranks_on: str | None, draft: Draft) -> None:
    """Marks the places with a rank. A processing unit outside of all of them has one of its own."""
    wanted = _CARRIERS[ranks_on or "core"]
    marked = 0

    def carries(place: Place) -> bool:
        return bool(place.memories) if wanted == "NUMANode" else place.kind == wanted

    def mark(place: Place) -> None:
        nonlocal marked
        if carries(place) and not (wanted == "NUMANode" and any(_any(child, carries) for child in place.children)):
            place.carries_rank = True
            marked += 1
        elif place.kind == "PU":
            place.carries_rank = True
        for child in place.children if not place.carries_rank else []:
            mark(child)

    mark(root)
    if marked:
        return
    if ranks_on is not None:
        has = sorted(name for name, kind in _CARRIERS.items() if _any(root, lambda p, k=kind: p.kind == k))
        draft.refuse(root.line, f"--ranks-on {ranks_on}: the machine has none", f"it has: {', '.join(has)}")
    draft.assumed.append("each processing unit has a rank, as the file has no cores")


def _any(place: Place, holds: object) -> bool:
    assert callable(holds)
    return bool(holds(place)) or any(_any(child, holds) for child in place.children)


def _without_single(place: Place) -> Place:
    """A level with one part says nothing; its memory is that of the part."""
    if place.carries_rank:
        return place
    children = [_without_single(child) for child in place.children]
    if len(children) > 1:
        place.children = children
        return place
    children[0].memories = children[0].memories + place.memories
    return children[0]


def _name(root: Place) -> None:
    """By kind and number, in the order of the machine."""
    counts: dict[str, int] = {}

    def in_order(place: Place) -> None:
        kind = place.kind.lower().removesuffix("cache").removesuffix("node")
        place.name = f"{kind}{'-' if kind[-1:].isdigit() else ''}{counts.setdefault(kind, 0)}"
        counts[kind] += 1
        for child in place.children if not place.carries_rank else []:
            in_order(child)

    in_order(root)


class _Builder:
    def __init__(self, draft: Draft, root: Element, machine: Element) -> None:
        self.draft = draft
        self.values = memory_values(root, draft)
        self.matrix = distances(root, machine, draft)
        self.domains: dict[str, Place] = {}  # by the os_index of the NUMA node
        self.known = 0

    def build(self, root: Place) -> None:
        self._find_domains(root)
        graph = self._graph(root)
        if self.matrix is not None and graph:
            for place in graph.values():
                self._add(place, None)
            self._join_domains(self.matrix, graph)
        else:
            self._add(root, None)
        if self.known:
            self.draft.assumed.append(
                f"the links above {counted(self.known, 'memory', 'memories')} have the bandwidth (MiB/s) and latency "
                "of that memory: what stays inside is not limited by it"
            )

    def _add(self, place: Place, parent: Place | None) -> None:
        if place.carries_rank:
            self.draft.add_host(place.name, place.line)
        else:
            self.draft.add_switch(place.name, place.line)
        if parent is not None:
            self.draft.add_cable(parent.name, place.name, self._cable(place))
        for child in place.children if not place.carries_rank else []:
            self._add(child, place)

    def _cable(self, place: Place) -> Cable:
        cable = Cable(place.line)
        bandwidths = [self.values.bandwidth.get(_index(memory)) for memory in place.memories]
        latencies = [self.values.latency.get(_index(memory)) for memory in place.memories]
        cable.bandwidth_bytes_per_s = max((b for b in bandwidths if b), default=None)
        cable.latency_s = min((value for value in latencies if value), default=None)
        self.known += cable.bandwidth_bytes_per_s is not None or cable.latency_s is not None
        return cable

    def _find_domains(self, place: Place) -> None:
        for memory in place.memories:
            self.domains.setdefault(_index(memory), place)
        for child in place.children:
            self._find_domains(child)

    def _graph(self, root: Place) -> dict[str, Place]:
        """The places whose distances the tree does not explain, to be joined pair by pair; none if it does."""
        if self.matrix is None:
            return {}
        places = {index: self.domains[index] for index in self.matrix.indexes if index in self.domains}
        inner = {
            index: place
            for index, place in places.items()
            if not any(_any(child, lambda p: any(p is q for q in places.values())) for child in place.children)
        }
        if len({place.name for place in inner.values()}) < max(3, len(self.matrix.indexes)):
            return {}
        graph = {place.name: place for place in inner.values()}
        if sum(map(_ranks, graph.values())) < _ranks(root):
            return {}
        if not self.matrix.is_bandwidth and self._is_explained(root, inner, self.matrix):
            return {}
        return graph

    def _is_explained(self, root: Place, places: dict[str, Place], matrix: Matrix) -> bool:
        """Whether all pairs that meet at the same place of the tree have the same distance."""
        paths: dict[str, list[str]] = {}

        def walk(place: Place, path: list[str]) -> None:
            paths[place.name] = [*path, place.name]
            for child in place.children if not place.carries_rank else []:
                walk(child, paths[place.name])

        walk(root, [])
        seen: dict[str, float] = {}
        for i, a in enumerate(matrix.indexes):
            for j, b in enumerate(matrix.indexes):
                if i == j:
                    continue
                meet = [x for x, y in zip(paths[places[a].name], paths[places[b].name], strict=False) if x == y][-1]
                if seen.setdefault(meet, matrix.values[i][j]) != matrix.values[i][j]:
                    return False
        return True

    def _join_domains(self, matrix: Matrix, graph: dict[str, Place]) -> None:
        names = [self.domains[index].name for index in matrix.indexes]
        off_diagonal = [matrix.values[i][j] for i in range(len(names)) for j in range(len(names)) if i != j]
        least = min(off_diagonal)
        for i, first in enumerate(names):
            for j in range(i + 1, len(names)):
                cable = Cable(graph[first].line)
                if matrix.is_bandwidth:
                    cable.bandwidth_bytes_per_s = max(matrix.values[i][j], 1e-6) * 1e6
                    cable.bandwidth_back_bytes_per_s = max(matrix.values[j][i], 1e-6) * 1e6
                else:
                    cable.latency_factor = max(matrix.values[i][j], matrix.values[j][i]) / least
                self.draft.add_cable(first, names[j], cable)
        how = "bandwidth in MB/s" if matrix.is_bandwidth else "latency, in proportion to hwloc's distance,"
        self.draft.assumed.append(
            f"each two of {len(names)} memories have a link of their own, with its own {how} between them, as their "
            "distances follow no tree"
        )


def _ranks(place: Place) -> int:
    return 1 if place.carries_rank else sum(map(_ranks, place.children))


def _index(memory: Element) -> str:
    return memory.attributes.get("os_index", "")
