# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The layers as data. What breaks a rule here is changed, or the rule is, with a reason."""

from __future__ import annotations

Levels = tuple[tuple[str, ...], ...]

# A module of src/hocket includes modules of lower levels only, and itself.
CORE_LEVELS: Levels = (
    ("base",),
    ("network", "schedule", "program", "trace", "traffic"),
    ("collectives", "patterns", "lowering", "cost"),
    ("plan",),
    ("decision",),
    ("simulation", "replay"),
    ("analysis", "circuits", "interop"),
    ("search",),
)

# What only one module reads and writes; its name stands nowhere else in code.
ONE_HOME = (("hocket.plan/", "src/hocket/plan", "the format of a Plan"),)

# OpenMP is for these modules' .cpp files only, and for the computation that a benchmark runs beside communication.
MAY_USE_OPENMP = ("simulation", "search")
COMPUTES_WITH_OPENMP = "mpi/probes/overlap_compute.cpp"

# A folder of mpi/ includes itself and these folders of mpi/.
MPI_MAY_INCLUDE: dict[str, tuple[str, ...]] = {
    "include": (),
    "workaround": (),
    "site": (),
    "record": ("common",),
    "common": (),
    "selection": (),
    "runtime": ("common", "include", "selection"),
    "interpose": ("common", "runtime", "selection"),
    "probes": ("common", "include", "interpose", "runtime"),
    "bench": ("common", "include"),
    "fortran": ("include",),
    "coarrays": ("include",),
}
# What all of them may use of the core. mpi/CMakeLists.txt compiles just these.
MPI_MAY_USE = ("base", "collectives", "cost", "decision", "network", "plan", "program", "schedule", "trace")
# Includes of this folder are generated in the build folder.
GENERATED = "pmpi/"

# A module or package of python/hocket imports those of lower levels only, and itself. The package `hocket` itself,
# which hands on names of the core, is imported everywhere. A name with a dot is a module with a level of its own.
PYTHON_LEVELS: Levels = (
    ("errors",),
    ("_core", "io", "reporter"),
    ("formats", "networks", "plan", "requests"),
    ("schedules", "traces"),
    ("circuits", "interop.programs", "interop.sources"),
    ("interop.schedules", "search", "simulation"),
    ("interop.traces",),
    ("advise", "report"),
    ("cost", "interop", "simulation.record"),
    (
        "advise.request",
        "networks.request",
        "schedules.request",
        "simulation.jobs",
        "simulation.request",
        "traces.analysis_request",
    ),
    ("mpi", "testbed"),  # the machine: nothing below starts a program
    ("doctor", "measure", "rewrite", "site", "testbed.request", "traces.recording"),
    ("tune.shared_cores",),  # its warnings are calibrate's too
    ("calibrate",),
    ("tune",),
    ("bench",),
    ("sweep",),
    ("cli",),
    ("__main__",),
)
# These start without the core, and may import no more than this.
PYTHON_MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "mpi": ("errors", "io"),
    "testbed": ("errors", "io"),
}


def level_of(levels: Levels) -> dict[str, int]:
    return {name: level for level, names in enumerate(levels) for name in names}
