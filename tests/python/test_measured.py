# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Learning from measured collectives: costs that are known are found again, and jobs that were left out are decided."""

from __future__ import annotations

import csv
import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from hocket import InvalidInput
from hocket.advise.measured.model import Amounts, learn
from hocket.advise.measured.placement import Place, placement
from hocket.advise.measured.profile import profile
from hocket.advise.measured.request import MeasuredRequest, run
from hocket.advise.measured.rounds import Rounds, messages
from hocket.advise.measured.tables import Case, Measurement
from hocket.advise.measured.terms import TERMS, USUAL
from hocket.cli.main import cli

SAMPLE = Path(__file__).resolve().parents[1] / "measured"
JOBS = ("2025_04_12___14_04_47", "2025_04_14___12_48_39", "2025_06_05___20_58_44")
INSTANCE = ("test_id", "system", "collective", "bytes", "count", "ranks", "algorithm")


def read(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def write(path, rows, columns=None):
    with path.open("w") as file:
        writer = csv.DictWriter(file, columns or list(rows[0]), extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def left_out(tmp_path):
    """Tables without a job, and the candidates of that job."""

    def of(job):
        rows = read(SAMPLE / "measurements.csv")
        write(tmp_path / "measurements.csv", [row for row in rows if job not in row["test_id"]])
        (tmp_path / "allocations.csv").write_bytes((SAMPLE / "allocations.csv").read_bytes())
        asked = [dict(row, algorithm=row["textbook"]) for row in rows if job in row["test_id"] and row["textbook"]]
        write(tmp_path / "instances.csv", asked, INSTANCE)
        return MeasuredRequest(
            tmp_path, tmp_path / "instances.csv", tmp_path / "allocations.csv", tmp_path / "choices.csv"
        )

    return of


def times_of(job):
    """By instance: the median of each algorithm, and of the library's own choice."""
    found = {}
    for row in read(SAMPLE / "measurements.csv"):
        if job in row["test_id"]:
            key = (row["test_id"], row["collective"], int(row["bytes"]))
            found.setdefault(key, {})[row["textbook"] or "default"] = float(row["median_s"])
    return found


@pytest.mark.parametrize("job", [JOBS[0], JOBS[2]])
def test_choices_for_a_job_that_was_left_out_are_near_the_best(left_out, job):
    """A choice by chance is further off by more than twice as much."""
    done = run(left_out(job))
    times = times_of(job)
    regrets, by_chance, errors = [], [], []
    for choice in done.choices:
        case = choice.candidate.case
        of_instance = times[case.test, case.collective, case.bytes]
        errors.append(abs(math.log(choice.predicted_s / of_instance[choice.candidate.name])))
        if choice.chosen:
            of_candidates = np.log([time for name, time in of_instance.items() if name != "default"])
            regrets.append(math.log(of_instance[choice.candidate.name]) - of_candidates.min())
            by_chance.append(of_candidates.mean() - of_candidates.min())
    assert len(regrets) == len(times)
    assert np.mean(regrets) < np.mean(by_chance) / 2
    assert np.median(errors) < math.log(1.5)


def test_writes_a_row_for_each_candidate_and_one_choice_for_each_instance(left_out):
    request = left_out(JOBS[1])
    done = run(request)
    rows = read(request.output)
    assert list(rows[0]) == ["test_id", "collective", "bytes", "algorithm", "chosen", "predicted_s"]
    assert len(rows) == len(read(request.instances)) == len(done.choices)
    assert {row["bytes"]: sum(int(r["chosen"]) for r in rows if r["bytes"] == row["bytes"]) for row in rows} == {
        row["bytes"]: 1 for row in rows
    }
    assert all(0 < float(row["predicted_s"]) < math.inf for row in rows)
    assert done.instances == len({row["bytes"] for row in rows})


def test_does_not_read_times_of_instances(left_out):
    request = left_out(JOBS[1])
    without = run(request)
    rows = [dict(row, median_s="not a time") for row in read(request.instances)]
    write(request.instances, rows)
    assert run(request).choices == without.choices


def test_finds_costs_again_from_which_times_were_made():
    """Times made of known costs, other than the usual ones, are predicted for sizes and ranks that were not shown."""
    rng = np.random.default_rng(7)
    true = USUAL * np.exp(rng.normal(0, 0.7, len(TERMS)))
    places = {f"made/job{p}/0": placement(Place(p, p)) for p in (8, 16, 32, 64)}
    amounts = Amounts(places, lambda _: None)
    forms = [("allgather", "ring"), ("allgather", "bruck"), ("bcast", "binomial"), ("allreduce", "rabenseifner")]

    def case(test, size, form):
        return Case(test, "made", *form, size, size // 4, places[test].ranks)

    def seconds(one):
        return float(amounts.of(one) @ true)

    known = [case(test, 4**k, form) for test in list(places)[:3] for k in range(5, 14) for form in forms]
    model = learn([Measurement(one, one.test.rpartition("/")[0], seconds(one)) for one in known], amounts)
    asked = [case("made/job64/0", 3 * 4**k, form) for k in range(5, 12) for form in forms]
    predicted = model.predict(asked, amounts)
    ratios = np.array([p / seconds(one) for p, one in zip(predicted, asked, strict=True)])
    assert np.exp(np.median(np.abs(np.log(ratios)))) < 1.15


def test_placement_decides_what_crosses_hosts_and_cells():
    at = placement(Place(8, 4, hosts="a*2 b*2 c*2 d*2", cells="1*2 2*2"))
    assert at.ranks_per_host == 2
    assert at.cell.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    ranks = np.arange(8)
    found = profile(Rounds((messages(ranks, ranks ^ 1, 1.0), messages(ranks, ranks ^ 4, 1.0))), at)
    assert found.inside.tolist() == [1, 0]
    assert found.far.tolist() == [0, 1]
    assert found.nic.tolist() == [0, 2]
    assert found.memory.tolist() == [2, 0]
    assert found.cell.tolist() == [0, 2]  # four ranks of a cell send, from two hosts
    assert found.mutual.tolist() == [0, 2]


def test_messages_in_a_torus_go_the_shorter_way_around():
    at = placement(Place(16, 16, torus="8x2", order="XY"))
    found = profile(Rounds((messages([0, 1, 2], [3, 4, 5], 1.0), messages([0], [7 + 8], 1.0))), at)
    assert found.hops.tolist() == [3, 2]  # 7 is next to 0, the other row one link further
    assert found.link.tolist() == [3, 1]  # from 2 to 3 all three


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (Place(4, 4, hosts="a b c"), "hosts of 3 ranks"),
        (Place(4, 4, hosts="a b c d*x"), "d\\*x"),
        (Place(4, 4, hosts="a*1000000000000"), "list of 4 ranks"),
        (Place(4, 4, hosts="a b c d", cells="1 2"), "2 cells"),
        (Place(4, 8, hosts="a*4"), "8 nodes"),
        (Place(8, 8, torus="2x2"), "torus"),
        (Place(8, 8, torus="2xx4"), "torus"),
        (Place(8, 8, torus="2x" + "9" * 5000), "torus"),
        (Place(4, 4, hosts="a*" + "9" * 5000), "list of 4 ranks"),
        (Place(8, 8, torus="2x4", order="XZ"), "rank_order"),
    ],
)
def test_refuses_placements_that_are_none(place, message):
    with pytest.raises(InvalidInput, match=message):
        placement(place)


def replaced(column, value):
    return lambda rows: [rows[0], dict(rows[1], **{column: value}), *rows[2:]]


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("measurements.csv", replaced("median_s", "-1"), "line 3: median_s is '-1'"),
        ("measurements.csv", replaced("bytes", "1.5"), "line 3: bytes is '1.5'"),
        ("measurements.csv", replaced("count", "9" * 5000), "line 3: count is '999"),
        ("measurements.csv", lambda rows: [dict(row, valid="0") for row in rows], "no valid measurement"),
        (
            "measurements.csv",
            lambda rows: [dict(row, textbook="own") for row in rows],
            "none of the measured algorithms",
        ),
        ("instances.csv", lambda rows: [*rows, rows[0]], "is there twice"),
        ("instances.csv", lambda rows: [dict(rows[0], collective="gossip")], "of the collective 'gossip'"),
        ("instances.csv", lambda rows: [dict(row, test_id="x/y/0") for row in rows], "no allocation of the test x/y/0"),
        ("instances.csv", replaced("ranks", "3"), "has 3 ranks, its allocation 64"),
        ("instances.csv", lambda rows: [{"a": "b"}], "no column test_id"),
    ],
)
def test_refuses_tables_that_are_wrong(left_out, file, change, message):
    request = left_out(JOBS[1])
    path = request.tables / file
    write(path, change(read(path)))
    with pytest.raises(InvalidInput, match=message):
        run(request)
    assert not request.output.exists()


