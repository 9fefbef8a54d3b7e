# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The queueing discipline at the sender's end of a cable: token bucket for the bandwidth, netem for the latency."""

from __future__ import annotations

import errno
from typing import Any

from hocket.testbed.layout import Port

FRAME_BYTES = 1514  # Ethernet header + 1500; what the kernel charges for a full frame
PAYLOAD_BYTES = 1448  # of a full frame, after the headers of Ethernet, IP and TCP with time stamps
# The bucket covers what passes while the kernel's timer wakes late, and no more: its content passes at full speed
# after every pause. Measured on a virtual machine with two cores: at 790 Mbit/s 100 us lose up to a tenth of the rate;
# at 93 Mbit/s a bucket of two frames loses 6 to 16 %, of four 0 to 10 %, of eight 0 to 2 %, most with all cores busy.
TIMER_SLACK_S = 250e-6
MIN_BURST_BYTES = 6 * FRAME_BYTES
_MAX_SEGMENT_BYTES = 65536
# What a switch port with a deep buffer holds. Much more delays the acknowledgements of the opposite direction for
# seconds; much less loses frames of a single message of a megabyte.
_QUEUE_BYTES = 1 << 20
# Less than what the path through the virtual cables takes by itself, so adding it would be wrong as well as useless.
NEGLIGIBLE_LATENCY_S = 10e-6

NO_LATENCY_NOTE = "this kernel lacks sch_netem: the latencies of the network file are not emulated"

_ROOT = 0xFFFFFFFF  # TC_H_ROOT
_NETEM_HANDLE = 0x10000
_TBF_HANDLE = 0x20000


def shape(netlink: Any, index: int, port: Port) -> str | None:
    """Returns a note if the latency cannot be emulated by this kernel."""
    note = None
    parent = _ROOT
    if port.latency_s > NEGLIGIBLE_LATENCY_S:
        try:
            # tc-netem(8): a shaper is the child of netem. netem counts its queue in packets.
            netlink.tc("add", "netem", index, _NETEM_HANDLE, delay=round(port.latency_s * 1e6), limit=100_000)
            parent = _NETEM_HANDLE | 1
        except Exception as error:
            if getattr(error, "code", None) not in (errno.ENOENT, errno.EOPNOTSUPP):
                raise
            note = NO_LATENCY_NOTE
    if port.bandwidth_bytes_per_s is not None:
        # The bandwidth of a network file is what a message gets, so headers come on top of it.
        rate = port.bandwidth_bytes_per_s * FRAME_BYTES / PAYLOAD_BYTES
        burst = _burst_bytes(rate)
        netlink.tc("add", "tbf", index, _TBF_HANDLE, parent=parent, rate=round(rate), burst=burst, limit=_QUEUE_BYTES)
    return note


def segment_bytes(ports: list[Port]) -> int:
    """The largest packet that a host may hand to these ports at once (segmentation offload).

    tbf cuts a packet larger than its bucket into frames and wakes up for each of them, which halves the rate of a fast
    cable; with two packets to the bucket the measured rate is that of the file, also in both directions at once.
    """
    rates = [port.bandwidth_bytes_per_s for port in ports if port.bandwidth_bytes_per_s is not None]
    half = min((_burst_bytes(rate) // 2 for rate in rates), default=_MAX_SEGMENT_BYTES)
    return min(max(half, FRAME_BYTES), _MAX_SEGMENT_BYTES)


def _burst_bytes(rate_bytes_per_s: float) -> int:
    return max(MIN_BURST_BYTES, round(rate_bytes_per_s * TIMER_SLACK_S))
