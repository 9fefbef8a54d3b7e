# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which messages the MPI sends at once and which wait for their receiver, measured with the program hocket-eager."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hocket.errors import Error
from hocket.mpi.command_line import with_program

if TYPE_CHECKING:
    from hocket.measure.runner import Runner
    from hocket.mpi.build import MpiParts


def measure_rendezvous_bytes(
    command: Sequence[str], runner: Runner, parts: MpiParts, timeout_s: float | None
) -> int | None:
    """The size above which a message waits for its receiver; None where all ranks share a host.

    Starts hocket-eager in the place of the program that `command` starts.
    """
    changed = with_program(command, [str(parts.eager)])
    run = runner.run(changed, timeout_s=timeout_s, what="the search for the eager limit")
    try:
        eager_bytes = json.loads(run.stdout)["eager_bytes"]
        return None if eager_bytes is None else int(eager_bytes) + 1
    except (ValueError, KeyError, TypeError) as error:
        raise Error(f"hocket-eager gave no result that can be read: {run.stdout[:200]!r}") from error
