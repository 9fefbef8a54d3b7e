# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The rows of a campaign: a folder of Parquet files, each written aside and then renamed, so that all are whole.

FOLDER/rows/part-000001.parquet ...  rows of tasks, in the order in which batches ended
FOLDER/results/KEY                   what a task that measures writes itself; KEY: the beginning of its key
FOLDER/tasks.parquet                 key and index of each task of the campaign as it is now
FOLDER/campaign.toml                 the campaign file as it was run
FOLDER/summary.json                  how it ended
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.errors import Error, InvalidInput
from hocket.io.files import whole_file, write_whole

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from hocket.sweep.campaign import Campaign

FORMAT = "hocket.sweep/1"
CAMPAIGN = "campaign.toml"
RESULTS = "results"
_LOCK, _TASKS, _SUMMARY, _ROWS = ".lock", "tasks.parquet", "summary.json", "rows"
_OWN = (CAMPAIGN, _TASKS, _SUMMARY)
_KEY, _INDEX, _ROW = "key", "task", "row"


def import_arrow() -> Any:
    try:
        import pyarrow
        from pyarrow import parquet

        return pyarrow, parquet
    except ImportError:
        raise Error("hocket sweep needs pyarrow, which is not installed", "pip install 'hocket[sweep]'") from None


class Store:
    """Of one process at a time."""

    def __init__(self, folder: Path, campaign: Campaign, resume: bool) -> None:
        """@raises InvalidInput if the folder has rows and it is not `resume`, or they are of another kind of request,
        or another process writes to it.
        """
        from filelock import FileLock, Timeout

        self.folder = folder
        rows = folder / _ROWS
        if folder.exists() and not folder.is_dir():
            raise InvalidInput(f"{folder}: is a file; expected a folder for the rows", "write elsewhere: -o FOLDER")
        if not rows.is_dir() and (other := next((folder / one for one in _OWN if (folder / one).exists()), None)):
            raise InvalidInput(f"{other}: not of hocket sweep, which writes such a file", "write elsewhere: -o FOLDER")
        try:
            rows.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"{folder}: cannot be made: {error.strerror}", "write elsewhere: -o FOLDER") from None
        self._lock = FileLock(folder / _LOCK)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise InvalidInput(
                f"{folder}: another hocket sweep writes there", "wait for it, or write elsewhere: -o"
            ) from None
        except OSError as error:
            raise InvalidInput(f"{folder}: cannot be written: {error.strerror}", "write elsewhere: -o FOLDER") from None
        if not resume and any(rows.iterdir()):  # also of one that has ended since this one was started
            self._lock.release()
            raise InvalidInput(
                f"{folder}: has rows already", "add --resume to run what is missing or changed, or write elsewhere: -o"
            )
        if (other_kind := _kind_in(folder)) not in (None, campaign.kind):
            self._lock.release()
            raise InvalidInput(
                f"{folder}: has rows of another campaign: request is {other_kind!r} there, {campaign.kind!r} here",
                "write elsewhere: -o FOLDER",
            )
        for left in rows.glob(".part-*"):  # of a process that was killed
            left.unlink()
        numbers = [int(number) for path in _parts(folder) if (number := path.stem.rpartition("-")[2]).isdecimal()]
        self._next = max(numbers, default=0) + 1
        pyarrow, parquet = import_arrow()
        write_whole(folder / CAMPAIGN, campaign.text)
        keys = {_KEY: [task.key for task in campaign.tasks], _INDEX: [task.index for task in campaign.tasks]}
        names = {b"parameters": json.dumps(list(campaign.tasks[0].parameters)).encode()}
        with whole_file(folder / _TASKS) as aside:
            parquet.write_table(pyarrow.table(keys).replace_schema_metadata(names), aside)

    def done(self) -> set[str]:
        """Keys of tasks that have rows, also of those that an earlier campaign file had."""
        return {key for path in _parts(self.folder) for key in _read(path, [_KEY]).column(_KEY).to_pylist()}

    def add(self, rows: list[pyarrow.Table]) -> None:
        """As one file. When it returns they are on the disk."""
        pyarrow, parquet = import_arrow()
        with whole_file(self.folder / _ROWS / f"part-{self._next:06}.parquet") as aside:
            parquet.write_table(_together(pyarrow, rows), aside)
            with aside.open("rb") as file:
                os.fsync(file.fileno())
        self._next += 1

    def end(self, summary: dict[str, Any]) -> None:
        write_whole(self.folder / _SUMMARY, json.dumps({"format": FORMAT, **summary}, indent=2) + "\n")

    def close(self) -> None:
        self._lock.release()


