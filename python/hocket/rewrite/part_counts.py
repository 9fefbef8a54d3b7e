# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""In how many parts a collective goes.

A message of n bytes takes the time of n bytes on the network, and a part more that of b. Where a loop above the call
makes the parts, the loop behind it can begin when the last one has arrived, or computes beside those that come: what is
not hidden takes n / k + k b, least with k = sqrt(n / b), and no longer than n from k = 2 on. Without a loop above, two
parts share the network, so the first arrives after 2 n / k: k = sqrt(2 n / b), no longer than n from k = 4 on.
"""

from __future__ import annotations

import math

#: More parts are never made: each has a request of its own.
MAX_PARTS = 16
#: Parts of a message that is complete at its call, on their way at the same time. If all of them were, they would share
#: the network, and the first would arrive when the last does: nothing would be left to compute beside. With only one,
#: the network would be idle from the end of a part until the program waits for it.
PARTS_AT_ONCE = 2


def at_once(has_above: bool) -> int:
    """`has_above`: a loop above the call starts each part when it has made it."""
    return 1 if has_above else PARTS_AT_ONCE


def least_parts(has_above: bool) -> int:
    """With fewer parts, rounded down, a message may take longer than as a whole, whatever is computed beside it."""
    return 2 * at_once(has_above)


def num_parts(size_bytes: int, part_bytes: int, has_above: bool) -> int:
    """As the rewritten program computes it, but for the number of rows."""
    found = math.isqrt(at_once(has_above) * size_bytes // part_bytes)
    return min(MAX_PARTS, found) if found >= least_parts(has_above) else 1
