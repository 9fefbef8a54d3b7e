# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

from pathlib import Path

import pytest

NETWORK = Path(__file__).resolve().parents[2] / "networks/two-clusters.toml"


def refused(done, message, status):
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, done.stderr
    assert message in errors[0]
    assert "Traceback" not in done.stderr


def left_behind(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith((".", "hocket-"))]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("bandwidth", "bandwith"), "bandwith"),
        (('[[link]]\nbetween = ["s0", "s1"]\nbandwidth = "93 Mbit/s"\n', ""), "no path between rank 0"),
        (("93 Mbit/s", "93"), "93"),
        (('format = "hocket.network/1"', 'format = "hocket.network/9"'), "hocket.network/9"),
    ],
)
def test_a_wrong_network_file(hocket_cli, tmp_path, change, message):
    (tmp_path / "net.toml").write_text(NETWORK.read_text().replace(*change))
    done = hocket_cli("tune", "--network", "net.toml", "--", "mpiexec", "-n", "2", "true")
    refused(done, message, 2)
    assert left_behind(tmp_path) == []


def test_a_missing_network(hocket_cli):
    refused(hocket_cli("tune", "--network", "none.toml", "--", "mpiexec", "-n", "2", "true"), "none.toml", 2)


def test_more_ranks_than_the_network_has(runner, hocket_cli, tmp_path):
    done = hocket_cli("tune", "--network", NETWORK, "--", *runner.command(9, "true"))
    refused(done, "9 ranks", 2)
    assert left_behind(tmp_path) == []


def test_a_missing_launcher(hocket_cli):
    refused(hocket_cli("tune", "--network", NETWORK, "--", "no-such-mpiexec", "-n", "2", "true"), "no-such-mpiexec", 2)


@pytest.mark.timeout(300)
def test_a_program_that_fails(runner, hocket_cli, tmp_path):
    program = runner.compile(
        "#include <mpi.h>\nint main(int c, char** v) { MPI_Init(&c, &v); MPI_Abort(MPI_COMM_WORLD, 7); return 0; }"
    )
    done = hocket_cli("tune", "--network", NETWORK, "--", *runner.command(2, program), timeout=240)
    refused(done, "the program failed", 1)
    assert left_behind(tmp_path) == []


def test_a_folder_that_is_not_ours_is_left_alone(runner, hocket_cli, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("words")
    done = hocket_cli("tune", "--network", NETWORK, "-o", "mine", "--", *runner.command(2, "true"))
    refused(done, "exists and is not a result of hocket", 2)
    assert (tmp_path / "mine/thesis.txt").read_text() == "words"


@pytest.mark.timeout(300)
def test_a_program_without_mpi_calls_for_us(runner, hocket_cli, tmp_path):
    done = hocket_cli("tune", "--network", NETWORK, "--", *runner.command(2, "true"), timeout=240)
    refused(done, "", 1 if done.returncode == 1 else 2)
    assert left_behind(tmp_path) == []
