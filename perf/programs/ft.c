// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Like FT of the NAS parallel benchmarks: a heat equation solved by 3-D Fourier transforms. A transform of the field
// and, in each time step, an inverse one, each with transpositions between ranks.
//
//   1d  each rank has planes of the field; one alltoall on MPI_COMM_WORLD a transform
//   2d  each rank has pencils; an alltoall along the rows of a process grid and one along its columns
//
// Checked: the inverse transform gives the field back. A block of an alltoall grows with the size.
//
// Usage: ft SIZE [1d|2d [SEED [STEPS]]]   SIZE: planes of 64 x 64 points; all three are rounded up to
// products of the ranks, 2, 3 and 5

#include <complex.h>

#include "common.h"

typedef double complex point;

// gcc's own product looks for infinities, which takes longer than the product.
static inline point times(point a, point b) {
    return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}

// Lengths are products of small primes. `roots[i]` is exp(-2 pi i sqrt(-1) / length).
typedef struct {
    int length;
    point* roots;
    point* line;
} Fourier;

static Fourier make_fourier(int length) {
    Fourier made = {length, allocate((size_t)length, sizeof(point)), allocate((size_t)length, sizeof(point))};
    for (int i = 0; i < length; ++i) {
        const double angle = -2 * acos(-1) * i / length;
        made.roots[i] = CMPLX(cos(angle), sin(angle));
    }
    return made;
}

static void free_fourier(Fourier* fourier) {
    free(fourier->roots);
    free(fourier->line);
}

// Decimation in time: `length` points, `stride` apart in `in`, of a transform that is `stride` times as long.
static void transform_part(const Fourier* fourier, const point* in, point* out, int length, int stride) {
    if (length == 1) {
        out[0] = in[0];
        return;
    }
    int radix = length % 4 == 0 ? 4 : 2;
    while (length % radix != 0) {
        ++radix;
    }
    const int part = length / radix;
    for (int r = 0; r < radix; ++r) {
        transform_part(fourier, in + r * stride, out + r * part, part, stride * radix);
    }
    const point* roots = fourier->roots;
    if (radix == 4) {
        for (int i = 0; i < part; ++i) {
            const point a = out[i], b = times(out[i + part], roots[i * stride]);
            const point c = times(out[i + 2 * part], roots[2 * i * stride]);
            const point d = times(out[i + 3 * part], roots[3 * i * stride]);
            const point even = a + c, odd = a - c, sum = b + d, difference = b - d;
            const point turned = CMPLX(cimag(difference), -creal(difference));
            out[i] = even + sum;
            out[i + part] = odd + turned;
            out[i + 2 * part] = even - sum;
            out[i + 3 * part] = odd - turned;
        }
        return;
    }
    point* terms = allocate((size_t)radix, sizeof *terms);
    for (int i = 0; i < part; ++i) {
        for (int r = 0; r < radix; ++r) {
            terms[r] = times(out[i + r * part], roots[r * i * stride]);
        }
        for (int q = 0; q < radix; ++q) {
            point sum = terms[0];
            for (int r = 1; r < radix; ++r) {
                sum += times(terms[r], roots[(int64_t)q * r % radix * (fourier->length / radix)]);
            }
            out[i + q * part] = sum;
        }
    }
    free(terms);
}

// `count` lines, one after another; the inverse one without its factor 1 / length.
static void transform_lines(const Fourier* fourier, point* data, int64_t count, int inverse) {
    const int length = fourier->length;
    for (int64_t line = 0; line < count; ++line) {
        point* place = data + line * length;
        for (int i = 0; i < length; ++i) {
            fourier->line[i] = inverse ? conj(place[i]) : place[i];
        }
        transform_part(fourier, fourier->line, place, length, 1);
        for (int i = 0; inverse && i < length; ++i) {
            place[i] = conj(place[i]);
        }
    }
}

// A field [a][b][c] whose b is spread over the communicator becomes one [a][c][b] whose c is: `out` has b fastest. The
// strides are those of a and b in `in`, where c is fastest.
typedef struct {
    MPI_Comm communicator;
    point* sent;
} Transposer;

