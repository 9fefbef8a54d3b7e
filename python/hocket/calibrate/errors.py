# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How far the calibrated network is off, for what it was not fitted to."""

from __future__ import annotations

import numpy as np

from hocket import Network
from hocket.advise import MessageCosts
from hocket.calibrate.calibration import Errors
from hocket.calibrate.hosts import Hosts
from hocket.calibrate.infer import Inferred
from hocket.calibrate.messages import Messages
from hocket.calibrate.transfers import Transfer
from hocket.calibrate.tree import Predictor, program_of


def errors_alone(network: Network, hosts: Hosts, messages: Messages, rendezvous_bytes: int | None) -> Errors:
    """Of single messages of all sizes: bandwidths were fitted to long ones of one size, latencies to empty ones."""
    costs = MessageCosts(messages.costs.send_s, messages.costs.receive_s, rendezvous_bytes=rendezvous_bytes)

    def predicted_s(source: int, target: int, size: int) -> float:
        return costs.simulate(program_of((Transfer(source, target, size),), network.num_ranks), network).makespan_s

    errors = []
    for sweep in messages.sweeps:
        source, target = hosts.ranks[sweep.source][0], hosts.ranks[sweep.target][0]
        answer_s = predicted_s(target, source, 0)
        for size, measured_s in zip(sweep.sizes, sweep.times_s, strict=True):
            errors.append(abs((predicted_s(source, target, int(size)) + answer_s) / measured_s - 1))
    return _errors(np.array(errors))


def errors_together(inferred: Inferred) -> Errors:
    """Of when the last of some transfers at once ended, in pairings that nothing was fitted to."""
    held_out = inferred.held_out
    predicted = Predictor(held_out.experiments, len(inferred.tree.hosts)).times_s(inferred.tree)
    measured = held_out.net_s(inferred.alone)
    return _errors(np.array([abs(p.max() / m.max() - 1) for p, m in zip(predicted, measured, strict=True)]))


def _errors(values: np.ndarray) -> Errors:
    return Errors(float(np.median(values)), float(np.percentile(values, 95)))
