# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How far the calibrated network is off, for what it was not fitted to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hocket.calibrate.calibration import Errors
from hocket.calibrate.infer import Inferred
from hocket.calibrate.messages import HELD_OUT, Messages
from hocket.calibrate.tree import Predictor

Predict = Callable[[int, int, int], float]  # seconds of a message: from and to which host, of how many bytes
# A message is long if its bytes take at least this share of its predicted time: bandwidths decide it. The others are
# latency and the work of processors.
LONG_SHARE = 0.5


def logarithms_alone(messages: Messages, predict: Predict, held_out: bool) -> np.ndarray:
    """log(predicted / measured) of single messages and their answers: of every HELD_OUT-th size, or of the others."""
    found = []
    for sweep in messages.sweeps:
        answer_s = predict(sweep.target, sweep.source, 0)
        for i, (size, measured_s) in enumerate(zip(sweep.sizes, sweep.times_s, strict=True)):
            if (i % HELD_OUT == HELD_OUT - 1) == held_out:
                found.append(np.log((predict(sweep.source, sweep.target, int(size)) + answer_s) / measured_s))
    return np.array(found)


def errors_alone(messages: Messages, predict: Predict) -> Errors:
    """Of single messages of sizes that nothing was fitted to."""
    return _errors(np.abs(np.exp(logarithms_alone(messages, predict, held_out=True)) - 1))


def errors_by_length(messages: Messages, predict: Predict) -> tuple[Errors | None, Errors | None]:
    """The same of short and of long messages; None where there were none."""
    errors = np.abs(np.exp(logarithms_alone(messages, predict, held_out=True)) - 1)
    long = []
    for sweep in messages.sweeps:
        empty_s = predict(sweep.source, sweep.target, 0) + predict(sweep.target, sweep.source, 0)
        for size in sweep.sizes[HELD_OUT - 1 :: HELD_OUT]:
            bytes_s = predict(sweep.source, sweep.target, int(size)) - predict(sweep.source, sweep.target, 0)
            long.append(bytes_s >= LONG_SHARE * (empty_s + bytes_s))
    parts = errors[~np.array(long)], errors[np.array(long)]
    short_errors, long_errors = (_errors(part) if len(part) else None for part in parts)
    return short_errors, long_errors


def errors_together(inferred: Inferred) -> Errors:
    """Of when the last of some transfers at once ended, in pairings that nothing was fitted to."""
    held_out = inferred.held_out
    predicted = Predictor(held_out.experiments, len(inferred.tree.hosts)).times_s(inferred.tree)
    measured = held_out.net_s(inferred.alone)
    return _errors(np.array([abs(p.max() / m.max() - 1) for p, m in zip(predicted, measured, strict=True)]))


def _errors(values: np.ndarray) -> Errors:
    return Errors(float(np.median(values)), float(np.percentile(values, 95)))
