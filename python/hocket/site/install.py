# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket site install`: builds the MPI parts for each MPI and lays all out below one folder."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hocket import Network, __version__
from hocket.errors import Error, InvalidInput
from hocket.io.files import signals_held
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.discover import Mpi, standard_abi, usable_mpis
from hocket.reporter import SILENT, Reporter
from hocket.site import modulefiles
from hocket.site.site import NAME, PRELOADED, Site, SiteMpi, is_site

_NETWORK = "network.toml"


@dataclass(frozen=True)
class InstallRequest:
    prefix: Path  #: the folder, on a file system that all hosts see
    network: Path | None = None  #: of the cluster; decisions are made from it
    mpis: tuple[str, ...] = ()  #: by their names in `hocket doctor`, such as "openmpi-4.1.4"; empty: all


def run(request: InstallRequest, reporter: Reporter = SILENT) -> Site:
    """Whole or not at all: an earlier installation stays until the new one is complete. Jobs that run keep theirs."""
    prefix = request.prefix.absolute()
    _check_prefix(prefix)
    text = None
    if request.network is not None:
        if Network.from_file(request.network).circuits is not None:
            raise InvalidInput(f"{request.network} has circuits", "give a network whose links are always there")
        text = request.network.read_bytes()
    mpis = _chosen(request.mpis)
    site = Site(prefix, __version__, _NETWORK if text else None, tuple(map(_site_mpi, mpis)))
    built = {mpi.label: build_mpi_parts(mpi, report=reporter.message).folder for mpi in mpis}
    try:
        with signals_held():  # a folder whose name nobody knows would stay behind
            scratch = Path(tempfile.mkdtemp(prefix=f".{prefix.name}-", dir=prefix.parent))
        try:
            new = scratch / "new"
            _lay_out(site, new, built, text)
            with signals_held():
                _replace(prefix, new, scratch / "old")
        finally:
            with signals_held():
                shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        raise Error(f"{prefix}: cannot be written: {error.strerror or error}", "choose another --prefix") from error
    return site


def _lay_out(site: Site, folder: Path, built: dict[str, Path], network: bytes | None) -> None:
    for label, parts in built.items():
        shutil.copytree(parts, folder / "mpi" / label)
    preloaded = folder / PRELOADED
    preloaded.parent.mkdir()
    shutil.copy(next(iter(built.values())) / PRELOADED, preloaded)
    if network is not None:
        (folder / _NETWORK).write_bytes(network)
    modules = folder / "modulefiles/hocket"
    modules.mkdir(parents=True)
    (modules / site.version).write_text(modulefiles.tcl(site), encoding="utf-8")
    (modules / f"{site.version}.lua").write_text(modulefiles.lua(site), encoding="utf-8")
    (folder / "hocket.def").write_text(modulefiles.apptainer(site), encoding="utf-8")
    site.write(folder)
    _let_all_read(folder)


def _replace(prefix: Path, new: Path, old: Path) -> None:
    if prefix.exists():
        prefix.rename(old)
    try:
        new.rename(prefix)
    except OSError:
        if old.exists():
            old.rename(prefix)
        raise


def _let_all_read(folder: Path) -> None:
    """Whatever the umask of the one who installs: it is for all users."""
    for path in (folder, *folder.rglob("*")):
        mode = path.stat().st_mode
        path.chmod(mode | (0o555 if mode & 0o100 else 0o444))


def _check_prefix(prefix: Path) -> None:
    if re.search(r"[\s:;,{}\"\\$]", str(prefix)):
        raise InvalidInput(
            f"--prefix {prefix}: the dynamic loader cannot preload from a path with a space, a colon or such signs",
            "choose another folder",
        )
    if not prefix.parent.is_dir():
        raise InvalidInput(f"--prefix {prefix}: the folder {prefix.parent} does not exist", "make it")
    if prefix.exists() and not is_site(prefix) and (not prefix.is_dir() or any(prefix.iterdir())):
        raise InvalidInput(
            f"--prefix {prefix}: is there and has no {NAME}: it is no installation of hocket", "choose another folder"
        )


def _chosen(names: tuple[str, ...]) -> list[Mpi]:
    usual = usable_mpis()
    mpis = [*usual, *(abi for mpi in usual if (abi := standard_abi(mpi)) is not None)]
    by_label = {mpi.label: mpi for mpi in mpis}
    for name in names:
        if name not in by_label:
            raise InvalidInput(f"--mpi {name}: no such MPI here", f"accepted: {', '.join(by_label)}")
    return [by_label[name] for name in dict.fromkeys(names)] or list(by_label.values())


def _site_mpi(mpi: Mpi) -> SiteMpi:
    return SiteMpi(mpi.name, mpi.label, str(mpi.library.resolve()))
