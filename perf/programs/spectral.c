// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// A spectral model of a scalar field on a square, as in weather models: in each step the field is transformed to waves,
// the waves are damped and transformed back, and the field grows. Each rank has rows of the field and of the waves.
//
//   to waves   each rank's rows give a part of every wave: a reduce_scatter_block adds them up
//   to a field each rank needs all waves: an allgather
//   a root     scatters the first field and gathers the last one
//
// Checked: without damping the field comes back, as its waves are orthogonal. Parts of waves are rounded to multiples
// of 2^-24 before they are added, so that the answer has the same bits in whatever order they are.
//
// Usage: spectral SIZE [ROOT [SEED [STEPS]]]   SIZE: waves in each direction, rounded up to a multiple of the ranks

#include "common.h"

typedef struct {
    int rank, ranks;
    int points, waves;          // in each direction; points = 3/2 waves, so that products of waves stay exact
    int own_points, own_waves;  // rows of this rank
    double* basis;              // [point][wave], of all points
    double* by_wave;            // the same, [wave][point]
} Model;

static Model make_model(int64_t size) {
    Model model;
    MPI_Comm_rank(MPI_COMM_WORLD, &model.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &model.ranks);
    model.own_waves = (int)((size + model.ranks - 1) / model.ranks);
    model.own_points = (3 * model.own_waves + 1) / 2;
    model.waves = model.own_waves * model.ranks;
    model.points = model.own_points * model.ranks;
    const size_t elements = (size_t)model.points * (size_t)model.waves;
    model.basis = allocate(elements, sizeof *model.basis);
    model.by_wave = allocate(elements, sizeof *model.by_wave);
    for (int p = 0; p < model.points; ++p) {
        for (int w = 0; w < model.waves; ++w) {
            const double length = sqrt((w == 0 ? 1.0 : 2.0) / model.points);
            const double value = length * cos(acos(-1) * w * (p + 0.5) / model.points);
            model.basis[(size_t)p * (size_t)model.waves + (size_t)w] = value;
            model.by_wave[(size_t)w * (size_t)model.points + (size_t)p] = value;
        }
    }
    return model;
}

// out[rows][columns] = in[rows][inner] * factor[inner][columns]
static void multiply(const double* in, const double* factor, double* out, int rows, int inner, int columns) {
    memset(out, 0, (size_t)rows * (size_t)columns * sizeof *out);
    for (int i = 0; i < rows; ++i) {
        double* restrict target = out + (size_t)i * (size_t)columns;
        for (int k = 0; k < inner; ++k) {
            const double a = in[(size_t)i * (size_t)inner + (size_t)k];
            const double* restrict source = factor + (size_t)k * (size_t)columns;
            for (int j = 0; j < columns; ++j) {
                target[j] += a * source[j];
            }
        }
    }
}

// field[own_points][points] -> own[own_waves][waves]; `parts` has room for all waves, `half` for own_points of them.
static void to_waves(const Model* model, const double* field, double* half, double* parts, double* own) {
    const int waves = model->waves;
    multiply(field, model->basis, half, model->own_points, model->points, waves);
    memset(parts, 0, (size_t)waves * (size_t)waves * sizeof *parts);
    for (int p = 0; p < model->own_points; ++p) {
        const double* factors = model->basis + (size_t)(model->rank * model->own_points + p) * (size_t)waves;
        for (int w = 0; w < waves; ++w) {
            double* restrict target = parts + (size_t)w * (size_t)waves;
            const double* restrict source = half + (size_t)p * (size_t)waves;
            for (int j = 0; j < waves; ++j) {
                target[j] += factors[w] * source[j];
            }
        }
    }
    for (size_t i = 0; i < (size_t)waves * (size_t)waves; ++i) {
        parts[i] = fixed_point(parts[i]);
    }
    MPI_Reduce_scatter_block(parts, own, model->own_waves * waves, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void to_field(const Model* model, const double* own, double* all, double* half, double* field) {
    const int waves = model->waves, count = model->own_waves * waves;
    MPI_Allgather(own, count, MPI_DOUBLE, all, count, MPI_DOUBLE, MPI_COMM_WORLD);
    const double* rows = model->basis + (size_t)(model->rank * model->own_points) * (size_t)waves;
    multiply(rows, all, half, model->own_points, waves, waves);
    multiply(half, model->by_wave, field, model->own_points, waves, model->points);
}

static void damp(const Model* model, double* own) {
    for (int i = 0; i < model->own_waves; ++i) {
        const double y = (double)(model->rank * model->own_waves + i) / model->waves;
        for (int j = 0; j < model->waves; ++j) {
            const double x = (double)j / model->waves;
            own[(size_t)i * (size_t)model->waves + (size_t)j] *= exp(-0.5 * (x * x + y * y));
        }
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t size = number_argument(argc, argv, 1, "SIZE", 160, 1, 10000);
    const int root = (int)number_argument(argc, argv, 2, "ROOT", 0, 0, ranks - 1);
    const uint64_t seed = (uint64_t)number_argument(argc, argv, 3, "SEED", 1, 0, INT32_MAX);
    const int steps = (int)number_argument(argc, argv, 4, "STEPS", 10, 1, 100000);

    const Model model = make_model(size);
    const size_t points = (size_t)model.own_points * (size_t)model.points;
    const size_t waves = (size_t)model.waves * (size_t)model.waves;
    double* whole = model.rank == root ? allocate(points * (size_t)ranks, sizeof *whole) : NULL;
    double* field = allocate(points, sizeof *field);
    double* half = allocate(points, sizeof *half);
    double* parts = allocate(2 * waves, sizeof *parts);
    double *all = parts + waves, *own = allocate(2 * waves / (size_t)ranks, sizeof *own),
           *first = own + waves / (size_t)ranks;
    for (size_t i = 0; model.rank == root && i < points * (size_t)ranks; ++i) {
        whole[i] = uniform_at(seed, i);
    }
    MPI_Scatter(whole, (int)points, MPI_DOUBLE, field, (int)points, MPI_DOUBLE, root, MPI_COMM_WORLD);

    // The first field has waves that the model leaves out; after that nothing is lost but by rounding.
    to_waves(&model, field, half, parts, first);
    to_field(&model, first, all, half, field);
    to_waves(&model, field, half, parts, own);
    double furthest = 0;
    for (size_t i = 0; i < waves / (size_t)ranks; ++i) {
        furthest = fmax(furthest, fabs(own[i] - first[i]));
    }
    const int ok = everywhere(furthest < 1e-5);
    for (int step = 0; step < steps; ++step) {
        damp(&model, own);
        to_field(&model, own, all, half, field);
        for (size_t i = 0; i < points; ++i) {
            field[i] += 0.1 * field[i] * (1 - field[i]);  // growth, which makes new waves
        }
        to_waves(&model, field, half, parts, own);
    }
    to_field(&model, own, all, half, field);
    MPI_Gather(field, (int)points, MPI_DOUBLE, whole, (int)points, MPI_DOUBLE, root, MPI_COMM_WORLD);
    if (model.rank == root) {
        const uint64_t checksum = hash_bytes(hash_start, whole, points * (size_t)ranks * sizeof *whole);
        printf("spectral: ranks %d, points %d x %d, waves %d x %d, steps %d, checksum %016llx, answer: %s\n", ranks,
               model.points, model.points, model.waves, model.waves, steps, (unsigned long long)checksum,
               ok ? "ok" : "WRONG");
    }
    free(whole);
    free(field);
    free(half);
    free(parts);
    free(own);
    free(model.basis);
    free(model.by_wave);
    MPI_Finalize();
    return ok ? 0 : 1;
}
