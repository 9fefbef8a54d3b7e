# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How far schedules on circuits are from their lower bounds: `.venv/bin/python perf/circuit_gaps.py --seed 1`.

Random instances of all collectives and rules. Each answer is replayed by other code. `--answers FILE` keeps them;
`--before FILE` compares with those of another run of the same seed, for instance of an older hocket.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import statistics
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from hocket.circuits.check import check_answer
from hocket.circuits.schedules import COLLECTIVES, CircuitInstance, solve

RULES = {
    "injection": ("one", "all"),
    "stop": ("all", "circuit"),
    "accounting": ("equations", "hidden"),
    "controller": ("parallel", "serial"),
}
NEAR = 1.15  # makespan / lower bound of an answer that counts as near
LIMIT_S = 30.0  # of an instance; on a machine that is not overloaded its end comes long before


def instances(seed: int, number: int) -> list[CircuitInstance]:
    """The same for the same seed; a larger number has the smaller one in it."""
    chance = random.Random(seed)
    result = []
    for i in range(number):
        collective = COLLECTIVES[i % len(COLLECTIVES)]
        result.append(
            CircuitInstance(
                collective,
                p=round(2 ** chance.uniform(1.585, 6)),
                k=chance.randint(1, 8),
                bytes=round(2 ** chance.uniform(0, 24)),
                s=10 ** chance.uniform(-6, -1.7),
                d=10 ** chance.uniform(-6, -1.7),
                alpha=10 ** chance.uniform(-6, -4),
                beta=1 / 10 ** chance.uniform(8, 10),
                segments=chance.choice([1, "auto"]) if collective in ("bcast", "reduce") else 1,
                **{key: chance.choice(values) for key, values in RULES.items()},
            )
        )
    return result


def answer(one: CircuitInstance) -> dict[str, Any]:
    begin_s = time.process_time()
    values = solve(one, time_limit_s=LIMIT_S).values
    took_s = time.process_time() - begin_s
    problems = check_answer(values)
    return {key: value for key, value in values.items() if key != "schedule"} | {"took_s": took_s, "problems": problems}


def ratio(one: dict[str, Any]) -> float:
    return float(one["makespan_s"] / one["lower_bound_s"]) if one["lower_bound_s"] > 0 else 1.0


def print_groups(answers: list[dict[str, Any]], key: str) -> None:
    groups: dict[str, list[float]] = defaultdict(list)
    for one in answers:
        groups[str(one["instance"][key])].append(ratio(one))
    for name, ratios in sorted(groups.items()):
        tenths = statistics.quantiles(ratios, n=10) if len(ratios) > 1 else ratios * 9
        near = sum(one <= NEAR for one in ratios) / len(ratios)
        print(
            f"{key:10} {name:10} {len(ratios):4} instances: median {statistics.median(ratios):.3f}, "
            f"nine of ten at most {tenths[-1]:.2f}, worst {max(ratios):.2f}, within 15 %: {near:.0%}"
        )


def compare(answers: list[dict[str, Any]], before: list[dict[str, Any]]) -> None:
    changes = []
    for one, other in zip(answers, before, strict=False):
        if one["instance"] != other["instance"]:
            raise SystemExit("those answers are of other instances")
        changes.append(one["makespan_s"] / other["makespan_s"] if other["makespan_s"] > 0 else 1.0)
        if one["lower_bound_s"] < other["lower_bound_s"] * (1 - 1e-9):
            print(f"lower bound {one['lower_bound_s'] / other['lower_bound_s']:.4f} of before: {one['instance']}")
        if changes[-1] > 1 + 1e-9:
            print(f"{changes[-1]:.4f} times as long as before: {one['algorithm']}, {one['instance']}")
    print(
        f"{len(changes)} compared with before: {sum(c < 1 - 1e-9 for c in changes)} faster (the best "
        f"{min(changes):.2f} of the time), {sum(c > 1 + 1e-9 for c in changes)} slower; CPU time "
        f"{sum(one['took_s'] for one in answers) / sum(one['took_s'] for one in before[: len(answers)]):.2f} of before"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=400, help="of instances")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--answers", type=Path, help="JSON lines, written")
    parser.add_argument("--before", type=Path, help="JSON lines of another run, read")
    options = parser.parse_args()
    asked = instances(options.seed, options.number)
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        answers = list(pool.imap(answer, asked))
    if options.answers:
        options.answers.write_text("".join(json.dumps(one) + "\n" for one in answers))
    for key in ("collective", "controller", "stop", "injection", "accounting"):
        print_groups(answers, key)
    for one in answers:
        if one["problems"]:
            print(f"the replay finds {one['problems']}: {one['instance']}")
    wrong = sum(bool(one["problems"]) for one in answers)
    print(f"seed {options.seed}, {len(answers)} answers, {wrong} refused by the replay")
    if options.before:
        compare(answers, [json.loads(line) for line in options.before.read_text().splitlines()])


if __name__ == "__main__":
    main()
