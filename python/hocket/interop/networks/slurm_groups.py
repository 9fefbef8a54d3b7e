# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What both of Slurm's formats are read into: switches or blocks, and the lists of names in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from hocket.interop.networks.draft import Draft
from hocket.interop.networks.hostlist import MOST_NAMES, expand

MOST_LISTED = 2 * MOST_NAMES  # in all lists of a file; a node may be in several


@dataclass
class Group:
    """A switch or a block."""

    line: int
    name: str
    kind: str  # "switch" or "block"
    nodes: list[str] = field(default_factory=list)
    switches: list[str] = field(default_factory=list)


class Lists:
    """Expands the host lists of a file, which have a limit together too: a short file can name many."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.names = 0

    def expand(self, text: str, line: int, key: str) -> list[str]:
        def refuse(what: str, hint: str) -> NoReturn:
            self.draft.refuse(line, f"{key}: {what}", hint)

        names = expand(text, refuse)
        self.names += len(names)
        if self.names > MOST_LISTED:
            refuse(
                f"the lists down to this one have more than {MOST_LISTED} names", "list the hosts that the network has"
            )
        return names
