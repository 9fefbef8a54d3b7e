# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A Slurm of its own on an emulated cluster: munged, slurmctld and a slurmd for each host, in the testbed's namespaces.

As a script it runs inside the testbed: it starts the daemons and then runs the commands that it reads. All of it ends
with the testbed, however that ends: the daemons are processes of its process namespace.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hocket import Network

DAEMONS = ("munged", "slurmctld", "slurmd")
COMMANDS = ("srun", "sbatch", "sinfo", "squeue")
_ADMINISTRATORS = "/usr/local/sbin:/usr/sbin:/sbin"
_START_LIMIT_S = 60.0
_CPUS = 8  # that a host says it has: as many ranks may be on it, however few cores this machine has

_CONFIGURATION = """\
ClusterName=hocket
SlurmctldHost={controller}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=1
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
KillWait=2
NodeName={hosts} CPUs={cpus} RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP MaxTime=INFINITE
"""


def missing() -> str:
    """What of Slurm this machine does not have; empty if all is there."""
    path = f"{os.environ.get('PATH', os.defpath)}:{_ADMINISTRATORS}"
    absent = [name for name in (*DAEMONS, *COMMANDS) if shutil.which(name, path=path) is None]
    return "" if not absent else f"{', '.join(absent)} not found (Debian: slurmctld slurmd slurm-client munge)"


@dataclass(frozen=True)
class Ran:
    returncode: int
    stdout: str
    stderr: str


class SlurmCluster:
    """`with SlurmCluster(network, folder) as slurm: slurm.run(["srun", ...])`. Commands run on the host of rank 0."""

    def __init__(self, network: Network, folder: Path) -> None:
        """`folder`: an empty one for configuration, state and logs; its path must be short enough for a socket."""
        from hocket.testbed import Testbed

        self._folder = folder
        self._bed = Testbed(network)
        hosts = self._bed.hosts
        text = _CONFIGURATION.format(controller=hosts[0], folder=folder, hosts=",".join(hosts), cpus=_CPUS)
        (folder / "slurm.conf").write_text(text)
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
        # Each host has a folder for temporary files of its own there.
        (folder / "mpi.conf").write_text("PMIxCliTmpDirBase=/dev/shm/tmp\n")
        key = folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(128))
        self.hosts = hosts
        self._errors = (folder / "inside.log").open("w+b")
        input_read, input_write = os.pipe()
        output_read, output_write = os.pipe()
        self._requests: IO[str] = os.fdopen(input_write, "w")
        self._answers: IO[str] = os.fdopen(output_read)
        entry, output = os.fdopen(input_read, "rb"), os.fdopen(output_write, "wb")

        def serve() -> None:
            with entry, output:
                command = [sys.executable, "-P", str(Path(__file__)), str(folder), *hosts]
                self._bed.run(command, env={"SLURM_CONF": f"{folder}/slurm.conf"}, files=(entry, output, self._errors))

        self._thread = threading.Thread(target=serve, daemon=True)
        self._thread.start()
        try:
            self._answer()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> SlurmCluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._requests.close()  # the script ends, and with it all that is inside
        self._thread.join(timeout=1)  # unless a command runs
        self._bed.close()
        self._answers.close()
        self._errors.close()

    def run(
        self,
        command: list[str],
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 100.0,
    ) -> Ran:
        request = {
            "command": [str(word) for word in command],
            "folder": str(cwd or self._folder),
            "environment": dict(env or {}),
            "timeout": timeout,
        }
        print(json.dumps(request), file=self._requests, flush=True)
        return Ran(**self._answer())

    def logs(self) -> str:
        """The last lines of what the daemons have written, for the message of a test that fails."""
        parts = []
        for path in sorted(self._folder.glob("*.log")):
            parts += [f"== {path.name}", *path.read_text(errors="replace").splitlines()[-15:]]
        return "\n".join(parts)

    def _answer(self) -> dict[str, Any]:
        line = self._answers.readline()
        if not line:
            raise RuntimeError(f"Slurm has ended, or did not start:\n{self.logs()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _inside(folder: Path, hosts: list[str]) -> None:
    """Starts the daemons, answers that they are ready, and runs one command for each line of standard input."""
    # Where ranks go is the batch system's matter here, not the testbed's.
    names = ("HOST_FILE", "_hostfile", "mapping_policy", "HYDRA_LAUNCHER", "_agent")
    environment = {name: value for name, value in os.environ.items() if not any(part in name for part in names)}
    environment["PATH"] += f":{_ADMINISTRATORS}"

    def start(*command: str) -> subprocess.Popen[bytes]:
        with open(os.devnull, "rb") as nothing:
            return subprocess.Popen(command, stdin=nothing, stdout=sys.stderr, env=environment)

    (folder / "state").mkdir()
    start(
        "munged", "--foreground", "--force", f"--socket={folder}/munge.socket", f"--key-file={folder}/munge.key",
        f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed",
    )  # fmt: skip
    while not (folder / "munge.socket").exists():
        time.sleep(0.01)
    start("slurmctld", "-D")
    for host in hosts:
        (folder / f"spool-{host}").mkdir()
        start("ssh", host, f"exec slurmd -D -N {host}")
    end_s = time.monotonic() + _START_LIMIT_S
    while time.monotonic() < end_s:
        command = ["sinfo", "--noheader", "--states=idle", "--format=%D"]
        ready = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if ready.stdout.strip() == str(len(hosts)):
            break
        time.sleep(0.05)
    else:
        sys.exit("the hosts of Slurm did not become idle")
    print("{}", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            done = subprocess.run(
                request["command"], env={**environment, **request["environment"]}, cwd=request["folder"],
                capture_output=True, text=True, errors="replace", check=False, timeout=request["timeout"],
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
            answer = {"returncode": done.returncode, "stdout": done.stdout, "stderr": done.stderr}
        except subprocess.TimeoutExpired as error:
            text = [(part or b"").decode(errors="replace") for part in (error.stdout, error.stderr)]  # type: ignore
            answer = {"returncode": 124, "stdout": text[0], "stderr": text[1]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _inside(Path(sys.argv[1]), sys.argv[2:])
