// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Like IS of the NAS parallel benchmarks: integers are sorted by buckets. In each iteration: an allreduce of how many
// keys each bucket has, an alltoall of how many go from each rank to each other, an alltoallv of the keys themselves,
// and a count of each key where it arrived.
//
// Checked: keys are in order within ranks and from rank to rank, and none is lost. The alltoallv grows with the size.
//
// Usage: is SIZE [SEED [ITERATIONS]]   SIZE: thousands of keys of each rank

#include "common.h"

enum { buckets = 1024, values_per_bucket = 512, values = buckets * values_per_bucket };

// Four random numbers make one key, so that the middle buckets are fuller, as in IS.
static void make_keys(int32_t* keys, int64_t count, uint64_t seed, uint64_t first) {
    for (int64_t i = 0; i < count; ++i) {
        double sum = 0;
        for (uint64_t part = 0; part < 4; ++part) {
            sum += uniform_at(seed, 4 * (first + (uint64_t)i) + part);
        }
        keys[i] = (int32_t)(values / 4.0 * sum);
    }
}

typedef struct {
    int64_t capacity, count;  // of `received`
    int32_t* by_bucket;       // this rank's keys, bucket after bucket
    int32_t* received;
    int32_t first_value;  // of those that come to this rank
    int num_values;
    int32_t* place_after;  // by value - first_value: keys of this rank up to that value
} Sorter;

static void sort_once(Sorter* sorter, const int32_t* keys, int64_t count, int rank, int ranks) {
    int32_t own[buckets] = {0}, total[buckets], next[buckets];
    for (int64_t i = 0; i < count; ++i) {
        ++own[keys[i] / values_per_bucket];
    }
    MPI_Allreduce(own, total, buckets, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
    int32_t place = 0;
    for (int b = 0; b < buckets; ++b) {
        next[b] = place;
        place += own[b];
    }
    for (int64_t i = 0; i < count; ++i) {
        sorter->by_bucket[next[keys[i] / values_per_bucket]++] = keys[i];
    }

    // Buckets go to ranks in order, so that each rank gets about as many keys.
    int* numbers = allocate(4 * (size_t)ranks, sizeof *numbers);
    int *sent = numbers, *sent_from = numbers + ranks, *got = numbers + 2 * ranks, *got_at = numbers + 3 * ranks;
    int first_bucket = 0, end_bucket = 0, to = 0;
    int64_t before = 0;
    for (int b = 0; b < buckets; ++b) {
        while (to < ranks - 1 && before >= (to + 1) * count) {
            ++to;
        }
        first_bucket += to < rank;
        end_bucket += to <= rank;
        sent[to] += own[b];
        before += total[b];
    }
    MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
    sorter->count = 0;
    for (int other = 0; other < ranks; ++other) {
        sent_from[other] = other == 0 ? 0 : sent_from[other - 1] + sent[other - 1];
        got_at[other] = (int)sorter->count;
        sorter->count += got[other];
    }
    if (sorter->count > sorter->capacity) {
        free(sorter->received);
        sorter->capacity = sorter->count;
        sorter->received = allocate((size_t)sorter->capacity, sizeof *sorter->received);
    }
    MPI_Alltoallv(sorter->by_bucket, sent, sent_from, MPI_INT32_T, sorter->received, got, got_at, MPI_INT32_T,
                  MPI_COMM_WORLD);
    free(numbers);

    sorter->first_value = first_bucket * values_per_bucket;
    sorter->num_values = (end_bucket - first_bucket) * values_per_bucket;
    memset(sorter->place_after, 0, (size_t)sorter->num_values * sizeof *sorter->place_after);
    for (int64_t i = 0; i < sorter->count; ++i) {
        ++sorter->place_after[sorter->received[i] - sorter->first_value];
    }
    for (int v = 1; v < sorter->num_values; ++v) {
        sorter->place_after[v] += sorter->place_after[v - 1];
    }
}

// Writes the keys in order over those received; whether they are in order, also beside the ranks before.
static int put_in_order(Sorter* sorter, int rank, int ranks) {
    int64_t place = 0;
    for (int v = 0; v < sorter->num_values; ++v) {
        for (; place < sorter->place_after[v]; ++place) {
            sorter->received[place] = sorter->first_value + v;
        }
    }
    int ok = place == sorter->count;
    const int32_t last = sorter->first_value + sorter->num_values;
    int32_t last_before = -1;
    MPI_Sendrecv(&last, 1, MPI_INT32_T, rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL, 0, &last_before, 1, MPI_INT32_T,
                 rank > 0 ? rank - 1 : MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int64_t i = 0; i < sorter->count; ++i) {
        ok = ok && sorter->received[i] >= (i == 0 ? last_before : sorter->received[i - 1]);
    }
    return ok;
}

static uint64_t sum_of_hashes(const int32_t* keys, int64_t count) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) {
        sum += random_at(0, (uint64_t)keys[i]);
    }
    uint64_t total = 0;
    MPI_Allreduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return total;
}

int main(int argc, char** argv) {
    int rank = 0, ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t count = 1000 * number_argument(argc, argv, 1, "SIZE", 100, 1, 100000);
    const uint64_t seed = (uint64_t)number_argument(argc, argv, 2, "SEED", 1, 0, INT32_MAX);
    const int iterations = (int)number_argument(argc, argv, 3, "ITERATIONS", 10, 1, 100000);

    int32_t* keys = allocate((size_t)count, sizeof *keys);
    Sorter sorter = {0};
    sorter.by_bucket = allocate((size_t)count, sizeof *sorter.by_bucket);
    sorter.place_after = allocate(values, sizeof *sorter.place_after);
    make_keys(keys, count, seed, (uint64_t)(rank * count));
    uint64_t checksum = hash_start;
    for (int i = 0; i < iterations; ++i) {
        keys[i % count] = i % values;  // as in IS: no iteration has the same keys as the one before
        keys[(i + iterations) % count] = values - 1 - i % values;
        sort_once(&sorter, keys, count, rank, ranks);
        checksum = hash_bytes(checksum, &sorter.count, sizeof sorter.count);
    }
    const uint64_t before = sum_of_hashes(keys, count);
    const int in_order = put_in_order(&sorter, rank, ranks);
    const uint64_t after = sum_of_hashes(sorter.received, sorter.count);
    const int ok = everywhere(in_order && after == before);
    checksum = hash_bytes(checksum, sorter.received, (size_t)sorter.count * sizeof *sorter.received);
    checksum = hash_of_ranks(checksum, 0);
    if (rank == 0) {
        printf("is: ranks %d, keys %lld, iterations %d, checksum %016llx, answer: %s\n", ranks,
               (long long)(count * ranks), iterations, (unsigned long long)checksum, ok ? "ok" : "WRONG");
    }
    free(keys);
    free(sorter.by_bucket);
    free(sorter.received);
    free(sorter.place_after);
    MPI_Finalize();
    return ok ? 0 : 1;
}
