# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The examples of the documentation: commands parse and the cheap ones run, files are read, every key is named."""

from __future__ import annotations

import dataclasses
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from hocket.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = ("simulate", "cost", "doctor", "--help", "--version")  # these need no MPI program and take a second or two


def _blocks(page: Path, language: str) -> list[str]:
    blocks = re.findall(rf"^( *)```{language}\n(.*?)^\1```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [re.sub(rf"^{indent}", "", text, flags=re.MULTILINE) for indent, text in blocks]


def _commands() -> list[tuple[str, str]]:
    lines = [
        (page.name, line.removeprefix("$ "))
        for page in PAGES
        for block in _blocks(page, "console")
        for line in block.replace("\\\n", " ").splitlines()
        if line.startswith("$ ")
    ]
    inline = [
        (page.name, text)
        for page in PAGES
        for text in re.findall(r"`(hocket [^`]*)`", re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL))
    ]
    return list(dict.fromkeys(lines + inline))


COMMANDS = _commands()
HOCKET = [(page, command) for page, command in COMMANDS if command.startswith("hocket ")]
BARE = {"hocket simulate", "hocket cost"}  # verbs that the text names
CHEAP = sorted({c for _, c in HOCKET if shlex.split(c)[1] in RUN and " -o " not in c} - BARE)


@pytest.mark.parametrize(("target", "told"), [("build", True), ("demo", False)])
def test_only_make_build_says_what_comes_next(target: str, told: bool) -> None:
    done = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ("built: .venv/bin/hocket; next: make demo or make test" in done.stdout) == told


def test_documents_show_commands() -> None:
    assert len(HOCKET) > 15


@pytest.mark.parametrize(("page", "command"), HOCKET)
def test_every_command_parses(page: str, command: str) -> None:
    """The verb exists and knows every option that is used."""
    words = shlex.split(command)[1:]
    own = words[: words.index("--")] if "--" in words else words
    group: click.Command = cli
    while isinstance(group, click.Group) and own and not own[0].startswith("-"):
        found = group.get_command(click.Context(group), own.pop(0))
        assert found is not None, f"{page}: {command}: no such command"
        group = found
    known = {name for parameter in group.params for name in (*parameter.opts, *parameter.secondary_opts)}
    used = {word.split("=")[0] for word in own if word.startswith("-")} - {"--help", "--version"}
    assert used <= known, f"{page}: {command}: unknown {used - known}"


@pytest.mark.parametrize("command", CHEAP)
def test_cheap_commands_run(command: str, hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    for folder in ("networks", "examples"):  # what a command writes stays out of the project
        (tmp_path / folder).symlink_to(ROOT / folder)
    result = hocket_cli(*shlex.split(command)[1:])
    assert result.returncode == 0, result.stderr
    assert result.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_exist(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    for name, command in COMMANDS:
        if name == page.name and command.startswith("make "):
            assert re.search(rf"^{command.split()[1]}:", makefile, re.MULTILINE), command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_network_examples_are_read(page: Path) -> None:
    from hocket import Network

    for block in _blocks(page, "toml"):
        if "hocket.network/1" in block:
            assert Network.from_text(block, page.name).num_ranks > 0


def test_goal_example_is_read() -> None:
    from hocket import Program

    (example,) = _blocks(ROOT / "docs/reference/schedule-format.md", "goal")
    program = Program.from_goal(example, "schedule-format.md")
    assert [op.kind for op in program.ops(0)] == ["compute", "send"]
    assert program.ops(0)[0].seconds == pytest.approx(100e-9)


def test_python_examples_of_the_simulation_run() -> None:
    names: dict[str, object] = {}
    for block in _blocks(ROOT / "docs/how-to/simulate.md", "python"):
        exec(block.replace("32x32x64", "2x2x4"), names)
    assert names["result"]


def test_every_key_is_documented() -> None:
    from hocket.plan import Evidence, Plan, PlanEntry
    from hocket.report import result, timeline
    from hocket.traces.trace import META_KEYS

    pages = (ROOT / "docs/reference").glob("*-format.md")
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    classes = (
        result.Result, result.ProgramResult, result.CollectiveResult, result.TimelineFiles, result.LinkBytes,
        timeline.TimelineData, timeline.Bars, timeline.TimelineLink,
    )  # fmt: skip
    keys = {field.name for cls in classes for field in dataclasses.fields(cls)} | set(META_KEYS)
    keys |= {name for cls in (Evidence, Plan, PlanEntry) for name in vars(cls) if isinstance(vars(cls)[name], property)}
    assert {key for key in keys if f"`{key}`" not in text} == set()


def test_cited_keys_are_in_the_bibliography() -> None:
    keys = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs/literature.bib").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        cited = set(re.findall(r"\[([A-Z][A-Za-z]+\d\d)\](?!\()", page.read_text(encoding="utf-8")))
        assert cited <= keys, f"{page.name}: {cited - keys}"
