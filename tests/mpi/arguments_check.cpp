// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Collective calls with wrong arguments, by the MPI's own functions and by those that are rerouted. Prints the error
// class that every rank got of both, and whether the communicator works afterwards. Argument: the first call to make,
// since the MPI's own functions crash or hang in some; the caller then starts again behind that one.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <utility>

#include "calls.hpp"

namespace {

constexpr int count = 8;
constexpr int root = 1;
constexpr unsigned eager_limit_s = 3;

struct Preloaded {
#define NAME(name) decltype(&MPI_##name) name = MPI_##name;
    FOR_EACH(NAME)
};

struct Wrong {
    std::string name;
    Kind kind;
    std::function<void(Call&, int rank)> change;
};

int rank, size;
MPI_Datatype uncommitted, derived;

bool is_moved(Kind kind) { return !is_reduction(kind) && kind != bcast; }

/// The right call, with room for blocks of twice the size.
Call right_call(Kind kind, int salt = 0) {
    Call call;
    call.kind = kind;
    call.root = is_rooted(kind) ? root : 0;
    call.send_memory.resize(sizeof(double) * 4 * count * static_cast<std::size_t>(size));
    call.recv_memory.resize(call.send_memory.size());
    for (int i = 0; i < 2 * count * size; ++i) {
        const int value = 1000 * rank + i + salt, none = -1;
        std::memcpy(&call.send_memory[sizeof(int) * static_cast<std::size_t>(i)], &value, sizeof value);
        const bool sent = kind == bcast && rank == root;
        std::memcpy(&call.recv_memory[sizeof(int) * static_cast<std::size_t>(i)], sent ? &value : &none, sizeof value);
    }
    call.send = {call.send_memory.data(), count, MPI_INT};
    call.recv = {call.recv_memory.data(), count, MPI_INT};
    return call;
}

/// Whether `call`, made by right_call, has given what the standard demands.
bool is_right(const Call& call, int salt) {
    const auto received = [&](int i) {
        int value;
        std::memcpy(&value, &call.recv_memory[sizeof(int) * static_cast<std::size_t>(i)], sizeof value);
        return value - (is_reduction(call.kind) ? size * salt : salt);
    };
    const int of_all_ranks = 1000 * size * (size - 1) / 2;
    for (int i = 0; i < count; ++i) {
        if (call.kind == bcast && received(i) != 1000 * root + i) return false;
        if (call.kind == scatter && received(i) != 1000 * root + count * rank + i) return false;
        if ((call.kind == allreduce || (call.kind == reduce && rank == root)) && received(i) != of_all_ranks + size * i)
            return false;
        if (call.kind == reduce_scatter_block && received(i) != of_all_ranks + size * (count * rank + i)) return false;
        for (int from = 0; from < size; ++from) {
            if ((call.kind == allgather || (call.kind == gather && rank == root)) &&
                received(count * from + i) != 1000 * from + i)
                return false;
            if (call.kind == alltoall && received(count * from + i) != 1000 * from + count * rank + i) return false;
        }
    }
    return true;
}

const char* name_of(int error_class) {
    static const std::pair<int, const char*> names[] = {
        {MPI_SUCCESS, "SUCCESS"},   {MPI_ERR_COUNT, "COUNT"},       {MPI_ERR_TYPE, "TYPE"},
        {MPI_ERR_BUFFER, "BUFFER"}, {MPI_ERR_ROOT, "ROOT"},         {MPI_ERR_OP, "OP"},
        {MPI_ERR_ARG, "ARG"},       {MPI_ERR_TRUNCATE, "TRUNCATE"}, {MPI_ERR_OTHER, "OTHER"}};
    for (const auto& [known, name] : names) {
        if (known == error_class) return name;
    }
    return "UNKNOWN";
}

std::vector<Wrong> all_wrong_calls() {
    std::vector<Wrong> all;
    // Every rank passes the same; what only the root looks at, it alone sees. Where a root that refuses leaves the
    // others waiting with any MPI, there is nothing to compare.
    for (int k = 0; k < num_kinds; ++k) {
        const auto kind = static_cast<Kind>(k);
        const auto add = [&](const char* what, std::function<void(Call&, int)> change) {
            all.push_back({std::string(kind_names[kind]) + ": " + what, kind, std::move(change)});
        };
        if (kind == barrier) continue;
        add("count -1", [](Call& c, int) { c.recv.count = -1; });
        add("no datatype", [](Call& c, int) { c.recv.type = MPI_DATATYPE_NULL; });
        add("uncommitted datatype", [](Call& c, int) { c.recv = {c.recv.address, count / 2, uncommitted}; });
        add("no buffer", [](Call& c, int) { c.recv.address = nullptr; });
        if (kind != bcast && kind != scatter) add("no send buffer", [](Call& c, int) { c.send.address = nullptr; });
        if (kind != bcast && kind != scatter)
            add("in place on the wrong side", [](Call& c, int) { c.recv.address = MPI_IN_PLACE; });
        if (kind == bcast) add("in place", [](Call& c, int) { c.recv.address = MPI_IN_PLACE; });
        if (kind != bcast && kind != allgather)
            add("send and receive in one buffer", [](Call& c, int) { c.recv.address = c.send.address; });
        if (kind == allgather || kind == gather)
            add("own block in one buffer",
                [](Call& c, int r) { c.send.address = static_cast<int*>(c.recv.address) + r * count; });
        if (is_rooted(kind)) {
            add("root -1", [](Call& c, int) { c.root = -1; });
            add("root behind the last rank", [](Call& c, int) { c.root = size; });
            if (kind == scatter) add("in place on all ranks", [](Call& c, int) { c.recv.address = MPI_IN_PLACE; });
        }
        if (is_reduction(kind)) {
            add("no operator", [](Call& c, int) { c.op = MPI_OP_NULL; });
            add("bits of double", [](Call& c, int) { c.recv.type = MPI_DOUBLE, c.op = MPI_BAND; });
            add("place of int", [](Call& c, int) { c.op = MPI_MAXLOC; });
            add("sum of a derived datatype", [](Call& c, int) { c.recv = {c.recv.address, count / 2, derived}; });
            add("sum of bytes", [](Call& c, int) { c.recv.type = MPI_BYTE; });
        }
        if (is_moved(kind)) {
            if (kind != scatter) {
                add("send count -1", [](Call& c, int) { c.send.count = -1; });
                add("no send datatype", [](Call& c, int) { c.send.type = MPI_DATATYPE_NULL; });
                add("uncommitted send datatype",
                    [](Call& c, int) { c.send = {c.send.address, count / 2, uncommitted}; });
            }
            add("sends half", [](Call& c, int) { c.send.count = count / 2; });
            add("receives nothing", [](Call& c, int) { c.recv.count = 0; });
            if (kind == scatter) continue;
            add("sends twice as much", [](Call& c, int) { c.send.count = 2 * count; });
            add("sends a larger type", [](Call& c, int) { c.send.type = MPI_DOUBLE; });
            if (kind != gather) add("sends nothing", [](Call& c, int) { c.send.count = 0; });
        }
    }
    // The ranks differ.
    const auto add = [&](Kind kind, const char* what, std::function<void(Call&, int)> change) {
        all.push_back({std::string(kind_names[kind]) + ": " + what, kind, std::move(change)});
    };
    add(bcast, "the root sends twice as much", [](Call& c, int) {
        if (rank == root) c.recv.count = 2 * count;
    });
    add(bcast, "the last rank receives half", [](Call& c, int) {
        if (rank == size - 1) c.recv.count = count / 2;
    });
    add(bcast, "an uncommitted datatype on a rank that passes nothing on", [](Call& c, int) {
        if (rank == 0) c.recv = {c.recv.address, count / 2, uncommitted};
    });
    add(gather, "the root receives half of each", [](Call& c, int) {
        if (rank == root) c.recv.count = count / 2;
    });
    add(gather, "an uncommitted datatype on the root", [](Call& c, int) {
        if (rank == root) c.recv = {c.recv.address, count / 2, uncommitted};
    });
    add(gather, "no receive buffer on the root", [](Call& c, int) {
        if (rank == root) c.recv.address = nullptr;
    });
    add(gather, "the last rank sends twice as much", [](Call& c, int) {
        if (rank == size - 1) c.send.count = 2 * count;
    });
    add(reduce, "the root alone has no receive buffer", [](Call& c, int) {
        if (rank == root) c.recv.address = nullptr;
    });
    add(reduce, "the last rank sends twice as much", [](Call& c, int) {
        if (rank == size - 1) c.recv.count = 2 * count;
    });
    add(alltoall, "the last rank receives half", [](Call& c, int) {
        if (rank == size - 1) c.recv.count = count / 2;
    });
    return all;
}

void give_up(int) {
    static const char text[] = "HANGS\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(4);
    _exit(3);
}

/// What every rank got, on all ranks. Point to point, since the collectives are what is tried.
std::vector<int> from_all_ranks(int mine) {
    std::vector<int> all(static_cast<std::size_t>(size), mine);
    for (int other = 0; other < size; ++other)
        MPI_Sendrecv(&mine, 1, MPI_INT, other, 0, &all[static_cast<std::size_t>(other)], 1, MPI_INT, other, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return all;
}

template <class F>
void report(const char* who, const F& functions, const Wrong& wrong) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (rank == 0) std::printf("  %s", who), std::fflush(stdout);
    Call call = right_call(wrong.kind);
    wrong.change(call, rank);
    int error_class;
    MPI_Error_class(invoke(functions, call, comm), &error_class);
    for (const int found : from_all_ranks(error_class)) {
        if (rank == 0) std::printf(" %s", name_of(found));
    }
    if (rank == 0) std::fflush(stdout);
    int good = 1;
    for (int salt = 1; salt < 4; ++salt) {
        Call right = right_call(wrong.kind, salt);
        if (invoke(functions, right, comm) != MPI_SUCCESS || !is_right(right, salt)) good = 0;
    }
    const std::vector<int> goods = from_all_ranks(good);
    good = *std::min_element(goods.begin(), goods.end());
    if (rank == 0) std::printf(" then %s\n", good ? "right" : "wrong"), std::fflush(stdout);
    MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::signal(SIGALRM, give_up);
    std::signal(SIGSEGV, SIG_DFL);  // no backtraces
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    MPI_Type_contiguous(2, MPI_INT, &derived);
    MPI_Type_commit(&derived);
    const Native native;
    const std::vector<Wrong> all = all_wrong_calls();
    for (auto i = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 0); i < all.size(); ++i) {
        if (rank == 0) std::printf("%zu %s\n", i, all[i].name.c_str()), std::fflush(stdout);
        alarm(eager_limit_s);
        report("native", native, all[i]);
        alarm(eager_limit_s);
        report("rerouted", Preloaded{}, all[i]);
        alarm(0);
    }
    if (rank == 0) std::printf("done\n");
    MPI_Finalize();
    return 0;
}
