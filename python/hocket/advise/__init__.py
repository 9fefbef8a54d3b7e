# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""From the recorded calls of a program and a network to a plan."""

from hocket.advise.advise import Advice, Choice, advise, check_ranks
from hocket.advise.calls import CallGroup, group_calls, unserved_calls
from hocket.advise.cover import Verdict, cover

__all__ = [
    "Advice",
    "CallGroup",
    "Choice",
    "Verdict",
    "advise",
    "check_ranks",
    "cover",
    "group_calls",
    "unserved_calls",
]
