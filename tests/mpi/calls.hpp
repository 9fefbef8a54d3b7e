// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Collective calls of every kind, made from a seed that all ranks share, and the MPI's own functions as the oracle.

#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

/// The functions of the MPI library itself, behind whatever is preloaded.
struct Native {
#define FOR_EACH(X) \
    X(Bcast) X(Reduce) X(Allreduce) X(Allgather) X(Alltoall) X(Reduce_scatter_block) X(Scatter) X(Gather) X(Barrier)
#define MEMBER(name) decltype(&PMPI_##name) name;
    FOR_EACH(MEMBER)
    Native() {
        Dl_info info;
        void* library = dladdr(dlsym(RTLD_DEFAULT, "PMPI_Comm_rank"), &info)
                            ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                            : nullptr;
        if (library == nullptr) std::abort();
#define FIND(name) name = reinterpret_cast<decltype(name)>(dlsym(library, "PMPI_" #name));
        FOR_EACH(FIND)
    }
};

inline void multiply(void* left, void* right, int* count, MPI_Datatype* type) {  // 2x2 matrices: the order matters
    MPI_Aint lower, extent;
    MPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *count; ++i) {
        const auto* a = reinterpret_cast<const std::uint64_t*>(static_cast<char*>(left) + i * extent);
        auto* b = reinterpret_cast<std::uint64_t*>(static_cast<char*>(right) + i * extent);
        const std::uint64_t c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                                    a[2] * b[1] + a[3] * b[3]};
        std::memcpy(b, c, sizeof c);
    }
}
inline void add(void* left, void* right, int* count, MPI_Datatype* type) {  // 2x2 matrices: the order does not matter
    MPI_Aint lower, extent;
    MPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *count; ++i) {
        const auto* a = reinterpret_cast<const std::uint64_t*>(static_cast<char*>(left) + i * extent);
        auto* b = reinterpret_cast<std::uint64_t*>(static_cast<char*>(right) + i * extent);
        for (int k = 0; k < 4; ++k) b[k] += a[k];
    }
}
inline void join_bits(void* left, void* right, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i)
        static_cast<int*>(right)[i] = (static_cast<int*>(left)[i] ^ static_cast<int*>(right)[i]) & 0xFFFF;
}

struct Types {
    MPI_Datatype vector, padded, permuted, matrix, gappy_matrix;
    MPI_Op join, multiply_matrices, add_matrices;
    Types() {
        MPI_Datatype plain;
        MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &plain);
        MPI_Type_create_resized(plain, 0, 56, &vector);
        const int lengths[2] = {1, 1};
        const MPI_Aint places[2] = {4, 16};
        const MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE};
        MPI_Type_free(&plain);
        MPI_Type_create_struct(2, lengths, places, parts, &plain);
        MPI_Type_create_resized(plain, -8, 40, &padded);
        MPI_Type_free(&plain);
        const int order[3] = {2, 0, 1}, ones[3] = {1, 1, 1};
        MPI_Type_indexed(3, ones, order, MPI_DOUBLE, &permuted);
        MPI_Type_contiguous(4, MPI_UINT64_T, &matrix);
        MPI_Type_create_resized(matrix, 0, 48, &gappy_matrix);
        for (MPI_Datatype* type : {&vector, &padded, &permuted, &matrix, &gappy_matrix}) MPI_Type_commit(type);
        MPI_Op_create(join_bits, 1, &join);
        MPI_Op_create(multiply, 0, &multiply_matrices);
        MPI_Op_create(add, 1, &add_matrices);
    }
};

enum Kind { bcast, reduce, allreduce, allgather, alltoall, reduce_scatter_block, scatter, gather, barrier, num_kinds };
inline const char* const kind_names[] = {
    "bcast", "reduce", "allreduce", "allgather", "alltoall", "reduce_scatter_block", "scatter", "gather", "barrier"};

struct Triple {
    void* address;
    int count;
    MPI_Datatype type;
};

/// One call on one rank with its own memory.
struct Call {
    Kind kind;
    Triple send, recv;
    MPI_Op op = MPI_SUM;
    int root = 0;
    std::string description;
    std::vector<unsigned char> send_memory, recv_memory;
};

inline bool is_reduction(Kind kind) { return kind == reduce || kind == allreduce || kind == reduce_scatter_block; }
inline bool is_rooted(Kind kind) { return kind == bcast || kind == reduce || kind == scatter || kind == gather; }

