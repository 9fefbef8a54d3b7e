// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

/* MPI by sessions: `once`, `twice` one after another, `within`, a second one beside it, or `init`, which calls MPI_Init
 * while a session is open. There is no MPI_COMM_WORLD but in the last. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* Open MPI 5 has sessions and says that it is MPI 3.1. */
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)

static void check(const char* what, MPI_Comm comm) {
    int size, one = 1, sum = 0;
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    printf("%s %s\n", what, sum == size ? "right" : "wrong");
}

static MPI_Comm make(MPI_Session* session, const char* name) {
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session) != MPI_SUCCESS) return comm;
    MPI_Group_from_session_pset(*session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

static void end(MPI_Session* session, MPI_Comm comm) {
    MPI_Comm_free(&comm);
    MPI_Session_finalize(session);
}

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "once";
    MPI_Session session, other;
    MPI_Comm comm = make(&session, "first"), others, halves;
    if (comm == MPI_COMM_NULL) return printf("no sessions\n"), 0;
    int rank;
    check("first", comm);
    if (strcmp(how, "within") == 0) {
        others = make(&other, "second");
        check("second", others);
        end(&other, others);
    } else if (strcmp(how, "init") == 0) {
        MPI_Init(NULL, NULL);
        check("world", MPI_COMM_WORLD);
        end(&session, comm);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_split(comm, rank % 2, -rank, &halves);
    check("halves", halves);
    MPI_Comm_free(&halves);
    end(&session, comm);
    if (strcmp(how, "twice") == 0) {
        others = make(&other, "second");
        check("second", others);
        end(&other, others);
    }
    return 0;
}

#else

int main(void) { return printf("no sessions\n"), 0; }

#endif
