# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Compares what a program printed with and without the plan."""

from __future__ import annotations

from collections.abc import Sequence


def compare_output(native: Sequence[str], tuned: Sequence[str]) -> tuple[bool | None, str]:
    """Whether the runs printed the same (None: there is nothing to compare), and a remark for the user, if not empty.

    Lines that differ among the native runs themselves, such as times, tell nothing about the plan and are left out.
    """
    if not any(text.strip() for text in (*native, *tuned)):
        return None, ""
    if len({*native, *tuned}) == 1:
        return True, ""
    lines = [text.splitlines() for text in (*native, *tuned)]
    if len({len(one) for one in lines}) > 1:
        return False, "the number of lines of output differs between runs"
    varying = 0
    for number in range(len(lines[0])):
        found = [one[number] for one in lines]
        before, after = found[: len(native)], found[len(native) :]
        if len(set(before)) > 1:
            varying += 1
        elif {*before} != {*after}:
            other = next(line for line in after if line != before[0])
            return (
                False,
                f'output differs in line {number + 1}: native "{before[0][:70]}", with the plan "{other[:70]}"',
            )
    if varying == 0:
        return False, "output differs in its line ends"
    if varying == len(lines[0]):
        return None, "every line of output differs from run to run even without the plan"
    return True, f"{varying} of {len(lines[0])} lines of output differ from run to run even without the plan"
