# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket bench new`."""

from __future__ import annotations

from pathlib import Path

import click

from hocket.cli.common import json_option, print_json


@click.command()
@click.argument("name")
@click.option(
    "--language", type=click.Choice(["c", "c++", "fortran", "steps"]), default="c", show_default=True,
    help="steps: a suite that needs no code.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=Path(), help="The folder for it.  [default: this one]"
)
@json_option
def new(name: str, language: str, output: Path, as_json: bool) -> None:
    """Write a benchmark of your own, which compiles and can be measured: change it then.

    NAME becomes a folder with the pattern, a suite and a Makefile. The pattern sends a message to the next rank.

    \b
    Examples:
      hocket bench new halo
      hocket bench new halo --language fortran
    """
    from hocket.bench.template.request import TemplateRequest, run

    done = run(TemplateRequest(name, language, output))
    if as_json:
        print_json(done.values)
        return
    click.echo(f"{done.folder}: {', '.join(done.files)}")
    for command in done.commands:
        click.echo(f"  {command}")
