# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket rewrite --trace`: whose calls those of a trace are, what is predicted, and what is left alone for it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_traces import assert_predicted, traced

from hocket.rewrite.analysis import Analysis
from hocket.rewrite.call_order import states_in
from hocket.rewrite.call_times import CallTimes
from hocket.rewrite.costs import START_AND_WAIT_S, in_parts
from hocket.rewrite.fortran_order import call_order
from hocket.rewrite.outcomes import Outcome
from hocket.rewrite.part_counts import at_once, num_parts
from hocket.rewrite.program import build_program
from hocket.rewrite.rewriter import rewrite
from hocket.rewrite.syntax import Source
from hocket.traces.trace import Trace

BCAST = "call MPI_Bcast({}, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)"
WALK = f"""module m
contains
  subroutine outer(n, a, ierr)
    use mpi
    integer, intent(in) :: n
    integer :: ierr, i
    real(8), asynchronous :: a(n)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    do i = 1, n
      if (a(i) > 0) then
        {BCAST.format("a")}
      else
        call inner(n, a, ierr)
      end if
    end do
    {BCAST.format("a")}
    call inner(n, a, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end subroutine
  subroutine inner(n, a, ierr)
    use mpi
    integer, intent(in) :: n
    integer :: ierr
    real(8), asynchronous :: a(n)
    if (a(1) > 0) return
    call MPI_Allreduce(MPI_IN_PLACE, a, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    {BCAST.format("a")}
  end subroutine
end module
"""
LINES = {line: i for i, line in enumerate(WALK.splitlines(), 1)}


def executed(rng: random.Random) -> Iterator[tuple[str, int]]:
    """What `outer` calls when it runs, with the lines: the program by hand."""

    def inner() -> Iterator[tuple[str, int]]:
        if rng.random() < 0.5:
            yield from (("MPI_Allreduce", 26), ("MPI_Bcast", 27))

    yield "MPI_Barrier", 8
    for _ in range(rng.randrange(6)):
        if rng.random() < 0.5:
            yield "MPI_Bcast", 11
        else:
            yield from inner()
    yield "MPI_Bcast", 16
    yield from inner()
    yield "MPI_Barrier", 18


def test_the_statements_of_calls_are_found_by_their_order() -> None:
    order = call_order(Analysis(build_program([Source(Path("m.f90"), WALK.encode())])), ["MPI_Bcast", "MPI_Barrier"])
    assert all("allreduce" not in name for _, name in order.sites)  # it is not in the trace
    functions = ["MPI_Bcast", "MPI_Barrier", "MPI_Allreduce", "MPI_Comm_rank"]
    order = call_order(Analysis(build_program([Source(Path("m.f90"), WALK.encode())])), functions)
    unique = total = 0
    for seed in range(200):
        rng = random.Random(seed)
        calls = [one for _ in range(3) for one in executed(rng)]
        names = [name for name, _ in calls]
        at = rng.randrange(len(calls))
        found = order.of_names([*names[:at], "MPI_Comm_rank", *names[at:]])
        assert found.pop(at) == 0, f"seed {seed}: no statement of the files calls it"
        for states, (name, line) in zip(found, calls, strict=True):
            lines = [order.sites[one][0][1] for one in states_in(states)]
            assert line in lines, f"seed {seed}: {name} of line {line} is taken for one of {lines}"
            total += 1
            unique += len(lines) == 1
    print(f"{unique} of {total} calls are of one statement only")
    assert unique > 0.6 * total  # in the others nothing tells the two apart, such as a loop's last Bcast and line 16


