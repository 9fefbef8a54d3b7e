# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What this machine has, found by trying it, and which of hocket's jobs will therefore work."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hocket import __version__
from hocket.mpi.build import built_mpi_parts, cmake_program
from hocket.mpi.cache import cache_folder
from hocket.mpi.discover import INSTALL_HINT, examine_mpis
from hocket.mpi.launch import num_slots

# Run in a process of its own, since it cannot come back from the namespaces that it enters.
_TRY_TESTBED = """
import json, os
from pyroute2 import IPRoute
from hocket.testbed import namespaces as ns
result = {"as": "root", "veth": False, "bridge": False, "tbf": False, "netem": False, "refused": ""}
user, group = os.geteuid(), os.getegid()
def enter():
    global result
    flags = ns.NEW_NET | ns.NEW_MOUNT | ns.NEW_UTS | ns.NEW_PID | ns.NEW_IPC
    try:
        if user != 0:
            raise PermissionError
        ns.unshare(flags)
    except PermissionError:
        result["as"] = "user namespace"
        ns.unshare(flags | ns.NEW_USER)
        ns.become_root_of_user_namespace(user, group)
def attempt(what, action):
    try:
        action()
        result[what] = True
    except Exception as error:
        result["refused"] = f"{what}: {error}"
try:
    enter()
except OSError as error:
    result["as"], result["refused"] = "nobody", f"namespaces: {error.strerror or error}"
else:
    with IPRoute() as netlink:
        attempt("bridge", lambda: netlink.link("add", ifname="hk-b", kind="bridge"))
        attempt("veth", lambda: netlink.link("add", ifname="hk-0", kind="veth", peer="hk-1"))
        if result["veth"]:
            first, second = (netlink.link_lookup(ifname=name)[0] for name in ("hk-0", "hk-1"))
            attempt("tbf", lambda: netlink.tc("add", "tbf", first, 0x10000, rate=10**7, burst=3028, limit=10**6))
            refused = result["refused"]
            attempt("netem", lambda: netlink.tc("add", "netem", second, 0x10000, delay=100))
            result["refused"] = refused  # a missing netem costs latencies only
print(json.dumps(result))
"""


def examine() -> dict[str, Any]:
    """A plain dictionary: "machine", "mpis", "broken_mpis", "tools", "testbed", "works" (job -> "yes" or why not)."""
    with ThreadPoolExecutor() as pool:
        testbed = pool.submit(_testbed)
        versions = {name: pool.submit(_version, find) for name, find in _TOOLS.items()}
        working, broken = examine_mpis()
        mpis = [
            {
                "name": mpi.name,
                "source": mpi.source,
                "mpicc": str(mpi.mpicc),
                "mpiexec": str(mpi.mpiexec),
                "fortran": str(mpi.mpifort) if mpi.mpifort else None,
                "parts": str(parts.folder) if (parts := built_mpi_parts(mpi)) else None,
            }
            for mpi in working
        ]
        result: dict[str, Any] = {
            "hocket": __version__,
            "machine": {
                "system": _system(),
                "python": platform.python_version(),
                "cores": num_slots(),
                "hardware_threads": len(os.sched_getaffinity(0)),
                "user": "root" if os.geteuid() == 0 else "ordinary user",
                "cache": str(cache_folder()),
            },
            "mpis": mpis,
            "broken_mpis": [error.message for error in broken],
            "tools": {name: version.result() for name, version in versions.items()},
            "testbed": testbed.result(),
        }
    return {**result, "works": _works(result)}


def _works(found: dict[str, Any]) -> dict[str, str]:
    tools, testbed = found["tools"], found["testbed"]
    missing = [name for name in ("C compiler", "C++ compiler", "cmake") if tools[name] is None]
    if tools["ninja"] is None and tools["make"] is None:
        missing.append("ninja or make")
    built = [mpi["name"] for mpi in found["mpis"] if mpi["parts"]]
    others = [mpi["name"] for mpi in found["mpis"] if not mpi["parts"]]
    if not found["mpis"] and found["broken_mpis"]:
        programs = f"no: no MPI can be used: {found['broken_mpis'][0].splitlines()[0]}"
    elif not found["mpis"]:
        programs = f"no: no MPI was found; {INSTALL_HINT}"
    elif missing and not built:
        programs = f"no: missing {', '.join(missing)}; as root: apt-get install g++ make; pip install 'hocket[mpi]'"
    elif missing and others:
        programs = f"yes, with {', '.join(built)}; {', '.join(others)} would need {', '.join(missing)}"
    else:
        programs = "yes"
    if testbed["veth"] and testbed["bridge"] and testbed["tbf"]:
        emulated = f"yes, as {testbed['as']}" + (
            "" if testbed["netem"] else "; without latencies: this kernel lacks sch_netem"
        )
    else:
        emulated = f"no: {testbed['refused']}"
    fortran = [mpi["name"] for mpi in found["mpis"] if mpi["fortran"]]
    return {
        "record, run, tune": programs,
        "testbed": emulated,
        "demo": programs
        if not programs.startswith("yes") or emulated.startswith("yes")
        else "on this machine's own network: testbed does not work",
        "compile Fortran programs": f"yes, with {', '.join(fortran)}"
        if fortran and tools["Fortran compiler"]
        else "no",
    }


def _first_line(command: list[str]) -> str | None:
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = result.stdout.splitlines()
    return lines[0] if result.returncode == 0 and lines else None


def _version(find: Callable[[], str | None]) -> str | None:
    program = find()
    return _first_line([program, "--version"]) if program else None


_TOOLS: dict[str, Callable[[], str | None]] = {
    "C compiler": lambda: shutil.which(os.environ.get("CC", "cc")),
    "C++ compiler": lambda: shutil.which(os.environ.get("CXX", "c++")),
    "Fortran compiler": lambda: shutil.which(os.environ.get("FC", "gfortran")),
    "cmake": lambda: str(cmake_program() or "") or None,
    "ninja": lambda: shutil.which("ninja", path=f"{os.path.dirname(sys.executable)}:{os.environ.get('PATH', '')}"),
    "make": lambda: shutil.which("make"),
}


def _testbed() -> dict[str, Any]:
    try:
        command = [sys.executable, "-c", _TRY_TESTBED]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
        found: dict[str, Any] = json.loads(result.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        lines = result.stderr.strip().splitlines() if "result" in locals() else []
        reason = lines[-1] if lines else "the attempt gave no answer"
        return {"as": "nobody", "veth": False, "bridge": False, "tbf": False, "netem": False, "refused": reason}
    return found


def _system() -> str:
    try:
        return f"{platform.freedesktop_os_release()['PRETTY_NAME']}, Linux {platform.release()}"
    except (OSError, KeyError):
        return f"{platform.system()} {platform.release()}"
