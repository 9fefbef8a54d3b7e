# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Random networks for the property tests, as the text of network files."""

from __future__ import annotations

from hypothesis import strategies as st


@st.composite
def tree_texts(draw: st.DrawFn, max_nodes: int = 8) -> str:
    """A tree of hosts and switches with any bandwidths, latencies and duplex; the first two nodes are hosts."""
    count = draw(st.integers(2, max_nodes))
    text = 'format = "hocket.network/1"\nname = "random"\n'
    for i in range(count):
        is_host = i < 2 or draw(st.booleans())
        text += f'\n[[node]]\nname = "n{i}"\nkind = "{"host" if is_host else "switch"}"\n'
        if is_host and draw(st.integers(0, 3)) == 0:
            text += 'ranks = 2\nmemory_bandwidth = "2 Gbit/s"\nmemory_latency = "1 us"\n'
    for i in range(1, count):
        text += f'\n[[link]]\nbetween = ["n{i}", "n{draw(st.integers(0, i - 1))}"]\n'
        text += f'bandwidth = "{draw(st.integers(1, 1000))} Mbit/s"\nlatency = "{draw(st.integers(0, 100))} us"\n'
        duplex = draw(st.sampled_from(["full", "half", "unequal"]))
        if duplex == "half":
            text += 'duplex = "half"\n'
        if duplex == "unequal":
            text += f'bandwidth_back = "{draw(st.integers(1, 1000))} Mbit/s"\n'
    return text
