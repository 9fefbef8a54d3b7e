#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Writes a man page for each command, by click-man, and completion for bash, zsh and fish.

tools/manuals.py FOLDER    man1/hocket*.1 and completion/hocket.{bash,zsh,fish}
"""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click.shell_completion import get_completion_class
from click_man.core import write_man_pages

from hocket import __version__
from hocket.cli.main import cli


def main(folder: Path) -> None:
    man, completion = folder / "man1", folder / "completion"
    for one in (man, completion):
        one.mkdir(parents=True, exist_ok=True)
    assert isinstance(cli, click.Group)
    for name in cli.list_commands(click.Context(cli)):  # click-man sees only commands that are loaded
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        cli.add_command(command, name)
    write_man_pages("hocket", cli, version=__version__, target_dir=str(man))
    for shell in ("bash", "zsh", "fish"):
        found = get_completion_class(shell)
        assert found is not None
        script = found(cli, {}, "hocket", "_HOCKET_COMPLETE").source()
        (completion / f"hocket.{shell}").write_text(script + "\n", encoding="utf-8")
    print(f"{len(list(man.glob('*.1')))} man pages and 3 files for shells in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
