# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Numbers in hwloc's XML: sets of processors, memory bandwidth and latency, distances between memories."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hocket.interop.networks.draft import Draft
from hocket.interop.networks.hostlist import quoted
from hocket.interop.networks.xml_reader import Element
from hocket.report.text import counted

MEANS_LATENCY, MEANS_BANDWIDTH, HETEROGENEOUS = 4, 8, 16  # bits of a matrix's kind
_SET = re.compile(r"(0xf\.\.\.f,?)?((0x[0-9a-f]{1,8})?(,(0x[0-9a-f]{1,8})?)*)", re.IGNORECASE)


def processors(element: Element, attribute: str, draft: Draft) -> int | None:
    """A bit for each processing unit; "0x1,,0x3" has the highest 32 first, and leaves out zeros.

    None = not said, or all from some unit on.
    """
    text = element.attributes.get(attribute)
    if text is None:
        return None
    found = _SET.fullmatch(text)
    if found is None or not text:
        draft.refuse(element.line, f"{attribute} is {quoted(text)}", "expected: such as 0x0000ffff,0x00000001")
    if found[1]:
        return None
    return int("".join(word[2:].zfill(8) for word in text.split(",")), 16)


@dataclass
class MemoryValues:
    """By the os_index of the NUMA node, as its own processors see it."""

    bandwidth: dict[str, float] = field(default_factory=dict)
    latency: dict[str, float] = field(default_factory=dict)


def memory_values(root: Element, draft: Draft) -> MemoryValues:
    """hwloc gives bandwidths in MiB/s and latencies in ns."""
    result = MemoryValues()
    nodes = {(n.attributes.get("gp_index"), "gp"): n for n in _all_numa(root)}
    for table in root.each("memattr"):
        name = table.attributes.get("name")
        if name not in ("Bandwidth", "Latency"):
            continue
        for value in table.each("memattr_value"):
            node = nodes.get((value.attributes.get("target_obj_gp_index"), "gp"))
            if node is None or value.attributes.get("target_obj_type") != "NUMANode":
                continue
            number = _number(value.attributes.get("value", ""), value, draft)
            index = node.attributes.get("os_index", "")
            initiator = processors(value, "initiator_cpuset", draft)
            own = processors(node, "cpuset", draft)
            if initiator is None or own is None or not initiator & own:
                continue
            if name == "Bandwidth" and number > 0:
                result.bandwidth[index] = max(result.bandwidth.get(index, 0.0), number * 2**20)
            elif name == "Latency":
                result.latency[index] = min(result.latency.get(index, number / 1e9), number / 1e9)
    return result


@dataclass
class Matrix:
    indexes: list[str]  # os_index of NUMA nodes
    values: list[list[float]]
    is_bandwidth: bool


def distances(root: Element, machine: Element, draft: Draft) -> Matrix | None:
    """Between NUMA nodes; bandwidths if there are any. What is between other objects, such as GPUs, carries no rank."""
    matrices: list[Matrix] = []
    others = 0
    for table in [*root.each("distances2", "distances2hetero")]:
        kind = int(_number(table.attributes.get("kind", "0"), table, draft))
        os_indexed = table.attributes.get("indexing") == "os"
        if table.attributes.get("type") != "NUMANode" or kind & HETEROGENEOUS or not os_indexed:
            others += 1
            continue
        indexes = " ".join(child.text for child in table.each("indexes")).split()
        words = " ".join(child.text for child in table.each("u64values")).split()
        matrices.append(_matrix(indexes, words, bool(kind & MEANS_BANDWIDTH), table, draft))
    for table in machine.each("distances"):  # of hwloc 1.x: relative to their least value, in the order of the nodes
        nodes = [node.attributes.get("os_index", "") for node in _all_numa(root)]
        words = [child.attributes.get("value", "") for child in table.each("latency")]
        if table.attributes.get("nbobjs") == str(len(nodes)):
            matrices.append(_matrix(nodes, words, False, table, draft))
        else:
            others += 1
    if others:
        draft.ignored.append(
            f"{counted(others, 'matrix', 'matrices')} of distances between other objects than memories"
        )
    return max(matrices, key=lambda matrix: matrix.is_bandwidth, default=None)


def _matrix(indexes: list[str], words: list[str], is_bandwidth: bool, table: Element, draft: Draft) -> Matrix:
    size = len(indexes)
    if len(words) != size * size or len(set(indexes)) != size:
        draft.refuse(
            table.line,
            f"a matrix of distances has {size} objects and {len(words)} values",
            "expected: different objects and a value for each two of them",
        )
    numbers = [_number(word, table, draft) for word in words]
    return Matrix(indexes, [numbers[i * size : (i + 1) * size] for i in range(size)], is_bandwidth)


def _number(text: str, element: Element, draft: Draft) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1e15:
        draft.refuse(
            element.line, f"{quoted(text)} is not a number in 0..1e15", "export the machine again: lstopo machine.xml"
        )
    return number


def _all_numa(element: Element) -> list[Element]:
    found = [element] if element.attributes.get("type") in ("NUMANode", "Node") else []
    return found + [node for child in element.each("object") for node in _all_numa(child)]
