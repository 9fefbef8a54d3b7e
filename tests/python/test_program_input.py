# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket tune` keeps of its standard input for the runs of the program."""

from __future__ import annotations

import os
import pty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hocket.errors import InvalidInput
from hocket.tune import program_input
from hocket.tune.program_input import keep_input


@contextmanager
def opened(path: Path | str, flags: int = os.O_RDONLY) -> Iterator[int]:
    file = os.open(path, flags)
    try:
        yield file
    finally:
        os.close(file)


@contextmanager
def pipe_with(content: bytes, ends: bool = True) -> Iterator[int]:
    source, target = os.pipe()
    try:
        os.write(target, content)
        if ends:
            os.close(target)
        yield source
    finally:
        os.close(source)
        if not ends:
            os.close(target)


def test_a_file_from_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "in.x").write_bytes(b"used up\nunits lj\n\xff")
    told: list[str] = []
    with opened(tmp_path / "in.x") as source:
        os.lseek(source, 8, os.SEEK_SET)
        kept = keep_input(source, tmp_path / "kept", told.append)
    assert kept == tmp_path / "kept"
    assert kept.read_bytes() == b"units lj\n\xff"
    assert told == ["each run of the program gets the 10 bytes of standard input"]


def test_a_pipe_to_its_end(tmp_path: Path) -> None:
    with pipe_with(b"a\nb\n") as source:
        kept = keep_input(source, tmp_path / "kept", print)
    assert kept is not None
    assert kept.read_bytes() == b"a\nb\n"


def test_nothing_is_read_of_a_terminal_or_of_a_file_for_writing(tmp_path: Path) -> None:
    controller, terminal = pty.openpty()
    try:
        os.write(controller, b"for the shell\n")
        assert keep_input(terminal, tmp_path / "kept", print) is None
    finally:
        os.close(controller)
        os.close(terminal)
    with opened("/dev/null", os.O_WRONLY) as source:  # as nohup opens it
        assert keep_input(source, tmp_path / "kept", print) is None
    assert not (tmp_path / "kept").exists()


def test_an_empty_input_is_nothing_to_talk_about(tmp_path: Path) -> None:
    with opened("/dev/null") as source:
        kept = keep_input(source, tmp_path / "kept", pytest.fail)
    assert kept is not None
    assert kept.read_bytes() == b""


def test_what_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_input, "MOST_BYTES", 1 << 20)
    with (
        opened("/dev/zero") as source,
        pytest.raises(InvalidInput, match="more than 1 MiB, the most") as refused,
    ):
        keep_input(source, tmp_path / "kept", print)
    assert "open the file itself" in refused.value.hint
    assert (tmp_path / "kept").stat().st_size <= 2 << 20


def test_a_pipe_that_nobody_writes_to_is_told_of_and_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_input, "SAY_AFTER_S", 0.0)
    monkeypatch.setattr(program_input, "REFUSE_AFTER_S", 0.0)
    told: list[str] = []
    with (
        pipe_with(b"some", ends=False) as source,
        pytest.raises(InvalidInput, match="gave nothing for 0 s and did not end") as refused,
    ):
        keep_input(source, tmp_path / "kept", told.append)
    assert "< /dev/null" in refused.value.hint
    assert len(told) == 1
    assert told[0].startswith("waiting for the end of standard input")


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as source, pytest.raises(InvalidInput, match="standard input cannot be read: Is a directory"):
        keep_input(source, tmp_path / "kept", print)
