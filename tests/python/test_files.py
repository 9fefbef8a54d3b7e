# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

import os
import threading

import pytest

from hocket.files import write_whole


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
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "\ud800")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["plan.json"]
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "missing" / "plan.json", "new")
