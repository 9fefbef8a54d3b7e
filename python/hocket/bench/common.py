# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What requests of all suites check: the MPIs that they name, and the folder for the result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hocket.errors import InvalidInput
from hocket.io.files import check_room
from hocket.mpi.discover import Mpi, usable_mpis


def chosen_mpis(names: Sequence[str]) -> list[Mpi]:
    """The MPIs with one of `names` in theirs; without names all."""
    found = usable_mpis()
    mpis = [mpi for mpi in found if not names or any(name in mpi.label for name in names)]
    if not mpis:
        raise InvalidInput(
            f"--mpi: no MPI of this machine is called {' or '.join(names)}",
            f"found: {', '.join(mpi.label for mpi in found)}; `hocket doctor` shows more",
        )
    return mpis


def check_folder(folder: Path) -> None:
    """To know before a measurement is better than after it; the folder is made when there is something for it."""
    path = folder.absolute()
    try:
        check_room(next(there for there in (path, *path.parents) if there.exists()))
    except OSError as error:
        raise InvalidInput(f"{folder}: cannot write there: {error.strerror}", "name another folder with -o") from None
