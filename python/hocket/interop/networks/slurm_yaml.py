# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Slurm's topology.yaml, in which a cluster may have several topologies: the default one, or the first, is read."""

from __future__ import annotations

from typing import Any

from hocket.errors import Error
from hocket.interop.networks.draft import Draft
from hocket.interop.networks.hostlist import quoted
from hocket.interop.networks.slurm_groups import Group, Lists
from hocket.report.text import counted

EXPECTED = "expected: a list of topologies, each with `topology: NAME` and `tree:` or `block:`"


def read_groups(text: str, draft: Draft) -> list[Group]:
    try:
        import yaml
    except ImportError as error:
        raise Error(
            f"{draft.source_name}: topology.yaml needs the package PyYAML", "pip install 'hocket[yaml]'"
        ) from error
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)  # nodes with their lines; nothing is constructed
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        draft.refuse(mark.line + 1 if mark else 1, f"not YAML: {error.problem or error.context}")
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        draft.refuse(1, f"not YAML: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
    return _Reader(draft).read(root)


class _Reader:
    """Walks YAML nodes; each has the line that messages name."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.lists = Lists(draft)

    def read(self, root: Any) -> list[Group]:
        topologies = [self._mapping(node, EXPECTED) for node in self._list(root, EXPECTED)]
        if not topologies:
            self.draft.refuse(1, "the file is empty", EXPECTED)
        chosen = next((t for t in topologies if self._is_true(t.get("cluster_default"))), topologies[0])
        if len(topologies) > 1:
            name = quoted(self._text(chosen["topology"])) if "topology" in chosen else "the first"
            self.draft.ignored.append(
                f"{counted(len(topologies) - 1, 'other topology', 'other topologies')} than {name}"
            )
        for kind, members, entry in (("tree", "switches", "switch"), ("block", "blocks", "block")):
            if kind in chosen:
                table = self._mapping(chosen[kind], EXPECTED)
                expected = f"expected: {kind}: {{{members}: [...]}}"
                if members not in table:
                    self.draft.refuse(self._line(chosen[kind]), f"{kind} has no {members}", expected)
                return [self._group(node, entry) for node in self._list(table[members], expected)]
        line = self._line(next(iter(chosen.values()))) if chosen else 1
        self.draft.refuse(line, "the topology has neither tree nor block", EXPECTED)

    def _group(self, node: Any, kind: str) -> Group:
        expected = f"expected: {kind}: NAME with nodes: or children:"
        table = self._mapping(node, expected)
        if kind not in table:
            self.draft.refuse(self._line(node), f"an entry names no {kind}", expected)
        line = self._line(table[kind])
        group = Group(line, self._text(table[kind]), kind)
        for key, names in (("nodes", group.nodes), ("children", group.switches)):
            if key in table:
                names.extend(self.lists.expand(self._text(table[key]), self._line(table[key]), key))
        return group

    def _mapping(self, node: Any, expected: str) -> dict[str, Any]:
        if getattr(node, "id", None) != "mapping":
            self.draft.refuse(self._line(node), f"found {_kind(node)}, not keys with values", expected)
        table: dict[str, Any] = {}
        for key, value in node.value:
            name = self._text(key)
            if name in table:
                self.draft.refuse(self._line(key), f"the key {quoted(name)} occurs twice", "keep one")
            table[name] = value
        return table

    def _list(self, node: Any, expected: str) -> list[Any]:
        if getattr(node, "id", None) != "sequence":
            self.draft.refuse(self._line(node), f"found {_kind(node)}, not a list", expected)
        return list(node.value)

    def _text(self, node: Any) -> str:
        if getattr(node, "id", None) != "scalar":
            self.draft.refuse(self._line(node), f"found {_kind(node)}, not text", EXPECTED)
        return str(node.value)

    def _is_true(self, node: Any) -> bool:
        return node is not None and self._text(node).lower() in ("true", "yes", "on")

    @staticmethod
    def _line(node: Any) -> int:
        return int(node.start_mark.line) + 1 if node is not None else 1


def _kind(node: Any) -> str:
    return {"mapping": "keys with values", "sequence": "a list", "scalar": "text"}.get(
        getattr(node, "id", ""), "nothing"
    )