/// Makes one call from the numbers that `shared` gives alike on all ranks. `fixed_root` < 0: any.
inline Call make_call(Kind kind, std::mt19937& shared, const Types& types, MPI_Comm comm, int fixed_root) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const auto pick = [&](int n) { return static_cast<int>(shared() % static_cast<unsigned>(n)); };
    static constexpr int counts[] = {0, 1, 2, 7, 64, 333, 1000, 5001};
    static constexpr int large_counts[] = {20000, 40001};
    Call call;
    call.kind = kind;
    const bool large = pick(12) == 0;
    int count = large ? large_counts[pick(2)] : counts[pick(8)];
    if (kind == alltoall || kind == allgather || kind == reduce_scatter_block) count = count / 4 + count % 4;
    const int root = pick(size), variety = pick(7);
    call.root = !is_rooted(kind) ? 0 : fixed_root >= 0 ? fixed_root : root;
    const bool is_root = rank == call.root;
    const bool in_place = pick(3) == 0 && kind != bcast && kind != barrier && (is_root || !is_rooted(kind));
    const auto seed = shared();

    Triple send{nullptr, count, MPI_INT}, recv = send;
    if (is_reduction(kind)) {
        const MPI_Datatype all[7] = {MPI_INT, MPI_DOUBLE,   MPI_DOUBLE,        MPI_DOUBLE_INT,
                                     MPI_INT, types.matrix, types.gappy_matrix};
        const MPI_Op ops[7] = {MPI_SUM,           MPI_MAX, MPI_SUM, MPI_MINLOC, types.join, types.multiply_matrices,
                               types.add_matrices};
        send.type = recv.type = all[variety];
        call.op = ops[variety];
    } else {
        const Triple contiguous{nullptr, 3 * count, MPI_DOUBLE}, vector{nullptr, count, types.vector},
            permuted{nullptr, count, types.permuted};
        switch (variety) {
            case 0:
                break;
            case 1:
                send = recv = contiguous;
                break;
            case 2:
                send = recv = vector;
                break;
            case 3:
                send.type = recv.type = types.padded;
                break;
            case 4:
                send = recv = rank % 2 == 0 ? vector : contiguous;
                break;
            case 5:
                send = permuted, recv = kind == bcast && rank % 2 == 0 ? contiguous : permuted;
                break;
            default:
                send = contiguous, recv = rank % 2 == 0 ? vector : permuted;
        }
    }
    const auto room = [&](const Triple& triple, int blocks) {
        MPI_Aint lower, extent;
        MPI_Type_get_extent(triple.type, &lower, &extent);
        return static_cast<std::size_t>(extent) * static_cast<std::size_t>(triple.count) *
                   static_cast<std::size_t>(blocks) +
               128;
    };
    call.send_memory.resize(room(send, size));
    call.recv_memory.resize(room(recv, size));
    std::mt19937 own(static_cast<unsigned>(seed + static_cast<unsigned>(rank)));
    for (auto* memory : {&call.send_memory, &call.recv_memory}) {
        if (recv.type == MPI_DOUBLE && is_reduction(kind)) {
            for (std::size_t i = 0; i + 8 <= memory->size(); i += 8) {
                const double value = static_cast<double>(own() % 1000);
                std::memcpy(&(*memory)[i], &value, 8);
            }
        } else if (recv.type == MPI_DOUBLE_INT && is_reduction(kind)) {
            for (std::size_t i = 0; i + 16 <= memory->size(); i += 16) {
                const double value = static_cast<double>(own() % 5);
                const int place = static_cast<int>(own() % 100);
                std::memcpy(&(*memory)[i], &value, 8);
                std::memcpy(&(*memory)[i + 8], &place, 4);
            }
        } else if (recv.type == MPI_INT) {
            for (std::size_t i = 0; i + 4 <= memory->size(); i += 4) {
                const int value = static_cast<int>(own() % 10000);
                std::memcpy(&(*memory)[i], &value, 4);
            }
        } else {
            for (std::size_t i = 0; i + 4 <= memory->size(); i += 4) {
                const auto four = static_cast<std::uint32_t>(own());
                std::memcpy(&(*memory)[i], &four, 4);
            }
        }
    }
    send.address = call.send_memory.data() + 64;
    recv.address = call.recv_memory.data() + 64;
    if (in_place) (kind == scatter ? recv : send).address = MPI_IN_PLACE;
    call.send = send;
    call.recv = recv;
    char text[200];
    std::snprintf(text, sizeof text, "%s, %d elements, variety %d, root %d%s", kind_names[kind], count, variety,
                  call.root, in_place ? ", in place" : "");
    call.description = text;
    return call;
}

/// A copy of a call with memory of its own.
inline Call twin_of(const Call& call) {
    Call twin = call;
    if (call.send.address != MPI_IN_PLACE) twin.send.address = twin.send_memory.data() + 64;
    if (call.recv.address != MPI_IN_PLACE) twin.recv.address = twin.recv_memory.data() + 64;
    return twin;
}

