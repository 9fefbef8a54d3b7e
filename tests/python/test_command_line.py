# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Command lines of mpiexec, srun and flux: ranks, program, hosts, variables, MPI. tests/slurm has the real srun."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hocket.errors import InvalidInput
from hocket.mpi import discover
from hocket.mpi.command_line import num_ranks, option_values, program_index, with_hosts
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import with_preload
from hocket.mpi.of_command import mpi_of_command
from mpis import MpiRunner


@pytest.fixture(autouse=True)
def without_an_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("command", "ranks"),
    [
        ("mpiexec -n 4 ./a", 4),
        ("mpiexec -np 4 ./a : -n 3 ./b", 7),
        ("mpiexec ./a", None),
        ("mpiexec -n 2 true -n 100", 2),
        ("mpiexec true -n 100", None),
        ("mpiexec --oversubscribe true -n 100", None),
        ("mpiexec -n 2 true -n 50 : -n 3 true -n 50", 5),
        ("mpiexec -n 2 true : true", None),
        ("mpiexec -genv A 1 -n 2 true", 2),
        ("mpiexec -genv A=1 -n 2 true", 2),
        ("mpiexec -env A=1 true -n 2", None),
        ("srun --ntasks=8 ./a", 8),
        ("srun --ntasks 8 ./a", 8),
        ("srun --ntasks-per-n 2 -N 4 ./a", 8),
        ("srun -n8 ./a", 8),
        ("srun -ln 8 ./a", 8),
        ("srun -c 4 -n 8 ./a", 8),
        ("srun -n 8 -c4 ./a -n 3", 8),
        ("srun -l -K1 --exclusive -n 8 ./a", 8),
        ("srun -N 4 --ntasks-per-node 2 ./a", 8),
        ("srun -N 4 --ntasks-per-node=2 --ntasks=6 ./a", 6),
        ("srun -N 2-4 --ntasks-per-node 2 ./a", None),
        ("srun --mpi pmi2 -n 2 ./a : -n 3 ./b", 5),
        ("srun ./a", None),
        ("srun -- true -n 3", None),
        ("flux run -n 8 -c 2 ./a", 8),
        ("flux mini run --ntasks=8 ./a : b", 8),
        ("flux run -N 2 --tasks-per-node 3 ./a -n 5", 6),
        ("flux run -xN2 ./a", None),
    ],
)
def test_the_number_of_ranks_of_a_command(command: str, ranks: int | None) -> None:
    assert num_ranks(command.split()) == ranks


