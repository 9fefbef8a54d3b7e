# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the search finds on any tree is right, and never faster than its lower bound."""

from __future__ import annotations

import networks
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import CostModel, Network, validate
from hocket.plan import COLLECTIVES, ROOTED
from hocket.search import find

FREE = CostModel()


@given(data=st.data(), text=networks.tree_texts())
@settings(max_examples=60)
def test_found_schedules_are_right_and_above_the_bound(data: st.DataObject, text: str) -> None:
    network = Network.from_text(text, "random")
    collective = data.draw(st.sampled_from(COLLECTIVES))
    members = data.draw(st.permutations(range(network.num_ranks)))
    members = members[: data.draw(st.integers(1, len(members)))]
    root = data.draw(st.integers(0, len(members) - 1)) if collective in ROOTED else 0
    size = 0 if collective == "barrier" else data.draw(st.integers(0, 20_000))
    found = find(collective, network, size, members, root, FREE)
    assert validate(found.schedule).ok, found.how
    assert found.schedule.num_ranks == len(members)
    assert found.predicted_s >= found.lower_bound_s * (1 - 1e-9), found.how
    assert found.gap >= -1e-9
