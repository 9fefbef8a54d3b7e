# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What calibrate infers, from times that the simulator gives for networks that are known."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from hocket import CostModel
from hocket.calibrate.bursts import fit_bursts, predictor
from hocket.calibrate.calibrate import link_qualities
from hocket.calibrate.calibration import Calibration, Errors, LinkQuality
from hocket.calibrate.duplex import both_ways, half_duplex_links, kept_both_ways
from hocket.calibrate.errors import errors_alone, errors_by_length
from hocket.calibrate.file import to_json, to_toml
from hocket.calibrate.hosts import hosts_of
from hocket.calibrate.infer import PROBE_BYTES, infer, measure_alone
from hocket.calibrate.intervals import cut_off, intervals
from hocket.calibrate.latency import Latencies, fit_latencies, leveled, within
from hocket.calibrate.messages import Messages, Sweep, sweep_sizes
from hocket.calibrate.network import build_network
from hocket.calibrate.segments import fit_segments, time_s
from hocket.calibrate.structure import all_pairs
from hocket.calibrate.tree import Rate, Tree
from hocket.calibrate.warnings import warnings
from hocket.measure.transfers import CoreCosts, Experiment, Measure, Place, Times
from simulated_hosts import network_of, simulated

MBIT = 1e6 / 8


THREE_LEVELS = [("l0", "m0", 150.0), ("l1", "m0", 150.0), ("l2", "m1", 150.0), ("l3", "m1", 150.0), ("m0", "m1", 200.0)]
CASES = {
    "star": ([("s0", 100.0)] * 8, [], {}),
    "a host of half the speed": ([("s0", 100.0)] * 3 + [("s0", 50.0)] + [("s0", 100.0)] * 4, [], {}),
    "two unequal clusters": (
        [("s0", 93.0)] * 4 + [("s1", 790.0)] * 4, [("s0", "s1", 93.0)], {(0, 1, 2, 3): 93}
    ),
    "a link that only three transfers fill": (
        [("s0", 93.0)] * 4 + [("s1", 93.0)] * 4, [("s0", "s1", 250.0)], {(0, 1, 2, 3): 250}
    ),
    "three levels": (
        [(f"l{i // 2}", 100.0) for i in range(8)], THREE_LEVELS,
        {(0, 1): 150, (2, 3): 150, (4, 5): 150, (6, 7): 150, (0, 1, 2, 3): 200},
    ),
    "unequal uplinks, one of which limits nothing": (
        [(f"l{i // 2}", 100.0) for i in range(8)],
        [("l0", "r", 50.0), ("l1", "r", 100.0), ("l2", "r", 150.0), ("l3", "r", 400.0)],
        {(0, 1): 50, (2, 3): 100, (4, 5): 150},
    ),
    "two hosts": ([("s0", 100.0), ("s0", 10.0)], [], {}),
    "three hosts": ([("s0", 100.0)] * 3, [], {}),
    "an odd number of hosts": ([("s0", 100.0)] * 4 + [("s1", 100.0)] * 3, [("s0", "s1", 120.0)], {(4, 5, 6): 120}),
}  # fmt: skip


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("case", CASES)
def test_the_tree_that_measurement_can_see(case: str, noise: float) -> None:
    hosts, switches, expected = CASES[case]
    found = infer(len(hosts), simulated(network_of(hosts, switches), noise, seed=3), seed=1).tree
    for i, (rate, (_, given)) in enumerate(zip(found.hosts, hosts, strict=True)):
        most = min(given, max(other for j, (_, other) in enumerate(hosts) if j != i))
        assert rate.out / MBIT == pytest.approx(most, rel=0.02 + 2 * noise)
        assert rate.back / MBIT == pytest.approx(most, rel=0.02 + 2 * noise)
    everyone = frozenset(range(len(hosts)))
    seen = {tuple(sorted(min(group, everyone - group, key=sorted))): rate for group, rate in found.groups.items()}
    assert seen.keys() == {tuple(sorted(min(frozenset(g), everyone - set(g), key=sorted))) for g in expected}
    for group, given in expected.items():
        rate = seen[tuple(sorted(min(frozenset(group), everyone - set(group), key=sorted)))]
        assert rate.out / MBIT == pytest.approx(given, rel=0.02 + 2 * noise)
        assert rate.back / MBIT == pytest.approx(given, rel=0.02 + 2 * noise)


TWO_SIDES = ([("s0", 100.0)] * 4 + [("s1", 100.0)] * 4, [("s0", "s1", 95.0)])


