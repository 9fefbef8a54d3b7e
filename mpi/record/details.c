/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* What a call was about: communicators, datatypes, operators, peers. Definitions are written at first use. The PMPI
 * calls here come back to our own wrappers, which pass them on, since this thread counts as inside MPI. */
#include <stdlib.h>
#include <string.h>

#include "record.h"

/* What the details need to know of a communicator again and again. */
struct group {
    int32_t rank, size, remote_size;
    int32_t num_sources, num_destinations; /* neighbours */
};

static struct table communicators, datatypes, operators;
static struct group* groups;
static uint32_t num_groups, group_capacity;
static uint32_t num_datatypes, num_operators;
static struct {
    int64_t* bytes;
    uint32_t capacity;
} sizes;

static void define_named(uint16_t kind, uint32_t id, const void* value, size_t value_bytes, const char* name) {
    unsigned char* to = hocket_begin_definition(kind, HOCKET_TRACE_NONE16, 4 + value_bytes + strlen(name));
    if (!to) return;
    memcpy(to, &id, 4);
    memcpy(to + 4, value, value_bytes);
    memcpy(to + 4 + value_bytes, name, strlen(name));
    hocket_file_commit(to + 4 + value_bytes + strlen(name));
}

/* ---- communicators ---- */

static void world_ranks(MPI_Group group, int n, int32_t* members) {
    int* ranks = calloc(2 * (size_t)n + 1, sizeof *ranks);
    if (!ranks) return;
    for (int i = 0; i < n; ++i) ranks[i] = i;
    const int is_known = hocket_state.world != MPI_GROUP_NULL;
    if (is_known) PMPI_Group_translate_ranks(group, n, ranks, hocket_state.world, ranks + n);
    for (int i = 0; i < n; ++i) members[i] = !is_known || ranks[n + i] == MPI_UNDEFINED ? -1 : ranks[n + i];
    free(ranks);
}

/* Those that neighbourhood collectives exchange with, in their order: sources, then destinations. NULL: none. */
static int* find_neighbours(MPI_Comm comm, struct group* group) {
    int topology = MPI_UNDEFINED, dims = 0, n = 0, m = 0, is_weighted = 0;
    int* found = NULL;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) {
        PMPI_Cartdim_get(comm, &dims);
        n = m = 2 * dims;
    } else if (topology == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, group->rank, &n);
        m = n;
    } else if (topology == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, &n, &m, &is_weighted);
    }
    if (n + m > 0) found = calloc((size_t)(n + m), sizeof *found);
    if (!found) return NULL;
    if (topology == MPI_CART) {
        for (int d = 0; d < dims; ++d) PMPI_Cart_shift(comm, d, 1, &found[2 * d], &found[2 * d + 1]);
        memcpy(found + n, found, (size_t)n * sizeof *found);
    } else if (topology == MPI_GRAPH) {
        PMPI_Graph_neighbors(comm, group->rank, n, found);
        memcpy(found + n, found, (size_t)n * sizeof *found);
    } else {
        int* weights = calloc((size_t)(n + m), sizeof *weights);
        if (weights) PMPI_Dist_graph_neighbors(comm, n, found, weights, m, found + n, weights + n);
        free(weights);
    }
    group->num_sources = n;
    group->num_destinations = m;
    return found;
}

static void define_neighbours(MPI_Comm comm, uint32_t id) {
    struct group* group = &groups[id];
    int* found = find_neighbours(comm, group);
    if (!found) return;
    const uint32_t head[] = {id, (uint32_t)group->num_sources, (uint32_t)group->num_destinations};
    const size_t number = (size_t)head[1] + head[2];
    unsigned char* to = hocket_begin_definition(HOCKET_TRACE_NEIGHBOURS, HOCKET_TRACE_NONE16, sizeof head + 4 * number);
    if (to) {
        memcpy(to, head, sizeof head);
        to += sizeof head;
        for (size_t i = 0; i < number; ++i, to += 4) {
            const int32_t rank = found[i] == MPI_PROC_NULL ? -1 : found[i];
            memcpy(to, &rank, 4);
        }
        hocket_file_commit(to);
    }
    free(found);
}