def frame(folder: str | os.PathLike[str]) -> pandas.DataFrame:
    """The rows of the campaign as it is now, in its order: parameters, then results. Missing values are NA or NaN.

    @raises InvalidInput if the folder is none that `hocket sweep` has written.
    """
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise Error("frames need pandas, which is not installed", "pip install 'hocket[sweep]'") from None
    return table(Path(folder)).to_pandas()


def table(folder: Path) -> pyarrow.Table:
    """As `frame`, in Arrow's form."""
    pyarrow, _ = import_arrow()
    if not (folder / _TASKS).is_file():
        raise InvalidInput(f"{folder}: no folder of rows that `hocket sweep` has written", "run the campaign first")
    tasks = _read(folder / _TASKS)
    index_of = dict(zip(tasks[_KEY].to_pylist(), tasks[_INDEX].to_pylist(), strict=True))
    parameters = json.loads(tasks.schema.metadata[b"parameters"])
    rows = _together(pyarrow, [_read(path) for path in _parts(folder)])
    if rows is None:
        return pyarrow.table({_INDEX: pyarrow.array([], pyarrow.int64())})
    keys, numbers = rows.column(_KEY).to_pylist(), rows.column(_ROW).to_pylist()
    place: dict[tuple[int, int], int] = {}  # of a task that was run twice the first rows count: they are the same
    for at, (key, number) in enumerate(zip(keys, numbers, strict=True)):
        if key in index_of:
            place.setdefault((index_of[key], number), at)
    order = sorted(place)
    chosen = rows.take([place[one] for one in order])
    names = [name for name in chosen.column_names if chosen.column(name).null_count < len(chosen)]
    results = sorted(set(names) - {_KEY, _ROW, *parameters})
    chosen = chosen.select([name for name in parameters if name in names] + results)
    return chosen.add_column(0, _INDEX, pyarrow.array([index for index, _ in order], pyarrow.int64()))


def _together(pyarrow: Any, parts: list[pyarrow.Table]) -> pyarrow.Table | None:
    """A column that is text in one part and numbers in another becomes text."""
    if not parts:
        return None
    kinds: dict[str, set[Any]] = {}
    for part in parts:
        for field in part.schema:
            kinds.setdefault(field.name, set()).add(field.type)
    text = {name for name, found in kinds.items() if len(found) > 1 and pyarrow.string() in found}
    cast = [
        part.cast(
            pyarrow.schema(
                [field.with_type(pyarrow.string()) if field.name in text else field for field in part.schema]
            )
        )
        for part in parts
    ]
    return pyarrow.concat_tables(cast, promote_options="permissive")


def summary_of(folder: Path) -> dict[str, Any]:
    path = folder / _SUMMARY
    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return values
    except (OSError, ValueError):
        return {}


def rows_to_bytes(keys: Sequence[str], rows: Sequence[Sequence[dict[str, Any]]]) -> bytes:
    """Rows of tasks in Arrow's stream format, which workers send."""
    pyarrow, _ = import_arrow()
    flat = [
        {_KEY: key, _ROW: number, **row}
        for key, of_task in zip(keys, rows, strict=True)
        for number, row in enumerate(of_task)
    ]
    names = list(dict.fromkeys(name for row in flat for name in row))
    made = pyarrow.table({name: _column(pyarrow, [row.get(name) for row in flat]) for name in names})
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, made.schema) as writer:
        writer.write_table(made)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def _column(pyarrow: Any, values: list[Any]) -> Any:
    """Of one type: a parameter may be a number in one task and text in another."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 and not kinds <= {int, float}:
        values = [None if value is None else str(value) for value in values]
    elif kinds == {int, float}:
        values = [None if value is None else float(value) for value in values]
    return pyarrow.array(values)


def bytes_to_rows(content: bytes) -> pyarrow.Table:
    pyarrow, _ = import_arrow()
    return pyarrow.ipc.open_stream(content).read_all()


def _read(path: Path, columns: list[str] | None = None) -> pyarrow.Table:
    """@raises InvalidInput for a file that is damaged."""
    pyarrow, parquet = import_arrow()
    try:
        found = parquet.read_table(path, columns=columns)
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
    else:
        if _KEY in found.column_names:
            return found
        reason = f"it has no column {_KEY!r}"
    raise InvalidInput(
        f"{path}: damaged, or not of hocket sweep: {reason}",
        "move it elsewhere, then add --resume to hocket sweep run: what it had is run again",
    )


def _kind_in(folder: Path) -> str | None:
    """Of the requests of the campaign that was run there; None = there is none, or one cannot read it any more."""
    from hocket.sweep.campaign import read_toml

    try:
        found = read_toml(folder / CAMPAIGN)[1].get("request")
    except InvalidInput:
        return None
    return found if isinstance(found, str) else None


def _parts(folder: Path) -> list[Path]:
    return sorted((folder / _ROWS).glob("part-*.parquet"))