def test_jumps_to_labels_are_followed() -> None:
    text = f"""subroutine s(n, a, ierr)
  use mpi
  integer :: n, ierr
  real(8) :: a(n)
  {BCAST.format("a")}
10 continue
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (a(1) > 0) goto 20
  {BCAST.format("a")}
  goto 10
20 {BCAST.format("a")}
end subroutine
"""
    order = call_order(Analysis(build_program([Source(Path("s.f90"), text.encode())])), ["MPI_Bcast", "MPI_Barrier"])
    names = ["MPI_Bcast", *["MPI_Barrier", "MPI_Bcast"] * 3]
    lines = [[order.sites[one][0][1] for one in states_in(states)] for states in order.of_names(names)]
    # A trace may begin, or have been cut off, anywhere.
    assert [sorted(some) for some in lines] == [[5, 9], [7], [9], [7], [9], [7], [9, 11]]


def played(communication_s: float, above_s: float, below_s: float, parts: int, steps: int = 4000) -> float:
    """Step by step: parts of equal size share the network; without a loop above, two are on their way at most."""
    step_s = (communication_s + above_s + below_s) / steps
    made, part_of_s, needed_s = 0.0, communication_s / parts, 0.0
    left, received, used = [part_of_s] * parts, 0, 0.0
    for number in range(2 * steps):
        ready = int(made / above_s * parts + 1e-9) if above_s else min(parts, received + 2)
        active = [i for i in range(ready) if left[i] > 0]
        for i in active:
            left[i] -= step_s / len(active)
        if above_s and made < above_s:
            made += step_s
            continue
        if received < parts and left[received] <= 0 and used >= needed_s - 1e-12:
            received += 1
            needed_s += below_s / parts
        if used < needed_s:
            used += step_s
        if received == parts and used >= needed_s:
            return (number + 1) * step_s
    raise AssertionError("it does not end")


