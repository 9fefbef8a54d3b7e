# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

import os
import resource
import threading

import pytest

from hocket.io.files import whole_file, write_whole


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "plan.json"
    path.write_text("old")
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["plan.json"]


def test_a_symbolic_link_stays_one(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_pipe_is_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()), daemon=True)
    reader.start()
    write_whole(tmp_path / "pipe", "text")
    reader.join(10)
    assert read == ["text"]
    assert (tmp_path / "pipe").is_fifo()


def test_what_cannot_be_written_leaves_the_old(tmp_path):
    path = tmp_path / "plan.json"
    path.write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match=f"File too large: '{path}'"):
            write_whole(path, "new" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["plan.json"]
    with pytest.raises(FileNotFoundError, match=f"the folder {tmp_path / 'missing'} does not exist"):
        write_whole(tmp_path / "missing" / "plan.json", "new")
    longest = "x" * os.pathconf(tmp_path, "PC_NAME_MAX")
    with pytest.raises(OSError, match=f"{longest}'$"):  # not the name of what lies aside, which is longer
        write_whole(tmp_path / longest, "new")


def test_what_is_no_utf8_is_written_visibly(tmp_path):
    write_whole(tmp_path / "page.html", os.fsdecode(b"./app caf\xe9"))
    assert (tmp_path / "page.html").read_text() == "./app caf\\udce9"


def test_a_replaced_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "plan.json"
    path.write_text("old")
    path.chmod(0o640)
    write_whole(path, "new")
    assert path.stat().st_mode & 0o777 == 0o640
    with whole_file(path) as aside:
        assert aside.stat().st_mode & 0o077 == 0  # as long as it is not complete
        aside.write_text("newer")
    assert path.read_text() == "newer"


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "plan.json"
    path.write_text("old")
    path.chmod(0o444)
    if os.geteuid() == 0:  # root may write everything
        monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError):
        write_whole(path, "new")
    assert path.read_text() == "old"


def test_an_error_names_the_file_that_has_it(tmp_path):
    (tmp_path / "one").write_text("old")
    with pytest.raises(FileNotFoundError, match="two"), whole_file(tmp_path / "one"), whole_file(tmp_path / "no/two"):
        pass
    assert os.listdir(tmp_path) == ["one"]
