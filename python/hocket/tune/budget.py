# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The time that the measuring of collectives may take."""

from __future__ import annotations

from dataclasses import dataclass

# As much as people wait for, or, where it is more, as runs of the program: tune makes as many to compare them.
USUAL_S = 60.0
USUAL_RUNS = 10


@dataclass
class Budget:
    """Seconds for the launches of the programs that measure, the start of each included."""

    limit_s: float
    spent_s: float = 0.0
    start_s: float = 0.0  # that a launch takes beside what it measures

    @classmethod
    def usual(cls, program_s: float) -> Budget:
        """For a program of which a run takes so long."""
        return cls(max(USUAL_S, USUAL_RUNS * program_s))

    @property
    def left_s(self) -> float:
        return max(0.0, self.limit_s - self.spent_s)

    def for_launch(self, launches: int, share: float = 1.0) -> float:
        """What one of so many launches may measure for, if all may take this share of what is left."""
        return max(0.0, share * self.left_s / launches - self.start_s)

    @property
    def over(self) -> str:
        """Why something was not measured."""
        return f"the {self.limit_s:.0f} s for measuring were over (--measure-time)"
