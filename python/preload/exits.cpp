// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// A rank that ends with a status other than 0 before MPI_Finalize ends the program, as the MPIs see it. Hydra, the
// launcher of MPICH, ends what is left on the same host alone, and waits for the ranks of other hosts, which wait for
// the one that has gone. So such a rank asks the launcher to end all with its status, as MPI_Abort does (PMI 1).

#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

pid_t loaded_in = 0;

/// What MPI_Initialized or MPI_Finalized says; false in a program without MPI.
bool says(const char* name) {
    using Function = int (*)(int*);
    const auto function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    int flag = 0;
    return function != nullptr && function(&flag) == 0 && flag != 0;
}

void ending(int status, void* /*unused*/) {
    const char* launcher = getenv("PMI_FD");
    // A process that a rank has forked ends for itself.
    if (status == 0 || launcher == nullptr || getpid() != loaded_in) return;
    if (!says("PMPI_Initialized") || says("PMPI_Finalized")) return;
    char command[64];
    const int size = snprintf(command, sizeof command, "cmd=abort exitcode=%d\n", status & 0xff);
    if (size > 0 && send(atoi(launcher), command, static_cast<std::size_t>(size), MSG_NOSIGNAL) < 0)
        return;  // the launcher has gone
}

__attribute__((constructor)) void watch_the_end() {
    loaded_in = getpid();
    on_exit(ending, nullptr);
}

}  // namespace
