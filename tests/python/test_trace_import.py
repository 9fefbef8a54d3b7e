# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Traces of other tools: what is read of the samples, and what is refused."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import pytest

from fuzz import importers
from hocket import Program, _core
from hocket.errors import InvalidInput
from hocket.interop.traces import otf2_package
from hocket.interop.traces.importing import Imported, ImportRequest, run
from hocket.traces.replay import replay

SAMPLES = Path(__file__).resolve().parent.parent / "samples" / "traces"


def imported(name: str, **options: object) -> Imported:
    return run(ImportRequest(SAMPLES / name, **options))  # type: ignore[arg-type]


def calls(found: Imported) -> dict[str, tuple[int, int]]:
    return {one.name: (one.calls, one.bytes) for one in found.calls}


def test_dumpi_calls_and_communicators() -> None:
    # A program of 4 ranks: each has 3 rounds of an Irecv from any rank, an Isend of 16, 32, 64 doubles to the next
    # rank, an Allreduce of 4 doubles on a split by rank % 2 with descending keys, and a Bcast of 32 doubles on a
    # column of a grid.
    found = imported("dumpi")
    counts = calls(found)
    assert counts["MPI_Isend"] == (12, 4 * (16 + 32 + 64) * 8)
    assert counts["MPI_Allreduce"] == (12, 12 * 32)
    assert counts["MPI_Bcast"] == (12, 12 * 256)
    assert counts["MPI_Alltoallv"] == (4, 4 * sum(1 + (r + i) % 3 for r in range(4) for i in range(4)))
    assert counts["MPI_Reduce_scatter"] == (4, 2 * (3 + 2) * 4)
    assert counts["MPI_Gather"] == (4, 4 * 5)
    members = {(one.made_by, one.members) for one in found.communicators}
    assert members == {
        ("", (0, 1, 2, 3)),
        ("MPI_Comm_split", (2, 0)),
        ("MPI_Comm_split", (3, 1)),
        ("MPI_Comm_dup", (0, 1, 2, 3)),
        ("MPI_Cart_create", (0, 1, 2, 3)),
        ("MPI_Cart_sub", (0, 2)),
        ("MPI_Cart_sub", (1, 3)),
        ("MPI_Comm_create", (0, 1)),
    }
    assert found.notes == []


def test_dumpi_receives_from_any_rank_have_their_sender() -> None:
    trace = imported("dumpi").trace
    assert trace is not None
    for rank in range(4):
        received = trace.completions(rank)
        received = received[received["source"] >= 0]
        assert list(received["source"]) == [(rank - 1) % 4] * 3
        assert list(received["bytes"]) == [128, 256, 512]


def test_imported_traces_replay_whole() -> None:
    for name in ("dumpi", "liballprof", "ti"):
        trace = imported(name).trace
        assert trace is not None
        left_out = {one.function for one in replay(trace).left_out}
        assert not left_out & {"messages sent", "messages received"}, name
        assert all(one.startswith(("MPI_Comm_", "MPI_Cart_")) for one in left_out), name


def test_liballprof() -> None:
    found = imported("liballprof")
    assert {(one.made_by, one.members) for one in found.communicators} == {
        ("", (0, 1, 2)),
        ("MPI_Comm_split", (2, 0)),  # keys 2 and 1
        ("MPI_Comm_split", (1,)),
    }
    counts = calls(found)
    assert counts["MPI_Isend"] == (1, 80)
    assert counts["MPI_Allreduce"] == (3, 48)
    assert counts["MPI_Alltoallv"] == (3, 4 * 3 * (1 + 2 + 3))
    trace = found.trace
    assert trace is not None
    waited = trace.completions(0)
    assert sorted(waited["source"]) == [-1, 2]
    # The clock of rank 1 is 500 us ahead; all begin with MPI_Init, which ends at 1000 us on the clock of rank 0.
    assert [int(trace.calls(rank)["exit_ns"][-1]) for rank in range(3)] == [100_000] * 3


def test_simgrid_ti() -> None:
    found = imported("ti", flops_per_s=1e9)
    counts = calls(found)
    assert counts["MPI_Isend"] == (1, 800)
    assert counts["MPI_Irecv"] == (2, 800 + 800)
    assert counts["MPI_Send"] == (2, 50 + 800)  # the type of a line without one is that of init: MPI_BYTE
    trace = found.trace
    assert trace is not None
    assert trace.calls(0)["enter_ns"][1] == 1_000_000


def test_goal_text_and_binary_are_the_same_program() -> None:
    text = (SAMPLES / "goal" / "app.goal").read_text()
    program = Program.from_goal(text)
    binary = _core.to_goal_binary(program, 1e9)
    # Its header: the magic number of LogGOPSim's Parser.hpp, ranks, largest cpu and nic.
    assert struct.unpack_from("<QIBB", binary) == (4223, 2, 0, 0)
    again = _core.program_from_goal_binary(binary, "app.bin")
    assert [
        [(op.kind, op.peer, op.tag, op.bytes, op.seconds, sorted(op.after)) for op in again.ops(r)] for r in (0, 1)
    ] == [[(op.kind, op.peer, op.tag, op.bytes, op.seconds, sorted(op.after)) for op in program.ops(r)] for r in (0, 1)]


