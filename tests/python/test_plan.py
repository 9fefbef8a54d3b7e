# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

import copy
import json

import pytest

from hocket import InvalidInput, Schedule, validate
from hocket.plan import Plan, PlanEntry, write_plan

PLAN = {
    "format": "hocket.plan/3",
    "ranks": 8,
    "network": "two-clusters",
    "created_by": "a test",
    "entries": [
        {
            "collective": "bcast",
            "members": [0, 1, 2, 3],
            "bytes_min": 1000,
            "bytes_max": 2000,
            "root": 2,
            "schedule": {"algorithm": "pipelined_chain", "segments": 4, "order": [0, 2, 1, 3]},
            "predicted_s": 0.09,
            "lower_bound_s": 0.086,
            "native_s": None,
            "tuned_s": None,
            "calls": 12,
        }
    ],
}
EVIDENCE = {"mpi": "Open MPI 4.1.4", "launches": 3, "repetitions": 5, "ratio": 1.5, "ratio_interval": [1.4, 1.6]}


def changed(path, value):
    document = copy.deepcopy(PLAN)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(document)


def test_reads_what_it_writes(tmp_path):
    plan = Plan.from_text(json.dumps(PLAN))
    write_plan(plan, tmp_path / "plan.json")
    assert Plan.from_file(tmp_path / "plan.json") == plan
    assert json.loads(plan.to_json()) == PLAN
    assert list(tmp_path.iterdir()) == [tmp_path / "plan.json"]


def test_reads_and_writes_progress():
    plan = Plan.from_text(changed(("progress",), "auto"))
    assert plan.progress == "auto"
    assert Plan.from_text(plan.to_json()) == plan
    assert Plan.from_text(json.dumps(PLAN)).progress == "off"


def test_reads_and_writes_evidence():
    text = changed(("entries", 0), {**PLAN["entries"][0], "evidence": EVIDENCE, "reproducible": True})
    plan = Plan.from_text(text)
    assert plan.entries[0].evidence.ratio_interval == (1.4, 1.6)
    assert plan.entries[0].reproducible
    assert json.loads(plan.to_json()) == json.loads(text)
    assert Plan.from_text(changed(("entries", 0, "evidence"), None)).entries[0].evidence is None


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("mpi", 4, "evidence: mpi is 4; accepted: text"),
        ("launches", 0, "evidence: launches is 0"),
        ("repetitions", 1.5, "evidence: repetitions is 1.5"),
        ("ratio", -1, "evidence: ratio is -1; accepted: a number, not negative"),
        ("ratio", "fast", 'evidence: ratio is "fast"'),
        ("ratio_interval", [1], "evidence: ratio_interval is [1]; accepted: two numbers"),
        ("ratio_interval", [1, None], "evidence: ratio_interval is null"),
        ("mood", "good", 'evidence: unknown key "mood"'),
    ],
)
def test_refuses_wrong_evidence(key, value, said):
    with pytest.raises(InvalidInput) as caught:
        Plan.from_text(changed(("entries", 0, "evidence"), {**EVIDENCE, key: value}))
    assert said in str(caught.value)


def test_refuses_a_reproducible_that_is_no_truth():
    with pytest.raises(InvalidInput, match="reproducible is 1; accepted: true or false"):
        Plan.from_text(changed(("entries", 0, "reproducible"), 1))


def test_entry_builds_its_schedule():
    entry = Plan.from_text(json.dumps(PLAN)).entries[0]
    schedule = entry.schedule()
    assert (schedule.algorithm, schedule.root, schedule.segments, schedule.num_ranks) == ("pipelined_chain", 2, 4, 4)
    assert validate(schedule).ok


def test_entry_serves_its_calls_only():
    plan = Plan.from_text(json.dumps(PLAN))
    assert plan.entry_for("bcast", [0, 1, 2, 3], 1500, 2) == plan.entries[0]
    for call in [
        ("reduce", [0, 1, 2, 3], 1500, 2),
        ("bcast", [1, 0, 2, 3], 1500, 2),
        ("bcast", [0, 1, 2, 3], 999, 2),
        ("bcast", [0, 1, 2, 3], 2001, 2),
        ("bcast", [0, 1, 2, 3], 1500, 1),
    ]:
        assert plan.entry_for(*call) is None


def test_custom_schedule_travels_whole():
    custom = Schedule.build("bcast", "binomial", 4, root=1)
    entry = PlanEntry("bcast", (0, 1, 2, 3), 0, 9, "custom", root=1, custom=custom)
    read = Plan.from_text(Plan(8, "n", (entry,)).to_json()).entries[0]
    assert read.schedule().to_json() == custom.to_json()


