# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket site tables`: decisions as files that MPI libraries read themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket import CostModel
from hocket._core import Decider
from hocket.errors import InvalidInput
from hocket.io.files import check_parent, write_whole
from hocket.mpi.discover import default_mpi, find_mpis
from hocket.networks.source import NetworkSource
from hocket.reporter import SILENT, Reporter
from hocket.site import mpich_selection, openmpi_rules
from hocket.site.selection import Rule, choose


@dataclass(frozen=True)
class TablesRequest:
    network: NetworkSource  #: rank r of the job is where its rank r is
    output: Path  #: the file
    mpi: str | None = None  #: by its name in `hocket doctor`; None = the default one


@dataclass(frozen=True)
class Tables:
    mpi: str
    ranks: int
    variables: dict[str, str]  #: that make the library read the file
    rules: Mapping[str, Sequence[Rule]]  #: by collective

    @property
    def values(self) -> dict[str, Any]:
        rows = {
            name: [
                {"from_bytes": r.from_bytes, "algorithm": r.algorithm, "segment_bytes": r.segment_bytes} for r in found
            ]
            for name, found in self.rules.items()
        }
        return {"mpi": self.mpi, "ranks": self.ranks, "variables": self.variables, "rules": rows}


def run(request: TablesRequest, reporter: Reporter = SILENT) -> Tables:
    check_parent(request.output)
    network = request.network.load()
    if network.circuits is not None:
        raise InvalidInput(f"{network.name} has circuits", "give a network whose links are always there")
    mpi = default_mpi()
    if request.mpi is not None:
        by_label = {found.label: found for found in find_mpis()}
        if request.mpi not in by_label:
            raise InvalidInput(f"--mpi {request.mpi}: no such MPI here", f"accepted: {', '.join(by_label)}")
        mpi = by_label[request.mpi]
    ranks, decider = network.num_ranks, Decider(network, CostModel.of(network))
    path = str(request.output.absolute())
    if mpi.family == "openmpi":
        known = openmpi_rules.catalogue(ranks)
        with reporter.steps("choosing", len(known)) as following:
            rules = choose(decider, ranks, known, following)
        text = openmpi_rules.to_rules(ranks, rules)
        variables = openmpi_rules.variables(path)
    else:
        tree = mpich_selection.own_tree(mpi.library)
        known = mpich_selection.catalogue(ranks, tree)
        with reporter.steps("choosing", len(known)) as following:
            rules = choose(decider, ranks, known, following)
        text = json.dumps(mpich_selection.with_rules(tree, ranks, rules), indent=1) + "\n"
        variables = {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": path}
    write_whole(request.output, text)
    return Tables(mpi.name, ranks, variables, rules)