def test_chakra_gives_the_program_that_was_written() -> None:
    program = Program.from_goal((SAMPLES / "goal" / "app.goal").read_text())
    files = [(f"app.{rank}.et", content) for rank, content in enumerate(_core.to_chakra(program))]
    again, notes = _core.read_chakra(files)
    assert again == program
    assert notes == []


def _message(*fields: tuple[int, int | bytes]) -> bytes:
    """A protobuf message of varints and texts below 128."""
    out = b""
    for number, value in fields:
        out += bytes([number << 3 | 2, len(value)]) + value if isinstance(value, bytes) else bytes([number << 3, value])
    return out


def test_chakra_collective_becomes_messages() -> None:
    # A broadcast (5) of 64 bytes behind a computation of 3 us, on 2 ranks: one message from rank 0 to rank 1.
    node = _message((1, 1), (3, 4), (7, 3))
    size = _message((1, b"comm_size"), (9, 64))
    kind = _message((1, b"comm_type"), (9, 5))
    collective = _message((1, 2), (3, 7), (5, b"\x01"), (10, size), (10, kind))
    content = b"".join(bytes([len(part)]) + part for part in (_message((1, b"1")), node, collective))
    program, notes = _core.read_chakra([("a.0.et", content), ("a.1.et", content)])
    sent = [op for op in program.ops(0) if op.kind == "send"]
    received = [op for op in program.ops(1) if op.kind == "recv"]
    assert [(op.peer, op.bytes, op.after) for op in sent] == [(1, 64, [0])]
    assert [(op.peer, op.bytes, op.after) for op in received] == [(0, 64, [0])]
    assert program.ops(0)[0].seconds == pytest.approx(3e-6)
    assert notes == []


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("empty", b"", "it is empty"),
        ("text", b"hello\n", "its format is not recognised"),
        ("app.gz", b"\x1f\x8b123", "it is compressed"),
        (
            "a0.txt",
            b"0 init\n0 send 5 0 1\n",
            'line 2: a rank: found "5"; accepted: those that there are files of, 0 to 0',
        ),
        ("a0.txt", b"0 init\n2 init\n", "found no action of rank 1, but of rank 2"),
        ("a0.txt", b"MPI_Init:-:1:2:10\nMPI_Send:1:2\n", "line 2: the arguments of a call"),
        ("a0.txt", b"0 init\n0 \xff\xfe\n", 'found "\\xff\\xfe"'),
        ("a0.bin", b"\xff\xaa\xddDUMPI" + bytes(100), "found no index"),
    ],
)
def test_bad_files_have_one_clear_message(tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidInput) as caught:
        run(ImportRequest(path))
    assert expected in caught.value.message
    assert caught.value.hint


def test_calls_on_a_communicator_of_unknown_members_are_told(tmp_path: Path) -> None:
    # One file of three: no communicator of 3 ranks is the world of 1.
    shutil.copy(SAMPLES / "liballprof" / "app-0.txt", tmp_path / "app-0.txt")
    found = run(ImportRequest(tmp_path / "app-0.txt"))
    assert "1 calls of MPI_Barrier act on a communicator whose members the trace does not name" in found.notes
    assert calls(found)["MPI_Barrier"] == (1, 0)


def test_missing_file_of_a_rank_is_named(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "dumpi", tmp_path / "dumpi")
    (tmp_path / "dumpi" / "app-0001.bin").unlink()
    with pytest.raises(InvalidInput, match="the file of rank 1 is missing"):
        run(ImportRequest(tmp_path / "dumpi"))


def test_option_of_another_format_is_refused() -> None:
    with pytest.raises(InvalidInput, match="--flops is for SimGrid"):
        imported("dumpi", flops_per_s=1e9)
    with pytest.raises(InvalidInput, match="--align is for"):
        imported("ti", align=True)


def test_written_trace_opens_again(tmp_path: Path) -> None:
    from hocket import Trace

    found = imported("dumpi", output=tmp_path / "app.trace")
    again = Trace.open(tmp_path / "app.trace")
    assert found.trace is not None
    assert again.core == found.trace.core


@pytest.mark.parametrize("form", importers.FORMATS)
def test_damaged_files_are_refused_cleanly(form: str) -> None:
    inputs = 40 if form == "otf2" else 1000
    found, wrong = importers.run(form, 0, inputs, 2)
    assert wrong == []
    assert sum(found.values()) == inputs
    assert found["refused"] > 0


def test_otf2_that_its_library_never_opens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It waits for a lock that it holds with some damaged files; here it gets too little time for a good one."""
    monkeypatch.setattr(otf2_package, "MOST_S", 1e-3)
    with pytest.raises(InvalidInput, match=r"traces\.otf2: the package otf2 has not opened it after 0\.001 s"):
        importers.reader("otf2", tmp_path / "trace")(importers.samples("otf2")[0])
