# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket rewrite --trace` of C and C++: whose calls those of a trace are, and what is predicted."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_traces import assert_predicted, traced

from hocket.rewrite.c_effects import CProgram
from hocket.rewrite.c_order import c_call_order
from hocket.rewrite.c_rewriter import rewrite_c
from hocket.rewrite.c_source import mpi_options, read_c_source
from hocket.rewrite.call_order import CallOrder, states_in
from hocket.rewrite.outcomes import Outcome
from hocket.rewrite.sites import Options
from hocket.traces.trace import Trace
from mpis import MPIS

INCLUDES = mpi_options(str(MPIS[0].mpicc))
BCAST = "MPI_Bcast({}, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);"
ALLREDUCE = "MPI_Allreduce(MPI_IN_PLACE, {}, 9, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);"
BARRIER = "MPI_Barrier(MPI_COMM_WORLD);"
WALK = f"""#include <mpi.h>
static int inner(double *a) {{
  if (a[0] > 0) return 1;
  {ALLREDUCE.format("a")}
  {BCAST.format("a")}
  return 0;
}}
void outer(int n, double *a) {{
  {BARRIER}
  for (int i = 0; i < n; i++) {{
    if (a[1] > a[2]) {{
      {BCAST.format("a")}
      continue;
    }}
    if (a[3] > 0 && inner(a)) break;
    switch (i) {{
      case 1:
        {ALLREDUCE.format("a")}
        break;
      case 2:
        {BCAST.format("a")}  /* and the next case */
      default:
        {BARRIER}
    }}
  }}
  do {{
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DOUBLE, a, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    if (a[4] > 1) goto done;
  }} while (a[4] > 0);
  {ALLREDUCE.format("a")}
done:
  {BARRIER}
}}
"""


def executed(rng: random.Random) -> Iterator[tuple[str, int]]:
    """What `outer` calls when it runs, with the lines: the program by hand."""
    yield "MPI_Barrier", 9
    for i in range(rng.randrange(6)):
        if rng.random() < 0.3:
            yield "MPI_Bcast", 12
            continue
        if rng.random() < 0.5:
            if rng.random() < 0.3:
                break  # inner returns 1
            yield from (("MPI_Allreduce", 4), ("MPI_Bcast", 5))
        if i == 1:
            yield "MPI_Allreduce", 18
        else:
            if i == 2:
                yield "MPI_Bcast", 21
            yield "MPI_Barrier", 23
    while True:
        yield "MPI_Alltoall", 27
        if rng.random() < 0.3:
            break
        if rng.random() < 0.5:
            yield "MPI_Allreduce", 30
            break
    yield "MPI_Barrier", 32


def order_of(tmp_path: Path, text: str, functions: list[str], name: str = "f.c") -> CallOrder:
    source = read_c_source(tmp_path / name, text.encode(), INCLUDES)
    return c_call_order(CProgram([source]), functions)


def test_the_statements_of_calls_are_found_by_their_order(tmp_path: Path) -> None:
    order = order_of(tmp_path, WALK, ["MPI_Bcast", "MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall"])
    unique = total = 0
    for seed in range(200):
        rng = random.Random(seed)
        calls = [one for _ in range(3) for one in executed(rng)]
        found = order.of_names([name for name, _ in calls])
        for states, (name, line) in zip(found, calls, strict=True):
            lines = [order.sites[one][0][1] for one in states_in(states)]
            assert line in lines, f"seed {seed}: {name} of line {line} is taken for one of {lines}"
            total += 1
            unique += len(lines) == 1
    print(f"{unique} of {total} calls are of one statement only")
    assert unique > 0.6 * total


def test_calls_of_exceptions_lambdas_and_conditions_are_possible(tmp_path: Path) -> None:
    text = f"""#include <mpi.h>
double a[9];
bool sum() {{ {ALLREDUCE.format("a")} return a[0] > 0; }}
void f(int n) {{
  {BCAST.format("a")}
  bool both = n > 0 && sum();
  auto later = [&] {{ {BARRIER} }};
  try {{
    if (both) later();
    {BCAST.format("a")}
  }} catch (int) {{
    {BARRIER}
  }}
  for (auto one : a) if (one > 0) {{ {ALLREDUCE.format("a")} }}
}}
"""
    functions = ["MPI_Bcast", "MPI_Barrier", "MPI_Allreduce"]
    order = order_of(tmp_path, text, functions, "f.cc")

    def lines(*names: str) -> list[list[int]]:
        states = order.of_names([f"MPI_{name}" for name in names])
        return [sorted(order.sites[one][0][1] for one in states_in(some)) for some in states]

    for names, true in (
        ("Bcast Allreduce Bcast Barrier Allreduce", (5, 3, 10, 12, 14)),
        ("Bcast Barrier Bcast Allreduce Allreduce", (5, 7, 10, 14, 14)),
        ("Bcast Barrier Barrier Bcast", (5, 7, 12, 5)),
    ):
        found = lines(*names.split())
        assert all(line in some for line, some in zip(true, found, strict=True)), (names, found)
    assert lines("Allreduce", "Barrier", "Barrier")[1:] == [[7], [12]]


