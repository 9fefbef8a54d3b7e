# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Schedules on circuits: replayed, against an exhaustive search, and against the equations of [Takizawa]."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest

from hocket import InvalidInput, circuit_algorithms, circuit_cost
from hocket.circuits.check import check_answer
from hocket.circuits.schedules import CircuitInstance, answer_lines, check_lines, solve

_PAPER = {"s": 0.005, "d": 0.005, "alpha": 1e-4, "beta": 8e-9}
_SEED = 20261124


def _instance(**values: Any) -> CircuitInstance:
    return CircuitInstance.of({"collective": "bcast", "p": 4, "k": 2, "bytes": 1000, **_PAPER, **values})


def _earliest(sends_s: list[int], p: int, one: CircuitInstance) -> float:
    """Last teardown of the broadcast in which the i-th node that gets the message gets it from `sends_s[i - 1]`, each
    circuit by itself. A sender uses the port that is free first; each circuit is open as early as its port allows."""
    message_s = one.alpha + one.bytes * one.beta
    exchange_s = one.s + one.d if one.accounting == "equations" else max(one.s, one.d)
    ports: list[list[float]] = [[one.s] * one.k]  # when a circuit of each port may be open
    busy_s = [0.0]
    end_s = 0.0
    for sender in sends_s:
        ports[sender].sort()
        begin_s = max(ports[sender].pop(0), busy_s[sender])
        done_s = begin_s + message_s
        ports[sender].append(done_s + exchange_s)
        if one.injection == "one":
            busy_s[sender] = done_s
        ports.append([done_s] * (one.k - 1) + [done_s + exchange_s])
        busy_s.append(done_s)
        end_s = max(end_s, done_s + one.d)
    assert len(busy_s) == p
    return end_s


def _exhaustive_by_circuits(one: CircuitInstance) -> float:
    """Over every tree and every order in which its nodes are reached."""
    choices = [range(i) for i in range(1, one.p)]
    return min(_earliest(list(senders), one.p, one) for senders in itertools.product(*choices))


def _exhaustive_together(one: CircuitInstance) -> float:
    """Breadth first over the nodes that have the message, by the ports that each has left in its configuration: in a
    round any of them send, after it the configuration may be torn down."""
    message_s = one.alpha + one.bytes * one.beta
    exchange_s = one.s + one.d if one.accounting == "equations" else max(one.s, one.d)
    best = float("inf")
    seen: dict[tuple[int, ...], set[tuple[int, int]]] = {}
    level = {((one.k,), 1, 0)}  # ports left of those that have it, configurations, rounds
    while level:
        following = set()
        for left, configurations, rounds in level:
            if len(left) == one.p:
                best = min(best, one.s + (configurations - 1) * exchange_s + rounds * message_s + one.d)
                continue
            most = 1 if one.injection == "one" else one.k
            for sends in itertools.product(*(range(min(most, ports) + 1) for ports in left)):
                if not 0 < sum(sends) <= one.p - len(left):
                    continue
                after = [ports - sent for ports, sent in zip(left, sends, strict=True)] + [one.k - 1] * sum(sends)
                following.add((tuple(sorted(after)), configurations, rounds + 1))
                following.add(((one.k,) * len(after), configurations + 1, rounds + 1))
        level = set()
        for left, configurations, rounds in following:
            known = seen.setdefault(left, set())
            if configurations <= one.p and not any(c <= configurations and r <= rounds for c, r in known):
                known.add((configurations, rounds))
                level.add((left, configurations, rounds))
    return best


@pytest.mark.parametrize("accounting", ["equations", "hidden"])
@pytest.mark.parametrize("stop", ["all", "circuit"])
@pytest.mark.parametrize("injection", ["one", "all"])
def test_broadcast_of_one_piece_is_the_least(injection: str, stop: str, accounting: str) -> None:
    print(f"seed {_SEED}")
    chance = random.Random(_SEED)
    for p, k in itertools.product(range(2, 9), range(1, 4)):
        one = _instance(
            p=p, k=k, injection=injection, stop=stop, accounting=accounting, bytes=chance.choice([1, 10**6, 10**7]),
            s=chance.choice([0.001, 0.01]), d=chance.choice([0.002, 0.005]),
        )  # fmt: skip
        least_s = (_exhaustive_together if stop == "all" else _exhaustive_by_circuits)(one)
        answer = solve(one)
        assert answer.makespan_s == pytest.approx(least_s, rel=1e-9), one
        assert answer.optimal
        assert check_answer(answer.values) == ()


