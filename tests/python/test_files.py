# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

import os
import resource
import threading

import pytest

from hocket.io.files import write_whole


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
