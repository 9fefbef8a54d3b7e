# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Traffic matrices: bytes from each rank to each other, as text or .npy (docs/reference/simulation-format.md)."""

from __future__ import annotations

import os
import re
import stat
import warnings
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from hocket.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_RANKS = 16384
MOST_BYTES = 2**52
MOST_LINE_BYTES = 2**20  # 64 for each of the most numbers
_SHAPE = "expected as many rows as columns: the bytes that each rank sends to each"
_NUMBERS = f"accepted: whole numbers of bytes from 0 to {MOST_BYTES}, such as 1000000 or 1e6"
_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
_REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)


def read_traffic_matrix(path: Path) -> NDArray[np.int64]:
    """Row i, column j: the bytes that rank i sends to rank j.

    @raises InvalidInput with the line, if it is not a square matrix of whole numbers from 0 to 2^52.
    """
    try:
        with _opened(path) as file:
            return _from_array(path, file) if path.suffix == ".npy" else _from_text(path, file)
    except OSError as error:
        raise InvalidInput(
            f"{path}: the traffic matrix cannot be read: {error.strerror or error}", "write matrix:FILE"
        ) from None


def _opened(path: Path) -> IO[bytes]:
    """A device, such as /dev/zero, or a pipe has no end, or no beginning: to open it must not wait either."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise InvalidInput(f"{path}: the traffic matrix is not a regular file", "write it to a file, and give its name")
    return os.fdopen(number, "rb")


def _from_text(path: Path, file: IO[bytes]) -> NDArray[np.int64]:
    """Line by line into an array of the final size, so that neither lines nor files without end fill the memory."""
    import numpy as np

    matrix: NDArray[np.int64] | None = None
    rows = columns = first_line = number = 0
    while line := file.readline(MOST_LINE_BYTES + 1):
        number += 1
        where = f"{path}:{number}"
        if len(line) > MOST_LINE_BYTES:
            raise InvalidInput(f"{where}: longer than {MOST_LINE_BYTES} bytes", f"accepted: at most {MOST_RANKS} ranks")
        try:
            content = line.decode("utf-8-sig" if number == 1 else "utf-8").partition("#")[0].strip()
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{where}: not UTF-8 text (byte {error.start + 1} of the line)", _SHAPE) from None
        if not content:
            continue
        fields = [field.strip() for field in content.split(",")] if "," in content else content.split()
        values = [_whole_number(field, f"{where}: number {i}") for i, field in enumerate(fields, 1)]
        if matrix is None:
            columns, first_line = len(values), number
            if columns > MOST_RANKS:
                raise InvalidInput(f"{where}: {columns} numbers", f"accepted: at most {MOST_RANKS} ranks")
            matrix = np.empty((columns, columns), dtype=np.int64)
        if len(values) != columns:
            raise InvalidInput(
                f"{where}: row {rows} has {len(values)} columns; expected {columns}, as in line {first_line}",
                _SHAPE,
            )
        if rows == columns:
            raise InvalidInput(f"{where}: more than {columns} rows, though a row has {columns} columns", _SHAPE)
        matrix[rows] = values
        rows += 1
    if matrix is None:
        raise InvalidInput(f"{path}: no numbers", _SHAPE)
    if rows != columns:
        raise InvalidInput(f"{path}: {rows} rows of {columns} columns", _SHAPE)
    return matrix


def _whole_number(field: str, where: str) -> int:
    found = repr(field if len(field) <= 40 else field[:37] + "...")
    if _WHOLE.fullmatch(field):
        value = int(field)
    elif _REAL.fullmatch(field):  # not what else float() takes: 1_000, and digits of other scripts
        real = float(field)
        value = int(real) if real.is_integer() else -1  # nor are infinity and NaN
    else:
        raise InvalidInput(f"{where} is {found}, not a number", _NUMBERS)
    if not 0 <= value <= MOST_BYTES:
        raise InvalidInput(f"{where} is {found}", _NUMBERS)
    return value


def _from_array(path: Path, file: IO[bytes]) -> NDArray[np.int64]:
    import numpy as np

    def refuse(why: str) -> InvalidInput:
        return InvalidInput(f"{path}: {why}", "write it with numpy.save, a square array of whole numbers")

    if file.read(6) != np.lib.format.MAGIC_PREFIX:
        raise refuse("not a .npy file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array: Any = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception:  # numpy raises whatever its parts do, and speaks of its own arguments
        raise refuse("not a .npy file of numbers, or cut off") from None
    if array.ndim != 2 or array.dtype.kind not in "iuf":
        raise refuse(f"an array of {array.ndim} dimensions of {array.dtype}; expected two dimensions of numbers")
    if array.shape[0] != array.shape[1]:
        raise InvalidInput(f"{path}: {array.shape[0]} rows of {array.shape[1]} columns", _SHAPE)
    if not 1 <= len(array) <= MOST_RANKS:
        raise InvalidInput(f"{path}: {len(array)} ranks", f"accepted: 1 to {MOST_RANKS}")
    matrix = np.empty(array.shape, dtype=np.int64)
    for number, row in enumerate(array):
        if array.dtype.kind == "f":
            row = row.astype(np.float64)  # the limit is not a number of half precision
        with np.errstate(invalid="ignore"):
            wrong = ~((row >= 0) & (row <= MOST_BYTES) & (row == np.floor(row)))
        if wrong.any():
            column = int(np.argmax(wrong))
            raise InvalidInput(f"{path}: row {number}, column {column} is {row[column]}", _NUMBERS)
        matrix[number] = row
    return matrix