template <class Functions>
int invoke(const Functions& f, const Call& c, MPI_Comm comm) {
    const Triple &s = c.send, &r = c.recv;
    switch (c.kind) {
        case bcast:
            return f.Bcast(r.address, r.count, r.type, c.root, comm);
        case reduce:
            return f.Reduce(s.address, r.address, r.count, r.type, c.op, c.root, comm);
        case allreduce:
            return f.Allreduce(s.address, r.address, r.count, r.type, c.op, comm);
        case allgather:
            return f.Allgather(s.address, s.count, s.type, r.address, r.count, r.type, comm);
        case alltoall:
            return f.Alltoall(s.address, s.count, s.type, r.address, r.count, r.type, comm);
        case reduce_scatter_block:
            return f.Reduce_scatter_block(s.address, r.address, r.count, r.type, c.op, comm);
        case scatter:
            return f.Scatter(s.address, s.count, s.type, r.address, r.count, r.type, c.root, comm);
        case gather:
            return f.Gather(s.address, s.count, s.type, r.address, r.count, r.type, c.root, comm);
        case barrier:
            return f.Barrier(comm);
        default:
            return MPI_ERR_OTHER;
    }
}

inline std::vector<char> packed(const Triple& triple, int first_block, int num_blocks, MPI_Comm comm) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(triple.type, &lower, &extent);
    int bytes, position = 0;
    MPI_Type_size(triple.type, &bytes);
    std::vector<char> out(static_cast<std::size_t>(bytes) * static_cast<std::size_t>(triple.count) *
                              static_cast<std::size_t>(num_blocks) +
                          1);
    const char* from = static_cast<char*>(triple.address) + extent * triple.count * first_block;
    MPI_Pack(from, triple.count * num_blocks, triple.type, out.data(), static_cast<int>(out.size()), &position, comm);
    return out;
}

inline void unpack(std::vector<char>& from, const Triple& triple, int num_blocks, MPI_Comm comm) {
    int position = 0;
    MPI_Unpack(from.data(), static_cast<int>(from.size()), &position, triple.address, triple.count * num_blocks,
               triple.type, comm);
}

/// Carries the call out by the MPI's own function on packed data and not in place. As it stands MPICH 4.0.2 crashes or
/// hangs in bcast, gather and scatter of mixed or padded types, in reduce_scatter_block of resized ones, and in reduce
/// in place (found by this test).
inline int invoke_oracle(const Native& native, const Call& call, const Types& types, MPI_Comm comm) {
    int rank, size, unit;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    Call plain = call;
    plain.send_memory.clear(), plain.recv_memory.clear();
    const bool is_root = rank == call.root, in_place = call.send.address == MPI_IN_PLACE;
    const bool sends_all = call.kind == alltoall || call.kind == reduce_scatter_block || call.kind == scatter;
    const bool receives_all = call.kind == alltoall || call.kind == allgather || call.kind == gather;
    if (is_reduction(call.kind) && call.recv.type != types.gappy_matrix) {
        const std::vector<unsigned char> input = call.recv_memory;
        if (in_place) plain.send.address = const_cast<unsigned char*>(input.data()) + 64;
        return invoke(native, plain, comm);
    }
    if (call.kind == barrier) return native.Barrier(comm);

    std::vector<char> out, in;
    if (call.kind != bcast) {
        const bool own_block = in_place && (call.kind == allgather || call.kind == gather);
        out = packed(in_place ? call.recv : call.send, own_block ? rank : 0, sends_all ? size : 1, comm);
    }
    const bool keeps_recv =
        call.recv.address == MPI_IN_PLACE || (call.kind == gather && !is_root) || (call.kind == reduce && !is_root);
    const Triple& sized = call.recv.address == MPI_IN_PLACE ? call.send : call.recv;
    in = packed(sized, 0, receives_all ? size : 1, comm);
    MPI_Type_size(sized.type, &unit);
    const bool combines = is_reduction(call.kind);
    const int count = combines ? call.recv.count : unit * sized.count;
    plain.send = {out.data(), count, combines ? types.matrix : MPI_BYTE};
    plain.recv = {in.data(), count, plain.send.type};
    const int code = invoke(native, plain, comm);
    if (!keeps_recv) unpack(in, call.recv, receives_all ? size : 1, comm);
    return code;
}

/// Whether both calls left the same. What is moved must leave the gaps of a datatype as they were; what is combined is
/// compared by its values alone, since MPI defines nothing of padding, nor of the rest of an input in place.
inline bool same_result(const Call& a, const Call& b, MPI_Comm comm) {
    if (!is_reduction(a.kind)) return a.recv_memory == b.recv_memory && a.send_memory == b.send_memory;
    if (a.send_memory != b.send_memory) return false;
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (a.kind == reduce && rank != a.root) return a.recv_memory == b.recv_memory;
    return packed(a.recv, 0, 1, comm) == packed(b.recv, 0, 1, comm);
}

/// World, reversed, the odd or the even ranks, a duplicate.
struct Communicators {
    MPI_Comm all[4];
    static constexpr const char* names[4] = {"world", "reversed", "odd-even", "duplicate"};
    Communicators() {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        all[0] = MPI_COMM_WORLD;
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &all[1]);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &all[2]);
        MPI_Comm_dup(MPI_COMM_WORLD, &all[3]);
    }
};
