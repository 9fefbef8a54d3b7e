# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What makes each MPI launch through the testbed and use its cables.

Everything goes in by environment variables, so that options on the user's command line win. The variables of the MPIs
have different names, so all are set at once and no MPI need be recognised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

INTERFACE = "eth0"
_PRRTE_MAPPING = "PRTE_MCA_rmaps_default_mapping_policy"


def host_files(rank_hosts: Sequence[str]) -> dict[str, str]:
    """Files (name -> text) with the host of each rank, in rank order; a host comes again for each of its ranks."""
    return {
        "hosts.openmpi": "".join(f"{host}\n" for host in rank_hosts),
        "hosts.mpich": "".join(f"{host}:1\n" for host in rank_hosts),
    }


def mpi_environment(folder: str, agent: str, shared_hosts: bool) -> dict[str, str]:
    """`folder`: of the host files; `agent`: the remote shell; `shared_hosts`: some host has several ranks."""
    # Ranks of one host speak through shared memory, as on a real cluster. Open MPI 5 knows `vader` as a name of `sm`.
    btl = "tcp,self,vader" if shared_hosts else "tcp,self"
    return {
        # Open MPI 4 and 5.
        "OMPI_ALLOW_RUN_AS_ROOT": "1",  # root of the testbed's own namespaces
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": btl,
        "OMPI_MCA_btl_tcp_if_include": INTERFACE,
        # Open MPI 4: windows over TCP need osc/pt2pt, which Debian's openmpi-mca-params.conf leaves out beside ucx.
        "OMPI_MCA_osc": "^ucx",
        # Each "host" believes that the machine's cores are its own and would spin on them. MPICH: see python/preload.
        "OMPI_MCA_mpi_yield_when_idle": "1",
        # What is preloaded on the testbed stands before the library of a program with sanitizers, which does no harm.
        "ASAN_OPTIONS": "verify_asan_link_order=0",
        # Open MPI 4: its runtime is ORTE.
        "OMPI_MCA_plm_rsh_agent": agent,
        "OMPI_MCA_oob_tcp_if_include": INTERFACE,
        "OMPI_MCA_orte_default_hostfile": f"{folder}/hosts.openmpi",
        "OMPI_MCA_rmaps_base_mapping_policy": "seq",  # line r of the file is the host of rank r
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        # Open MPI 5: its runtime is PRRTE.
        "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_plm_ssh_agent": agent,
        "PRTE_MCA_prte_if_include": INTERFACE,
        "PRTE_MCA_prte_default_hostfile": f"{folder}/hosts.openmpi",
        _PRRTE_MAPPING: "seq:oversubscribe",
        "PRTE_MCA_hwloc_default_binding_policy": "none",
        # MPICH and its relatives: the launcher is Hydra, the network layer UCX or libfabric.
        "HYDRA_LAUNCHER": "rsh",
        "HYDRA_LAUNCHER_EXEC": agent,
        "HYDRA_IFACE": INTERFACE,
        "HYDRA_HOST_FILE": f"{folder}/hosts.mpich",
        "UCX_TLS": "tcp,self",
        "UCX_NET_DEVICES": INTERFACE,
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": INTERFACE,
    }


def with_defaults(defaults: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """The user's environment `own`, and the testbed's where the user says nothing."""
    environment = {**defaults, **own}
    # Qualifiers alone (":oversubscribe") leave the choice of the mapper open, which is then the testbed's.
    if environment[_PRRTE_MAPPING].startswith(":"):
        environment[_PRRTE_MAPPING] = "seq" + environment[_PRRTE_MAPPING]
    return environment
