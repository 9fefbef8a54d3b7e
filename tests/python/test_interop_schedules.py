# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Exports, read back by programs of their own: an interpreter of MSCCL's steps, and parsers of the text formats."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict, deque

import pytest

from hocket import CostModel, InvalidInput, Network, Schedule, algorithms, lower, simulate
from hocket._core import depth_first_order, phased_alltoall, reversed_schedule, tree_bcast
from hocket.interop.schedules import hydra_hostfile, openmpi_rankfile, rank_list, send_list, to_msccl_xml, transfers
from hocket.search.optimal import optimal_schedule

FREE = CostModel()
MULTIPLIERS = {"allgather": ("i_chunks",), "reduce_scatter": ("o_chunks",)}  # counted once a rank


class Msccl:
    """Runs an algo element. A value is the multiset of the (rank, chunk) inputs that were summed into it."""

    def __init__(self, text: str) -> None:
        self.algo = ElementTree.fromstring(text)
        self.ranks = int(self.algo.get("ngpus"))
        self.memory = {}
        self.wires = defaultdict(deque)  # (channel, source, target) -> messages on their way
        self.blocks = []  # [rank][block]
        for rank, gpu in enumerate(self.algo):
            assert (gpu.tag, int(gpu.get("id"))) == ("gpu", rank)
            self.check_gpu(gpu)
            self.blocks.append(list(gpu))
            for chunk in range(int(gpu.get("i_chunks"))):
                self.memory[self.at(rank, "i", chunk)] = Counter({(rank, chunk): 1})

    def check_gpu(self, gpu):
        """What the runtime's reader asks for."""
        per_loop = int(self.algo.get("nchunksperloop"))
        for name in ("i_chunks", "o_chunks"):
            factor = self.ranks if name in MULTIPLIERS.get(self.algo.get("coll"), ()) else 1
            assert int(gpu.get(name)) * factor == per_loop
        blocks_of_channel = Counter(int(block.get("chan")) for block in gpu)
        assert max(blocks_of_channel.values(), default=0) <= 33  # the local copy needs no connection
        assert max(blocks_of_channel, default=0) < int(self.algo.get("nchannels"))
        awaited = set()
        sizes = {buffer: int(gpu.get(f"{buffer}_chunks")) for buffer in "ios"}
        for index, block in enumerate(gpu):
            assert (block.tag, int(block.get("id"))) == ("tb", index)
            assert len(block) <= 256
            for number, step in enumerate(block):
                assert (step.tag, int(step.get("s"))) == ("step", number)
                if int(step.get("depid")) >= 0:
                    assert int(step.get("depid")) != index
                    awaited.add((int(step.get("depid")), int(step.get("deps"))))
                own = "src" if step.get("type") == "s" else "dst"
                assert int(step.get(f"{own}off")) + int(step.get("cnt")) <= sizes[step.get(f"{own}buf")]
        for index, block in enumerate(gpu):
            for number, step in enumerate(block):
                assert (step.get("hasdep") == "1") == ((index, number) in awaited)

    def at(self, rank, buffer, offset):
        """In place, input and output are one memory."""
        if self.algo.get("inplace") == "1" and buffer in "io":
            segments = int(self.algo[rank].get("i_chunks"))
            outputs = int(self.algo[rank].get("o_chunks"))
            if self.algo.get("coll") == "allgather" and buffer == "i":
                offset += rank * segments
            if self.algo.get("coll") == "reduce_scatter" and buffer == "o":
                offset += rank * outputs
            return rank, "io", offset
        return rank, buffer, offset

    def run(self):
        done = [[0] * len(blocks) for blocks in self.blocks]
        moved = True
        while moved:
            moved = False
            for rank, blocks in enumerate(self.blocks):
                for index, block in enumerate(blocks):
                    while done[rank][index] < len(block) and self.step(rank, block, block[done[rank][index]], done):
                        done[rank][index] += 1
                        moved = True
        for rank, blocks in enumerate(self.blocks):
            assert done[rank] == [len(block) for block in blocks], f"rank {rank} hangs"
        assert not any(self.wires.values())

    def step(self, rank, block, step, done):
        wait = int(step.get("depid"))
        if wait >= 0 and done[rank][wait] <= int(step.get("deps")):
            return False
        source = [self.at(rank, step.get("srcbuf"), int(step.get("srcoff")) + i) for i in range(int(step.get("cnt")))]
        target = [self.at(rank, step.get("dstbuf"), int(step.get("dstoff")) + i) for i in range(int(step.get("cnt")))]
        kind, channel = step.get("type"), block.get("chan")
        if kind == "s":
            self.wires[channel, rank, int(block.get("send"))].append([self.memory[place] for place in source])
        elif kind in ("r", "rrc"):
            wire = self.wires[channel, int(block.get("recv")), rank]
            if not wire:
                return False
            values = wire.popleft()
            assert len(values) == len(target)
            if kind == "rrc":
                values = [value + self.memory[own] for value, own in zip(values, source, strict=True)]
            self.memory.update(zip(target, values, strict=True))
        elif kind == "cpy":
            self.memory.update(zip(target, [self.memory[place] for place in source], strict=True))
        else:
            assert kind == "nop"
        return True


