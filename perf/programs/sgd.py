# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Data-parallel training of a small neural network with mpi4py: a student learns what a teacher says.

In each step an allreduce of the gradient of each layer's weights and biases; at the start and after every few steps a
broadcast of the parameters from a root, and a gather of statistics to it.

Checked: the loss falls, and all ranks have the same parameters. Gradients are clipped and rounded to multiples of
2^-20 before they are added, so that the answer has the same bits in whatever order they are.

Usage: sgd.py SIZE [ROOT [SEED [STEPS]]]   SIZE: width of the hidden layers
"""

from __future__ import annotations

import os
import sys
import zlib
from itertools import pairwise

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a rank is one core's worth of work; read when numpy is imported

import numpy as np
from mpi4py import MPI

INPUTS, OUTPUTS, BATCH = 256, 10, 64
RATE = np.float32(0.3)
GRAIN = np.float32(2**-20)  # of 2^23 multiples, which is what eight clipped gradients make, each fits a float32
STEPS_BETWEEN_BROADCASTS = 4


class Network:
    """Fully connected layers, tanh between them; `parameters` are weights and biases of each layer in turn."""

    def __init__(self, width: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        sizes = [INPUTS, width, width, OUTPUTS]
        self.parameters: list[np.ndarray] = []
        for inputs, outputs in pairwise(sizes):
            self.parameters.append((random.standard_normal((inputs, outputs)) / inputs**0.5).astype(np.float32))
            self.parameters.append(np.zeros(outputs, np.float32))

    def activations(self, batch: np.ndarray) -> list[np.ndarray]:
        values = [batch]
        for i in range(0, len(self.parameters), 2):
            sums = values[-1] @ self.parameters[i] + self.parameters[i + 1]
            values.append(np.tanh(sums) if i + 2 < len(self.parameters) else sums)
        return values

    def gradients(self, batch: np.ndarray, wanted: np.ndarray) -> tuple[float, list[np.ndarray]]:
        """The loss, half of the mean square of the errors, and its gradient by each of the parameters."""
        values = self.activations(batch)
        error = (values[-1] - wanted) / np.float32(len(batch))
        loss = float(np.sum((values[-1] - wanted) ** 2) / (2 * len(batch)))
        found: list[np.ndarray] = []
        for i in range(len(self.parameters) - 2, -1, -2):
            before = values[i // 2]
            found[:0] = [before.T @ error, error.sum(axis=0)]
            error = (error @ self.parameters[i].T) * (1 - before**2)
        return loss, found


def train(comm: MPI.Comm, width: int, root: int, seed: int, steps: int) -> tuple[Network, list[float]]:
    """The trained network, and on the root the mean loss of each gather."""
    teacher, student = Network(16, seed), Network(width, seed + 1 + comm.rank)
    random = np.random.default_rng((seed, comm.rank))
    losses: list[float] = []
    for step in range(steps):
        if step % STEPS_BETWEEN_BROADCASTS == 0:
            for parameter in student.parameters:
                comm.Bcast(parameter, root)
        batch = random.standard_normal((BATCH, INPUTS)).astype(np.float32)
        loss, gradients = student.gradients(batch, teacher.activations(batch)[-1])
        for parameter, gradient in zip(student.parameters, gradients, strict=True):
            rounded = np.rint(np.clip(gradient, -1, 1) / GRAIN) * GRAIN
            total = np.empty_like(rounded)
            comm.Allreduce(rounded, total)
            parameter -= RATE / np.float32(comm.size) * total
        if (step + 1) % STEPS_BETWEEN_BROADCASTS == 0 or step + 1 == steps:
            own = np.array([loss, *(np.abs(gradient).max() for gradient in gradients)])
            every = np.empty((comm.size, len(own))) if comm.rank == root else None
            comm.Gather(own, every, root)
            if every is not None:
                losses.append(float(every[:, 0].mean()))
    return student, losses


def number_argument(index: int, name: str, usual: int, least: int, most: int) -> int:
    text = sys.argv[index] if index < len(sys.argv) else str(usual)
    if not text.isdecimal() or not least <= int(text) <= most:
        sys.exit(f"error: {name}: found {text!r}, accepted is a whole number from {least} to {most}")
    return int(text)


def main() -> int:
    comm = MPI.COMM_WORLD
    width = number_argument(1, "SIZE", 192, 1, 100000)
    root = number_argument(2, "ROOT", 0, 0, comm.size - 1)
    seed = number_argument(3, "SEED", 1, 0, 2**31 - 1)
    steps = number_argument(4, "STEPS", 8, 2, 100000)
    student, losses = train(comm, width, root, seed, steps)
    own = np.array([zlib.crc32(b"".join(parameter.tobytes() for parameter in student.parameters))])
    least, most = np.empty_like(own), np.empty_like(own)
    comm.Allreduce(own, least, MPI.MIN)
    comm.Allreduce(own, most, MPI.MAX)
    right = comm.bcast(
        bool(least == most and (steps <= 4 or losses[-1] < losses[0])) if comm.rank == root else None, root
    )
    if comm.rank == root:
        answer = "ok" if right else "WRONG"
        count = sum(parameter.size for parameter in student.parameters)
        text = f"ranks {comm.size}, parameters {count}, steps {steps}, loss {losses[-1]:.6f}"
        print(f"sgd: {text}, checksum {own[0]:08x}, answer: {answer}", flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