@pytest.mark.parametrize("given", ["-n x", "-n 0", "-np -2", "--np 1.5", "-n 99999999999", "-n0", "--np=0"])
def test_what_is_no_number_of_ranks_is_refused(given: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{given}: no number of ranks$"):
        num_ranks(["mpiexec", *given.split(), "./a"])


@pytest.mark.parametrize(
    ("command", "environment", "ranks"),
    [
        ("srun ./a", {"SLURM_NTASKS": "6", "SLURM_NNODES": "3"}, 6),
        ("srun -n 2 ./a", {"SLURM_NTASKS": "6", "SLURM_NNODES": "3"}, 2),
        ("srun --ntasks-per-node=4 ./a", {"SLURM_NNODES": "3"}, 12),
        ("srun ./a", {"SLURM_NNODES": "3", "SLURM_NTASKS_PER_NODE": "2"}, 6),
        ("srun -N 2 --ntasks-per-node=1 ./a", {"SLURM_NTASKS": "6", "SLURM_NNODES": "3"}, 6),
        ("srun -N 2 ./a", {"SLURM_NNODES": "3"}, None),
    ],
)
def test_the_number_of_ranks_in_an_allocation(
    command: str, environment: dict[str, str], ranks: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert num_ranks(command.split()) == ranks


@pytest.mark.parametrize(
    ("command", "at"),
    [
        ("srun -n 2 --label sh -c x", 4),
        ("srun --immediate true sh", 2),
        ("srun -I10 --nice --export=A=1,B sh", 4),
        ("srun --cpu-bind cores -m block sh true", 5),
        ("srun --bcast --x11 --external-launcher --oom-kill-step --stepmgr sh true", 6),
        ("srun --mpi=pmi2 -n2 -- sh", 4),
        ("flux run -n 2 -o cpu-affinity=off --env=A=1 -l sh", 8),
        ("flux mini run sh", 3),
    ],
)
def test_where_the_program_stands(command: str, at: int) -> None:
    assert program_index(command.split()) == at


def test_a_job_that_nobody_waits_for_is_refused() -> None:
    with pytest.raises(InvalidInput, match="flux submit -n") as caught:
        program_index("flux submit -n 2 sh".split())
    assert "flux run" in caught.value.hint


def test_the_hosts_of_each_launcher() -> None:
    assert with_hosts(["mpiexec", "-n", "2"], "b,a", "mpich") == ("mpiexec", "-hosts", "b,a", "-n", "2")
    assert with_hosts(["mpiexec", "-n", "2"], "b,a", "openmpi") == ("mpiexec", "--host", "b,a", "-n", "2")
    changed = with_hosts(["srun", "--mpi=pmi2"], "b,a,b", "mpich")
    assert option_values(changed) == {
        "nodelist": "b,a,b", "distribution": "arbitrary", "nodes": "2", "ntasks": "3", "mpi": "pmi2"
    }  # fmt: skip
    assert option_values(with_hosts(["srun", "-n", "2"], "b,a", "openmpi"))["ntasks"] == "2"
    with pytest.raises(InvalidInput, match="does not apply to flux"):
        with_hosts(["flux", "run"], "a,b", "openmpi")


def started(command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> str:
    """What a stand-in for the launcher, which runs the program once, prints of the program."""
    stand_in = tmp_path / name
    skipped = "shift\n" if name == "flux" else ""
    stand_in.write_text(f'#!/bin/sh\n{skipped}while case $1 in -*) true ;; *) false ;; esac; do shift; done\n"$@"\n')
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("launcher", [["srun", "-n1", "--export=ALL,OWN=1"], ["flux", "run", "-n1", "--env=OWN=1"]])
@pytest.mark.one_of_each_family
def test_a_batch_launcher_gets_the_variables_before_the_program(
    mpi: Mpi, launcher: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, needed = with_preload([*launcher, "sh", "-c", 'echo "$ONE|$0"', "x,y"], mpi, [], {"ONE": "a,b;c d"})
    assert needed == {}
    assert command[: len(launcher)] == launcher
    assert started(command, tmp_path, monkeypatch, launcher[0]) == "a,b;c d|x,y\n"


@pytest.mark.one_of_each_family
def test_what_a_batch_launcher_cannot_pass(mpi: Mpi, tmp_path: Path) -> None:
    library = [Path("/a.so")]
    parts, _ = with_preload("srun -n 1 true a : -n 2 false b".split(), mpi, library, {})
    one = ["env", "LD_PRELOAD=/a.so"]
    assert parts == ["srun", "-n", "1", *one, "true", "a", ":", "-n", "2", *one, "false", "b"]
    whole, _ = with_preload("srun --multi-prog -n 2 conf".split(), mpi, library, {"A": "1"})
    assert whole == ["srun", "--export=ALL,A=1,LD_PRELOAD=/a.so", "--multi-prog", "-n", "2", "conf"]
    for command, message in (
        ("srun --export=ALL,LD_PRELOAD=/b.so true", "sets LD_PRELOAD itself"),
        ("flux run --env=LD_PRELOAD=/b.so true", "sets LD_PRELOAD itself"),
        ("srun --multi-prog --export=ALL conf", "--export and --multi-prog"),
        ("srun -n 2", "names no program"),
    ):
        with pytest.raises(InvalidInput, match=message):
            with_preload(command.split(), mpi, library, {})
    with pytest.raises(InvalidInput, match="it has a comma"):
        with_preload(["srun", "--multi-prog", "conf"], mpi, library, {"A": "1,2"})


@pytest.mark.one_of_each_family
def test_the_mpi_of_a_batch_command(
    mpi: Mpi, runner: MpiRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the program, before $HOCKET_MPICC; else $HOCKET_MPICC's; of nothing at all it is the usual one."""
    started(["true"], tmp_path, monkeypatch, "srun")
    program = runner.compile("#include <mpi.h>\nint main() { return MPI_Init(0, 0); }\n")
    others = [other for other in discover.find_mpis() if other != mpi]
    monkeypatch.delenv("HOCKET_MPICC", raising=False)
    assert mpi_of_command(["srun", "-n", "2", "env", "A=1", str(program)]) == mpi
    assert mpi_of_command(["srun", "-n", "2"]) == discover.find_mpis()[0]
    script = tmp_path / "app.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    if others:
        with pytest.raises(InvalidInput, match="HOCKET_MPICC|no program in"):
            mpi_of_command(["srun", str(script)])
        monkeypatch.setenv("HOCKET_MPICC", str(others[0].mpicc))
        assert mpi_of_command(["srun", str(program)]) == mpi
    monkeypatch.setenv("HOCKET_MPICC", str(mpi.mpicc))
    assert mpi_of_command(["srun", "-n", "2"]).library == mpi.library
    assert mpi_of_command(["srun", "-n", "2", str(script)]).library == mpi.library
    assert mpi_of_command(["srun", "python3", "app.py"]).library == mpi.library
