# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""hocket-eager: the largest message that an MPI sends without asking its receiver."""

from __future__ import annotations

import json

import pytest

from hocket import Network
from hocket.measure.eager import measure_rendezvous_bytes
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import MpiParts, build_mpi_parts
from hocket.testbed import available
from mpis import MpiRunner

EMULATED, REASON = available()
KIB = 1024


@pytest.fixture
def parts(runner: MpiRunner) -> MpiParts:
    return build_mpi_parts(runner.mpi)


@pytest.mark.parametrize("ranks", [1, 3])
def test_shared_memory_has_no_answer(runner: MpiRunner, parts: MpiParts, ranks: int) -> None:
    result = json.loads(runner.run(ranks, parts.eager).stdout)
    assert result == {"format": "hocket.eager/1", "eager_bytes": None}


@pytest.mark.skipif(not EMULATED, reason=f"no testbed here: {REASON}")
def test_finds_the_limit_that_the_mpi_was_given(runner: MpiRunner, parts: MpiParts, monkeypatch) -> None:
    from hocket.testbed import Testbed

    monkeypatch.setenv("OMPI_MCA_btl_tcp_eager_limit", str(32 * KIB))  # Open MPI; its header counts
    monkeypatch.setenv("UCX_RNDV_THRESH", str(32 * KIB))  # MPICH over UCX; over libfabric there is no limit to set
    network = Network.generate("star:3", bandwidth="1 Gbit/s")
    with Testbed(network) as bed:
        place = TestbedRunner(runner.mpi, bed, parts.workarounds)
        found = measure_rendezvous_bytes(runner.command(3, "true"), place, parts, timeout_s=60)
    assert found is not None
    if runner.mpi.family == "openmpi" or runner.mpi.major < 5:
        assert 31 * KIB <= found <= 32 * KIB + 1
    else:
        assert KIB < found <= KIB * KIB + 1
