# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket bench items`."""

from __future__ import annotations

import click

from hocket.cli.common import json_option, print_json, print_table
from hocket.cli.reporter import TerminalReporter


@click.command()
@click.argument("word", default="")
@json_option
def items(word: str, as_json: bool) -> None:
    """List what suites can measure: the items, their options, and the usual value of each option.

    WORD: only items with it in their name or their description.

    \b
    Examples:
      hocket bench items
      hocket bench items neighbor
    """
    from hocket.bench.mpi.request import ItemsRequest, ItemsResult
    from hocket.bench.mpi.request import run as run_request

    found = run_request(ItemsRequest(word), TerminalReporter())
    assert isinstance(found, ItemsResult)
    if as_json:
        print_json(found.values)
        return
    rows = [
        (
            item["item"],
            " ".join(f"{one['name']}={one['accepted'] or 'NUMBER'} ({one['usual']})" for one in item["options"]),
            item["measures"],
        )
        for item in found.items
    ]
    print_table(("item", "options (usual)", "measures"), rows)
    numbered = ", ".join(f"{name} {count}" for name, count in found.numbered.items() if count)
    click.echo(f"{len(rows)} items. Numbered items of the suites that come along: {numbered}")
