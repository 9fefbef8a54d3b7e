# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Brings the peers that package registries have into a folder, and builds the drivers. Nothing goes elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIMGRID_VERSION = "4.1"
BOOST_VERSION = "1.85.0.post1"
NS3_VERSION = "3.44.post0"
# What SimGrid's own package switches off too, and no debugging code: its fastest build.
SIMGRID_OPTIONS = [
    *(f"-Denable_{part}=OFF" for part in ("python", "java", "sthread", "fortran", "documentation", "debug")),
    "-Denable_smpi=ON",  # for its replay of traces
    "-Denable_model-checking=OFF",
    "-DCMAKE_BUILD_TYPE=Release",
    "-DCMAKE_CXX_FLAGS_RELEASE=-O3 -DNDEBUG -g0",
    "-DCMAKE_C_FLAGS_RELEASE=-O3 -DNDEBUG -g0",
]


@dataclass(frozen=True)
class Installed:
    """The programs that run a case, by the name of the simulator; and why others are not there."""

    drivers: dict[str, Path]
    missing: dict[str, str]


class Failure(Exception):
    """A step failed; the message says which and where its output is."""


def install(folder: Path) -> Installed:
    """Installs what is not yet there. A peer that fails is missing, with the reason; the others go on."""
    folder.mkdir(parents=True, exist_ok=True)
    options: list[str] = []
    missing: dict[str, str] = {}
    for name, bring in (("SimGrid", bring_simgrid), ("ns-3", bring_ns3)):
        try:
            options += bring(folder)
        except Failure as failure:
            missing[name] = str(failure)
    drivers = build_drivers(folder, options)
    return Installed({name: path for name, path in drivers.items() if name not in missing and path.exists()}, missing)


def bring_simgrid(folder: Path) -> list[str]:
    """SimGrid's library from the sources that its package on PyPI carries, and Boost's headers. Takes some minutes."""
    source, build = folder / f"simgrid-{SIMGRID_VERSION}", folder / "simgrid-build"
    boost = pip_target(folder, f"boost-headers=={BOOST_VERSION}") / "boost_headers/include"
    if not all(path.exists() for path in simgrid_replay(folder)):
        print("perf-peers: building SimGrid; takes 5 to 15 minutes, once", file=sys.stderr, flush=True)
        archive = folder / f"simgrid-{SIMGRID_VERSION}.tar.gz"
        if not archive.exists():
            requirement = f"simgrid=={SIMGRID_VERSION}"
            pip(folder, "download", "--no-deps", "--no-binary", "simgrid", "--dest", str(folder), requirement)
        shutil.unpack_archive(archive, folder)  # again, if the last call was stopped
        options = [*SIMGRID_OPTIONS, f"-DBoost_DIR={boost_config(folder, boost)}"]
        cmake(folder, "simgrid", source, build, options, "simgrid", "smpimain", "smpireplaymain")
    return [f"-DSIMGRID_BUILD={build}", f"-DSIMGRID_SOURCE={source}", f"-DSIMGRID_BOOST={boost}"]


def simgrid_replay(folder: Path) -> tuple[Path, Path]:
    """What starts a simulated MPI program, and the one that replays a trace."""
    programs = folder / "simgrid-build/lib/simgrid"
    return programs / "smpimain", programs / "smpireplaymain"


def boost_config(folder: Path, headers: Path) -> Path:
    """A folder with what find_package(Boost) reads: from CMake 3.30 on SimGrid asks for that file, which the package of
    headers lacks, instead of CMake's own search."""
    made = folder / "boost-config"
    made.mkdir(exist_ok=True)
    (made / "BoostConfig.cmake").write_text(f'set(Boost_INCLUDE_DIRS "{headers}")\n', encoding="utf-8")
    (made / "BoostConfigVersion.cmake").write_text(
        f'set(PACKAGE_VERSION "{BOOST_VERSION.partition(".post")[0]}")\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n',
        encoding="utf-8",
    )
    return made


def bring_ns3(folder: Path) -> list[str]:
    """ns-3's libraries and headers from its wheel on PyPI."""
    return [f"-DNS3_ROOT={pip_target(folder, f'ns3=={NS3_VERSION}') / 'ns3'}"]


def build_drivers(folder: Path, options: list[str]) -> dict[str, Path]:
    build = folder / "drivers"
    cmake(folder, "drivers", HERE, build, ["-DCMAKE_BUILD_TYPE=Release", *options])
    names = {"hocket": "hocket_driver", "SimGrid": "simgrid_driver", "ns-3": "ns3_driver"}
    return {name: build / driver for name, driver in names.items()}


def pip_target(folder: Path, requirement: str) -> Path:
    """A folder with that package, without what it depends on: only its compiled parts and headers are used."""
    target = folder / requirement.partition("==")[0]
    if not (target / ".complete").exists():
        shutil.rmtree(target, ignore_errors=True)
        pip(folder, "install", "--no-deps", "--only-binary", ":all:", "--target", str(target), requirement)
        (target / ".complete").touch()
    return target


def pip(folder: Path, *arguments: str) -> None:
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode != 0:
        run(folder, "pip", [sys.executable, "-m", "ensurepip"])
    run(folder, "pip", [sys.executable, "-m", "pip", *arguments])


def cmake(folder: Path, name: str, source: Path, build: Path, options: list[str], *targets: str) -> None:
    run(folder, name, ["cmake", "-S", str(source), "-B", str(build), "-G", "Ninja", *options])
    run(folder, name, ["cmake", "--build", str(build), "--target", *(targets or ("all",))])


def run(folder: Path, name: str, command: list[str]) -> None:
    log = folder / f"{name}.log"
    # cmake and ninja are those of the virtual environment that runs this.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with open(log, "w", encoding="utf-8") as out:
        done = subprocess.run(command, stdout=out, stderr=out, check=False, env={**os.environ, "PATH": path})
    if done.returncode != 0:
        raise Failure(f"`{' '.join(command[:3])} ...` failed; see {log}")


if __name__ == "__main__":
    installed = install(Path(sys.argv[1]))
    for name, driver in installed.drivers.items():
        print(f"{name}: {driver}")
    for name, reason in installed.missing.items():
        print(f"{name}: not installed: {reason}")
