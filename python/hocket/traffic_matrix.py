# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Traffic matrices: bytes from each rank to each other, as text or as numpy's .npy. docs/formats.md describes them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_RANKS = 16384
MOST_BYTES = 2**52
_SHAPE = "expected as many rows as columns: the bytes that each rank sends to each"


def read_traffic_matrix(path: Path) -> NDArray[np.int64]:
    """Row i, column j: the bytes that rank i sends to rank j.

    @raises InvalidInput with the line, if it is no square matrix of whole numbers from 0 to 2^52.
    """
    import numpy as np

    try:
        if path.suffix == ".npy":
            matrix = _checked(path, np.load(path, mmap_mode="r", allow_pickle=False))
        else:
            matrix = _parsed(path, path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(
            f"{path}: the traffic matrix cannot be read: {error.strerror or error}", "write matrix:FILE"
        ) from None
    except (ValueError, EOFError) as error:  # of numpy, and what is no UTF-8
        what = ".npy file of numbers" if path.suffix == ".npy" else "text"
        raise InvalidInput(f"{path}: not a {what}: {error}", _SHAPE) from None
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput(f"{path}: {matrix.shape[0]} rows of {matrix.shape[1]} numbers", _SHAPE)
    return matrix


def _parsed(path: Path, text: str) -> NDArray[np.int64]:
    import numpy as np

    rows: list[list[int]] = []
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        fields = [field.strip() for field in content.split(",")] if "," in content else content.split()
        rows.append([_whole_number(field, f"{path}:{number}: number {i}") for i, field in enumerate(fields, 1)])
        if len(rows[-1]) != len(rows[0]):
            raise InvalidInput(
                f"{path}:{number}: {len(rows[-1])} numbers, the first row has {len(rows[0])}", f"{_SHAPE}"
            )
        if max(len(rows), len(rows[0])) > MOST_RANKS:
            raise InvalidInput(f"{path}:{number}: more than {MOST_RANKS} ranks")
    if not rows:
        raise InvalidInput(f"{path}: no numbers", _SHAPE)
    return np.array(rows, dtype=np.int64)


def _whole_number(field: str, where: str) -> int:
    accepted = f"accepted: whole numbers of bytes from 0 to {MOST_BYTES}"
    if re.fullmatch(r"[+-]?\d{1,30}", field):
        value = int(field)
    else:
        try:
            real = float(field)
        except ValueError:
            raise InvalidInput(f"{where} is {field[:40]!r}, not a number", accepted) from None
        if not real.is_integer():  # nor are infinity and NaN
            raise InvalidInput(f"{where} is {field[:40]}", accepted)
        value = int(real)
    if not 0 <= value <= MOST_BYTES:
        raise InvalidInput(f"{where} is {field[:40]}", accepted)
    return value


def _checked(path: Path, array: Any) -> NDArray[np.int64]:
    import numpy as np

    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "iuf":
        raise InvalidInput(f"{path}: not an array of numbers of two dimensions", _SHAPE)
    if not 1 <= len(array) <= MOST_RANKS:
        raise InvalidInput(f"{path}: {len(array)} ranks; accepted: 1 to {MOST_RANKS}")
    with np.errstate(invalid="ignore"):
        wrong = ~((array >= 0) & (array <= MOST_BYTES) & (array == np.floor(array)))
    if wrong.any():
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        raise InvalidInput(
            f"{path}: row {row}, column {column} is {array[row, column]}",
            f"accepted: whole numbers of bytes from 0 to {MOST_BYTES}",
        )
    return np.ascontiguousarray(array, dtype=np.int64)