static void transpose(const Transposer* by, const point* in, point* out, int a, int b, int c, int64_t stride_a,
                      int64_t stride_b) {
    int ranks = 0;
    MPI_Comm_size(by->communicator, &ranks);
    const int part = c / ranks;
    const int64_t block = (int64_t)a * b * part;
    point* next = by->sent;
    for (int to = 0; to < ranks; ++to) {
        for (int i = 0; i < a; ++i) {
            for (int k = 0; k < part; ++k) {
                for (int j = 0; j < b; ++j) {
                    *next++ = in[i * stride_a + j * stride_b + to * part + k];
                }
            }
        }
    }
    if (ranks == 1) {
        memcpy(out, by->sent, (size_t)block * sizeof *out);
        return;
    }
    const int count = (int)(2 * block);
    point* received = by->sent + block * ranks;
    MPI_Alltoall(by->sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, by->communicator);
    for (int from = 0; from < ranks; ++from) {
        for (int64_t line = 0; line < (int64_t)a * part; ++line) {
            memcpy(out + (line * ranks + from) * b, received + (from * (int64_t)a * part + line) * b,
                   (size_t)b * sizeof *out);
        }
    }
}

typedef struct {
    int nx, ny, nz;          // points
    int rows, columns;       // of the process grid
    int row, column;         // of this rank
    Transposer along, down;  // the ranks of this rank's row, of its column
    Fourier x, y, z;
    point* other;  // as large as the field
} Grid;

// From [z][y][x], z spread over the rows and y over the columns, to [x][y][z], y spread over the rows, x the columns.
static void forward(Grid* grid, point* field) {
    const int x = grid->nx / grid->columns, z = grid->nz / grid->rows, y = grid->ny / grid->columns;
    transform_lines(&grid->x, field, (int64_t)z * y, 0);
    transpose(&grid->along, field, grid->other, z, y, grid->nx, (int64_t)y * grid->nx, grid->nx);
    transform_lines(&grid->y, grid->other, (int64_t)z * x, 0);
    transpose(&grid->down, grid->other, field, x, z, grid->ny, grid->ny, (int64_t)x * grid->ny);
    transform_lines(&grid->z, field, (int64_t)x * (grid->ny / grid->rows), 0);
}

static void backward(Grid* grid, point* field) {
    const int x = grid->nx / grid->columns, z = grid->nz / grid->rows, y = grid->ny / grid->rows;
    transform_lines(&grid->z, field, (int64_t)x * y, 1);
    transpose(&grid->down, field, grid->other, x, y, grid->nz, (int64_t)y * grid->nz, grid->nz);
    transform_lines(&grid->y, grid->other, (int64_t)x * z, 1);
    transpose(&grid->along, grid->other, field, z, x, grid->ny, grid->ny, (int64_t)z * grid->ny);
    transform_lines(&grid->x, field, (int64_t)z * (grid->ny / grid->columns), 1);
}

// What a frequency keeps in `time`, along one axis.
static double* decay(int length, double time) {
    double* kept = allocate((size_t)length, sizeof *kept);
    for (int i = 0; i < length; ++i) {
        const int frequency = i <= length / 2 ? i : i - length;
        kept[i] = exp(-4e-6 * acos(-1) * acos(-1) * frequency * frequency * time);
    }
    return kept;
}

static void evolve(const Grid* grid, const point* spectrum, point* field, double time) {
    double *x = decay(grid->nx, time), *y = decay(grid->ny, time), *z = decay(grid->nz, time);
    const int own_x = grid->nx / grid->columns, own_y = grid->ny / grid->rows;
    const double scale = 1.0 / ((double)grid->nx * grid->ny * grid->nz);
    for (int i = 0; i < own_x; ++i) {
        for (int j = 0; j < own_y; ++j) {
            const double factor = scale * x[grid->column * own_x + i] * y[grid->row * own_y + j];
            const int64_t line = ((int64_t)i * own_y + j) * grid->nz;
            for (int k = 0; k < grid->nz; ++k) {
                field[line + k] = spectrum[line + k] * (factor * z[k]);
            }
        }
    }
    free(x);
    free(y);
    free(z);
}

// `ranks` times a product of 2, 3 and 5.
static int rounded_up(int64_t least, int ranks) {
    for (int64_t factor = (least + ranks - 1) / ranks;; ++factor) {
        int64_t rest = factor;
        for (int prime = 2; prime <= 5; ++prime) {
            while (rest % prime == 0) {
                rest /= prime;
            }
        }
        if (rest == 1) {
            return (int)(factor * ranks);
        }
    }
}

