# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A suite of `hocket bench run` as a test of ReFrame (4.6 or later), for systems that have `hocket` on their PATH.

    reframe -C SITE.py -c examples/bench/reframe_hocket.py -r -S suite=mbl2-rma -S num_tasks=64 --performance-report

Each point is a performance variable, its median in seconds: `rma.put_ranks=64/1` is MPI_Put of 1 B. To let ReFrame fail
on slower ones, derive a class and set `reference`.
"""

import json
import os
import shlex

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.backends import getlauncher


@rfm.simple_test
class HocketBench(rfm.RunOnlyRegressionTest):
    """Fails where data were wrong, or an item crashed or hung. What the MPI does not have is left out."""

    suite = variable(str, value="mbl2-rma")  # a file, or one that comes with hocket
    quick = variable(bool, value=True)
    tolerated = variable(typ.List[str], value=["known", "wide", "unsupported"])  # statuses

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    num_tasks = 2
    executable = "hocket"
    time_limit = "30m"

    @run_before("run")
    def let_hocket_start_the_ranks(self):
        """Once for each launch of the suite, and again after an item that ended one."""
        self.job.num_tasks, self.job.num_tasks_per_node = self.num_tasks, self.num_tasks_per_node
        launcher = [*self.job.launcher.command(self.job), *self.job.launcher.options]
        self.job.launcher = getlauncher("local")()
        words = ["bench", "run", self.suite, *["--quick"] * self.quick, "--json", "-o", "result", "--", *launcher]
        self.executable_opts = [shlex.quote(word) for word in words]

    def points(self):
        with open(os.path.join(self.stagedir, sn.evaluate(self.stdout))) as file:
            return json.load(file)["points"]

    @sanity_function
    def every_item_is_ok_or_explained(self):
        bad = {point["variant"]: point["status"] for point in self.points() if point["status"] not in self.tolerated}
        return sn.assert_false(bad, f"not as it should be: {bad}")

    @run_after("sanity")
    def take_medians(self):
        for point in self.points():
            if point["measured"] is not None:
                size = "" if point["bytes"] is None else f"/{point['bytes']}"
                name = point["variant"].replace(" ", "_") + size
                median = sn.defer(point["measured"]["median_s"])
                self.perf_variables[name] = sn.make_performance_function(median, "s")
