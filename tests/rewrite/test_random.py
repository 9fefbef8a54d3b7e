# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Random programs keep their results: check_random.py, on a few of them; `make fuzz-rewrite` takes 10,000."""

from __future__ import annotations

import shutil
from pathlib import Path

import check_random
import pytest

from hocket.rewrite import windows
from mpis import LONG

pytestmark = pytest.mark.skipif(shutil.which("gfortran") is None, reason="no gfortran was found")
PROGRAMS = 300 if LONG else 40


@pytest.mark.parametrize(("seed", "in_parts"), [(1, False), (2, True)])
def test_results_stay_and_a_second_rewrite_changes_nothing(seed: int, in_parts: bool, tmp_path: Path) -> None:
    found = check_random.check(seed, PROGRAMS, tmp_path, in_parts)
    print(f"seed {seed}: {found.num_rewritten} of {found.num_calls} calls rewritten, {found.num_split} loops split")
    assert (found.num_parts >= 3) == in_parts
    assert found.wrong == []
    assert not found.unstable
    assert found.num_rewritten > found.num_calls / 4  # otherwise the test says little
    assert found.num_split >= 3


def test_the_check_sees_a_rewriter_that_ignores_dependences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "conflict_of", lambda *_: None)
    assert check_random.check(3, 20, tmp_path).wrong
