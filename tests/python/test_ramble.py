# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The shipped experiment of Ramble, which is on no package registry: what can be checked without it."""

from __future__ import annotations

import ast
import csv
import io
import re

import yaml
from click.testing import CliRunner

import bench_samples
from hocket.bench.mpi.summary import BenchResult
from hocket.bench.mpi.tables import csv_text
from hocket.cli.main import cli
from mpis import ROOT

FOLDER = ROOT / "examples/bench/ramble"
APPLICATION = ast.parse((FOLDER / "applications/hocket-bench/application.py").read_text())


def row_expression() -> str:
    (value,) = (
        node.value
        for node in APPLICATION.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "ROW"
    )
    return ast.literal_eval(value)


def test_each_point_that_was_measured_is_a_figure_of_merit() -> None:
    found = bench_samples.results("mbl2-io")
    del found.chunks[0]
    text = csv_text(BenchResult(found))
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["median_s"]]
    matches = [match for line in text.splitlines() if (match := re.search(row_expression(), line))]
    assert len(matches) == len(rows) == len(found.points) - 1
    for row, match in zip(rows, matches, strict=True):
        for group, column in (("item", "item"), ("bytes", "bytes"), ("ranks", "ranks"), ("options", "options"),
                              ("median", "median_s"), ("low", "low_s"), ("high", "high_s")):  # fmt: skip
            assert match[group] == row[column]


def test_its_commands_are_hockets() -> None:
    calls = [node for node in ast.walk(APPLICATION) if isinstance(node, ast.Call)]
    commands = [call.args[1] for call in calls if isinstance(call.func, ast.Name) and call.func.id == "executable"]
    words = [ast.literal_eval(command).split() for command in commands]
    assert [command[:3] for command in words] == [["hocket", "bench", "run"], ["hocket", "bench", "show"]]
    for command in words:
        known = CliRunner().invoke(cli, [*command[1:3], "--help"]).output
        options = [word for word in command[: command.index("--") if "--" in command else None] if word[0] == "-"]
        assert all(option in known for option in options)


def test_the_experiment_is_of_the_application() -> None:
    settings = yaml.safe_load((FOLDER / "ramble.yaml").read_text())["ramble"]
    (workload,) = settings["applications"]["hocket-bench"]["workloads"]
    assert workload == "suite"
    assert yaml.safe_load((FOLDER / "repo.yaml").read_text()) == {"repo": {"namespace": "hocket"}}
