/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* hocket-site-job: a job of `hocket site check`. It calls collectives of many sizes, checks their data, and prints as
 * JSON on how many ranks hocket's library is loaded. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 18, NAME = 64, CALLS = 10 };

static int has_hocket(void) {
    char line[8192];
    int found = 0;
    FILE* const maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, "/libhocket_interpose.so") != NULL;
    if (maps) fclose(maps);
    return found;
}

int main(int argc, char** argv) {
    int rank = 0, ranks = 0, wrong = 0, with_hocket = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int* const data = malloc(sizeof *data * MOST);
    int* const sum = malloc(sizeof *sum * MOST);
    char* const hosts = malloc((size_t)ranks * NAME);
    char host[NAME] = "";
    gethostname(host, sizeof host - 1);
    MPI_Gather(host, NAME, MPI_CHAR, hosts, NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int count = 1; count <= MOST; count *= 8) {
        for (int call = 0; call < CALLS; ++call) {
            for (int i = 0; i < count; ++i) data[i] = rank == call % ranks ? i + call : -1;
            MPI_Bcast(data, count, MPI_INT, call % ranks, MPI_COMM_WORLD);
            for (int i = 0; i < count; ++i) wrong += data[i] != i + call;
            for (int i = 0; i < count; ++i) data[i] = i + rank;
            MPI_Allreduce(data, sum, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            for (int i = 0; i < count; ++i) wrong += sum[i] != ranks * i + ranks * (ranks - 1) / 2;
        }
    }
    const int mine[2] = {wrong, has_hocket()};
    int all[2] = {0, 0};
    MPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    wrong = all[0];
    with_hocket = all[1];
    if (rank == 0) {
        printf("{\"format\": \"hocket.site-job/1\", \"ranks\": %d, \"wrong\": %d, \"with_hocket\": %d, \"hosts\": [",
               ranks, wrong, with_hocket);
        for (int i = 0; i < ranks; ++i) printf("%s\"%s\"", i ? ", " : "", hosts + (size_t)i * NAME);
        printf("]}\n");
        fflush(stdout);
    }
    MPI_Finalize();
    free(data);
    free(sum);
    free(hosts);
    return 0;
}