static int add_group(struct group group) {
    if (num_groups == group_capacity) {
        const uint32_t capacity = group_capacity ? 2 * group_capacity : 32;
        struct group* grown = realloc(groups, capacity * sizeof *groups);
        if (!grown) return 0;
        groups = grown;
        group_capacity = capacity;
    }
    groups[num_groups++] = group;
    return 1;
}

/* head: number, parent, inter-communicator or not, own rank, members, members of the remote group. */
static void write_comm(uint16_t function, const uint32_t head[6], const int32_t* members) {
    /* A call that is left out, or that of another thread, has no name so far. */
    if (function != HOCKET_TRACE_NONE16 && !hocket_is_named(function)) hocket_name_function(function);
    const size_t head_size = 6 * sizeof *head, size = sizeof *members * ((size_t)head[4] + head[5]);
    unsigned char* to = hocket_begin_definition(HOCKET_TRACE_COMMUNICATOR, function, head_size + size);
    if (!to) return;
    memcpy(to, head, head_size);
    memcpy(to + head_size, members, size);
    hocket_file_commit(to + head_size + size);
}

static uint32_t define_comm(MPI_Comm comm, uint16_t function, uint32_t parent) {
    MPI_Group local, remote = MPI_GROUP_NULL;
    int inter = 0, rank = 0, n = 0, m = 0;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_group(comm, &local);
    PMPI_Group_size(local, &n);
    if (inter) {
        PMPI_Comm_remote_group(comm, &remote);
        PMPI_Group_size(remote, &m);
    }
    const uint32_t id = num_groups;
    if (!add_group((struct group){rank, n, m, 0, 0})) return HOCKET_TRACE_NONE;
    hocket_table_insert(&communicators, KEY(comm), id, 0);

    int32_t* members = calloc((size_t)(n + m) + 1, sizeof *members);
    if (members) {
        world_ranks(local, n, members);
        if (inter) world_ranks(remote, m, members + n);
        write_comm(function, (const uint32_t[]){id, parent, (uint32_t)inter, (uint32_t)rank, (uint32_t)n, (uint32_t)m},
                   members);
        free(members);
    }
    PMPI_Group_free(&local);
    if (inter)
        PMPI_Group_free(&remote);
    else
        define_neighbours(comm, id);
    return id;
}

static void empty(struct table* table) {
    free(table->entries);
    *table = (struct table){0};
}

void hocket_forget_all(void) {
    empty(&communicators);
    empty(&datatypes);
    empty(&operators);
    num_groups = num_datatypes = num_operators = 0;
}

/* Without asking MPI: a program that began by MPI_Session_init has neither of the two. */
static void define_predefined(MPI_Comm comm, int rank, int n, const int32_t* members) {
    if (!add_group((struct group){rank, n, 0, 0, 0})) return;
    hocket_table_insert(&communicators, KEY(comm), num_groups - 1, 0);
    write_comm(HOCKET_TRACE_NONE16,
               (const uint32_t[]){num_groups - 1, HOCKET_TRACE_NONE, 0, (uint32_t)rank, (uint32_t)n, 0}, members);
}

void hocket_define_world(void) {
    const int n = hocket_state.num_ranks;
    int32_t* all = calloc((size_t)n, sizeof *all);
    if (!all) return;
    for (int i = 0; i < n; ++i) all[i] = i;
    define_predefined(MPI_COMM_WORLD, hocket_state.rank, n, all);
    define_predefined(MPI_COMM_SELF, 0, 1, all + hocket_state.rank);
    free(all);
}

static uint32_t comm_id(MPI_Comm comm) {
    const struct entry* entry = hocket_table_find(&communicators, KEY(comm));
    return entry ? (uint32_t)entry->value : define_comm(comm, HOCKET_TRACE_NONE16, HOCKET_TRACE_NONE);
}

void hocket_comm_id(struct call* call, uint32_t id) {
    if (id == HOCKET_TRACE_NONE) return;
    call->communicator = id;
    call->fields |= HOCKET_TRACE_COMM;
}

void hocket_comm(struct call* call, MPI_Comm comm) {
    if (comm != MPI_COMM_NULL) hocket_comm_id(call, comm_id(comm));
}

