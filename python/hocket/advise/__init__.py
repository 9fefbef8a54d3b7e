# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""From the recorded calls of a program and a network to a plan."""

from hocket.advise.advise import Advice, Choice, advise, check_ranks, predict, simulate_call
from hocket.advise.calls import CallGroup, group_calls, unserved_calls
from hocket.advise.candidates import CHUNK_BYTES, Candidate, candidates, chunks_below
from hocket.advise.cover import Verdict, cover

__all__ = [
    "CHUNK_BYTES",
    "Advice",
    "CallGroup",
    "Candidate",
    "Choice",
    "Verdict",
    "advise",
    "candidates",
    "check_ranks",
    "chunks_below",
    "cover",
    "group_calls",
    "predict",
    "simulate_call",
    "unserved_calls",
]