def check_msccl(schedule):
    machine = Msccl(to_msccl_xml(schedule))
    machine.run()
    ranks, segments, collective = schedule.num_ranks, schedule.segments, schedule.collective

    def output(rank, chunk):
        return machine.memory[machine.at(rank, "o", chunk)]

    for rank in range(ranks):
        if collective == "bcast":
            assert all(output(rank, c) == {(schedule.root, c): 1} for c in range(segments))
        elif collective == "allreduce" or (collective == "reduce" and rank == schedule.root):
            assert all(output(rank, c) == {(r, c): 1 for r in range(ranks)} for c in range(segments))
        elif collective == "allgather":
            assert all(output(rank, c) == {(c // segments, c % segments): 1} for c in range(ranks * segments))
        elif collective == "reduce_scatter_block":
            assert all(output(rank, c) == {(r, rank * segments + c): 1 for r in range(ranks)} for c in range(segments))
        elif collective == "alltoall":
            assert all(
                output(rank, c) == {(c // segments, rank * segments + c % segments): 1} for c in range(ranks * segments)
            )


@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_every_algorithm_runs_as_msccl(ranks):
    checked = set()
    for algorithm in algorithms():
        if algorithm.collective in ("scatter", "gather", "barrier"):
            continue
        for segments in (1, 3) if algorithm.pipelines else (1,):
            order = [(3 * r + 1) % ranks for r in range(ranks)] if ranks % 3 else None
            root = ranks - 1 if algorithm.collective in ("bcast", "reduce") else 0
            check_msccl(Schedule.build(algorithm.collective, algorithm.name, ranks, root, segments, order))
            checked.add(algorithm.collective)
    assert len(checked) == 6


def test_found_schedules_run_as_msccl():
    down = tree_bcast([3, 1, 0, 2, 5, 4], 2, 4)
    check_msccl(down)
    check_msccl(reversed_schedule(down))
    network = Network.generate("two-clusters:4+3")
    check_msccl(phased_alltoall(network, list(range(7))))


@pytest.mark.parametrize("collective", ["bcast", "reduce"])
def test_schedules_that_keep_an_order_between_ranks_run_as_msccl(collective):
    found = optimal_schedule(Network.generate("two-clusters:4+4"), collective, 10**6).schedule
    assert any(not op.chunks for rank in range(8) for op in found.ops(rank))
    check_msccl(found)


def test_many_peers_take_several_channels():
    schedule = Schedule.build("alltoall", "pairwise", 40)
    check_msccl(schedule)
    assert ElementTree.fromstring(to_msccl_xml(schedule)).get("nchannels") == "3"


def test_what_msccl_cannot_do_is_refused():
    with pytest.raises(InvalidInput, match="MSCCL has no scatter"):
        to_msccl_xml(Schedule.build("scatter", "linear", 4))
    with pytest.raises(InvalidInput, match="at most 256 in a thread block"):
        to_msccl_xml(Schedule.build("bcast", "pipelined_chain", 4, segments=300))
    with pytest.raises(InvalidInput, match="600 ranks are too many for MSCCL: at most 513"):
        to_msccl_xml(Schedule.build("bcast", "linear", 600))
    text = to_msccl_xml(Schedule.build("bcast", "linear", 2), name='a "<b>"', max_bytes=1 << 20)
    assert ElementTree.fromstring(text).get("name") == 'a "<b>"'
    assert ElementTree.fromstring(text).get("maxBytes") == "1048576"


LINE = re.compile(r"(\d+\.\d{9}) s  (send|reduce) (\d+) -> (\d+) chunks? ([\d,-]+)(?: after (.*))?")
AFTER = re.compile(r"(\d+) -> (\d+) chunks? ([\d,-]+?)(?:, (?=\d+ ->)|$)")


def chunks_of(text):
    pairs = [tuple(map(int, run.split("-"))) for run in text.split(",")]
    return {chunk for pair in pairs for chunk in range(pair[0], pair[-1] + 1)}


@pytest.mark.parametrize(("collective", "algorithm"), [("bcast", "binomial"), ("bcast", "scatter_allgather")])
def test_a_send_list_can_be_carried_out(collective, algorithm):
    network = Network.from_text(Network.generate("two-clusters:3+3", latency="10 us").to_toml(), "n")
    schedule = Schedule.build(collective, algorithm, 6, root=2)
    found = transfers(schedule, 60_000, network, costs=FREE)
    has = {rank: set() for rank in range(6)}
    has[2] = set(range(schedule.num_chunks))
    arrived = []
    last_s = 0.0
    for transfer, line in zip(found, send_list(found), strict=True):
        start_s, verb, source, target, chunks, after = LINE.fullmatch(line).groups()
        assert verb == "send"
        assert last_s <= float(start_s)
        last_s = float(start_s)
        for end_s, rank, got in arrived:
            if end_s <= transfer.start_s + 1e-12:
                has[rank] |= got
        assert chunks_of(chunks) <= has[int(source)], line
        for waited, _, of in AFTER.findall(after or ""):
            assert chunks_of(of) <= has[int(source)]
            assert int(waited) != int(source)
        arrived.append((transfer.end_s, int(target), chunks_of(chunks)))
    for _, rank, got in arrived:
        has[rank] |= got
    assert all(chunks == has[2] for chunks in has.values())
    assert max(transfer.end_s for transfer in found) == pytest.approx(
        simulate(lower(schedule, 60_000), network, FREE).makespan_s
    )


def test_reductions_are_marked_in_the_send_list():
    network = Network.generate("star:4")
    found = transfers(Schedule.build("reduce", "binomial", 4), 1000, network, costs=FREE)
    assert [transfer.reduces for transfer in found] == [True] * 3
    assert all("  reduce " in line for line in send_list(found))
    part = transfers(Schedule.build("bcast", "linear", 2), 1000, network, members=[3, 1], costs=FREE)
    assert [(transfer.source, transfer.target) for transfer in part] == [(0, 1)]


def test_rank_files_place_ranks_in_the_order():
    network = Network.generate("two-clusters:2+2")
    text = network.to_toml().replace('kind = "host"', 'kind = "host"\nranks = 2\nmemory_bandwidth = "1 GB/s"')
    network = Network.from_text(text.replace("ranks = 1\n", ""), "n")
    order = depth_first_order(network, list(range(8)), 5)
    hosts = {rank: f"{'aabb'[rank // 2]}{rank // 2 % 2}" for rank in range(8)}
    assert [int(line) for line in rank_list(order).split()] == order
    by_rank = {}
    for line in openmpi_rankfile(network, order).splitlines():
        rank, host, slot = re.fullmatch(r"rank (\d+)=(\w+) slot=(\d+)", line).groups()
        by_rank[int(rank)] = host, int(slot)
    assert [by_rank[i][0] for i in range(8)] == [hosts[rank] for rank in order]
    assert len(set(by_rank.values())) == 8
    placed = []
    for line in hydra_hostfile(network, order).splitlines():
        host, count = line.split(":")
        placed += [host] * int(count)
    assert placed == [hosts[rank] for rank in order]
    for wrong in ([0, 0], [8]):
        with pytest.raises(InvalidInput, match="the order names ranks twice"):
            rank_list(hydra_hostfile(network, wrong))
