/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* libhocket_site.so: what a module of `hocket site install` preloads into every process of a session. It needs no MPI
 * and does nothing, except in a rank of a program of an MPI that the site was installed for: that process starts itself
 * again with the libraries for this very MPI in its place in LD_PRELOAD. So the launcher's command stays as it is, and
 * launchers, shells and tools run without them.
 *
 * The file `mpis` beside it has a line for each MPI: the real path of its library, a tab, the folder of the parts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST 4096

static const char own_name[] = "libhocket_site.so";

static const char* base_name(const char* path) {
    const char* const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A process that a launcher started as one of several; what launchers and batch scripts run beside has none of them. */
static int is_rank(void) {
    static const char* const variables[] = {
        "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "FLUX_TASK_RANK", "SLURM_STEP_NUM_TASKS", "PALS_RANKID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i)
        if (getenv(variables[i])) return 1;
    return 0;
}

/* The folder of the parts for the MPI library `library`; with "" for that of $HOCKET_SITE_MPI or the only MPI, not
 * counting the standard ABI of each. */
static int find_parts(const char* own_folder, const char* library, char* parts) {
    char path[LONGEST + 16], line[2 * LONGEST];
    const char* const wanted = getenv("HOCKET_SITE_MPI");
    snprintf(path, sizeof path, "%s/mpis", own_folder);
    FILE* const file = fopen(path, "re");
    if (!file) return 0;
    int found = 0;
    while (fgets(line, sizeof line, file)) {
        char* const tab = strchr(line, '\t');
        if (!tab) continue;
        *tab = '\0';
        tab[1 + strcspn(tab + 1, "\n")] = '\0';
        const char* const label = base_name(tab + 1);
        const int fits = *library ? strcmp(line, library) == 0
                         : wanted ? strcmp(label, wanted) == 0
                                  : strstr(label, "-abi-") == NULL;
        if (fits) found += snprintf(parts, LONGEST, "%s", tab + 1) < LONGEST;
    }
    fclose(file);
    return found == 1;
}

struct search {
    char own_folder[LONGEST];
    char library[PATH_MAX]; /* the first whose name is that of an MPI's; empty: none is loaded */
    char parts[LONGEST];
};

static int find_mpi(struct dl_phdr_info* loaded, size_t size, void* data) {
    struct search* const search = data;
    char library[PATH_MAX];
    (void)size;
    if (strncmp(base_name(loaded->dlpi_name), "libmpi", 6) != 0 || !realpath(loaded->dlpi_name, library)) return 0;
    if (!*search->library) memcpy(search->library, library, sizeof library);
    return find_parts(search->own_folder, library, search->parts);
}

/* LD_PRELOAD with the libraries of `parts` in the place of this one. */
static int new_preload(const char* parts, char* text, size_t size) {
    char old[LONGEST], workaround[2 * LONGEST];
    const char* const given = getenv("LD_PRELOAD");
    if (!given || snprintf(old, sizeof old, "%s", given) >= (int)sizeof old) return 0;
    size_t length = 0;
    int replaced = 0;
    for (char *rest = NULL, *word = strtok_r(old, ": ", &rest); word; word = strtok_r(NULL, ": ", &rest)) {
        const int is_own = strcmp(base_name(word), own_name) == 0;
        if (is_own && replaced++) continue;
        length += (size_t)(is_own ? snprintf(text + length, size - length, "%s%s/lib/libhocket_interpose.so",
                                             length ? ":" : "", parts)
                                  : snprintf(text + length, size - length, "%s%s", length ? ":" : "", word));
        if (length >= size) return 0;
    }
    snprintf(workaround, sizeof workaround, "%s/lib/libhocket_workaround.so", parts);
    if (access(workaround, R_OK) == 0) length += (size_t)snprintf(text + length, size - length, ":%s", workaround);
    return replaced && length < size;
}

__attribute__((constructor)) static void start_again(int argc, char** argv) {
    (void)argc;
    char program[PATH_MAX], preload[4 * LONGEST];
    struct search search = {"", "", ""};
    Dl_info own;
    if (!is_rank() || !dladdr((void*)(size_t)&start_again, &own) || !realpath(own.dli_fname, search.own_folder)) return;
    *strrchr(search.own_folder, '/') = '\0';
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return;
    program[length] = '\0';
    if (!dl_iterate_phdr(find_mpi, &search)) {
        const char* const rank = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
        if (*search.library && rank && atoi(rank) == 0)
            fprintf(stderr, "hocket: %s is of no MPI that hocket was installed for: nothing is changed\n",
                    search.library);
        /* Python loads its MPI later. */
        if (*search.library || strncmp(base_name(program), "python", 6) != 0 ||
            !find_parts(search.own_folder, "", search.parts))
            return;
    }
    if (!new_preload(search.parts, preload, sizeof preload)) return;
    const char* const before = getenv("LD_PRELOAD");
    char* const kept = before ? strdup(before) : NULL;
    setenv("LD_PRELOAD", preload, 1);
    execv(program, argv);
    if (kept) setenv("LD_PRELOAD", kept, 1); /* it goes on natively */
    free(kept);
}
