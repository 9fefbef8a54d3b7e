# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Schedules and rank orders in the formats of other programs. `Program.to_goal` writes GOAL."""

from hocket.interop.schedules.msccl import to_msccl_xml
from hocket.interop.schedules.rank_order import hydra_hostfile, openmpi_rankfile, rank_list
from hocket.interop.schedules.transfers import send_list, transfers
from hocket.schedules.transfers import Transfer

__all__ = [
    "Transfer",
    "hydra_hostfile",
    "openmpi_rankfile",
    "rank_list",
    "send_list",
    "to_msccl_xml",
    "transfers",
]