@pytest.mark.parametrize("seed", range(8))
def test_the_time_in_parts_agrees_with_playing_them(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(40):
        communication_s, below_s = rng.uniform(0.01, 0.1), rng.uniform(0.01, 0.1)
        above_s = rng.choice([0.0, rng.uniform(0.01, 0.1)])
        times = CallTimes(1, communication_s, 0.0, 0.0, 1_000_000)
        part_bytes = rng.choice([10_000, 40_000, 100_000, 300_000])
        found = in_parts(times, above_s, below_s, part_bytes, above_s > 0)
        expected_s = played(communication_s, above_s, below_s, found.parts)
        least_s = max(communication_s, above_s + below_s)
        assert found.rewritten_s >= least_s
        assert found.rewritten_s - found.parts * START_AND_WAIT_S == pytest.approx(expected_s, rel=0.02)


@pytest.mark.parametrize("has_above", [False, True])
def test_no_number_of_parts_is_slower_than_the_whole(has_above: bool) -> None:
    """On a network where a part more takes 0.1 ms and the message 1000 bytes in that time; all work can be hidden."""
    part_s, part_bytes = 1e-4, 1000
    for size_bytes in range(500, 60_000, 700):
        parts = num_parts(size_bytes, part_bytes, has_above)
        whole_s = part_s * size_bytes / part_bytes
        exposed_s = whole_s * min(1.0, at_once(has_above) / parts) + (parts * part_s if parts > 1 else 0.0)
        assert exposed_s <= 1.0001 * whole_s, f"{size_bytes} B in {parts} parts"
        if size_bytes > 16 * part_bytes:
            assert exposed_s < whole_s


def module(body: str) -> str:
    return f"""module m
  use mpi
contains
  subroutine s(n, a, b, w, v)
    integer, intent(in) :: n
    real(8) :: a(n), b(n), w(n), v(n)
    integer :: i, ierr
{body}
  end subroutine
end module
"""


def loop(name: str) -> str:
    return f"do i = 1, n\n  {name}(i) = {name}(i) + 1\nend do\n"


def outcomes(text: str, trace: Trace) -> tuple[str, list[Outcome]]:
    result = rewrite([Source(Path("m.f90"), text.encode())], trace=trace)
    return result.new[Path("m.f90")].decode(), result.outcomes


@pytest.mark.parametrize(("call_s", "gap_s", "gains"), [(0.010, 0.010, True), (1e-6, 0.010, False), (0.1, 1e-6, False)])
def test_what_gains_nothing_stays(tmp_path: Path, call_s: float, gap_s: float, gains: bool) -> None:
    text = module(f"{BCAST.format('a')}\n{loop('w')}{loop('v')}b = a")
    new, (one,) = outcomes(text, traced(tmp_path / "t", [("MPI_Bcast", call_s)], [gap_s]))
    assert one.is_rewritten == gains
    if gains:
        # Two of the three statements behind the call do not need it: loops of two of about five parts of the work.
        assert_predicted(one, call_s, gap_s * 4 / 5, rel=0.15)
    else:
        assert [refusal.code for refusal in one.refusals] == ["cost"]
        assert new == text


def test_the_bounds_of_loops_in_a_procedure_are_those_of_its_call(tmp_path: Path) -> None:
    work = """  subroutine work(count, x)
    integer, intent(in) :: count
    real(8), intent(inout) :: x(:)
    integer :: k
    do k = 1, count
      x(k) = x(k) + 1
    end do
  end subroutine
end module
"""
    # Nothing is known of the loop of n, which needs the message.
    text = module(f"{BCAST.format('a')}\ncall work(60000, w)\n{loop('a')}").replace("end module\n", work)
    _, (one,) = outcomes(text, traced(tmp_path / "t", [("MPI_Bcast", 0.010)], [0.010]))
    assert one.is_rewritten
    assert_predicted(one, 0.010, 0.010, rel=0.01)


@pytest.mark.parametrize(("first_s", "second_s"), [(0.010, 0.001), (0.001, 0.010)])
def test_work_between_two_calls_goes_to_the_longer_one(tmp_path: Path, first_s: float, second_s: float) -> None:
    """`w` needs neither message. `v` is made of the first one, and sent: only one of them can be beside the loop."""
    second = (
        BCAST.format("v").replace("Bcast(v,", "Allreduce(MPI_IN_PLACE, v,").replace("0, MPI_COMM", "MPI_MAX, MPI_COMM")
    )
    text = module(f"{BCAST.format('a')}\nv = a\n{loop('w')}{second}")
    new, found = outcomes(
        text, traced(tmp_path / "t", [("MPI_Bcast", first_s), ("MPI_Allreduce", second_s)], [0.02, 1e-6])
    )
    assert [one.is_rewritten for one in found] == [first_s > second_s, first_s < second_s]
    start, wait = new.index("MPI_I"), new.index("MPI_Wait")
    assert start < new.index("do i = 1, n") < wait


def test_the_command_prints_and_draws_the_prediction(tmp_path: Path, hocket_cli) -> None:
    text = module(f"{BCAST.format('a')}\n{loop('w')}b = a")
    (tmp_path / "m.f90").write_text(text)
    traced(tmp_path / "t", [("MPI_Bcast", 0.010)], [0.010])
    done = hocket_cli("rewrite", "m.f90", "--trace", "t", "--report", "page.html")
    assert "rewritten: gain 1." in done.stdout
    assert "of the recorded run's time" in done.stdout
    assert (tmp_path / "page.html").read_text().count('<rect class="') == 4
    values = json.loads(hocket_cli("rewrite", "m.f90", "--trace", "t", "--json").stdout)
    (call,) = values["calls"]
    prediction = call["prediction"]
    both = prediction["communication_s"] + prediction["computation_s"]
    assert call["predicted_gain"] == pytest.approx(both / prediction["rewritten_s"])
    assert values["predicted_share"] == pytest.approx(5 * (both - prediction["rewritten_s"]) / 0.1, rel=0.02)
    wrong = hocket_cli("rewrite", "m.f90", "--rewritten-trace", "t")
    assert wrong.returncode == 2
    assert "--rewritten-trace is compared with --trace" in wrong.stderr