def test_every_answer_passes_the_replay() -> None:
    print(f"seed {_SEED}")
    chance = random.Random(_SEED)
    for _ in range(60):
        collective = chance.choice(["bcast", "reduce", "allgather", "allreduce", "alltoall"])
        one = _instance(
            collective=collective, p=chance.choice([1, 2, 3, 5, 7, 8, 12]), k=chance.randint(1, 4),
            bytes=chance.choice([1, 1000, 10**6]), s=chance.choice([0, 0.001, 0.01]), d=chance.choice([0, 0.005]),
            injection=chance.choice(["one", "all"]), stop=chance.choice(["all", "circuit"]),
            accounting=chance.choice(["equations", "hidden"]), controller=chance.choice(["parallel", "serial"]),
            segments=chance.choice([1, 6, "auto"]) if collective in ("bcast", "reduce") else 1,
        )  # fmt: skip
        answer = solve(one, time_limit_s=0.02)
        assert check_answer(answer.values) == (), one
        assert answer.lower_bound_s <= answer.makespan_s


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_pipelined_broadcast_to_64_nodes(k: int) -> None:
    """Within 15 % of s + d + the least over m of (m - 1 + r)(alpha + n beta / m); never worse than equation 8."""
    for size in (1, 100_000, 1_000_000):
        one = _instance(p=64, k=k, bytes=size, segments="auto")
        answer = solve(one, time_limit_s=20)
        assert answer.pipelined_reference_s is not None
        assert answer.makespan_s <= 1.15 * answer.pipelined_reference_s
        equation_8 = circuit_cost(
            collective="bcast", algorithm="binomial", num_ranks=64, ports=k, bytes=size, latency_s=one.alpha,
            bandwidth_bytes_per_s=1 / one.beta, setup_s=one.s, teardown_s=one.d,
        )  # fmt: skip
        assert answer.makespan_s <= equation_8["total_s"]


# Fewest rounds r of one message at degree k are 16, 6, 6, 5 for k = 2 to 5 and p = 32.
@pytest.mark.parametrize(
    ("k", "most_ms"), [(2, (11.6, 15.2, 28.3)), (3, (10.6, 13.0, 25.2)), (4, (10.6, 12.8, 24.3)), (5, (10.5, 13, 25))]
)
def test_pipelined_broadcast_of_the_paper(k: int, most_ms: tuple[float, ...]) -> None:
    for size, limit_ms in zip((1, 100_000, 1_000_000), most_ms, strict=True):
        answer = solve(_instance(p=32, k=k, bytes=size, segments="auto"), time_limit_s=20)
        assert answer.makespan_s * 1e3 <= limit_ms + 1e-3
        assert answer.pipelined_reference_s is not None
        assert answer.makespan_s <= 1.12 * answer.pipelined_reference_s
        assert len({circuit["configuration"] for circuit in answer.schedule["circuits"]}) == 1
        assert check_answer(answer.values) == ()


@pytest.mark.parametrize("collective", ["bcast", "reduce", "allgather", "allreduce", "alltoall"])
def test_never_worse_than_the_equations(collective: str) -> None:
    for p, k, size, accounting in itertools.product(
        (3, 6, 8, 11, 16), (1, 2, 3), (1, 100_000), ("equations", "hidden")
    ):
        one = _instance(collective=collective, p=p, k=k, bytes=size, accounting=accounting)
        found_s = solve(one, time_limit_s=0.1).makespan_s
        for algorithm in circuit_algorithms(collective):
            if (collective, algorithm) == ("alltoall", "recursive_doubling"):
                continue  # the volume of an allgather: no alltoall
            closed_s = circuit_cost(
                collective=collective, algorithm=algorithm, num_ranks=p, ports=k, bytes=size, latency_s=one.alpha,
                bandwidth_bytes_per_s=1 / one.beta, setup_s=one.s, teardown_s=one.d, accounting=accounting,
            )["total_s"]  # fmt: skip
            assert found_s <= closed_s * (1 + 1e-9), (algorithm, one)


def _broken(answer: dict[str, Any], change: Any) -> tuple[str, ...]:
    other = json.loads(json.dumps(answer))
    change(other)
    return check_answer(other)


def test_replay_finds_what_is_wrong() -> None:
    answer = solve(_instance(p=8, k=3, segments=4, bytes=100_000)).values
    assert check_answer(answer) == ()

    def later(item: dict[str, Any], key: str, by_s: float) -> None:
        item[key] = [time_s + by_s for time_s in item[key]]

    def ports(other: dict[str, Any]) -> None:
        other["instance"]["k"] = 1

    def early(other: dict[str, Any]) -> None:
        later(other["schedule"]["messages"][-1], "time_s", -0.004)

    def lost(other: dict[str, Any]) -> None:
        other["schedule"]["messages"].pop()

    def short(other: dict[str, Any]) -> None:
        other["schedule"]["messages"][0]["time_s"][1] -= 1e-5

    def flattering(other: dict[str, Any]) -> None:
        other["makespan_s"] *= 0.9

    def twice(other: dict[str, Any]) -> None:
        other["schedule"]["messages"].append(other["schedule"]["messages"][0])

    for change, words in (
        (ports, "ports"), (early, "is not up all the time|does not hold"), (lost, "lacks block|does not hold"),
        (short, "its end"), (flattering, "makespan_s"), (twice, "two things at a time"),
    ):  # fmt: skip
        problems = _broken(answer, change)
        assert any(word in problem for problem in problems for word in words.split("|")), (change, problems)


