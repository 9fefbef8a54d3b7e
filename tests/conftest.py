# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The MPIs of this machine as fixtures: every test that takes `mpi` runs once for each of them, or, where it is marked
`one_of_each_family`, with one Open MPI and one MPICH: what it tests does not depend on the version. With
`usually=True` that is so in `make test`, and `make test-long` runs it with all. Where it is marked `in_turns`, each of
its cases runs in `make test` with one of its MPIs, and the next case with the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import hypothesis
import pytest

from forked_cli import ForkedCommands
from hocket.mpi.discover import Mpi
from mpis import ABIS, ALL_MPIS, LIMIT_S, LONG, MPIS, ONE_OF_EACH_FAMILY, ROOT, TURNS, MpiRunner

# A suite that nohup or a shell's background started has these ignored, and so would be all that the tests start.
for _number, _default in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _default)

# What a user has set for programs is not for those of the tests.
for _name in (
    *("PLAN", "NETWORK", "EVIDENCE", "SELF_CHECK", "PROGRESS", "PROGRESS_CORE", "STATISTICS", "SUMMARY", "VERBOSE"),
    *("TRACE", "TRACE_LIMIT", "TRACE_ONLY", "TRACE_WITHOUT", "DEBUG"),
):
    os.environ.pop(f"HOCKET_{_name}", None)
# What one test's job has found is not for the next.
os.environ["HOCKET_DECISIONS"] = ""

hypothesis.settings.register_profile("default", deadline=None, print_blob=True)
hypothesis.settings.register_profile("fuzz", deadline=None, print_blob=True, max_examples=100_000)
hypothesis.settings.load_profile("default")


def pytest_report_header() -> list[str]:
    lines = [f"MPI: {mpi.name} ({mpi.source}, {mpi.mpicc}){'' if mpi in MPIS else ': NOT RUN'}" for mpi in ALL_MPIS]
    lines += [f"MPI: {abi.name}{'' if abi in MPIS else ': tests/mpi/test_standard_abi.py alone'}" for abi in ABIS]
    return lines or ["MPI: none found; tests that need one are skipped"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "mpi" in metafunc.fixturenames:
        none = pytest.param(None, marks=pytest.mark.skip("no MPI was found on this machine"), id="no-mpi")
        marker = metafunc.definition.get_closest_marker("one_of_each_family")
        few = marker is not None and not (LONG and marker.kwargs.get("usually"))
        mpis = ONE_OF_EACH_FAMILY if few else MPIS
        metafunc.parametrize("mpi", [pytest.param(m, id=m.label) for m in mpis] or [none], scope="session")


@pytest.hookimpl(trylast=True)  # after pytest has grouped the tests by MPI
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if left_out := set() if LONG else set(not_their_turn(items)):
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: item.get_closest_marker("begins_early") is None)


def not_their_turn(items: list[pytest.Item]) -> list[pytest.Item]:
    """What is left out of the tests that are marked `in_turns`: each case keeps one MPI, the next case the next one.

    So a test of four cases runs with four MPIs, and one of two cases with both families. A test of one case keeps half
    of its MPIs. What is there with one MPI alone stays.
    """
    tests: dict[str, dict[str, dict[str, pytest.Item]]] = defaultdict(lambda: defaultdict(dict))
    for item in items:
        callspec, marker = getattr(item, "callspec", None), item.get_closest_marker("in_turns")
        mpi = callspec.params.get("mpi") if callspec and marker and marker.args != (False,) else None
        if mpi is not None:
            tests[item.nodeid.partition("[")[0]][item.nodeid.replace(mpi.label, "")][mpi.label] = item
    left_out = []
    for test, cases in tests.items():
        # In the order of a checksum, so that no parameter goes along with the turns.
        for turn, name in enumerate(sorted(cases, key=_checksum), _checksum(test)):
            labels = [mpi.label for mpi in TURNS if mpi.label in cases[name]]
            half = len(labels) // 2
            kept = labels[turn % len(labels) :][:1]
            if len(cases) == 1 < len(labels):
                kept = labels[half:] if turn % 2 else labels[:half]
            left_out += [item for label, item in cases[name].items() if label not in kept]
    return left_out


def _checksum(name: str) -> int:
    return zlib.crc32(name.encode())


@pytest.fixture(autouse=True)
def without_a_second_of_sleep(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In each start of Open MPI 5. In a file, which what a testbed or a test sets in the environment goes before.

    And where ranks of Open MPI 4 fail, whose launcher gives the others a second before it kills them.
    """
    mpi = request.getfixturevalue("mpi") if "mpi" in request.fixturenames else None
    if mpi is not None and mpi.family == "openmpi" and mpi.major >= 5:
        monkeypatch.setenv("OMPI_MCA_mca_base_param_files", str(ROOT / "tests/openmpi-mca-params.conf"))
    elif mpi is not None and mpi.family == "openmpi":
        monkeypatch.setenv("OMPI_MCA_odls_base_sigkill_timeout", "0")


@pytest.fixture(scope="session", autouse=True)
def temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """$TMPDIR: what launchers and tools leave there goes with pytest's own folders. hocket leaves no folder."""
    folder = tmp_path_factory.mktemp("tmp")
    with pytest.MonkeyPatch.context() as changes:
        changes.setenv("TMPDIR", str(folder))
        changes.setattr(tempfile, "tempdir", None)
        yield folder
    assert [path.name for path in folder.glob("*hocket-*") if path.is_dir()] == []


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all workers of a run."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "compiled"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def runner(mpi: Mpi, tmp_path: Path, compiled: Path) -> MpiRunner:
    return MpiRunner(mpi, tmp_path, compiled)


@pytest.fixture(scope="session")
def forked_commands() -> Iterator[ForkedCommands]:
    commands = ForkedCommands()
    yield commands
    commands.close()


@pytest.fixture
def hocket_cli(tmp_path: Path, forked_commands: ForkedCommands) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command `hocket` in a folder of its own."""

    def call(
        *arguments: str | Path, env: Mapping[str, str] | None = None, timeout: float = LIMIT_S, stdin: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        words = [str(word) for word in arguments]
        return forked_commands.run(words, tmp_path, {**os.environ, **(env or {})}, timeout, stdin)

    return call
