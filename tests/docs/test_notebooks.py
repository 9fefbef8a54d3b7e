# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The notebooks run from their first cell to their last."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from mpis import LIMIT_S, MPIS

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "examples/notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if path.stem == "tune-a-program" and not MPIS:
        pytest.skip("no MPI was found on this machine")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code"), "clear the outputs"
    resources = {"metadata": {"path": str(tmp_path)}}
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # where it leaves what it has made, to be looked at
    NotebookClient(notebook, timeout=int(LIMIT_S), kernel_name="python3", resources=resources).execute()
    assert any(cell.outputs for cell in notebook.cells if cell.cell_type == "code")
