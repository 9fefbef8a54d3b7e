// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

/* Sessions that begin and end in unusual ways: `mixed`, on rank 1 before its MPI_Init, `threads`, three at once,
 * `null`, a finalize that fails, `after`, behind MPI_Finalize. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)

enum { THREADS = 3, CALLS = 500 };

static pthread_barrier_t together;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static MPI_Comm make(MPI_Session session, const char* set, const char* name) {
    MPI_Group group;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, set, &group);
    MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

static int sum(MPI_Comm comm) {
    int one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
    return all;
}

static void* of_a_thread(void* number) {
    char name[16];
    MPI_Session session;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    pthread_barrier_wait(&together);
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    pthread_mutex_lock(&turn);
    snprintf(name, sizeof name, "thread %ld", (long)number);
    MPI_Comm comm = make(session, "mpi://SELF", name);
    pthread_mutex_unlock(&turn);
    for (int i = 0; i < CALLS; ++i) sum(comm);
    pthread_mutex_lock(&turn);
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
    pthread_mutex_unlock(&turn);
    pthread_barrier_wait(&together);
    pthread_mutex_lock(&turn);
    MPI_Session_finalize(&session);
    pthread_mutex_unlock(&turn);
    return NULL;
}

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "";
    MPI_Session session = MPI_SESSION_NULL, none = MPI_SESSION_NULL;
    if (strcmp(how, "threads") == 0) {
        pthread_t threads[THREADS];
        pthread_barrier_init(&together, NULL, THREADS);
        for (long i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, of_a_thread, (void*)i);
        for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    } else if (strcmp(how, "mixed") == 0) {
        const char* rank = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
        if (rank && atoi(rank) == 1) MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
        MPI_Init(NULL, NULL);
        printf("sum %d\n", sum(MPI_COMM_WORLD));
        if (session != MPI_SESSION_NULL) MPI_Session_finalize(&session);
        MPI_Finalize();
    } else {
        if (strcmp(how, "after") == 0) {
            MPI_Init(NULL, NULL);
            sum(MPI_COMM_WORLD);
            MPI_Finalize();
        }
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
        if (strcmp(how, "null") == 0) printf("refused: %d\n", MPI_Session_finalize(&none) != MPI_SUCCESS);
        MPI_Comm comm = make(session, "mpi://WORLD", "all");
        printf("sum %d\n", sum(comm));
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
    }
    puts("ended");
    return 0;
}

#else

int main(void) { return puts("no sessions"), 0; }

#endif
