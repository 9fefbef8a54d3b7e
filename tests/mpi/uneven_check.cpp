// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// MPI_Allgatherv and MPI_Reduce_scatter, rerouted, against the MPI's own functions. Arguments: seed, calls of each kind
// on each communicator, and "later" for the non-blocking functions.

#include <algorithm>
#include <numeric>

#include "calls.hpp"

namespace {

template <class F>
F native_function(F, const char* name) {
    Dl_info info;
    void* library =
        dladdr(dlsym(RTLD_DEFAULT, "PMPI_Comm_rank"), &info) ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : nullptr;
    void* const found = library != nullptr ? dlsym(library, name) : nullptr;
    if (found == nullptr) std::abort();
    return reinterpret_cast<F>(found);
}
const auto native_allgatherv = native_function(&PMPI_Allgatherv, "PMPI_Allgatherv");
const auto native_reduce_scatter = native_function(&PMPI_Reduce_scatter, "PMPI_Reduce_scatter");

long long num_wrong = 0;
int world_rank;
bool later = false;

void expect(bool good, const std::string& what) {
    if (good) return;
    ++num_wrong;
    std::printf("WRONG rank %d: %s\n", world_rank, what.c_str());
    std::fflush(stdout);
}

int wait_for(int code, MPI_Request& request) {
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

int allgatherv(const void* send, int count, MPI_Datatype send_type, void* recv, const std::vector<int>& counts,
               const std::vector<int>& places, MPI_Datatype recv_type, MPI_Comm comm, bool large) {
    MPI_Request request = MPI_REQUEST_NULL;
#if MPI_VERSION >= 4
    const std::vector<MPI_Count> large_counts(counts.begin(), counts.end());
    const std::vector<MPI_Aint> large_places(places.begin(), places.end());
    if (large && later)
        return wait_for(MPI_Iallgatherv_c(send, count, send_type, recv, large_counts.data(), large_places.data(),
                                          recv_type, comm, &request),
                        request);
    if (large)
        return MPI_Allgatherv_c(send, count, send_type, recv, large_counts.data(), large_places.data(), recv_type,
                                comm);
#endif
    static_cast<void>(large);
    if (later)
        return wait_for(
            MPI_Iallgatherv(send, count, send_type, recv, counts.data(), places.data(), recv_type, comm, &request),
            request);
    return MPI_Allgatherv(send, count, send_type, recv, counts.data(), places.data(), recv_type, comm);
}

int reduce_scatter(const void* send, void* recv, const std::vector<int>& counts, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, bool large) {
    MPI_Request request = MPI_REQUEST_NULL;
#if MPI_VERSION >= 4
    const std::vector<MPI_Count> large_counts(counts.begin(), counts.end());
    if (large && later)
        return wait_for(MPI_Ireduce_scatter_c(send, recv, large_counts.data(), type, op, comm, &request), request);
    if (large) return MPI_Reduce_scatter_c(send, recv, large_counts.data(), type, op, comm);
#endif
    static_cast<void>(large);
    if (later) return wait_for(MPI_Ireduce_scatter(send, recv, counts.data(), type, op, comm, &request), request);
    return MPI_Reduce_scatter(send, recv, counts.data(), type, op, comm);
}

/// Of each rank, alike on all.
std::vector<int> counts_for(std::mt19937& shared, int size) {
    static const int most[] = {3, 60, 3000};
    const unsigned shape = shared() % 6;
    const int limit = most[shared() % 3];
    std::vector<int> counts(static_cast<std::size_t>(size));
    for (int& count : counts) {
        const int any = static_cast<int>(shared() % static_cast<unsigned>(limit + 1));
        count = shape == 0   ? any                       // uneven
                : shape == 1 ? (any % 2 == 0 ? 0 : any)  // many have none
                : shape == 2 ? 0                         // none at all, or one rank has all of them
                : shape == 3 ? limit                     // as even ones
                             : limit + any / 3;          // nearly even
    }
    if (shape == 2 && shared() % 4 != 0) counts[shared() % static_cast<unsigned>(size)] = limit * size;
    return counts;
}

/// Whether such a call goes by a schedule: where datatypes differ from rank to rank, MPI_Allgatherv of Open MPI 4.1.4
/// ends in wrong data or not at all.
bool may_mix(const std::vector<int>& counts) {
    const char* const self_check = std::getenv("HOCKET_SELF_CHECK");
    const long total = std::accumulate(counts.begin(), counts.end(), 0L);
    const long largest = *std::max_element(counts.begin(), counts.end());
    return self_check != nullptr && std::string(self_check) == "off" &&
           largest * static_cast<long>(counts.size()) <= 2 * total;
}

/// Where the blocks lie, in any order and with gaps or without, as this rank alone wants it. Returns what they span.
int place_blocks(std::mt19937& own, const std::vector<int>& counts, int unit, std::vector<int>& places) {
    std::vector<std::size_t> order(counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Of a single rank MPICH 4.0.2 does not look at the place.
    const unsigned kind = counts.size() == 1 ? 0 : own() % 3;
    if (kind == 1) std::shuffle(order.begin(), order.end(), own);
    places.assign(counts.size(), 0);
    int next = 0;
    for (const std::size_t rank : order) {
        if (kind == 2) next += static_cast<int>(own() % 5);
        places[rank] = next;
        next += counts[rank] * unit;
    }
    return next;
}

std::vector<char> packed(const char* from, int count, MPI_Datatype type, MPI_Comm comm) {
    int bytes, position = 0;
    MPI_Type_size(type, &bytes);
    std::vector<char> out(static_cast<std::size_t>(bytes) * static_cast<std::size_t>(count) + 1);
    if (count > 0) MPI_Pack(from, count, type, out.data(), static_cast<int>(out.size()), &position, comm);
    return out;
}

void fill(std::vector<char>& memory, std::mt19937& own) {
    for (std::size_t i = 0; i + 8 <= memory.size(); i += 8) {
        const double value = static_cast<double>(own() % 1000);  // sums of them are exact
        std::memcpy(&memory[i], &value, 8);
    }
}

MPI_Aint extent_of(MPI_Datatype type) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    return extent;
}

void check_allgatherv(std::mt19937& shared, const Types& types, MPI_Comm comm, const std::string& where) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const std::vector<int> counts = counts_for(shared, size);  // of three doubles each
    unsigned variety = shared() % 4;
    if (variety == 2 && !may_mix(counts)) variety = 1;
    const bool in_place = shared() % 4 == 0, large = shared() % 3 == 0;
    std::mt19937 own(static_cast<unsigned>(shared()) + static_cast<unsigned>(rank));
    // All ranks have the same signature, with datatypes of their own.
    const bool apart = variety == 1 || (variety == 2 && rank % 2 == 0), permuted = variety == 3;
    const MPI_Datatype type = apart ? types.vector : permuted ? types.permuted : MPI_DOUBLE;
    const int unit = apart || permuted ? 1 : 3;
    const MPI_Datatype send_type = variety == 2 && rank % 3 == 0 ? types.vector : type;
    std::vector<int> places, given;
    const int span = place_blocks(own, counts, unit, places);
    for (const int count : counts) given.push_back(count * unit);

    const auto mine = static_cast<std::size_t>(rank);
    const int sent = counts[mine] * (send_type == MPI_DOUBLE ? 3 : 1);
    std::vector<char> send(static_cast<std::size_t>(extent_of(send_type) * sent + 64));
    std::vector<char> recv(static_cast<std::size_t>(extent_of(type) * span + 64));
    fill(send, own);
    fill(recv, own);
    std::vector<char> expected = recv;
    const char* const own_block = recv.data() + places[mine] * extent_of(type);
    const std::vector<char> out =
        in_place ? packed(own_block, given[mine], type, comm) : packed(send.data(), sent, send_type, comm);

    std::vector<int> bytes, begins;
    for (const int count : counts)
        begins.push_back(bytes.empty() ? 0 : begins.back() + bytes.back()), bytes.push_back(count * 24);
    std::vector<char> all(static_cast<std::size_t>(begins.back() + bytes.back() + 1));
    native_allgatherv(out.data(), bytes[mine], MPI_BYTE, all.data(), bytes.data(), begins.data(), MPI_BYTE, comm);
    for (int from = 0; from < size; ++from) {
        const auto block = static_cast<std::size_t>(from);
        int position = 0;
        if (bytes[block] > 0)
            MPI_Unpack(all.data() + begins[block], bytes[block], &position,
                       expected.data() + places[block] * extent_of(type), given[block], type, comm);
    }
    const int code = allgatherv(in_place ? MPI_IN_PLACE : send.data(), sent, send_type, recv.data(), given, places,
                                type, comm, large);
    expect(code == MPI_SUCCESS && recv == expected, where + ": allgatherv, variety " + std::to_string(variety) +
                                                        (in_place ? ", in place" : "") + (large ? ", large" : ""));
}

void check_reduce_scatter(std::mt19937& shared, const Types& types, MPI_Comm comm, const std::string& where) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const std::vector<int> counts = counts_for(shared, size);
    const unsigned variety = shared() % 5;
    const bool in_place = shared() % 4 == 0, large = shared() % 3 == 0;
    std::mt19937 own(static_cast<unsigned>(shared()) + static_cast<unsigned>(rank));
    const MPI_Datatype all_types[] = {MPI_DOUBLE, MPI_DOUBLE, MPI_INT, types.matrix, types.gappy_matrix};
    const MPI_Op ops[] = {MPI_SUM, MPI_MAX, types.join, types.multiply_matrices, types.add_matrices};
    const MPI_Datatype type = all_types[variety];
    const MPI_Op op = ops[variety];
    const int total = std::accumulate(counts.begin(), counts.end(), 0), mine = counts[static_cast<std::size_t>(rank)];
    const auto room = static_cast<std::size_t>(extent_of(type) * total + 64);
    std::vector<char> send(room), recv(room);
    fill(send, own);
    fill(recv, own);
    // Of matrices with gaps MPICH 4.0.2 goes wrong; the values are what MPI defines.
    const MPI_Datatype plain = variety == 4 ? types.matrix : type;
    const std::vector<char> out = packed(in_place ? recv.data() : send.data(), total, type, comm);
    std::vector<char> expected(out.size());
    native_reduce_scatter(out.data(), expected.data(), counts.data(), plain, op, comm);
    const int code = reduce_scatter(in_place ? MPI_IN_PLACE : send.data(), recv.data(), counts, type, op, comm, large);
    const std::vector<char> found = packed(recv.data(), mine, type, comm);
    expected.resize(found.size());
    expect(code == MPI_SUCCESS && std::equal(found.begin(), found.end() - 1, expected.begin()),
           where + ": reduce_scatter, variety " + std::to_string(variety) + (in_place ? ", in place" : ""));
}