def outcomes(path: Path, body: str, trace: Trace) -> tuple[str, list[Outcome]]:
    loop = "for (int i = 0; i < 9; i++) {{\n{0}[i] = {0}[i] + i;\n}}"
    for name in "wvb":
        body = body.replace(f"LOOP({name})", loop.format(name))
    pointers = ", ".join(f"double *restrict {name}" for name in "abwv")
    main = "int main(void) {\n  double a[9], b[9], w[9], v[9];\n  f(a, b, w, v);\n  return 0;\n}\n"
    path.write_text(f"#include <mpi.h>\nvoid f({pointers}) {{\n{body}\n}}\n{main}")
    result = rewrite_c([read_c_source(path, None, INCLUDES)], Options(), INCLUDES, trace=trace)
    return result.new[path].decode(), result.outcomes


@pytest.mark.parametrize(("call_s", "gap_s", "gains"), [(0.010, 0.010, True), (1e-6, 0.010, False), (0.1, 1e-6, False)])
def test_what_gains_nothing_stays(tmp_path: Path, call_s: float, gap_s: float, gains: bool) -> None:
    body = BCAST.format("a") + "\nLOOP(w)\nLOOP(v)\nfor (int i = 0; i < 9; i++) {\nb[i] = a[i] + i;\n}"
    trace = traced(tmp_path / "t", [("MPI_Bcast", call_s)], [gap_s])
    new, (one,) = outcomes(tmp_path / "f.c", body, trace)
    assert one.is_rewritten == gains, one.refusals
    if gains:
        # Two of three loops that are about the same work.
        assert_predicted(one, call_s, gap_s * 2 / 3, rel=0.1)
    else:
        assert [refusal.code for refusal in one.refusals] == ["cost"]
        assert "MPI_I" not in new


@pytest.mark.parametrize(("first_s", "second_s"), [(0.010, 0.001), (0.001, 0.010)])
def test_work_between_two_calls_goes_to_the_longer_one(tmp_path: Path, first_s: float, second_s: float) -> None:
    body = f"{BCAST.format('a')}\nLOOP(w)\n{ALLREDUCE.format('v')}"
    trace = traced(tmp_path / "t", [("MPI_Bcast", first_s), ("MPI_Allreduce", second_s)], [0.02, 1e-6])
    new, found = outcomes(tmp_path / "f.c", body, trace)
    assert [one.is_rewritten for one in found] == [first_s > second_s, first_s < second_s]
    start, wait = new.index("MPI_I"), new.index("MPI_Wait")
    assert start < new.index("w[i] = w[i]") < wait


def test_the_command_says_what_is_predicted_and_what_was_measured(tmp_path: Path, hocket_cli) -> None:
    loop = "for (int i = 0; i < 9; i++) {\n    w[i] = w[i] + i;\n  }"
    main = "int main(void) {\n  double a[9], w[9];\n  f(a, w);\n  return 0;\n}\n"
    function = f"void f(double *restrict a, double *restrict w) {{\n  {BCAST.format('a')}\n  {loop}\n}}\n"
    (tmp_path / "f.c").write_text(f"#include <mpi.h>\n{function}{main}")
    traced(tmp_path / "t", [("MPI_Bcast", 0.010)], [0.010])
    traced(tmp_path / "new", [("MPI_Ibcast", 0.001), ("MPI_Wait", 0.002)], [0.009, 0.001])
    options = ("--trace", "t", "--rewritten-trace", "new", "--compile", " ".join(INCLUDES))
    (call,) = json.loads(hocket_cli("rewrite", "f.c", *options, "--json").stdout)["calls"]
    assert call["predicted_gain"] == pytest.approx(2, rel=0.01)
    assert call["measured_s"] == pytest.approx(0.012)
    done = hocket_cli("rewrite", "f.c", *options, "--report", "page.html")
    assert "rewritten: gain 2" in done.stdout
    assert "12 ms measured" in done.stdout
    assert (tmp_path / "page.html").read_text().count('<rect class="') == 5