ENTRY = ("entries", 0)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            ("format",),
            "hocket.plan/4",
            'format is "hocket.plan/4"; accepted: "hocket.plan/3", "hocket.plan/2", "hocket.plan/1"',
        ),
        (("hosts",), ["a"] * 7, 'hosts is ["a"'),
        ((*ENTRY, "other_members"), [[4, 5, 6]], "other_members[0] has 3 ranks; members has 4"),
        ((*ENTRY, "other_members"), [[4, 5, 6, 8]], "other_members[0] holds 8"),
        ((*ENTRY, "other_members"), [[0, 1, 2, 3]], "entries[0] serves calls that entries[0] serves too"),
        ((*ENTRY, "schedule", "segment_bytes"), 4096, "has both segments and segment_bytes"),
        ((*ENTRY, "schedule"), {"algorithm": "pipelined_chain", "segment_bytes": 0}, "segment_bytes is 0"),
        ((*ENTRY, "schedule"), {"entry": 0}, "there is no earlier entry"),
        (("colour",), 1, 'unknown key "colour"'),
        (("ranks",), 0, "ranks is 0"),
        (("entries",), {}, "entries must be a list"),
        ((*ENTRY, "colour"), 1, 'entries[0]: unknown key "colour"'),
        ((*ENTRY, "collective"), "broadcast", 'collective is "broadcast"; accepted: bcast'),
        ((*ENTRY, "members"), [0, 1, 2, 8], "members holds 8; accepted: ranks from 0 to 7"),
        ((*ENTRY, "members"), [0, 1, 2, 2], "members holds rank 2 twice"),
        ((*ENTRY, "bytes_min"), True, "bytes_min is true"),
        ((*ENTRY, "bytes_max"), 999, "bytes_max is 999"),
        ((*ENTRY, "root"), 4, "root is 4"),
        ((*ENTRY, "predicted_s"), -1, "predicted_s is -1"),
        ((*ENTRY, "predicted_s"), 10**400, "predicted_s is 1000"),
        (("\x1b[31m",), 1, r'unknown key "\u001b[31m"'),
        ((*ENTRY, "schedule", "algorithm"), "ring", 'algorithm is "ring"; accepted for bcast: '),
        ((*ENTRY, "schedule", "segments"), 0, "segments is 0"),
        ((*ENTRY, "schedule", "order"), [0, 1, 2], "order has 3 ranks"),
        ((*ENTRY, "schedule", "order"), [0, 1, 2, 4], "order holds 4"),
        ((*ENTRY, "schedule"), {"custom": {"format": "?"}}, "schedule: custom"),
        ((*ENTRY, "schedule"), {"custom": {}, "pieces": 2}, 'unknown key "pieces"'),
        ((*ENTRY, "collective"), "allreduce", "allreduce has no root"),
        (("progress",), "always", 'progress is "always"; accepted: off, on, auto'),
        (("entries",), [PLAN["entries"][0]] * 2, "entries[1] serves calls that entries[0] serves too"),
    ],
)
def test_refuses_by_name(path, value, message):
    with pytest.raises(InvalidInput) as caught:
        Plan.from_text(changed(path, value), "my.json")
    assert message in str(caught.value)
    assert str(caught.value).startswith("my.json: ")


def test_entries_for_the_same_calls_are_found_wherever_they_stand():
    def entry(low: int, high: int, root: int | None = None) -> dict:
        return {**PLAN["entries"][0], "bytes_min": low, "bytes_max": high, "root": root}

    def refusal(entries: list[dict]) -> str:
        try:
            Plan.from_text(json.dumps({**PLAN, "entries": entries}), "p")
        except InvalidInput as error:
            return str(error)
        return ""

    assert refusal([entry(20, 29), entry(0, 9), entry(10, 19)]) == ""
    assert refusal([entry(0, 99, 1), entry(0, 99, 2), entry(50, 60, 3)]) == ""
    assert "entries[1] serves calls that entries[0]" in refusal([entry(9, 20), entry(0, 9), entry(20, 29)])
    assert "entries[2] serves calls that entries[1]" in refusal([entry(0, 1), entry(10, 99, 1), entry(50, 60, 1)])


