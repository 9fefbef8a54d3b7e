# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Slurm's topology.conf and topology.yaml: which switch has which nodes and switches.

A list of switches is read as cables, and so two switches that list each other are joined once, and lists that form
rings give a network that is not a tree, as tools that write these files from a multi-path fabric make them.
"""

from __future__ import annotations

import re

from hocket.interop.networks.draft import Cable, Draft
from hocket.interop.networks.hostlist import quoted
from hocket.interop.networks.recognise import Content
from hocket.interop.networks.slurm_groups import Group, Lists
from hocket.interop.networks.values import Options
from hocket.report.text import counted

KEYS = ("SwitchName", "Switches", "Nodes", "LinkSpeed", "BlockName", "BlockSizes")
TOP = "assumed-top"


def read(content: Content, draft: Draft, options: Options) -> None:
    text = content.text
    if _is_yaml(text):
        from hocket.interop.networks.slurm_yaml import read_groups

        groups = read_groups(text, draft)
    else:
        groups = _read_groups(text, draft)
    if not groups:
        draft.refuse(1, "no line names a switch", "expected: lines such as SwitchName=s0 Nodes=n[0-7]")
    build(groups, draft)


def build(groups: list[Group], draft: Draft) -> None:
    for group in groups:
        draft.add_switch(group.name, group.line)
    twice = 0
    for group in groups:
        for node in dict.fromkeys(group.nodes):
            if node in draft.switches:
                draft.refuse(group.line, f"Nodes of {quoted(group.name)}: {quoted(node)} is a switch", "use Switches=")
            if node not in draft.hosts:
                draft.add_host(node, group.line, relays=False)
            draft.add_cable(group.name, node, Cable(group.line))
        for switch in dict.fromkeys(group.switches):
            if switch not in draft.switches:
                draft.refuse(
                    group.line,
                    f"Switches of {quoted(group.name)}: no line describes the switch {quoted(switch)}",
                    f"add SwitchName={switch} with its nodes",
                )
            if (group.name, switch) not in draft.cables and (switch, group.name) not in draft.cables:
                draft.add_cable(group.name, switch, Cable(group.line))
        twice += len(group.nodes) + len(group.switches) - len(set(group.nodes)) - len(set(group.switches))
    if twice:
        draft.ignored.append(f"{counted(twice, 'name')} that a list has twice")
    several = sum(degree > 1 for name, degree in draft.degrees().items() if name in draft.hosts)
    if several:
        draft.assumed.append(
            f"{counted(several, 'node')} on the lists of several switches: a cable to each, and nothing is forwarded"
        )
    _join_parts(groups, draft)


def _join_parts(groups: list[Group], draft: Draft) -> None:
    """Slurm takes a file whose switches have no common root; messages cross between them all the same."""
    parts = draft.parts()
    if len(parts) == 1:
        return
    children = {switch for group in groups for switch in group.switches}
    part_of = {name: i for i, part in enumerate(parts) for name in part}
    roots: dict[int, list[Group]] = {}
    for group in groups:
        roots.setdefault(part_of[group.name], []).append(group)
    draft.add_switch(TOP, 1)
    for members in roots.values():
        # Where all are listed by others, in a ring, the first one.
        tops = [group for group in members if group.name not in children] or members[:1]
        for group in tops:
            draft.add_cable(TOP, group.name, Cable(group.line))
    kind = "blocks" if groups[0].kind == "block" else "parts"
    draft.assumed.append(
        f'the {len(parts)} {kind}, which the file does not join, meet at one switch "{TOP}": '
        "write a SwitchName line with Switches= for what joins them, or change its links in the network file"
    )


def _is_yaml(text: str) -> bool:
    for line in text.splitlines():
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            return re.match(r"---|- |-?\s*topology\s*:|\[|\{", stripped) is not None
    return False


def _read_groups(text: str, draft: Draft) -> list[Group]:
    groups: list[Group] = []
    lines: dict[str, int] = {}
    lists = Lists(draft)
    speeds = 0
    for line, content in _logical_lines(text):
        values = _values(content, line, draft)
        speeds += "linkspeed" in values
        if "blocksizes" in values:  # how many blocks Slurm hands out together: no cable
            if len(values) > 1:
                draft.refuse(line, "BlockSizes stands on a line of its own")
            continue
        kinds = [kind for kind in ("switch", "block") if f"{kind}name" in values]
        if len(kinds) != 1:
            draft.refuse(line, "the line names no switch", "expected: SwitchName=... or BlockName=... on each line")
        kind = kinds[0]
        name = values[f"{kind}name"]
        if name in lines:
            draft.refuse(
                line, f"a second line describes {quoted(name)}; the first is line {lines[name]}", "join the two lines"
            )
        lines[name] = line
        group = Group(line, name, kind)
        for key, names in (("nodes", group.nodes), ("switches", group.switches)):
            if key in values:
                names.extend(lists.expand(values[key], line, key.capitalize()))
        if kind == "block" and group.switches:
            draft.refuse(line, "a block has no Switches", "expected: BlockName=b0 Nodes=n[0-7]")
        groups.append(group)
    if speeds:
        draft.ignored.append(
            f"LinkSpeed in {counted(speeds, 'line')}, which has no unit: give --bandwidth and --trunk-bandwidth"
        )
    return groups


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Numbered, without comments and empty lines; a backslash at the end goes on in the next line."""
    result: list[tuple[int, str]] = []
    begun: list[str] = []
    start = 0
    for number, physical in enumerate(text.split("\n"), 1):
        line = physical.split("#", 1)[0].rstrip()
        if not begun:
            start = number
        if line.endswith("\\"):
            begun.append(line[:-1])
            continue
        begun.append(line)
        joined = " ".join(begun).strip()
        begun = []
        if joined:
            result.append((start, joined))
    if begun and " ".join(begun).strip():
        result.append((start, " ".join(begun).strip()))
    return result


def _values(content: str, line: int, draft: Draft) -> dict[str, str]:
    """The KEY=VALUE of a line, by the key in small letters."""
    accepted = "accepted: " + ", ".join(KEYS)
    values: dict[str, str] = {}
    for word in content.split():
        key, equals, value = word.partition("=")
        if not equals:
            draft.refuse(line, f"{quoted(word)} is not a KEY=VALUE", accepted)
        if key.lower() == "include":
            draft.refuse(line, "Include is not followed", "put the included text into one file")
        if key.lower() not in {known.lower() for known in KEYS}:
            draft.refuse(line, f"unknown key {quoted(key)}", accepted)
        if key.lower() in values:
            draft.refuse(line, f"the key {quoted(key)} occurs twice in one line", "keep one")
        value = value.strip('"')
        if not value:
            draft.refuse(line, f"{key} is empty", "give it a value, or leave it out")
        values[key.lower()] = value
    return values