static Grid make_grid(int64_t size, int flat) {
    Grid grid;
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    grid.nx = grid.ny = rounded_up(64, ranks);
    grid.nz = rounded_up(size, ranks);
    grid.rows = flat ? ranks : grid_rows(ranks);
    grid.columns = ranks / grid.rows;
    grid.row = rank / grid.columns;
    grid.column = rank % grid.columns;
    const int64_t own = (int64_t)grid.nx * grid.ny * grid.nz / ranks;
    point* buffers = allocate((size_t)(2 * own), sizeof *buffers);
    grid.along.sent = grid.down.sent = buffers;
    grid.other = allocate((size_t)own, sizeof *grid.other);
    MPI_Comm_split(MPI_COMM_WORLD, grid.row, grid.column, &grid.along.communicator);
    if (flat) {
        grid.down.communicator = MPI_COMM_WORLD;
    } else {
        MPI_Comm_split(MPI_COMM_WORLD, grid.column, grid.row, &grid.down.communicator);
    }
    grid.x = make_fourier(grid.nx);
    grid.y = make_fourier(grid.ny);
    grid.z = make_fourier(grid.nz);
    return grid;
}

static void free_grid(Grid* grid) {
    MPI_Comm_free(&grid->along.communicator);
    if (grid->down.communicator != MPI_COMM_WORLD) {
        MPI_Comm_free(&grid->down.communicator);
    }
    free_fourier(&grid->x);
    free_fourier(&grid->y);
    free_fourier(&grid->z);
    free(grid->along.sent);
    free(grid->other);
}

int main(int argc, char** argv) {
    int rank = 0, ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t size = number_argument(argc, argv, 1, "SIZE", 80, 1, 100000);
    const char* shape = argc > 2 ? argv[2] : "1d";
    if (strcmp(shape, "1d") != 0 && strcmp(shape, "2d") != 0) {
        refuse("the second argument is the decomposition: 1d or 2d");
    }
    const uint64_t seed = (uint64_t)number_argument(argc, argv, 3, "SEED", 1, 0, INT32_MAX);
    const int steps = (int)number_argument(argc, argv, 4, "STEPS", 10, 1, 100000);

    Grid grid = make_grid(size, shape[0] == '1');
    const int64_t own = (int64_t)grid.nx * grid.ny * grid.nz / ranks;
    point* start = allocate((size_t)own, sizeof *start);
    point* spectrum = allocate((size_t)own, sizeof *spectrum);
    point* field = allocate((size_t)own, sizeof *field);
    for (int64_t i = 0; i < own; ++i) {
        const uint64_t place = 2 * (uint64_t)(rank * own + i);
        start[i] = spectrum[i] = CMPLX(uniform_at(seed, place), uniform_at(seed, place + 1));
    }
    forward(&grid, spectrum);
    evolve(&grid, spectrum, field, 0);
    backward(&grid, field);
    double furthest = 0;
    for (int64_t i = 0; i < own; ++i) {
        furthest = fmax(furthest, cabs(field[i] - start[i]));
    }
    const int ok = everywhere(furthest < 1e-11);

    double checksum[2] = {0, 0};
    for (int step = 1; step <= steps; ++step) {
        evolve(&grid, spectrum, field, step);
        backward(&grid, field);
        double sum[2] = {0, 0}, total[2];
        for (int64_t i = 0; i < own; i += 37) {
            sum[0] += fixed_point(creal(field[i]));
            sum[1] += fixed_point(cimag(field[i]));
        }
        MPI_Reduce(sum, total, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        checksum[0] += rank == 0 ? total[0] * step : 0;
        checksum[1] += rank == 0 ? total[1] * step : 0;
    }
    if (rank == 0) {
        printf("ft: ranks %d, grid %d x %d x %d on %d x %d, steps %d, checksum %.6f %.6f, answer: %s\n", ranks, grid.nx,
               grid.ny, grid.nz, grid.rows, grid.columns, steps, checksum[0], checksum[1], ok ? "ok" : "WRONG");
    }
    free(start);
    free(spectrum);
    free(field);
    free_grid(&grid);
    MPI_Finalize();
    return ok ? 0 : 1;
}