@pytest.mark.parametrize("noise", [0.0, 0.03])
@pytest.mark.parametrize(
    ("hosts", "switches", "half_duplex", "expected"),
    [
        ([("s0", 100.0)] * 6, [], [], []),
        ([("s0", 100.0)] * 6, [], ["h2"], [[2]]),
        ([("s0", 100.0)] * 5 + [("s0", 10.0)], [], ["h5"], [[5]]),
        (*TWO_SIDES, ["s0"], [[0, 1, 2, 3]]),
        (*TWO_SIDES, ["h1", "h6"], [[1], [6]]),
        ([("s0", 100.0)] * 2, [], ["h0", "h1"], [[0]]),  # one explains it, and nothing tells which
    ],
)
def test_links_whose_directions_share_their_bandwidth(hosts, switches, half_duplex, expected, noise: float) -> None:
    measure = simulated(network_of(hosts, switches, half_duplex), noise, seed=4)
    found = infer(len(hosts), measure, seed=1)
    experiments = both_ways(found.alone, rendezvous_bytes=65536, seed=1)
    links = half_duplex_links(found.tree, kept_both_ways(found.alone, experiments, measure(experiments)))
    everyone = frozenset(range(len(hosts)))
    assert {min(group, everyone - group, key=sorted) if len(group) > 1 else group for group in links} == set(
        map(frozenset, expected)
    )
    tree = replace(found.tree, half_duplex=links)
    none = Latencies((0.0,) * len(hosts), dict.fromkeys(tree.groups, 0.0))
    written = build_network("found", tree, none, hosts_of([Place(f"h{i}", i) for i in everyone]), [None] * len(hosts))
    for network in (tree.network(), written):
        assert sum(link.half_duplex for link in network.links) == 2 * len(expected)


def disturbed(measure: Measure, rounds: int, seed: int) -> Measure:
    """A machine with other work: three of ten experiments wait for time slices of others."""
    generator = np.random.default_rng(seed)

    def disturbing(experiments: Sequence[Experiment]) -> Times:
        return [
            [[t + (generator.exponential(4e-3) if generator.random() < 0.3 else 0) for t in e] for e in of_round]
            for of_round in measure(experiments)[:rounds]
        ]

    return disturbing


@pytest.mark.parametrize("rounds", [1, 2, 5])
@pytest.mark.parametrize("seed", range(4))
def test_no_cable_is_faster_than_it_is_on_a_machine_with_other_work(rounds: int, seed: int) -> None:
    hosts = [("s0", 93.0)] * 4 + [("s1", 790.0)] * 4
    network = network_of(hosts, [("s0", "s1", 93.0)])
    found = measure_alone(8, disturbed(simulated(network, 0.0, seed), rounds, seed), seed)
    for (_, given), rate in zip(hosts, found.hosts(), strict=True):
        assert max(rate.out, rate.back) / MBIT < 1.1 * given
        assert min(rate.out, rate.back) / MBIT > 0.8 * given
    assert found.start_s.max() < 5e-3


def test_a_probe_that_is_always_disturbed_makes_no_cable_faster() -> None:
    exact = simulated(network_of([("s0", 790.0)] * 2, []), 0.0, 1)
    most_bytes = 0

    def measure(experiments: Sequence[Experiment]) -> Times:
        nonlocal most_bytes
        most_bytes = max(most_bytes, *(e[0].size_bytes for e in experiments))
        late_s = [2e-3 if e[0].size_bytes == PROBE_BYTES else 0.0 for e in experiments]
        return [[[t[0] + late] for t, late in zip(one, late_s, strict=True)] for one in exact(experiments)]

    found = measure_alone(2, measure, 1)
    assert found.rate.max() / MBIT == pytest.approx(790, rel=0.1)
    assert most_bytes < 0.1 * 790 * MBIT


def test_steps_that_ran_out_of_time_have_fewer_rounds() -> None:
    hosts, switches = TWO_SIDES
    found = infer(len(hosts), simulated(network_of(hosts, switches), 0.03, seed=4), seed=1)
    fewer = replace(found, alone=replace(found.alone, rounds=found.alone.rounds[:2]))
    assert intervals(fewer).keys() == intervals(found).keys()
    one = replace(found, alone=replace(found.alone, rounds=found.alone.rounds[:1]))
    assert intervals(one) == {}  # of no width, and it would hold nothing


