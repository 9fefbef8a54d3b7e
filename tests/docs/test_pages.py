# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The pages of the documentation: links and anchors resolve, pages and lines are short, every verb has its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from hocket.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
KINDS = ("tutorial", "how-to", "reference", "explanation")
GUIDE = [page for kind in KINDS for page in sorted((DOCS / kind).glob("*.md"))]
MADE = {"build", "node_modules"}  # folders of files that are not of the repository; so are those with a leading dot
LINK = re.compile(r"\]\(([^)\s]+)\)")
FORMAT = re.compile(r"\b(hocket\.[a-z-]+)/(\d+)")
URL = re.compile(r"https?://\S+")
VERB = re.compile(r"^(?:\$ )?hocket ((?:[a-z]+ ?)+)")


def _pages() -> list[Path]:
    def of_repository(path: Path) -> bool:
        folders = path.relative_to(ROOT).parts[:-1]
        return not any(folder in MADE or folder.startswith(".") for folder in folders)

    return sorted(path for path in ROOT.rglob("*.md") if of_repository(path))


PAGES = _pages()


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def prose(text: str) -> str:
    """The text without blocks of code, whose lines stay as empty ones."""
    lines, fence = [], ""
    for line in text.splitlines():
        mark = re.match(r" *(```+)", line)
        if mark and not fence:
            fence = mark[1]
        elif fence:
            fence = "" if line.strip() == fence else fence
            line = ""
        lines.append("" if mark else line)
    return "".join(f"{line}\n" for line in lines)


def anchors(text: str) -> set[str]:
    """Of the headings, as GitHub names them: a repeated one gets a number."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE):
        anchor = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        number = 1
        while (name := anchor if number == 1 else f"{anchor}-{number - 1}") in found:
            number += 1
        found.add(name)
    return found


def wrong_links(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8")
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", prose(text))):
        if URL.match(target):
            continue
        name, _, anchor = target.partition("#")
        other = page.parent / name if name else page
        if not other.exists():
            yield f"{target}: no such file"
        elif anchor and anchor not in anchors(other.read_text(encoding="utf-8")):
            yield f"{target}: no such heading"


def long_lines(text: str) -> list[str]:
    lines = (line for line in prose(text).splitlines() if not line.lstrip().startswith("|"))
    return [line for line in lines if len(URL.sub("", line)) > 120]


def _verbs(group: click.Group, before: str = "") -> Iterator[str]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from _verbs(command, f"{before}{name} ")
        else:
            yield before + name


VERBS = set(_verbs(cli))


def named_verbs(text: str) -> set[str]:
    """The words behind `hocket` in code; those that follow a verb are cut off."""
    blocks = [line for line, rest in zip(text.splitlines(), prose(text).splitlines(), strict=True) if not rest]
    code = re.findall(r"`(hocket [^`]+)`", prose(text)) + blocks
    found = set()
    for line in code:
        if words := VERB.match(line.strip()):
            parts = words[1].split()
            known = [" ".join(parts[:n]) for n in range(1, len(parts) + 1) if " ".join(parts[:n]) in VERBS]
            groups = {verb.split()[0] for verb in VERBS if " " in verb}
            found.add(known[0] if known else " ".join(parts[: 2 if parts[0] in groups else 1]))
    return found


def test_the_checks_can_fail(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A `b`: c\n\n[x](no.md) [x](#a-b-c) [x](#d) `[x](y)`\n\n```\n# d\n[x](z)\n```\n")
    assert list(wrong_links(page)) == ["no.md: no such file", "#d: no such heading"]
    assert anchors("# A\n## A\n") == {"a", "a-1"}
    text = "\n".join(["x " * 61, "| " + "x " * 61, "https://" + "x" * 120, "```", "x " * 61, "```", "y " * 61])
    assert long_lines(text) == ["x " * 61, "y " * 61]
    text = (
        "hocket says\n`hocket juggle now`\n```\n$ hocket network show a\nhocket network juggle b\n```\n`hocket run -h`"
    )
    assert named_verbs(text) - VERBS == {"juggle", "network juggle"}


def test_there_are_pages() -> None:
    assert {"README.md", "CHANGELOG.md", "docs/notebook/index.md"} <= set(map(_name, PAGES))
    assert len(GUIDE) > 20


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_and_anchors_resolve(page: Path) -> None:
    assert list(wrong_links(page)) == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_lines_have_at_most_120_columns(page: Path) -> None:
    assert long_lines(page.read_text(encoding="utf-8")) == []


def test_pages_of_the_guide_are_short() -> None:
    lines = {_name(page): len(page.read_text(encoding="utf-8").splitlines()) for page in GUIDE}
    assert {name: number for name, number in lines.items() if number > 150} == {}


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=_name)
def test_named_verbs_exist(page: Path) -> None:
    groups = {verb.split()[0] for verb in VERBS if " " in verb}
    assert named_verbs(page.read_text(encoding="utf-8")) - VERBS - groups == set()


def test_every_verb_is_in_the_reference() -> None:
    rows = re.findall(r"^\| `hocket ([a-z ]+)` \|", (DOCS / "reference/commands.md").read_text(encoding="utf-8"), re.M)
    assert sorted(rows) == sorted(VERBS)


def test_every_page_is_in_the_navigation() -> None:
    def pages(entry: object) -> Iterator[str]:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, dict | list):
            for part in entry.values() if isinstance(entry, dict) else entry:
                yield from pages(part)

    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert sorted(pages(navigation)) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def test_every_format_has_a_row_on_its_page() -> None:
    """Of each format the version that is written: pages of their own name the earlier ones that are read."""
    sources = [path for kind in ("python/hocket", "src", "mpi") for path in (ROOT / kind).rglob("*") if path.is_file()]
    versions: dict[str, int] = {}
    for path in sources:
        if path.suffix in {".py", ".cpp", ".hpp", ".h", ".c", ".json"}:
            for name, version in FORMAT.findall(path.read_text(encoding="utf-8")):
                versions[name] = max(versions.get(name, 0), int(version))
    assert len(versions) > 20
    page = (DOCS / "reference/formats.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert {(name, int(version)) for row in rows for name, version in FORMAT.findall(row)} == set(versions.items())
