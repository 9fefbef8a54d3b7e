// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Data-parallel k-means: the program of `hocket demo`.
//
// Each iteration rank 0 broadcasts the model (the centroids), every rank assigns its own points to the nearest
// centroid, and all ranks add up the sums and the counts, from which rank 0 computes the next model: one broadcast and
// one allreduce of 1,000,000 bytes an iteration, with the default 10 clusters of points in 12,500 dimensions.
//
// Points and centroids are integers (think of pixels). So every sum is exact in a double, whatever the order in which
// an allreduce adds, and the answer must be the same to the last bit under every MPI and every algorithm. The mean
// rounded to the nearest integer is the best integer centroid, so the objective never increases. Rank 0 checks that,
// and that a serial run over all the points gives the same centroids.
//
// Usage: kmeans [iterations [points_per_rank]]

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { clusters = 10, dimensions = 12500, model_size = clusters * dimensions, shapes = 2 * clusters };

// splitmix64: each value is a function of its place alone, so that any rank can make any point.
static uint64_t random_at(uint64_t place) {
    uint64_t z = (place + 20240601) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

// A point is a blend of two of the shapes, so that the clusters overlap and the assignment takes a while to settle.
static void make_point(int64_t index, int16_t* point) {
    const uint64_t choice = random_at(((uint64_t)1 << 40) + (uint64_t)index);
    const uint64_t first = choice % shapes, second = (choice >> 16) % shapes;
    const int weight = (int)((choice >> 32) % 257);
    for (int d = 0; d < dimensions; ++d) {
        const int a = (int)(random_at(first * dimensions + (uint64_t)d) % 256);
        const int b = (int)(random_at(second * dimensions + (uint64_t)d) % 256);
        point[d] = (int16_t)((a * weight + b * (256 - weight)) / 256);
    }
}

// Adds each point to the sums of its nearest centroid and counts it; returns the sum of the squared distances.
static double assign(const int16_t* points, int num_points, const double* model, double* sums, double* counts) {
    static int16_t centroids[model_size];
    for (int i = 0; i < model_size; ++i) {
        centroids[i] = (int16_t)model[i];
    }
    double objective = 0;
    for (int p = 0; p < num_points; ++p) {
        const int16_t* point = points + (size_t)p * dimensions;
        int nearest = 0;
        int32_t least = INT32_MAX;  // 12,500 * 255^2 fits
        for (int c = 0; c < clusters; ++c) {
            int32_t distance = 0;
            for (int d = 0; d < dimensions; ++d) {
                const int32_t difference = point[d] - centroids[c * dimensions + d];
                distance += difference * difference;
            }
            if (distance < least) {
                least = distance;
                nearest = c;
            }
        }
        for (int d = 0; d < dimensions; ++d) {
            sums[nearest * dimensions + d] += point[d];
        }
        counts[nearest] += 1;
        objective += least;
    }
    return objective;
}

// The new model: means rounded to the nearest integer; a cluster without points stays where it is.
static void update(const double* sums, const double* counts, double* model) {
    for (int c = 0; c < clusters; ++c) {
        for (int d = 0; counts[c] > 0 && d < dimensions; ++d) {
            model[c * dimensions + d] = (double)(int64_t)(sums[c * dimensions + d] / counts[c] + 0.5);
        }
    }
}

static void first_model(double* model) {
    static int16_t point[dimensions];
    for (int c = 0; c < clusters; ++c) {
        make_point(c, point);
        for (int d = 0; d < dimensions; ++d) {
            model[c * dimensions + d] = point[d];
        }
    }
}

static void* allocate(size_t count, size_t size) {
    void* memory = calloc(count > 0 ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "kmeans: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static int number(const char* text, const char* name) {
    char* end = NULL;
    const long value = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < 1 || value > 100000) {
        fprintf(stderr, "kmeans: %s must be a whole number from 1 to 100000, not \"%s\"\n", name, text);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return (int)value;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, num_ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
    const int iterations = argc > 1 ? number(argv[1], "iterations") : 6;
    const int num_points = argc > 2 ? number(argv[2], "points_per_rank") : 32;

    int16_t* points = allocate((size_t)num_points * dimensions, sizeof *points);
    for (int p = 0; p < num_points; ++p) {
        make_point((int64_t)rank * num_points + p, points + (size_t)p * dimensions);
    }
    double* model = allocate(model_size, sizeof *model);
    double* sums = allocate(model_size, sizeof *sums);
    double statistics[clusters + 1];  // the counts and the objective
    if (rank == 0) {
        first_model(model);
    }

    int ok = 1;
    double objective = 0;
    for (int i = 0; i < iterations; ++i) {
        MPI_Bcast(model, model_size, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int m = 0; m < model_size; ++m) {
            sums[m] = 0;
        }
        for (int s = 0; s <= clusters; ++s) {
            statistics[s] = 0;
        }
        statistics[clusters] = assign(points, num_points, model, sums, statistics);
        MPI_Allreduce(MPI_IN_PLACE, sums, model_size, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, statistics, clusters + 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) {
            update(sums, statistics, model);
        }
        if (i > 0 && statistics[clusters] > objective) {
            ok = 0;
        }
        objective = statistics[clusters];
    }

    if (rank == 0) {
        const int all_points = num_points * num_ranks;
        int16_t* all = allocate((size_t)all_points * dimensions, sizeof *all);
        for (int p = 0; p < all_points; ++p) {
            make_point(p, all + (size_t)p * dimensions);
        }
        double* expected = allocate(model_size, sizeof *expected);
        first_model(expected);
        double expected_objective = 0;
        for (int i = 0; i < iterations; ++i) {
            double counts[clusters] = {0};
            for (int m = 0; m < model_size; ++m) {
                sums[m] = 0;
            }
            expected_objective = assign(all, all_points, expected, sums, counts);
            update(sums, counts, expected);
        }
        uint64_t checksum = UINT64_C(14695981039346656037);  // FNV-1a over the centroids
        for (int m = 0; m < model_size; ++m) {
            checksum = (checksum ^ (uint64_t)model[m]) * UINT64_C(1099511628211);
            if (model[m] != expected[m]) {
                ok = 0;
            }
        }
        if (objective != expected_objective) {
            ok = 0;
        }
        printf("kmeans: ranks %d, points %d, iterations %d, objective %.0f, checksum %016llx, answer: %s\n", num_ranks,
               all_points, iterations, objective, (unsigned long long)checksum, ok ? "ok" : "WRONG");
        free(expected);
        free(all);
    }
    MPI_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(sums);
    free(model);
    free(points);
    MPI_Finalize();
    return ok ? 0 : 1;
}
