# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Tasks that measure have their host alone, whichever process runs the others."""

from __future__ import annotations

import multiprocessing
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest

from hocket.requests import KINDS, class_of
from hocket.sweep import alone
from hocket.sweep.alone import MEASURES, is_busy, measures, on_host
from mpis import LIMIT_S


@pytest.fixture(autouse=True)
def own_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def run_tasks(seed: int, others: Any, here: Any, wrong: Any) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        is_alone = chance.random() < 0.3
        with on_host(is_alone):
            if here.value or (is_alone and others.value):
                wrong.value += 1
            counter = here if is_alone else others
            with counter.get_lock():
                counter.value += 1
            for _ in range(chance.randrange(3000)):
                pass
            if (is_alone and (others.value or here.value != 1)) or (not is_alone and here.value):
                wrong.value += 1
            with counter.get_lock():
                counter.value -= 1


def test_nothing_runs_beside_what_measures() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    context = multiprocessing.get_context("fork")
    others, here, wrong = (context.Value("i", 0) for _ in range(3))
    processes = [context.Process(target=run_tasks, args=(seed + one, others, here, wrong)) for one in range(4)]
    for one in processes:
        one.start()
    for one in processes:
        one.join(LIMIT_S)
        assert one.exitcode == 0
    assert wrong.value == 0
    assert not is_busy()


def test_busy_is_what_one_who_measures_waits_for() -> None:
    for is_alone in (True, False):
        with on_host(is_alone):
            assert is_busy()
        assert not is_busy()


def test_requests_that_start_programs_measure() -> None:
    assert set(KINDS) >= MEASURES
    for kind in ("bench-run", "bench-fidelity", "tune"):
        assert measures(object.__new__(class_of(kind)))
    assert not measures(object.__new__(class_of("simulate")))
    assert alone.measures(object.__new__(class_of("record")))