def test_replay_finds_what_a_serial_controller_cannot_do() -> None:
    """Answers for a parallel controller are wrong for a serial one, and so is each of its actions at another's time."""
    answer = json.loads(json.dumps(solve(_instance(p=5, k=2, controller="parallel")).values))
    answer["instance"]["controller"] = "serial"
    assert any("the controller does two things at a time" in problem for problem in check_answer(answer))
    answer = json.loads(json.dumps(solve(_instance(p=5, k=2, controller="serial", stop="circuit")).values))
    assert check_answer(answer) == ()
    for circuit, key in itertools.product(range(4), ("setup_s", "teardown_s")):
        other = json.loads(json.dumps(answer))
        changed = other["schedule"]["circuits"]
        changed[circuit][key] = changed[(circuit + 1) % 4][key]
        problems = check_answer(other)
        assert any("the controller does two things at a time" in problem for problem in problems), (circuit, key)


def test_numbers_that_are_none_are_found() -> None:
    """Every comparison with NaN is false: none may pass for that."""
    answer = json.loads(json.dumps(solve(_instance(p=5, k=2, collective="alltoall")).values))
    message, circuit = answer["schedule"]["messages"][0], answer["schedule"]["circuits"][0]
    assert check_answer(answer) == ()
    for where, key in (
        (answer, "makespan_s"), (answer, "lower_bound_s"), (answer, "gap"), (answer["instance"], "s"),
        (answer["instance"], "bytes"), (answer["schedule"], "block_bytes"), (message["time_s"], 0),
        (message["time_s"], 1), (circuit["setup_s"], 0), (circuit["teardown_s"], 1),
    ):  # fmt: skip
        kept = where[key]
        for wrong in (float("nan"), float("inf"), "0.01", None, True):
            where[key] = wrong
            assert check_answer(answer) != (), (key, wrong)
        where[key] = kept
    for key, wrong in (("gap", -1), ("status", "banana"), ("lower_bound_s", -1), ("lower_bound_s", 9.0)):
        assert check_answer({**answer, key: wrong}) != (), (key, wrong)
    assert check_answer({**answer, "status": "optimal", "lower_bound_s": 0.001, "gap": 1}) != ()


def test_answers_that_are_missing_are_told() -> None:
    lines = [{"id": name, "collective": "bcast", "p": 4, "k": 2, "bytes": 8, **_PAPER} for name in ("a", "b")]
    text = "\n".join(map(json.dumps, lines))
    answers = [json.dumps(answer) for answer in answer_lines(text)]
    assert [problems for _, _, problems in check_lines("\n".join(answers), text)] == [(), ()]
    assert list(check_lines(answers[0], text))[-1] == (0, "b", ("this instance has no answer",))
    assert list(check_lines("\n".join([*answers, answers[0]]), text))[-1][2] == ("is the second answer with this id",)
    assert "line 3 of the instances has no answer" in list(check_lines("\n".join(answers), text + "\n{"))[-1][2][0]
    with pytest.raises(InvalidInput, match="line 3 of the instances: id 'a' occurs twice"):
        list(check_lines("\n".join(answers), f"{text}\n{text}"))


def test_what_no_number_holds_ends_its_line_alone() -> None:
    good = {"id": "a", "collective": "allgather", "p": 3, "k": 1, "bytes": 8, **_PAPER}
    large = {**good, "bytes": 2**63 - 1, "alpha": 1e300, "beta": 1e300}
    text = "\n".join([json.dumps(large), '{"id": "\udcff"}', json.dumps(good)])
    answers = list(answer_lines(text))
    assert ["error" in answer for answer in answers] == [True, True, False]
    assert "UTF-8" in answers[1]["error"]


