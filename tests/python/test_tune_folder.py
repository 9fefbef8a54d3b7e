# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The result folder: nothing of the user's is removed, and no result is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket.errors import Error, InvalidInput
from hocket.tune.folder import Unfinished, check_target, result_folder

RESULT = "result.json"


def write_result(target: Path, text: str) -> None:
    with result_folder(target) as folder:
        (folder / RESULT).write_text(text)


def test_an_earlier_result_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    for text in ("first", "second"):
        write_result(tmp_path / "result", text)
        assert (tmp_path / "result" / RESULT).read_text() == text
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_what_is_of_use_after_a_failure_is_kept_beside_an_earlier_result(tmp_path: Path) -> None:
    write_result(tmp_path / "result", "earlier")

    def fail() -> None:
        with result_folder(tmp_path / "result") as folder:
            (folder / "trace").touch()
            raise Unfinished("it failed", "look")

    with pytest.raises(Error, match="it failed\n.*result-2 keeps what was found until then: trace") as caught:
        fail()
    assert caught.value.hint == "look"
    assert (tmp_path / "result" / RESULT).read_text() == "earlier"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["result", "result-2"]


@pytest.mark.parametrize("earlier", [False, True])
def test_a_symbolic_link_to_a_folder_stays_one(tmp_path: Path, earlier: bool) -> None:
    there, link = tmp_path / "there", tmp_path / "result"
    there.mkdir()
    if earlier:
        (there / RESULT).write_text("earlier")
    link.symlink_to(there)
    write_result(link, "new")
    assert link.is_symlink()
    assert (there / RESULT).read_text() == "new"


@pytest.mark.parametrize("earlier", [False, True])
def test_what_others_write_there_in_the_meantime_stays(tmp_path: Path, earlier: bool) -> None:
    target = tmp_path / "result"
    if earlier:
        write_result(target, "earlier")

    def run() -> None:
        with result_folder(target) as folder:
            (folder / RESULT).write_text("mine")
            write_result(target, "of another")

    with pytest.raises(Error, match="something else was written there in the meantime; the result is in .*result-2"):
        run()
    assert (target / RESULT).read_text() == "of another"
    assert (tmp_path / "result-2" / RESULT).read_text() == "mine"


def test_a_file_of_the_user_that_came_in_the_meantime_stays(tmp_path: Path) -> None:
    target = tmp_path / "result"

    def run() -> None:
        with result_folder(target) as folder:
            (folder / RESULT).write_text("mine")
            target.mkdir()
            (target / "notes").write_text("of the user")

    with pytest.raises(Error, match="result-2"):
        run()
    assert (target / "notes").read_text() == "of the user"
    assert (tmp_path / "result-2" / RESULT).read_text() == "mine"


def test_a_mount_point_is_refused_at_once() -> None:
    with pytest.raises(InvalidInput, match="a file system is mounted there"):
        check_target(Path("/proc"))