@pytest.mark.parametrize("seed", range(5))
def test_a_bandwidth_lies_in_its_intervals(seed: int) -> None:
    hosts, switches = TWO_SIDES
    exact = simulated(network_of(hosts, switches), 0.002, seed)

    def measure(experiments: Sequence[Experiment]) -> Times:
        """Ranks of odd number send 4 % slower."""
        return [
            [
                [t * (1 + 0.04 * (one.source % 2)) for one, t in zip(e, ts, strict=True)]
                for e, ts in zip(experiments, of_round, strict=True)
            ]
            for of_round in exact(experiments)
        ]

    inferred = infer(len(hosts), measure, seed)
    names = hosts_of([Place(f"h{i}", i) for i in range(len(hosts))])
    for link in link_qualities(inferred, names):
        for bandwidth, interval in ((link.bandwidth, link.interval), (link.bandwidth_back, link.interval_back)):
            assert interval is not None
            assert interval[0] <= bandwidth <= interval[1]


def calibration_of(links: Sequence[LinkQuality], together: float = 0.02) -> Calibration:
    return Calibration(
        network=network_of([("s", 93.0)] * 2, []),
        mpi="an MPI",
        launches=5,
        rounds=1,
        seconds=1.0,
        costs=CoreCosts(1e-5, 1e-5, 0.0, 0.0, 1e9),
        duplex=1.0,
        rendezvous_bytes=None,
        bursts=None,
        alone=Errors(0.02, 0.04),
        short=Errors(0.1, 0.4),
        long=Errors(0.01, 0.02),
        together=Errors(together, together),
        empty_ratio=1.0,
        error_with_links=0.01,
        spread=0.01,
        interval_confidence=None if links[0].interval is None else 0.94,
        links=tuple(links),
        sweeps=(),
    )


def test_warnings_come_with_advice() -> None:
    alike = LinkQuality(("a", "s"), 100 * MBIT, 100 * MBIT, (98 * MBIT, 101 * MBIT), (98 * MBIT, 101 * MBIT), None)
    assert warnings(calibration_of([alike])) == []
    assert "empty messages took 3.0 times" in warnings(replace(calibration_of([alike]), empty_ratio=3.0))[0]
    assert "Measure again when it is quiet" in warnings(calibration_of([alike], together=0.5))[0]
    slow = calibration_of([alike]).costs._replace(receive_s=300e-6)
    assert "messages took 300 us of a core" in warnings(replace(calibration_of([alike]), costs=slow))[0]
    (launches,) = warnings(calibration_of([replace(alike, interval=(98 * MBIT, 300 * MBIT))]))
    assert launches.startswith("launches differ in the bandwidth, in Mbit/s, of a - s: 98 to 300.")
    (directions,) = warnings(calibration_of([replace(alike, bandwidth=700 * MBIT)]))
    assert "a - s: 700 and back 100. Measure again" in directions
    text = to_toml(calibration_of([replace(alike, bandwidth=700 * MBIT)]))
    assert f"# warning: {directions}" in text
    tomllib.loads(text)


def test_grades_tell_bandwidths_from_short_messages() -> None:
    alike = LinkQuality(("a", "s"), 100 * MBIT, 100 * MBIT, None, None, None)
    found = calibration_of([alike])
    assert (found.grade, found.grade_short) == ("A", "C")
    table = tomllib.loads(to_toml(found))["calibration"]
    assert (table["grade"], table["grade_short"]) == ("A", "C")
    assert (table["error_long_p95"], table["error_short_median"]) == (0.02, 0.1)
    assert to_json(found)["error_short"] == {"median": 0.1, "p95": 0.4}
    assert calibration_of([alike], together=0.1).grade == "B"
    assert replace(found, long=Errors(0.1, 0.2)).grade == "C"
    without = replace(found, short=None, long=None)
    assert (without.grade, without.grade_short) == ("A", None)
    assert "grade_short" not in tomllib.loads(to_toml(without))["calibration"]


