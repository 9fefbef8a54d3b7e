# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""hocket report: one HTML file from a result folder."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write.  [default: FOLDER/report.html]")
def command(folder: Path, output: Path | None) -> None:
    """Write one self-contained HTML file from a result folder.

    FOLDER is what `hocket tune` has written. The page loads nothing from the network.

    \b
    Example:
      hocket report hocket-result -o kmeans.html
    """
    from hocket.report import write_report

    click.echo(write_report(folder, output))
