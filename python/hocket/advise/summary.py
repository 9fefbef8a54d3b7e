# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What advise decided, as a table and as JSON."""

from __future__ import annotations

from typing import Any

from hocket.advise.advise import Advice

COLUMNS = ("collective", "ranks", "bytes", "calls", "algorithm", "predicted", "textbook", "wire limit")


def rows(advice: Advice) -> list[tuple[str, ...]]:
    from hocket import print_bytes

    return [
        (
            choice.group.collective,
            str(len(choice.group.members)),
            print_bytes(choice.group.bytes_max),
            str(choice.group.calls),
            "native" if choice.reason else choice.best.label,
            _milliseconds(choice.predicted_s),
            _milliseconds(choice.native_model_s),
            _milliseconds(choice.lower_bound_s),
        )
        for choice in advice.choices
    ]


def reasons(advice: Advice) -> list[str]:
    """Why calls stay native, one sentence for each group."""
    from hocket import print_bytes

    return [
        f"{choice.group.collective} of {print_bytes(choice.group.bytes_max)} left native: {choice.reason}"
        for choice in advice.choices
        if choice.reason
    ]


def _milliseconds(seconds: float) -> str:
    """Two decimals, but at least three digits."""
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e3:.3g} ms"


def to_dict(advice: Advice) -> dict[str, Any]:
    return {
        "ranks": advice.plan.ranks,
        "network": advice.plan.network,
        "collectives": [
            {
                "collective": choice.group.collective,
                "ranks": len(choice.group.members),
                "bytes": choice.group.bytes_max,
                "calls": choice.group.calls,
                "algorithm": choice.best.algorithm,
                "segments": choice.best.segments,
                "order": list(choice.best.order),
                "predicted_s": choice.predicted_s,
                "textbook_algorithm": choice.native_model.algorithm,
                "textbook_s": choice.native_model_s,
                "wire_limit_s": choice.lower_bound_s,
                "in_plan": not choice.reason,
                "reason": choice.reason,
            }
            for choice in advice.choices
        ],
    }
