/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

#pragma once

/* Whether the launcher has started more processes than MPI_COMM_WORLD has: it and this MPI do not understand each other
 * (another PMI, another MPI's mpiexec), and each process is a program of its own. In C and C++. */

#include <stdlib.h>

#define HOCKET_ALONE_HINT \
    "start it with the mpiexec of the MPI that it was built for, or with srun --mpi=pmi2 or pmix (`srun --mpi=list`)"

struct hocket_alone {
    const char* launcher; /* that has started several processes; NULL: all is well */
    int processes;
    int is_first; /* this process speaks for all */
};

/* `ranks`: of MPI_COMM_WORLD. A launcher inside a step of another one, as `srun hocket run -- mpiexec -n 1`, says 1. */
static inline struct hocket_alone hocket_find_alone(int ranks) {
    static const char* const launchers[][3] = {{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"},
                                               {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpiexec"},
                                               {"PMI_SIZE", "PMI_RANK", "mpiexec"},
                                               {"FLUX_JOB_SIZE", "FLUX_TASK_RANK", "flux run"}};
    struct hocket_alone found = {NULL, 0, 0};
    if (ranks > 1) return found;
    for (int i = 0; i < 4; ++i) {
        const char* const number = getenv(launchers[i][0]);
        const char* const rank = getenv(launchers[i][1]);
        if (number == NULL) continue;
        if (i > 0 && atoi(number) == 1) {
            found.launcher = NULL;
            return found;
        }
        if (atoi(number) < 2 || found.launcher != NULL) continue;
        found.launcher = launchers[i][2];
        found.processes = atoi(number);
        found.is_first = rank == NULL || atoi(rank) == 0;
    }
    return found;
}