uint32_t hocket_comm_before(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return HOCKET_TRACE_NONE;
    pthread_mutex_lock(&hocket_state.lock);
    const uint32_t id = hocket_state.active ? comm_id(comm) : HOCKET_TRACE_NONE;
    pthread_mutex_unlock(&hocket_state.lock);
    return id;
}

void hocket_new_comm(struct call* call, MPI_Comm made, MPI_Comm parent) {
    if (made == MPI_COMM_NULL) return;
    const uint32_t parent_id = parent == MPI_COMM_NULL ? HOCKET_TRACE_NONE : comm_id(parent);
    /* A handle that is still known was freed behind our back, as MPI_Session_finalize may do. */
    hocket_forget_comm(made);
    call->new_communicator = define_comm(made, call->function, parent_id);
    if (call->new_communicator != HOCKET_TRACE_NONE) call->fields |= HOCKET_TRACE_NEW_COMM;
}

void hocket_forget_comm(MPI_Comm comm) {
    struct entry* entry = hocket_table_find(&communicators, KEY(comm));
    if (entry) hocket_table_remove(&communicators, entry);
}

static const struct group* group_of(const struct call* call) {
    static const struct group none = {0, 0, 0, 0, 0};
    return call->fields & HOCKET_TRACE_COMM ? &groups[call->communicator] : &none;
}

int hocket_own_rank(const struct call* call) { return group_of(call)->rank; }

/* ---- datatypes and sizes ---- */

int64_t hocket_type_bytes(MPI_Datatype type, uint32_t* id) {
    const struct entry* entry = hocket_table_find(&datatypes, KEY(type));
    uint32_t number;
    if (entry) {
        number = (uint32_t)entry->value;
    } else {
        MPI_Count size = 0;
        int length = 0;
        char name[MPI_MAX_OBJECT_NAME] = "";
        PMPI_Type_size_x(type, &size);
        PMPI_Type_get_name(type, name, &length);
        if (num_datatypes == sizes.capacity) {
            const uint32_t capacity = sizes.capacity ? 2 * sizes.capacity : 64;
            int64_t* grown = realloc(sizes.bytes, capacity * sizeof *grown);
            if (!grown) return (int64_t)size;
            sizes.bytes = grown;
            sizes.capacity = capacity;
        }
        number = num_datatypes++;
        sizes.bytes[number] = (int64_t)size;
        hocket_table_insert(&datatypes, KEY(type), number, 0);
        define_named(HOCKET_TRACE_DATATYPE, number, &sizes.bytes[number], 8, name);
    }
    if (id) *id = number;
    return sizes.bytes[number];
}

void hocket_forget_type(MPI_Datatype type) {
    struct entry* entry = hocket_table_find(&datatypes, KEY(type));
    if (entry) hocket_table_remove(&datatypes, entry);
}

void hocket_message(struct call* call, int64_t count, MPI_Datatype type) {
    if (type == MPI_DATATYPE_NULL) return;
    call->bytes = count * hocket_type_bytes(type, &call->datatype);
    call->fields |= HOCKET_TRACE_BYTES | HOCKET_TRACE_TYPE;
}

void hocket_take_counts(struct call* call, int send, struct counts counts) {
    const MPI_Datatype* types = counts.types;
    if (!counts.values || (types == NULL && counts.type == MPI_DATATYPE_NULL)) return;
    if (send)
        call->sends = counts;
    else
        call->receives = counts;
    call->fields |= send ? HOCKET_TRACE_SEND_BYTES : HOCKET_TRACE_RECEIVE_BYTES;
    /* Types are defined before the record that needs them is begun. */
    if (!types) hocket_type_bytes(counts.type, NULL);
    for (int i = 0; types && i < counts.n; ++i) {
        if (hocket_count_at(&counts, i)) hocket_type_bytes(types[i], NULL);
    }
}

void hocket_counts(struct call* call, int send, const void* values, size_t width, const MPI_Datatype* types,
                   MPI_Datatype type) {
    const struct group* group = group_of(call);
    const int n = group->remote_size ? group->remote_size : group->size;
    hocket_take_counts(call, send, (struct counts){values, width, types, type, n});
}

