# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The site file: what an installation for a cluster has, and where."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket import formats
from hocket.errors import InvalidInput
from hocket.io.files import write_whole
from hocket.mpi.launch import SITE_LIBRARY

FORMAT = "hocket.site/1"
NAME = "site.json"
_OPENMPI = re.compile(r"(?:openmpi|hpcx|fujitsu)-(\d+)")
PRELOADED = f"lib/{SITE_LIBRARY}"


@dataclass(frozen=True)
class SiteMpi:
    """An MPI that the libraries were built for."""

    name: str  # "Open MPI 4.1.4"
    label: str  # "openmpi-4.1.4", the folder below mpi/
    library: str  # the real path that programs load


@dataclass(frozen=True)
class Site:
    prefix: Path
    version: str  # of hocket
    network: str | None  # the file's name below the prefix
    mpis: tuple[SiteMpi, ...]

    @property
    def preloaded(self) -> Path:
        """What modules preload: it brings the libraries for the program's MPI."""
        return self.prefix / PRELOADED

    def parts(self, mpi: SiteMpi) -> Path:
        return self.prefix / "mpi" / mpi.label

    def variables(self) -> dict[str, str]:
        """What a module sets, beside the preloaded library."""
        return {} if self.network is None else {"HOCKET_NETWORK": str(self.prefix / self.network)}

    @property
    def openmpi_list(self) -> str | None:
        """The variable that names what Open MPI's mpirun hands on where it starts its daemons by ssh; None without one.

        Open MPI 4 refuses -x where the list for users is set, and takes another one beside it; 5 knows that of users
        alone.
        """
        majors = [int(found[1]) for mpi in self.mpis if (found := _OPENMPI.match(mpi.label))]
        if not majors:
            return None
        return "OMPI_MCA_mca_base_env_list" + ("_internal" if min(majors) < 5 else "")

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "hocket": self.version,
            "network": self.network,
            "mpis": [{"name": mpi.name, "label": mpi.label, "library": mpi.library} for mpi in self.mpis],
        }

    def write(self, folder: Path) -> None:
        """Into `folder`, which becomes the prefix: for programs as JSON, and for the preloaded library as lines."""
        write_whole(folder / NAME, json.dumps(self.to_json(), indent=2) + "\n")
        lines = [f"{mpi.library}\t{self.parts(mpi)}\n" for mpi in self.mpis]
        write_whole(folder / Path(PRELOADED).with_name("mpis"), "".join(lines))


def is_site(folder: Path) -> bool:
    return (folder / NAME).is_file()


def read_site(prefix: Path) -> Site:
    """Raises InvalidInput if there is no installation."""
    path = prefix / NAME
    hint = f"install one: hocket site install --prefix {prefix}"
    try:
        value = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise InvalidInput(f"{prefix}: has no {NAME}", hint) from None
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path}: cannot be read: {error}", hint) from error
    try:
        if value["format"] != FORMAT:
            raise InvalidInput(
                f"{path}: format {value['format']!r}; accepted: {FORMAT}", formats.hint(value["format"], FORMAT, hint)
            )
        mpis = tuple(SiteMpi(str(mpi["name"]), str(mpi["label"]), str(mpi["library"])) for mpi in value["mpis"])
        return Site(prefix.resolve(), str(value["hocket"]), value["network"], mpis)
    except (KeyError, TypeError) as error:
        raise InvalidInput(f"{path}: is not a site file: {error!r} is missing or of another type", hint) from error
