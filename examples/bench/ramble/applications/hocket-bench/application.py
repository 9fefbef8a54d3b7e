# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

from ramble.appkit import *

# A row of `hocket bench show --as csv` of a point that was measured.
ROW = (
    r"(?P<item>[\w.]+),\d*,(?P<bytes>\d*),(?P<ranks>\d+),(?P<options>[^,]*),(?:known|wide),,\d+,\d+,\d+,"
    r"(?P<median>[^,]+),(?P<low>[^,]*),(?P<high>[^,]*),"
)


class HocketBench(ExecutableApplication):
    """MPI functions as a suite of `hocket bench run` says, with a 95 % interval for each."""

    name = "hocket-bench"

    tags("benchmark-app", "mini-app", "mpi")

    # hocket starts the launcher itself, once for each launch of the suite.
    executable("measure", "hocket bench run {suite} {options} -o result --force -- {mpi_command}", use_mpi=False)
    executable("export", "hocket bench show result --as csv -o {experiment_run_dir}/result.csv", use_mpi=False)

    workload("suite", executables=["measure", "export"])
    workload_variable(
        "suite", default="mbl2-rma", description="A suite file, or the name of one of hocket's", workload="suite"
    )
    workload_variable("options", default="--quick", description="Further options", workload="suite")

    figure_of_merit_context("point", regex=ROW, output_format="{item} {options} {bytes} B, {ranks} ranks")
    for fom in ("median", "low", "high"):
        figure_of_merit(
            fom, log_file="{experiment_run_dir}/result.csv", fom_regex=ROW, group_name=fom, units="s",
            contexts=["point"],
        )  # fmt: skip

    success_criteria("all is measured", mode="string", match=r".*results\.jsonl: every sample.*")
