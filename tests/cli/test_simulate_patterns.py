# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket simulate` of traffic patterns: results, options, wrong input, Ctrl-C."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FAT_TREE = ("--network", "fat-tree:4x4x8", "--bandwidth", "1GB/s")
KEYS = {
    "makespan_s", "mean_finish_s", "finish_quantiles_s", "events", "setup_s", "solve_s", "peak_rss_bytes", "threads",
    "nodes", "links", "sharing", "seed", "network", "pattern", "completed", "routing", "in_flight", "reference",
}  # fmt: skip
PATTERNS = ("random-ring", "random-permutation", "shift", "all-to-all", "incast", "nearest-neighbour", "matrix:m.txt")


@pytest.fixture
def simulate(hocket_cli: Callable[..., Any], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """The object that `hocket simulate ... --json` prints."""
    (tmp_path / "m.txt").write_text("# bytes\n0 1000 0\n2000 0 3000\n\n1e6, 0, 0 # to the first\n".replace(",", " "))

    def call(*arguments: str) -> dict[str, Any]:
        done = hocket_cli("simulate", *arguments, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        values: dict[str, Any] = json.loads(done.stdout)
        return values

    return call


def refused(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    for part in parts:
        assert part in done.stderr


@pytest.mark.parametrize("sharing", ["none", "equal", "maxmin", "reserve"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_pattern_with_every_sharing(simulate: Callable[..., Any], pattern: str, sharing: str) -> None:
    found = simulate(pattern, *FAT_TREE, "--sharing", sharing)
    assert found.keys() >= KEYS
    assert found["pattern"] == pattern.partition(":")[0]
    assert (found["network"], found["links"], found["routing"]) == ("fat-tree:4x4x8", 768, "d-mod-k")
    assert found["nodes"] == {"incast": 127, "matrix:m.txt": 3}.get(pattern, 128)
    assert found["completed"] is True
    assert found["sharing"] == sharing
    quantiles = found["finish_quantiles_s"]
    assert 0 < quantiles["p50"] <= quantiles["p90"] <= quantiles["p99"] <= found["makespan_s"]
    assert 0 < found["mean_finish_s"] <= found["makespan_s"]
    assert found["events"] == {"incast": 127, "matrix:m.txt": 4, "all-to-all": 127 * 128}.get(
        pattern, found["events"] if pattern == "nearest-neighbour" else 128
    )
    assert found["peak_rss_bytes"] > 1e6


def test_shift_takes_the_time_of_its_bytes(simulate: Callable[..., Any]) -> None:
    found = simulate("shift", "--network", "star:8", "--bandwidth", "1GB/s", "--latency", "3us", "--messages", "4",
                     "--bytes", "2MB", "--distance", "3")  # fmt: skip
    assert found["makespan_s"] == pytest.approx(4 * 2e6 / 1e9 + 2 * 3e-6)
    assert (found["events"], found["distance"]) == (32, 3)


def test_incast_shares_the_target_s_link(simulate: Callable[..., Any]) -> None:
    found = simulate(
        "incast", "--network", "star:8", "--bandwidth", "1GB/s", "--target", "5", "--ranks", "6", "--links"
    )
    assert found["nodes"] == 5
    assert found["makespan_s"] == pytest.approx(5 * 1e6 / 1e9)
    first = found["bottlenecks"][0]
    assert (first["source"], first["target"]) == ("s0", "h5")
    assert first["bytes"] == 5e6
    assert first["utilisation"] == pytest.approx(1)


def test_nearest_neighbour_is_free_on_its_own_torus(simulate: Callable[..., Any]) -> None:
    torus = ("--network", "torus:4x4x4", "--bandwidth", "1GB/s")
    found = simulate("nearest-neighbour", *torus, "--grid", "4x4x4", "--periodic")
    assert (found["events"], found["in_flight"], found["routing"]) == (6 * 64, 6, "dimension-order")
    assert found["makespan_s"] == pytest.approx(1e-3)
    one_by_one = simulate("nearest-neighbour", *torus, "--grid", "4x4x4", "--periodic", "--in-flight", "1")
    assert one_by_one["makespan_s"] == pytest.approx(6e-3)
    assert simulate("nearest-neighbour", *torus)["grid"] is None


def test_the_seed_decides_and_threads_do_not(simulate: Callable[..., Any]) -> None:
    def run(*arguments: str) -> dict[str, Any]:
        found = simulate("random-permutation", *FAT_TREE, "--messages", "5", "--bytes-spread", "0.5", *arguments)
        own = ("setup_s", "solve_s", "cpu_s", "peak_rss_bytes", "threads")
        return {key: value for key, value in found.items() if key not in own}

    default = run()
    assert default == run("--seed", "1")
    assert default["makespan_s"] != run("--seed", "2")["makespan_s"]
    for threads in ("2", "3", "8"):
        assert run("--threads", threads) == default
    assert simulate("shift", *FAT_TREE, "--threads", "2")["threads"] == 1  # that ran: it is too small to be divided
    parts = [simulate("shift", *FAT_TREE, "--messages", "1000", "--threads", threads) for threads in ("1", "2", "5")]
    assert [one["threads"] for one in parts] == [1, 2, 5]
    measured = {"setup_s", "solve_s", "cpu_s", "peak_rss_bytes", "threads"}
    known = [{name: value for name, value in one.items() if name not in measured} for one in parts]
    assert known[1:] == known[:1] * 2


def test_reference_gives_the_same(simulate: Callable[..., Any]) -> None:
    for sharing in ("equal", "maxmin"):
        arguments = ("random-ring", *FAT_TREE, "--messages", "3", "--bytes-spread", "0.5", "--sharing", sharing)
        fast, slow = simulate(*arguments), simulate(*arguments, "--reference", "--threads", "2")
        assert slow["reference"] is True
        assert (fast["threads"], slow["threads"]) == (1, 2)
        assert slow["mean_finish_s"] == pytest.approx(fast["mean_finish_s"], rel=1e-9)


def test_routing(simulate: Callable[..., Any]) -> None:
    arguments = ("random-permutation", *FAT_TREE, "--messages", "5", "--bytes-spread", "0.5", "--routing", "ecmp")
    found = simulate(*arguments, "--seed", "4")
    assert found["routing"] == "ecmp"
    assert found["makespan_s"] != simulate(*arguments, "--seed", "5")["makespan_s"]


def test_a_network_file(simulate: Callable[..., Any], hocket_cli: Callable[..., Any]) -> None:
    hocket_cli("network", "generate", "fat-tree:4x4x8", "--bandwidth", "1 GB/s", "-o", "tree.toml")
    from_file = simulate("random-ring", "--network", "tree.toml")
    assert from_file["routing"] is None
    assert from_file["makespan_s"] == simulate("random-ring", *FAT_TREE)["makespan_s"]


def test_table(hocket_cli: Callable[..., Any]) -> None:
    done = hocket_cli("simulate", "random-ring", *FAT_TREE)
    assert (done.returncode, done.stderr) == (0, "")
    for part in ("random-ring on fat-tree:4x4x8, sharing maxmin", "makespan", "p50, p90, p99", "in use", "s2."):
        assert part in done.stdout


@pytest.mark.parametrize("suffix", ["txt", "csv", "npy"])
def test_matrix_files(simulate: Callable[..., Any], tmp_path: Path, suffix: str) -> None:
    matrix = np.array([[5, 1_000_000, 0], [0, 0, 3_000_000], [2_000_000, 0, 0]])
    path = tmp_path / f"traffic.{suffix}"
    if suffix == "npy":
        np.save(path, matrix)
    else:
        np.savetxt(path, matrix, fmt="%d" if suffix == "csv" else "%.3e", delimiter="," if suffix == "csv" else " ")
    found = simulate(f"matrix:{path}", "--network", "star:5", "--bandwidth", "1GB/s")
    assert (found["nodes"], found["events"]) == (3, 4)
    assert found["makespan_s"] == pytest.approx(3e-3)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("0 1\n2 x\n", ("m.csv:2: number 2 is 'x', not a number", "whole numbers of bytes")),
        ("0 1\n2 nan\n", ("m.csv:2: number 2 is 'nan'",)),
        ("0 inf\n2 0\n", ("m.csv:1: number 2 is 'inf'",)),
        ("0,1\n-2,0\n", ("m.csv:2: number 1 is '-2'",)),
        ("0,1.5\n2,0\n", ("m.csv:1: number 2 is '1.5'",)),
        ("0,1e300\n2,0\n", ("m.csv:1: number 2 is '1e300'",)),
        ("0,99999999999999999999\n2,0\n", ("m.csv:1: number 2 is '99999999999999999999'",)),
        ("0,1,\n2,0,\n", ("m.csv:1: number 3 is '', not a number",)),
        (
            "# sizes\n0 1 2\n3 4\n",
            ("m.csv:3: row 1 has 2 columns; expected 3, as in line 2", "as many rows"),
        ),
        ("0 1 2\n3 4 5\n", ("m.csv: 2 rows of 3 columns",)),
        ("0 1\n2 3\n4 5\n", ("m.csv:3: more than 2 rows, though a row has 2 columns",)),
        ("# nothing\n\n", ("m.csv: no numbers",)),
        ("", ("m.csv: no numbers",)),
        (b"\xff\xfe0 1", ("m.csv:1: not UTF-8 text (byte 1 of the line)",)),
        (b"0 1\n2 \x00\n", ("m.csv:2: number 2 is '\\x00', not a number",)),
        ("0 1_000\n2 0\n", ("m.csv:1: number 2 is '1_000', not a number",)),
        ("0 \uff11\uff12\n2 0\n", ("m.csv:1: number 2 is '\uff11\uff12', not a number",)),
        ("0 0x10\n2 0\n", ("m.csv:1: number 2 is '0x10', not a number",)),
        ("0 " + "9" * 5000 + "\n2 0\n", ("m.csv:1: number 2 is '999",)),
        ("0 " * 16385 + "\n", ("m.csv:1: 16385 numbers", "at most 16384 ranks")),
        ("0" * 2**21, ("m.csv:1: longer than 1048576 bytes",)),
        ("0 " * 9 + "\n" + ("0 " * 9 + "\n") * 8, ("the matrix has 9 ranks, the network has 8",)),
    ],
)
def test_wrong_matrices(
    hocket_cli: Callable[..., Any], tmp_path: Path, content: str | bytes, parts: tuple[str, ...]
) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(hocket_cli("simulate", "matrix:m.csv", "--network", "star:8"), *parts)


@pytest.mark.parametrize(
    ("array", "part"),
    [
        (np.zeros((2, 3), dtype=int), "2 rows of 3 columns"),
        (np.zeros(4), "an array of 1 dimensions of float64; expected two"),
        (np.array([["a"]]), "an array of 2 dimensions of <U1; expected two dimensions of numbers"),
        (np.zeros((0, 0)), "0 ranks"),
        (np.full((2, 2), np.inf, dtype=np.float16), "row 0, column 0 is inf"),
        (np.zeros((2, 2), dtype=complex), "complex128"),
        (np.array([[{}]], dtype=object), "not a .npy file of numbers"),
        (np.array([[0, np.nan], [0, 0]]), "row 0, column 1 is nan"),
        (np.array([[0, 0], [-1, 0]]), "row 1, column 0 is -1"),
        (np.array([[0, 2**53], [0, 0]]), f"row 0, column 1 is {2**53}"),
    ],
)
def test_wrong_arrays(hocket_cli: Callable[..., Any], tmp_path: Path, array: Any, part: str) -> None:
    np.save(tmp_path / "m.npy", array, allow_pickle=True)
    refused(hocket_cli("simulate", "matrix:m.npy", "--network", "star:8"), "m.npy", part)


def test_a_cut_array_file(hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", np.zeros((4, 4)))
    whole = (tmp_path / "m.npy").read_bytes()
    header = whole[:128].replace(b"(4, 4)", b"(-1,4)"), whole[:128].replace(b"(4, 4)", b"(9**9)")
    for content in (whole[:-1], whole[:20], b"", *header, whole[:6] + b"\x09" + whole[7:], b"\x93NUMPY" * 99):
        (tmp_path / "m.npy").write_bytes(content)
        done = hocket_cli("simulate", "matrix:m.npy", "--network", "star:8")
        refused(done, "m.npy: not a .npy file", "hint: write it with numpy.save")
        assert "pickle" not in done.stderr
        assert "Warning" not in done.stderr


def test_a_matrix_is_a_regular_file(hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    os.mkfifo(tmp_path / "pipe.npy")
    for name in ("/dev/zero", "pipe.txt", "pipe.npy", "."):
        done = hocket_cli("simulate", f"matrix:{name}", "--network", "star:8")
        refused(done, f"{name}: the traffic matrix is not a regular file")


def test_a_byte_order_mark_is_no_number(simulate: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "bom.txt").write_bytes(b"\xef\xbb\xbf0 5\r\n5 0\r\n")
    assert simulate("matrix:bom.txt", "--network", "star:2")["events"] == 2


def test_the_diagonal_of_a_matrix_takes_no_time(simulate: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "diagonal.txt").write_text("1e9 0\n0 1e9\n")
    found = simulate("matrix:diagonal.txt", "--network", "star:2")
    assert (found["events"], found["makespan_s"]) == (2, 0)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("random-ring", "--bytes-spread", "1.5"), ("a spread of 1.5", "0 to 1")),
        (("random-ring", "--bytes-spread", "-0.1"), ("a spread of -0.1",)),
        (("random-ring", "--bytes-spread", "nan"), ("a spread of",)),
        (("random-ring", "--bytes", "-1MB"), ("--bytes",)),
        (("random-ring", "--bytes", "1"), ("--bytes", "unit")),
        (("random-ring", "--messages", "0"), ("--messages",)),
        (("random-ring", "--threads", "0"), ("--threads",)),
        (("random-ring", "--in-flight", "0"), ("--in-flight",)),
        (("random-ring", "--seed", "-1"), ("--seed",)),
        (("random-ring", "--ranks", "17"), ("the pattern has 17 ranks, the network has 16", "--ranks")),
        (("random-ring", "--sharing", "fair"), ("--sharing",)),
        (("random-rign",), ("random-rign: no such file, folder, pattern or collective", "random-ring")),
        (("matrix",), ("matrix: no such file", "matrix:FILE")),
        (("matrix:none.txt",), ("none.txt: the traffic matrix cannot be read",)),
        (("incast", "--target", "16"), ("rank 16, is not in 0..15",)),
        (("nearest-neighbour", "--grid", "4x4x2"), ("the pattern has 32 ranks, the network has 16",)),
        (("nearest-neighbour", "--grid", "4y4"), ("--grid", "4y4", "16x16x8")),
        (("nearest-neighbour", "--grid", "4x4", "--ranks", "8"), ("--ranks does not go with --grid",)),
        (("random-ring", "--routing", "ecmp"), ("routing",)),
        (("random-ring", "--reference", "-o", "out"), ("the reference records neither",)),
        (("random-ring", "-o", "no/such/folder"), ("no such folder",)),
        (("nearest-neighbour", "--grid", "4x"), ("--grid: '4x': '' is not a number of points", "16x16x8")),
        (("nearest-neighbour", "--grid", "0x4"), ("--grid: '0x4': 0 is not in 1..",)),
        (("nearest-neighbour", "--grid", "9" * 30), ("is not in 1..",)),
        (("nearest-neighbour", "--grid", "1x" * 40 + "1"), ("41 dimensions; accepted: 1 to 16",)),
        (("",), ("WHAT is empty",)),
        (("x" * 300,), ("File name too long",)),
        (("big.goal",), ("big.goal: larger than 4 GiB",)),
        (("bcast:",), ("bcast has no algorithm ''", "accepted algorithms: linear")),
        (("bcast:rign",), ("bcast has no algorithm 'rign'",)),
        (("bcast", "--segments", "2147483648"), ("--segments",)),
        (("bcast:chain", "--bytes", "1MB", "--send-overhead", "1e300s"), ("1e+300 s is out of range", "0 to 1e6 s")),
        (("random-ring", "--bandwidth", "1e-300 B/s"), ("1e-300 bytes/s is out of range", "1 bit/s to 1e18 bytes/s")),
        (("random-ring", "--latency", "1e300 s"), ("latency: 1e+300 s is out of range",)),
    ],
)
def test_wrong_options(
    hocket_cli: Callable[..., Any], tmp_path: Path, arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    (tmp_path / "big.goal").touch()
    os.truncate(tmp_path / "big.goal", 2**32 + 1)  # takes no room
    done = hocket_cli("simulate", *arguments, "--network", "star:16")
    refused(done, *parts, "hint: ")


@pytest.mark.parametrize(
    ("network", "parts"),
    [
        ("", ("--network: the name is empty",)),
        ("x" * 300, ("File name too long",)),
        ("star:y", ('shape "y": "y" is not a number',)),
        ("torus:4x", ('shape "4x": a number in 1..16777216 is missing',)),
        ("torus:4x99999999999999999999", ("99999999999999999999 is not in 1..16777216",)),
    ],
)
def test_wrong_networks(hocket_cli: Callable[..., Any], network: str, parts: tuple[str, ...]) -> None:
    refused(hocket_cli("simulate", "random-ring", "--network", network), *parts, "hint: ")


def test_what_is_too_large_is_refused(hocket_cli: Callable[..., Any]) -> None:
    done = hocket_cli("simulate", "bcast:scatter_allgather", "--network", "star:65536", "--bytes", "1 MB")
    refused(done, "comes to more than 100000000 operations", "fewer ranks")


def test_more_messages_than_can_be_counted_are_refused(hocket_cli: Callable[..., Any]) -> None:
    for pattern in ("random-ring", "shift", "incast", "nearest-neighbour", "all-to-all"):
        done = hocket_cli("simulate", pattern, "--network", "star:8", "--messages", str(2**63 - 1))
        refused(done, "9223372036854775807", "accepted: ", "hint: ")


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("random-ring", "--root", "0"), "--root does not apply to random-ring"),
        (("random-ring", "--segments", "1"), "--segments does not apply to random-ring"),
        (("random-ring", "--send-overhead", "1us"), "--send-overhead does not apply to random-ring"),
        (("random-ring", "--distance", "2"), "--distance does not apply to random-ring"),
        (("shift", "--target", "2"), "--target does not apply to shift"),
        (("shift", "--periodic"), "--periodic does not apply to shift"),
        (("matrix:m.txt", "--bytes", "1MB"), "--bytes does not apply to matrix:m.txt"),
        (("matrix:m.txt", "--messages", "2"), "--messages does not apply to matrix:m.txt"),
        (("bcast", "--messages", "2", "--bytes", "1MB"), "--messages does not apply to a collective (bcast)"),
        (("bcast", "--in-flight", "2", "--bytes", "1MB"), "--in-flight does not apply to a collective"),
        (("bcast", "--no-links", "--bytes", "1MB"), "--no-links does not apply to a collective"),
        (("bcast", "--links", "--bytes", "1MB"), "error: --links does not apply to a collective"),
        (("p.goal", "--bytes", "1MB"), "--bytes does not apply to a program (p.goal)"),
        (("p.goal", "--root", "1"), "--root does not apply to a program (p.goal)"),
    ],
)
def test_options_that_mean_nothing_are_refused(
    hocket_cli: Callable[..., Any], tmp_path: Path, arguments: tuple[str, ...], option: str
) -> None:
    (tmp_path / "p.goal").write_text("num_ranks 1\nrank 0 {\n}\n")
    refused(hocket_cli("simulate", *arguments, "--network", "star:16"), option, "leave it out")