def test_messages_are_long_whose_bytes_take_half_of_their_time() -> None:
    # An empty message takes 1 s, and its answer too; a byte takes 0.1 s. So 20 B take as long as two empty messages.
    sizes = np.array([1, 1, 1, 10, 1, 1, 1, 19, 1, 1, 1, 20, 1, 1, 1, 100])  # every fourth is held out
    exact_s = 2 + 0.1 * sizes
    off = np.array([1.0] * 3 + [1.25] + [1.0] * 3 + [1.25] + [1.0] * 3 + [2.0] + [1.0] * 3 + [2.0])
    sweep = Sweep(0, 1, sizes, exact_s * off, [], np.array([]))
    messages = Messages(CoreCosts(0.0, 0.0, 0.0, 0.0, 1e9), {}, [sweep])
    short, long = errors_by_length(messages, lambda source, target, size: 1 + 0.1 * size)
    assert short is not None
    assert long is not None
    assert (short.median, long.median) == (pytest.approx(0.2), pytest.approx(0.5))
    assert errors_by_length(messages, lambda source, target, size: 1e-9 + 0.1 * size)[0] is None


def test_one_launch_has_no_intervals_in_the_file() -> None:
    one = calibration_of([LinkQuality(("a", "s"), 100 * MBIT, 100 * MBIT, None, None, None)])
    table = tomllib.loads(to_toml(one))["calibration"]
    assert "interval_confidence" not in table
    assert table["link"] == [{"between": ["a", "s"]}]
    assert to_json(one)["interval_confidence"] is None


def test_many_hosts_are_measured_with_some_partners() -> None:
    hosts = [(f"l{i // 8}", 100.0) for i in range(40)]
    network = network_of(hosts, [(f"l{i}", "r", 300.0) for i in range(5)])
    assert len(all_pairs(40, 16, seed=1)) == 40 * 16
    found = infer(40, simulated(network, 0.02, seed=2), seed=1).tree
    assert set(found.groups) == {frozenset(range(8 * i, 8 * i + 8)) for i in range(5)}


@pytest.mark.parametrize("seed", range(6))
def test_random_trees_explain_the_times_that_they_give(seed: int) -> None:
    """Whether every link is seen depends on what can be told; what is found must predict what was measured."""
    print("seed", seed)
    generator = np.random.default_rng(seed)
    hosts = [(f"l{i // 3}", float(generator.choice([50, 100, 100, 200]))) for i in range(9)]
    switches = [(f"l{i}", "r", float(generator.choice([60, 120, 180, 1000]))) for i in range(3)]
    found = infer(9, simulated(network_of(hosts, switches), 0.0, seed), seed)
    assert found.error < 0.05


def test_segments_of_a_protocol_that_changes_twice() -> None:
    sizes = np.unique(np.round(np.exp(np.linspace(0, np.log(4e6), 60))))

    def true_s(size: float) -> float:
        if size < 4096:
            return 1e-5 + size / 2e8
        return 3e-5 + size / 5e8 if size < 65536 else 1e-4 + size / 1e9

    found = fit_segments(sizes, np.array([true_s(size) for size in sizes]))
    assert len(found) == 3
    assert found[1].from_bytes == pytest.approx(4096, rel=0.35)
    assert found[2].from_bytes == pytest.approx(65536, rel=0.35)
    for size in (1, 1000, 10_000, 1_000_000):
        assert time_s(found, size) == pytest.approx(true_s(size), rel=1e-6)


def test_segments_never_have_negative_costs() -> None:
    sizes = np.arange(1.0, 21.0)
    for times in (np.full(20, 3.0), np.linspace(2, 1, 20), sizes**2):
        assert all(segment.start_s >= 0 and segment.s_per_byte >= 0 for segment in fit_segments(sizes, times))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("mbit", [93.0, 790.0])
def test_no_segment_promises_more_than_its_link(mbit: float, seed: int) -> None:
    """Times of small messages that differ by several times must not decide about large ones."""
    generator = np.random.default_rng(seed)
    rate = mbit * MBIT
    sizes = np.array(sweep_sizes(rate, seed), dtype=float)
    burst = max(8700.0, rate * 250e-6)
    exact = 60e-6 + np.maximum(sizes - burst, 0) / rate
    times = exact * np.exp(np.abs(generator.normal(0, 1.0, len(sizes))) * np.where(exact < 1e-3, 1, 0.02))
    found = fit_segments(sizes, times)
    assert found[-1].s_per_byte == pytest.approx(1 / rate, rel=0.1)
    for size in sizes[-4:]:
        assert time_s(found, size) == pytest.approx(60e-6 + size / rate, rel=0.1)


def test_latencies_of_pairs_are_parted_among_links() -> None:
    group = frozenset([0, 1])
    tree = Tree((Rate(1, 1),) * 4, {group: Rate(1, 1)})
    pair_s = np.array(
        [[0 if a == b else 20e-6 + 30e-6 * ((a in group) != (b in group)) for a in range(4)] for b in range(4)]
    )
    found = fit_latencies(tree, pair_s)
    assert found.hosts == pytest.approx([10e-6] * 4)
    assert found.groups[group] == pytest.approx(30e-6)