/// What the MPI refuses ends as natively, and calls that follow are right. Open MPI 4.1 does not look at the counts
/// that MPI_Allgatherv is given to receive, nor at their datatype.
void check_errors() {
    int size;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_size(comm, &size);
    std::vector<int> counts(static_cast<std::size_t>(size), 2), places, out(2 * counts.size(), 1), in(out.size());
    for (int from = 0; from < size; ++from) places.push_back(2 * from);
    const auto same = [&](const char* what, const auto& call) {
        int classes[2];
        MPI_Error_class(call(true), &classes[0]);
        MPI_Error_class(call(false), &classes[1]);
        expect(classes[0] == classes[1] && classes[0] != MPI_SUCCESS, what);
        MPI_Reduce_scatter(out.data(), in.data(), counts.data(), MPI_INT, MPI_SUM, comm);
        expect(in[0] == size && in[1] == size, std::string(what) + ", then reduce_scatter");
        MPI_Allgatherv(out.data(), 2, MPI_INT, in.data(), counts.data(), places.data(), MPI_INT, comm);
        expect(in == out, std::string(what) + ", then allgatherv");
        std::fill(in.begin(), in.end(), 0);
    };
    std::vector<int> negative(counts);
    negative.back() = -1;
    same("allgatherv with a negative number to send", [&](bool native) {
        return (native ? native_allgatherv : &MPI_Allgatherv)(out.data(), -1, MPI_INT, in.data(), counts.data(),
                                                              places.data(), MPI_INT, comm);
    });
    same("reduce_scatter with a negative count", [&](bool native) {
        return (native ? native_reduce_scatter : &MPI_Reduce_scatter)(out.data(), in.data(), negative.data(), MPI_INT,
                                                                      MPI_SUM, comm);
    });
    same("reduce_scatter without an operator", [&](bool native) {
        return (native ? native_reduce_scatter : &MPI_Reduce_scatter)(out.data(), in.data(), counts.data(), MPI_INT,
                                                                      MPI_OP_NULL, comm);
    });
    same("reduce_scatter of a derived datatype", [&](bool native) {
        MPI_Datatype pair;
        MPI_Type_contiguous(2, MPI_INT, &pair);
        MPI_Type_commit(&pair);
        const int code = (native ? native_reduce_scatter : &MPI_Reduce_scatter)(out.data(), in.data(), counts.data(),
                                                                                pair, MPI_SUM, comm);
        MPI_Type_free(&pair);
        return code;
    });
    MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
    const int num_calls = argc > 2 ? std::atoi(argv[2]) : 10;
    later = argc > 3 && std::string(argv[3]) == "later";
    const Types types;
    const Communicators communicators;
    if (native_allgatherv == &MPI_Allgatherv) std::printf("not preloaded\n");
    for (int c = 0; c < 4; ++c) {
        std::mt19937 shared(seed * 8 + static_cast<unsigned>(c == 2 ? 4 + world_rank % 2 : c));
        for (int i = 0; i < num_calls; ++i) {
            check_allgatherv(shared, types, communicators.all[c], Communicators::names[c]);
            check_reduce_scatter(shared, types, communicators.all[c], Communicators::names[c]);
        }
    }
    if (!later) check_errors();
    long long all = 0;
    PMPI_Reduce(&num_wrong, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world_rank == 0) std::printf("seed %u: %lld wrong\n", seed, all);
    MPI_Finalize();
    return 0;
}
