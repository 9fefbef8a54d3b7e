# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""One test natively and in the other ways, and what differs."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from outcomes import DOES_NOT_END, NOT_COMPILED, Test, can_be_compared
from slots import Case, Command, Ended
from ways import NATIVE, STATISTICS, Ways

from hocket.mpi.launch import num_slots, with_preload
from hocket.simulation.parallel import available_cores
from hocket.testbed import preload
from mpis import MPICH_SHARING_CORES, ROOT

# A run on a busy machine now and then fails of itself: what differs is run again, and natively too.
MORE_RUNS = 2
# For the launchers of Open MPI 4 and 5.
MORE_PROCESSES_THAN_CORES = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
TIMES_NATIVE = 10  # that another way may take: it has more to start, and the machine may be busier


@dataclass
class Result:
    """The outcomes of a test with one MPI, by way, one for each run, and the output of the first run that differs."""

    mpi: str
    test: str
    outcomes: dict[str, list[str]] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    rerouted: dict[str, int] = field(default_factory=dict)  # calls, by way, in the first run

    @property
    def native(self) -> str:
        return self.outcomes[NATIVE][0]

    def others(self, way: str) -> int:
        """The runs whose outcome was not that of the first native one."""
        return sum(outcome != self.native for outcome in self.outcomes[way])

    def differs(self, way: str) -> bool:
        """Whether its outcome was another one more often than natively."""
        return can_be_compared(self.native) and self.others(way) > self.others(NATIVE)


def compare(
    test: Test, build: Path, ways: Ways, wanted: list[str], time_limit_s: float, keep: Callable[[Result], None]
) -> Case:
    result = Result(ways.mpi.label, test.name)
    if test.words(build) is None:
        result.outcomes[NATIVE] = [NOT_COMPILED]
        keep(result)
        return
    limit_s = max(time_limit_s, test.time_limit_s)
    native = yield from run(test, build, ways, NATIVE, limit_s, result)
    limit_s = max(limit_s, TIMES_NATIVE * native.wall_s)
    for way in wanted if result.native != DOES_NOT_END else ():
        ended = yield from run(test, build, ways, way, limit_s, result)
        if not result.differs(way):
            continue
        result.outputs[way] = ended.output
        for _ in range(MORE_RUNS):
            yield from run(test, build, ways, way, limit_s, result)
            if len(result.outcomes[NATIVE]) <= MORE_RUNS:
                yield from run(test, build, ways, NATIVE, limit_s, result)
    keep(result)


def run(
    test: Test, build: Path, ways: Ways, way: str, limit_s: float, result: Result
) -> Generator[Command, Ended, Ended]:
    with run_folder() as folder:
        ended = yield command(test, build, ways, way, limit_s, folder)
        statistics = folder / STATISTICS
        if statistics.exists() and way not in result.outcomes:
            entries = json.loads(statistics.read_text(encoding="utf-8"))["entries"]
            result.rerouted[way] = sum(entry["rerouted_calls"] for entry in entries)
    result.outcomes.setdefault(way, []).append(test.outcome(ended.status, ended.output))
    return ended


@contextmanager
def run_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="hocket-suite-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def command(test: Test, build: Path, ways: Ways, way: str, limit_s: float, folder: Path) -> Command:
    mpi = ways.mpi
    libraries, variables = ways.settings(way, test.ranks, folder)
    variables = {**dict(test.environment), **variables}
    words = [str(mpi.mpiexec), "-n", str(test.ranks), *(test.words(build) or ())]
    # Where ranks share cores, those that wait give theirs away, in every way alike.
    if mpi.family == "mpich" and test.ranks > available_cores():
        variables = {**MPICH_SHARING_CORES, **variables}
        libraries = [*libraries, preload.library()]
    if mpi.family == "openmpi" and test.ranks > num_slots():
        variables = {"OMPI_MCA_mpi_yield_when_idle": "1", **variables}
    changed, environment = with_preload(words, mpi, libraries, variables)
    if mpi.family == "mpich":
        changed[1:1] = test.launcher_options
    if mpi.family == "openmpi":  # some tests start further processes
        environment |= MORE_PROCESSES_THAN_CORES
    if mpi.family == "openmpi" and mpi.major >= 5:
        environment["OMPI_MCA_mca_base_param_files"] = str(ROOT / "tests/openmpi-mca-params.conf")
    return Command(changed, environment, test.folder_to_run_in(build, folder), limit_s)


@dataclass(frozen=True)
class Explained:
    """A difference that is known and why it stays: patterns of MPIs, ways and tests, as in a shell."""

    mpis: list[str]
    ways: list[str]
    tests: list[str]
    reason: str

    def covers(self, result: Result, way: str) -> bool:
        values = ((self.mpis, result.mpi), (self.ways, way), (self.tests, result.test))
        return all(any(fnmatch(value, pattern) for pattern in patterns) for patterns, value in values)


def read_explained() -> list[Explained]:
    file = Path(__file__).with_name("explained.json")
    return [Explained(**item) for item in json.loads(file.read_text(encoding="utf-8"))]


def reason_for(result: Result, way: str, explained: list[Explained]) -> str | None:
    return next((item.reason for item in explained if item.covers(result, way)), None)


def as_json(result: Result) -> str:
    return json.dumps(asdict(result))