def test_a_byte_order_mark_is_no_part_of_a_column(left_out):
    request = left_out(JOBS[1])
    plain = run(request).choices
    for name in ("instances.csv", "measurements.csv"):
        path = request.tables / name
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert run(request).choices == plain


def test_survives_any_bytes(left_out):
    request = left_out(JOBS[1])
    rng = np.random.default_rng(3)
    for name in ("instances.csv", "measurements.csv"):
        path = request.tables / name
        content = path.read_bytes()
        packed = gzip.compress(content)
        damaged = packed[:10] + b"\xff" * (len(packed) - 10)  # behind the header no valid block
        for garbage in (b"", b"\x1f\x8b\x08", b"\xff\xfe", rng.bytes(1000), packed[:200], damaged):
            path.write_bytes(garbage)
            with pytest.raises(InvalidInput):
                run(request)
        path.write_bytes(content)


def test_an_algorithm_without_a_form_is_never_chosen(left_out):
    request = left_out(JOBS[1])
    rows = read(request.instances)
    write(request.instances, [*rows, dict(rows[0], algorithm="teleport")])
    done = run(request)
    (unknown,) = (one for one in done.choices if one.candidate.name == "teleport")
    assert not unknown.chosen
    assert unknown.predicted_s > 0
    (warning,) = done.warnings
    assert warning.startswith("scatter teleport is not known")


