/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

#pragma once

/* For libraries that are preloaded into programs of an MPI's own header. A program of the standard ABI has other
 * handles, and would crash in them: where it is behind a script, its launcher's command did not tell. In C and C++. */

#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef MPI_ABI_VERSION
__attribute__((constructor)) static void hocket_refuse_standard_abi(void) {
    static const char* const ranks[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"};
    const struct link_map* loaded = _r_debug.r_map; /* dl_iterate_phdr is no standard C */
    while (loaded != NULL && strstr(loaded->l_name, "/libmpi_abi.so") == NULL) loaded = loaded->l_next;
    if (loaded == NULL) return;
    int rank = 0;
    for (int i = 0; i < 4 && rank == 0; ++i) rank = getenv(ranks[i]) == NULL ? 0 : atoi(getenv(ranks[i]));
    if (rank == 0) {
        fputs(
            "hocket: error: the program is of MPI's standard ABI, which its command does not tell\n"
            "hocket: hint: HOCKET_MPICC=/path/to/mpicc_abi tells it\n",
            stderr);
    }
    _exit(1);
}
#endif
