# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The programs of the comparison with replays of other simulators (perf/peers): that they are as it takes them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "perf"), str(ROOT / "perf/peers")]
import replay_programs  # noqa: E402
from loggopsim import build_loggopsim  # noqa: E402
from replay_simulators import Costs, hocket  # noqa: E402
from replays import Failure, predicted_s, without_waits_for_sends  # noqa: E402

from hocket import Program  # noqa: E402


@pytest.mark.parametrize("name", replay_programs.FREE)
@pytest.mark.parametrize("seed", [1, 2])
def test_no_two_messages_meet(name: str, seed: int, tmp_path: Path) -> None:
    trace = replay_programs.make(replay_programs.FREE[name], 8, 6, seed, tmp_path / "trace")
    for overhead_ns in (0, 1500):
        costs = Costs(overhead_ns=overhead_ns)
        assert predicted_s(trace, costs) == pytest.approx(predicted_s(trace, costs, "none"), rel=1e-4)


def test_messages_of_the_others_meet(tmp_path: Path) -> None:
    trace = replay_programs.make(replay_programs.CONTENDED["incast"], 8, 6, 1, tmp_path / "trace")
    assert predicted_s(trace, Costs()) > 2 * predicted_s(trace, Costs(), "none")


def test_a_message_costs_what_the_table_says(tmp_path: Path) -> None:
    """o + L + s G + o, once there and once back."""

    def one(program: replay_programs.ProgramOfRanks, random: replay_programs.Random, steps: int) -> None:
        program.message(0, 1, 1000)
        program.message(1, 0, 1)

    trace = replay_programs.make(one, 2, 1, 1, tmp_path / "trace")
    costs = Costs(latency_ns=2000, ns_per_byte=1, overhead_ns=1500)
    expected_s = (2 * (1500 + 2000 + 1500) + 1001) * 1e-9
    assert predicted_s(trace, costs) == pytest.approx(expected_s, rel=1e-9)
    way = hocket(trace.folder, 2, costs)
    way.run()
    assert way.predicted_s == pytest.approx(expected_s, rel=1e-9)


def test_what_waits_for_a_send_waits_for_what_that_waits_for() -> None:
    program = Program.from_goal(
        "num_ranks 2\nrank 0 {\nl1: calc 10\nl2: send 8b to 1 tag 0\nl2 requires l1\nl3: calc 5\nl3 requires l2\n}\n"
        "rank 1 {\nl1: recv 8b from 0 tag 0\n}\n"
    )
    changed = without_waits_for_sends(program)
    assert [op.after for op in changed.ops(0)] == [[], [0], [0]]
    assert [(op.kind, op.bytes) for op in changed.ops(1)] == [("recv", 8)]


def test_where_loggopsim_is_not_there_the_message_tells_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="CHECKOUTS=FOLDER"):
        build_loggopsim(tmp_path, "")