def test_an_entry_that_names_the_root_goes_before():
    entries = [{**PLAN["entries"][0], "root": root, "calls": calls} for root, calls in ((None, 1), (2, 2))]
    plan = Plan.from_text(json.dumps({**PLAN, "entries": entries}))
    assert plan.entry_for("bcast", [0, 1, 2, 3], 1500, 2) == plan.entries[1]
    assert plan.entry_for("bcast", [0, 1, 2, 3], 1500, 1) == plan.entries[0]


def test_reads_the_format_before():
    plan = Plan.from_text(changed(("format",), "hocket.plan/1"))
    assert plan == Plan.from_text(json.dumps(PLAN))


def test_segments_and_communicators_travel():
    entry = PlanEntry("bcast", (0, 1), 0, 10**6, "pipelined_chain", segment_bytes=4096, other_members=((3, 2), (4, 5)))
    plan = Plan(6, "n", (entry,), "a test", hosts=("a", "a", "b", "b", "c", "c"))
    assert Plan.from_text(plan.to_json()) == plan
    assert plan.entry_for("bcast", [3, 2], 5, 0) == entry
    assert plan.entry_for("bcast", [2, 3], 5, 0) is None
    # 10000 bytes are 3 segments of at most 4096.
    assert [entry.segments_of(size) for size in (0, 4096, 10000)] == [1, 1, 3]
    assert entry.schedule(0, 10000).segments == 3


def test_a_schedule_carried_twice_is_written_once():
    custom = Schedule.build("bcast", "binomial", 4, root=1)
    sizes = ((0, 9), (10, 19))
    entries = tuple(PlanEntry("bcast", (0, 1, 2, 3), *size, "custom", root=1, custom=custom) for size in sizes)
    text = Plan(4, "n", entries).to_json()
    assert json.loads(text)["entries"][1]["schedule"] == {"entry": 0}
    assert Plan.from_text(text).entries[1].schedule() == entries[0].schedule()


def test_refuses_a_wrong_custom_schedule():
    document = json.loads(Schedule.build("bcast", "binomial", 4, root=2).to_json())
    document["ranks"][2].pop()  # the root forgets a send
    text = changed((*ENTRY, "schedule"), {"custom": document})
    with pytest.raises(InvalidInput, match="custom is wrong: "):
        Plan.from_text(text)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "1e999", "[" * 100_000, '{"format": NaN}', "9" * 5000])
def test_survives_any_text(text):
    with pytest.raises(InvalidInput, match="^plan: "):
        Plan.from_text(text)


def test_unreadable_file(tmp_path):
    with pytest.raises(InvalidInput, match="no-such.json: cannot read the plan"):
        Plan.from_file(tmp_path / "no-such.json")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="not UTF-8"):
        Plan.from_file(tmp_path / "binary")


def test_other_ranks_is_one_clear_message():
    plan = Plan.from_text(json.dumps(PLAN))
    plan.check_ranks(8)
    with pytest.raises(InvalidInput, match="my.json is for 8 ranks, but the command starts 4"):
        plan.check_ranks(4, "my.json")


def test_a_file_that_never_ends_is_refused() -> None:
    with pytest.raises(InvalidInput, match="cannot read the plan: it is larger than 64 MiB"):
        Plan.from_file("/dev/zero")


def test_files_and_programs_of_earlier_versions_say_pieces() -> None:
    text = json.dumps(PLAN)
    former = text.replace('"segments"', '"pieces"')
    assert former != text
    assert Plan.from_text(former) == Plan.from_text(text)
    with pytest.raises(InvalidInput, match='unknown key "pieces"'):
        Plan.from_text(text.replace('"segments": 4', '"segments": 4, "pieces": 4'))
    entry = PlanEntry("bcast", (0, 1), 0, 9, "pipelined_chain", pieces=3)
    assert entry == PlanEntry("bcast", (0, 1), 0, 9, "pipelined_chain", 3)
    assert (entry.pieces, entry.pieces_of(9), entry.replace(pieces=2).segments) == (3, 3, 2)
    schedule = Schedule.build("bcast", "pipelined_chain", 2, pieces=3)
    assert (schedule, schedule.pieces) == (entry.schedule(0), 3)


@pytest.mark.parametrize("key", ["ranks", "bytes_min", "segments"])
def test_a_key_that_occurs_twice_is_refused_by_name(key: str) -> None:
    text = json.dumps(PLAN).replace(f'"{key}":', f'"{key}": 1, "{key}":')
    with pytest.raises(InvalidInput, match=f'my.json: the key "{key}" occurs twice'):
        Plan.from_text(text, "my.json")
