# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors
"""Writes wrappers of MPI functions for the recorder and the interposer: `generate.py PREPROCESSED_MPI_H FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

import interpose_wrappers
import mpi_header
import record_wrappers

TABLE = Path(__file__).resolve().with_name("interposed.txt")


def main() -> None:
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    declared = mpi_header.functions(source.read_text())
    if "MPI_Send" not in declared:
        sys.exit(
            f"generate.py: {source}: no declaration of MPI_Send and PMPI_Send found; is this a preprocessed mpi.h?"
        )
    interpose_wrappers.write(declared, interpose_wrappers.read_table(TABLE), folder)
    record_wrappers.write(declared, folder)


if __name__ == "__main__":
    main()
