# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where MPICH's tests come from: Debian's source package of mpich, fetched with apt-get, or a folder that is named."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

from hocket.cli.common import message
from hocket.errors import Error, InvalidInput

HOW_TO_NAME_ONE = "unpack the source of a release of mpich and name its folder: make mpich-suite MPICH_SUITE=FOLDER"


def tests_of(folder: Path, given: str) -> Path:
    """The folder test/mpi of MPICH's source, which is fetched into `folder` unless one is `given`."""
    if given:
        return checked(Path(given).resolve())
    unpacked = folder / "source"
    if not unpacked.exists():
        archive = fetched(folder / "fetched")
        aside = folder / "unpacking"
        shutil.rmtree(aside, ignore_errors=True)
        with tarfile.open(archive) as tar:
            tar.extractall(aside, filter="tar")
        aside.rename(unpacked)
    (source,) = unpacked.iterdir()
    return checked(source)


def checked(source: Path) -> Path:
    tests = source / "test/mpi"
    if not (tests / "configure").is_file():
        raise InvalidInput(f"{source}: has no test/mpi/configure, which a release of mpich has", HOW_TO_NAME_ONE)
    return tests


def fetched(folder: Path) -> Path:
    """The archive of the sources, as the package archives that apt-get knows of have it."""
    if shutil.which("apt-get") is None:
        raise Error("there is no apt-get to fetch the source of mpich with", HOW_TO_NAME_ONE)
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    # The user's own lists stay as they are: usually they have no sources, and only root may change them.
    (folder / "sources.list").write_text("")
    (folder / "parts").mkdir()
    for path in [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]:
        if path.suffix in (".list", ".sources") and path.is_file():
            (folder / "parts" / path.name).write_text(with_sources(path.read_text()))
    places = {
        "Dir::Etc::sourcelist": "sources.list",
        "Dir::Etc::sourceparts": "parts",
        "Dir::State::Lists": "lists",
        "Dir::Cache": "cache",
    }
    options = [word for name, place in places.items() for word in ("-o", f"{name}={folder.resolve() / place}")]
    # As root apt-get would change to a user who may not write here.
    options += ["-o", "APT::Sandbox::User="]
    message("fetching the source of mpich from the package archive")
    for words in (["update"], ["source", "--download-only", "mpich"]):
        done = subprocess.run(
            ["apt-get", *options, *words],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or ["it does not say why"])[-1]
            raise Error(f"`apt-get {' '.join(words)}` failed: {reason}", HOW_TO_NAME_ONE)
    return next(folder.glob("mpich_*.orig.tar.*"))


def with_sources(text: str) -> str:
    """A list of apt's with sources instead of programs, in its older and its newer form."""
    text = re.sub(r"^deb(?=[ \t])", "deb-src", text, flags=re.MULTILINE)
    return re.sub(r"^Types:.*$", "Types: deb-src", text, flags=re.MULTILINE)