def test_where_no_algorithm_is_known_the_first_is_chosen(left_out):
    request = left_out(JOBS[1])
    rows = read(request.instances)
    write(request.instances, [dict(rows[0], algorithm=name) for name in ("teleport", "levitate")])
    first, second = run(request).choices
    assert (first.chosen, second.chosen) == (True, False)
    assert first.predicted_s == second.predicted_s > 0


def test_names_of_libraries_and_of_hocket_are_understood(left_out):
    request = left_out(JOBS[1])
    usual = run(request)
    other = {"binomial": "binomial_ompi", "linear": "linear_ompi", "linear-nonblocking": "linear_nb_ompi"}
    write(request.tables / "measurements.csv", read(SAMPLE / "measurements.csv"))  # that knows the names
    known = run(request)
    write(request.instances, [dict(row, algorithm=other[row["algorithm"]]) for row in read(request.instances)])
    named = run(request)
    assert [one.predicted_s for one in named.choices] == [one.predicted_s for one in known.choices]
    assert {one.candidate.name for one in named.choices} == set(other.values())
    assert len(usual.choices) == len(named.choices)


def test_command(left_out):
    request = left_out(JOBS[1])
    options = ["--measured", str(request.tables), "--instances", str(request.instances)]
    options += ["--allocations", str(request.allocations), "-o", str(request.output)]
    printed = CliRunner().invoke(cli, ["advise", *options])
    assert printed.exit_code == 0, printed.output
    assert f"{request.output}: 24 candidates of 8 instances" in printed.output
    as_json = CliRunner().invoke(cli, ["advise", *options, "--json"])
    values = json.loads(as_json.stdout)
    assert len(values["choices"]) == 24
    assert values["learnt_from"] > 100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--measured", "x"], "needs --instances and --allocations"),
        (["--instances", "x"], "need --measured"),
        (["trace", "--measured", "x"], "neither a TRACE nor --network"),
        ([], "Missing argument 'TRACE'"),
        (["trace"], "Missing option '-N' / '--network'"),
    ],
)
def test_command_tells_what_is_missing(options, message):
    found = CliRunner().invoke(cli, ["advise", *options])
    assert found.exit_code == 2
    assert message in found.output


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--bandwidth", "1 Gbit/s"),
        ("--latency", "1 us"),
        ("--costs", "y"),
        ("--send-overhead", "1 us"),
        ("--receive-overhead", "1 us"),
        ("--rendezvous", "1 MB"),
        ("--sharing", "maxmin"),
    ],
)
def test_command_refuses_what_tables_have_no_use_for(option, value):
    found = CliRunner().invoke(cli, ["advise", "--measured", "x", option, value])
    assert isinstance(found.exception, InvalidInput)
    assert f"{option} does not go with --measured" in str(found.exception)
