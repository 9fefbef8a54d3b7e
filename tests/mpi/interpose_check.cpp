// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// A program whose collective calls are rerouted, against the MPI's own collectives. Arguments: seed, calls of each kind
// on each communicator.

#include "calls.hpp"

namespace {

struct Preloaded {
#define NAME(name) decltype(&MPI_##name) name = MPI_##name;
    FOR_EACH(NAME)
};

#if MPI_VERSION >= 4
int invoke_large(const Call& c, MPI_Comm comm) {
    const Triple &s = c.send, &r = c.recv;
    switch (c.kind) {
        case bcast:
            return MPI_Bcast_c(r.address, r.count, r.type, c.root, comm);
        case reduce:
            return MPI_Reduce_c(s.address, r.address, r.count, r.type, c.op, c.root, comm);
        case allreduce:
            return MPI_Allreduce_c(s.address, r.address, r.count, r.type, c.op, comm);
        case allgather:
            return MPI_Allgather_c(s.address, s.count, s.type, r.address, r.count, r.type, comm);
        case alltoall:
            return MPI_Alltoall_c(s.address, s.count, s.type, r.address, r.count, r.type, comm);
        case reduce_scatter_block:
            return MPI_Reduce_scatter_block_c(s.address, r.address, r.count, r.type, c.op, comm);
        case scatter:
            return MPI_Scatter_c(s.address, s.count, s.type, r.address, r.count, r.type, c.root, comm);
        case gather:
            return MPI_Gather_c(s.address, s.count, s.type, r.address, r.count, r.type, c.root, comm);
        default:
            return MPI_Barrier(comm);
    }
}
#else
int invoke_large(const Call& c, MPI_Comm comm) { return invoke(Preloaded{}, c, comm); }
#endif

long long num_wrong = 0;
int rank, size;

void expect(bool good, const std::string& what) {
    if (good) return;
    ++num_wrong;
    std::printf("WRONG rank %d: %s\n", rank, what.c_str());
    std::fflush(stdout);
}

void between_groups(const MPI_Comm half) {  // an intercommunicator is never rerouted
    MPI_Comm inter;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &inter);
    int sum = -1, one = rank % 2 + 1, remote;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    MPI_Comm_remote_size(inter, &remote);
    expect(sum == remote * (2 - rank % 2), "allreduce between groups");
    MPI_Comm_free(&inter);
}

void absolute_addresses() {
    std::vector<int> data(1000, rank == 0 ? 5 : 0);
    MPI_Aint place;
    MPI_Get_address(data.data(), &place);
    const int length = 1000;
    MPI_Datatype there;
    MPI_Type_create_hindexed(1, &length, &place, MPI_INT, &there);
    MPI_Type_commit(&there);
    MPI_Bcast(MPI_BOTTOM, 1, there, 0, MPI_COMM_WORLD);
    MPI_Type_free(&there);
    expect(data[0] == 5 && data[999] == 5, "bcast at MPI_BOTTOM");
}

int short_lived_communicators() {
    for (int i = 0; i < 20; ++i) {
        MPI_Comm fresh, idle;
        MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &idle);
        int value = rank == i % size ? i : -1;
        MPI_Bcast(&value, 1, MPI_INT, i % size, fresh);
        expect(value == i, "bcast on a communicator that lives for one call");
        MPI_Comm_free(&fresh);
        MPI_Comm_free(&idle);
    }
    return 20;
}

void errors_are_returned() {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int value = 0;
    expect(MPI_Bcast(&value, -1, MPI_INT, 0, comm) != MPI_SUCCESS, "a negative count is an error");
    expect(MPI_Bcast(&value, 1, MPI_INT, size, comm) != MPI_SUCCESS, "a root outside is an error");
    expect(MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, comm) != MPI_SUCCESS, "no datatype is an error");
    MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
    const int num_calls = argc > 2 ? std::atoi(argv[2]) : 10;
    const Native native;
    const Types types;
    const Communicators communicators;
    if (native.Bcast == Preloaded{}.Bcast) std::printf("not preloaded\n");
    for (int c = 0; c < 4; ++c) {
        const MPI_Comm comm = communicators.all[c];
        std::mt19937 shared(seed * 8 + static_cast<unsigned>(c == 2 ? 4 + rank % 2 : c));
        for (int kind = 0; kind < num_kinds; ++kind) {
            for (int i = 0; i < num_calls; ++i) {
                Call call = make_call(static_cast<Kind>(kind), shared, types, comm, -1);
                Call twin = twin_of(call);
                invoke_oracle(native, twin, types, comm);
                const int code = i % 3 == 2 ? invoke_large(call, comm) : invoke(Preloaded{}, call, comm);
                expect(code == MPI_SUCCESS && same_result(call, twin, comm),
                       std::string(Communicators::names[c]) + ": " + call.description);
            }
        }
    }
    if (size > 1) between_groups(communicators.all[2]);
    absolute_addresses();
    const int extra = 1 + short_lived_communicators();
    errors_are_returned();
    long long all = 0;
    native.Reduce(&num_wrong, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("seed %u: %lld wrong, %d more bcasts on world\n", seed, all, extra);
    MPI_Finalize();
    return 0;
}