def test_a_wrong_line_does_not_hinder_the_others() -> None:
    good = {"id": "a", "collective": "bcast", "p": 4, "k": 2, "bytes": 8, **_PAPER}
    lines = [good, {**good, "id": "b", "k": 0}, {**good, "id": 3, "stopp": "all"}, {**good, "id": 4, "root": 3}]
    text = "\n".join([*map(json.dumps, lines), "{", ""])
    answers = list(answer_lines(text))
    assert [answer.get("line") for answer in answers] == [None, 2, 3, None, 5]
    assert "k is 0" in answers[1]["error"]
    assert answers[2]["error"].startswith("unknown key 'stopp'; accepted: id, collective, p, k, bytes, s, d, alpha")
    replayed = list(check_lines("\n".join(map(json.dumps, answers)), text))
    assert [bool(problems) for _, _, problems in replayed] == [False, True, True, False, True]


def test_every_key_that_is_not_known_is_refused_and_every_key_of_the_format_is_accepted() -> None:
    whole = {
        "id": 7, "collective": "bcast", "p": 4, "k": 2, "bytes": 8, **_PAPER, "injection": "all", "stop": "circuit",
        "accounting": "hidden", "controller": "serial", "segments": 2, "root": 3,
    }  # fmt: skip
    answers = list(answer_lines("\n".join(map(json.dumps, [whole, {**whole, "id": 8, "note": "unlike any other"}]))))
    assert "error" not in answers[0]
    assert (answers[1]["line"], "unknown key 'note'" in answers[1]["error"]) == (2, True)


def test_values_are_refused_by_name() -> None:
    for values, words in (
        ({"collective": "alltoall", "root": 3}, "root is 3: alltoall has none"),
        ({"s": -1}, "s is -1"),
        ({"collective": "scatter"}, "scatter"),
        ({"segments": 0}, "segments is 0"),
    ):
        with pytest.raises(InvalidInput, match=words):
            _instance(**values)
    with pytest.raises(InvalidInput, match="not divided"):
        solve(_instance(collective="allgather", segments=2))


def test_instances_and_answers_of_earlier_versions_are_read() -> None:
    """They call segments `pieces`."""
    now = {"id": 1, "collective": "bcast", "p": 4, "k": 2, "bytes": 8, **_PAPER, "segments": 2}
    earlier = {"pieces" if key == "segments" else key: value for key, value in now.items()}
    (answer,) = answer_lines(json.dumps(now))
    assert list(answer_lines(json.dumps(earlier))) == [answer]
    assert answer["instance"]["segments"] == answer["schedule"]["blocks"] == 2
    for pieces, words in ((2, ()), (3, ("has 2 blocks: expected 3 segments",))):
        assert check_answer(answer, {**earlier, "pieces": pieces}) == words
    (both,) = answer_lines(json.dumps({**now, "pieces": 2}))
    assert "unknown key 'pieces'" in both["error"]


@pytest.mark.parametrize("collective", ["allgather", "alltoall"])
def test_one_port_takes_the_fewest_rounds_of_pairs(collective: str) -> None:
    """[Knodel]: ceil(log2 p) rounds, and one more for an odd number of nodes."""
    for p in range(2, 21):
        answer = solve(_instance(collective=collective, p=p, k=1, bytes=1, s=1.0, d=0.0), time_limit_s=0.1)
        assert (
            len({circuit["configuration"] for circuit in answer.schedule["circuits"]}) == (p - 1).bit_length() + p % 2
        )
        assert answer.gap < 0.01
        assert check_answer(answer.values) == ()


def test_a_circuit_of_its_own_waits_for_its_ports_only() -> None:
    """A batch that is torn down together is never faster, whatever the algorithm."""
    print(f"seed {_SEED}")
    chance = random.Random(_SEED)
    for _ in range(40):
        rules = {
            "collective": chance.choice(["allgather", "allreduce", "alltoall"]), "p": chance.randint(3, 12),
            "k": chance.randint(1, 3), "bytes": chance.choice([1, 10**5]), "s": chance.choice([1e-5, 1e-3]),
            "d": chance.choice([1e-5, 1e-3]), "accounting": chance.choice(["equations", "hidden"]),
            "injection": chance.choice(["one", "all"]),
        }  # fmt: skip
        together, alone = (solve(_instance(stop=stop, **rules), time_limit_s=0.1) for stop in ("all", "circuit"))
        if alone.makespan_s > together.makespan_s * (1 + 1e-9):  # its search may have been left without a core
            alone = solve(_instance(stop="circuit", **rules), time_limit_s=5)
        assert alone.makespan_s <= together.makespan_s * (1 + 1e-9), rules
        assert check_answer(alone.values) == (), rules


def test_a_reduction_with_one_port_goes_in_parts() -> None:
    rules = {"collective": "reduce", "p": 16, "k": 1, "bytes": 10**6, "s": 1e-4, "d": 1e-4}
    whole, parts = (solve(_instance(segments=segments, **rules), time_limit_s=0.2) for segments in (1, "auto"))
    assert parts.makespan_s < 0.6 * whole.makespan_s
    assert check_answer(parts.values) == ()