void hocket_neighbour_counts(struct call* call, int send, const void* values, size_t width, const MPI_Datatype* types,
                             MPI_Datatype type) {
    const struct group* group = group_of(call);
    const int n = send ? group->num_destinations : group->num_sources;
    hocket_take_counts(call, send, (struct counts){values, width, types, type, n});
}

void hocket_in_place(struct call* call, const void* send_buffer, const void* receive_buffer) {
    if (send_buffer == MPI_IN_PLACE || receive_buffer == MPI_IN_PLACE) call->flags |= HOCKET_TRACE_IN_PLACE;
}

/* ---- roots, operators, peers ---- */

static int32_t rank_or_name(int rank) {
    if (rank == MPI_PROC_NULL) return -1;
    if (rank == MPI_ANY_SOURCE) return -2;
    if (rank == MPI_ROOT) return -3;
    return rank;
}

void hocket_root(struct call* call, int root) {
    /* MPI_ROOT may share its value with MPI_ANY_SOURCE. */
    call->root = root == MPI_ROOT ? -3 : rank_or_name(root);
    call->fields |= HOCKET_TRACE_ROOT;
}

int hocket_is_root(const struct call* call) {
    const struct group* group = group_of(call);
    return call->root == -3 || (group->remote_size == 0 && call->root == group->rank);
}

/* In the root's group of an inter-communicator but not the root: its other arguments mean nothing. */
int hocket_is_bystander(const struct call* call) { return call->root == -1; }

void hocket_operator(struct call* call, MPI_Op op) {
    const struct {
        const char* name;
        MPI_Op op;
    } predefined[] = {{"MPI_MAX", MPI_MAX},     {"MPI_MIN", MPI_MIN},        {"MPI_SUM", MPI_SUM},
                      {"MPI_PROD", MPI_PROD},   {"MPI_LAND", MPI_LAND},      {"MPI_BAND", MPI_BAND},
                      {"MPI_LOR", MPI_LOR},     {"MPI_BOR", MPI_BOR},        {"MPI_LXOR", MPI_LXOR},
                      {"MPI_BXOR", MPI_BXOR},   {"MPI_MINLOC", MPI_MINLOC},  {"MPI_MAXLOC", MPI_MAXLOC},
                      {"MPI_NO_OP", MPI_NO_OP}, {"MPI_REPLACE", MPI_REPLACE}};
    const struct entry* entry = hocket_table_find(&operators, KEY(op));
    if (!entry) {
        int commutes = 0;
        const char* name = "user";
        for (size_t i = 0; i < sizeof predefined / sizeof *predefined; ++i) {
            if (op == predefined[i].op) name = predefined[i].name;
        }
        PMPI_Op_commutative(op, &commutes);
        const uint32_t commutative = commutes != 0;
        hocket_table_insert(&operators, KEY(op), num_operators, 0);
        define_named(HOCKET_TRACE_OPERATOR, num_operators, &commutative, 4, name);
        call->operator_ = num_operators++;
    } else {
        call->operator_ = (uint32_t)entry->value;
    }
    call->fields |= HOCKET_TRACE_OP;
}

void hocket_forget_operator(MPI_Op op) {
    struct entry* entry = hocket_table_find(&operators, KEY(op));
    if (entry) hocket_table_remove(&operators, entry);
}

void hocket_peer(struct call* call, int peer, int tag) {
    call->peer = rank_or_name(peer);
    call->tag = tag == MPI_ANY_TAG ? -1 : tag;
    call->fields |= HOCKET_TRACE_PEER;
}

void hocket_receive(struct call* call, int peer, int tag, int64_t count, MPI_Datatype type) {
    call->receive_peer = rank_or_name(peer);
    call->receive_tag = tag == MPI_ANY_TAG ? -1 : tag;
    call->receive_bytes = type == MPI_DATATYPE_NULL ? 0 : count * hocket_type_bytes(type, NULL);
    call->fields |= HOCKET_TRACE_RECEIVE;
}

void hocket_status(struct call* call, const MPI_Status* status) {
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    call->status_source = rank_or_name(status->MPI_SOURCE);
    call->status_tag = status->MPI_TAG == MPI_ANY_TAG ? -1 : status->MPI_TAG;
    call->status_bytes = bytes == MPI_UNDEFINED ? -1 : (int64_t)bytes;
    call->fields |= HOCKET_TRACE_STATUS;
}