def test_latencies_agree_with_small_messages_of_the_sweep() -> None:
    """Cold and disturbed empty messages of two hosts, and cores that need longer than the message."""
    sizes = np.array(sweep_sizes(1000 * MBIT, 1), dtype=float)
    sweep = Sweep(0, 1, sizes, 19e-6 + sizes / (1000 * MBIT), [], np.array([]))
    swept_s = {(0, 1): sweep.empty_s(1000 * MBIT)}
    assert swept_s[0, 1] == pytest.approx(19e-6)
    empty_s, ratio = leveled(np.array([[0, 120e-6], [110e-6, 0]]), swept_s)
    assert ratio == pytest.approx(120 / 19)
    assert empty_s == pytest.approx(np.array([[0, 19e-6], [19e-6, 0]]))
    costs = within(CoreCosts(17.6e-6, 14.4e-6, 0.0, 0.0, 1e9), 19e-6)
    assert costs.send_s + costs.receive_s == pytest.approx(9.5e-6)
    assert within(CoreCosts(2e-6, 1e-6, 0.0, 0.0, 1e9), 19e-6).send_s == 2e-6


def test_empty_messages_far_apart_stay_so() -> None:
    empty_s = np.array([[0, 0.2, 50], [0.2, 0, 50], [50, 50, 0]]) * 1e-3
    found, _ = leveled(empty_s, {(0, 1): 0.06e-3, (0, 2): 49.9e-3, (1, 2): 49.86e-3})
    assert found[1, 0] == pytest.approx(0.06e-3)
    assert found[2, 0] == pytest.approx(49.86e-3)


def test_an_interval_holds_the_median_as_often_as_it_says() -> None:
    generator = np.random.default_rng(5)
    assert cut_off(3) == (0, 0.75)
    for count in (2, 3, 5, 6, 9, 20):
        cut, confidence = cut_off(count)
        values = np.sort(generator.exponential(size=(20_000, count)), axis=1)
        inside = (values[:, cut] <= np.log(2)) & (np.log(2) <= values[:, count - 1 - cut])
        assert inside.mean() == pytest.approx(confidence, abs=0.015)
        assert confidence >= 0.95 or cut == 0


def test_hosts_of_one_name_are_told_apart() -> None:
    hosts = hosts_of([Place("vm", 0), Place("vm", 1), Place("vm", 0), Place("vm-2", 3), Place("vm", 4)])
    assert hosts.names == ("vm", "vm-2", "vm-2-2", "vm-3")
    assert hosts.ranks == ((0, 2), (1,), (3,), (4,))
    assert hosts.of_ranks == ["vm", "vm-2", "vm", "vm-2-2", "vm-3"]


@pytest.mark.parametrize("buckets", [(9000.0, 250e-6), (0.0, 0.0)])
def test_buckets_of_links_are_found_in_single_messages_if_there_are_any(buckets: tuple[float, float]) -> None:
    network = network_of([("s", 93.0), ("s", 93.0), ("s", 790.0), ("s", 790.0)], [])
    hosts = hosts_of([Place(name, i) for i, name in enumerate("abcd")])
    plain = CostModel.usual().replace(send_overhead_s=10e-6, receive_overhead_s=10e-6)
    true = predictor(network, hosts, plain.replace(burst_bytes=buckets[0], burst_s=buckets[1]))
    sizes = np.unique(np.geomspace(1, 1e6, 40).astype(int)).astype(float)
    sweeps = [
        Sweep(a, b, sizes, np.array([true(a, b, int(n)) + true(b, a, 0) for n in sizes]), [], np.array([]))
        for a, b in ((0, 1), (2, 3))
    ]
    messages = Messages(CoreCosts(10e-6, 10e-6, 0.0, 0.0, 1e9), {}, sweeps)
    found = fit_bursts(network, hosts, messages, plain)
    assert errors_alone(messages, predictor(network, hosts, found)).p95 < 0.02
    if buckets[0] > 0:
        assert found.burst_bytes == pytest.approx(buckets[0], rel=0.05)
        assert found.burst_s == pytest.approx(buckets[1], rel=0.05)
        assert errors_alone(messages, predictor(network, hosts, plain)).p95 > 0.5
    else:
        assert found == plain
