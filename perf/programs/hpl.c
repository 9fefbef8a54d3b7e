// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Like HPL, the LINPACK benchmark: a dense system of equations by LU factorisation with partial pivoting. Blocks of the
// matrix are dealt out to a P x Q grid of ranks in turn. For each block of columns
//   - the column of ranks that has it factors it: an allreduce along that column for each pivot,
//   - it is broadcast along the rows: the root moves on by one each time, and the size shrinks,
//   - the rows that are swapped are made known to all along the columns, by an allreduce, whose size shrinks too,
//   - all ranks update the rest of the matrix.
// Then the system is solved backwards, with reduces along rows and broadcasts along columns from every root.
//
// Checked: HPL's scaled residual. The factors have the same bits whatever the order of additions.
//
// Usage: hpl SIZE [SEED [P]]   SIZE: unknowns, rounded up to a multiple of 64; P: rows of the grid

#include "common.h"

enum { width = 64 };

typedef struct {
    int64_t size;                      // unknowns; column `size` is the right-hand side
    int p, q, row, column;             // the grid, and where this rank is in it
    MPI_Comm along_row, along_column;  // ranks with the same row, the same column
    int64_t own_rows, own_columns;     // of the matrix
    double* matrix;                    // column after column
    uint64_t seed;
} System;

// Of `size` rows or columns dealt out in blocks to `parts`, how many of the first `end` are those of `part`.
static int64_t own_before(int64_t end, int parts, int part) {
    const int64_t blocks = end / width;
    const int64_t whole = blocks / parts * width;
    const int64_t turn = blocks % parts;
    return whole + (part < turn ? width : part == turn ? end % width : 0);
}

static double* at(const System* system, int64_t own_row, int64_t own_column) {
    return system->matrix + own_column * system->own_rows + own_row;
}

static int64_t global(int64_t own, int parts, int part) { return (own / width * parts + part) * width + own % width; }

static double element(const System* system, int64_t row, int64_t column) {
    return uniform_at(system->seed, (uint64_t)(column * system->size + row)) - 0.5;
}

static void fill(System* system) {
    for (int64_t j = 0; j < system->own_columns; ++j) {
        for (int64_t i = 0; i < system->own_rows; ++i) {
            *at(system, i, j) =
                element(system, global(i, system->p, system->row), global(j, system->q, system->column));
        }
    }
}

// The best pivot of a column so far: what an allreduce carries. The rows are those of the block.
typedef struct {
    double size, place;     // of the pivot
    double pivot[width];    // its row
    double current[width];  // the row that it changes places with; zeros but for its owner
} Candidate;

enum { candidate_doubles = sizeof(Candidate) / sizeof(double) };

static void better_pivot(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    const Candidate* others = in;
    Candidate* own = inout;
    for (int i = 0; i < *length; ++i) {
        if (others[i].size > own[i].size || (others[i].size == own[i].size && others[i].place < own[i].place)) {
            own[i].size = others[i].size;
            own[i].place = others[i].place;
            memcpy(own[i].pivot, others[i].pivot, sizeof own[i].pivot);
        }
        for (int k = 0; k < width; ++k) {
            own[i].current[k] += others[i].current[k];
        }
    }
}

// Factors the block of columns that begins at `first`, on the ranks that have it. Row first + k changed places with row
// pivots[k].
static void factor_panel(System* system, int64_t first, double* pivots, MPI_Datatype type, MPI_Op op) {
    const int64_t column = own_before(first, system->q, system->column);
    for (int k = 0; k < width; ++k) {
        const int64_t diagonal = first + k;
        const int64_t from = own_before(diagonal, system->p, system->row);
        const int64_t below = own_before(diagonal + 1, system->p, system->row);
        Candidate own = {-1, 0, {0}, {0}}, best;
        for (int64_t i = from; i < system->own_rows; ++i) {
            const double value = fabs(*at(system, i, column + k));
            if (value > own.size) {
                own.size = value;
                own.place = (double)i;
            }
        }
        if (own.size >= 0) {
            const int64_t place = (int64_t)own.place;
            for (int j = 0; j < width; ++j) {
                own.pivot[j] = *at(system, place, column + j);
            }
            own.place = (double)global(place, system->p, system->row);
        }
        for (int j = 0; from < below && j < width; ++j) {
            own.current[j] = *at(system, from, column + j);
        }
        MPI_Allreduce(&own, &best, 1, type, op, system->along_column);
        pivots[k] = best.place;
        const int64_t pivot = (int64_t)best.place;
        if (pivot / width % system->p == system->row) {
            const int64_t place = own_before(pivot, system->p, system->row);
            for (int j = 0; j < width; ++j) {
                *at(system, place, column + j) = best.current[j];
            }
        }
        for (int j = 0; from < below && j < width; ++j) {
            *at(system, from, column + j) = best.pivot[j];
        }
        double* factors = at(system, 0, column + k);
        for (int64_t i = below; i < system->own_rows; ++i) {
            factors[i] /= best.pivot[k];
        }
        for (int j = k + 1; j < width; ++j) {
            double* target = at(system, 0, column + j);
            for (int64_t i = below; i < system->own_rows; ++i) {
                target[i] -= factors[i] * best.pivot[j];
            }
        }
    }
}

// The rows that the swaps of one block touch: the block's own, then the pivots outside it. `source[i]`: whose content
// row `place[i]` has afterwards, as an index of this list.
typedef struct {
    int count;
    int64_t place[2 * width];
    int source[2 * width];
} Swaps;

static Swaps find_swaps(int64_t first, const double* pivots) {
    Swaps swaps = {.count = width};
    for (int k = 0; k < width; ++k) {
        swaps.place[k] = first + k;
        swaps.source[k] = k;
    }
    for (int k = 0; k < width; ++k) {
        const int64_t pivot = (int64_t)pivots[k];
        int i = 0;
        while (i < swaps.count && swaps.place[i] != pivot) {
            ++i;
        }
        if (i == swaps.count) {
            swaps.place[swaps.count] = pivot;
            swaps.source[swaps.count++] = i;
        }
        const int kept = swaps.source[k];
        swaps.source[k] = swaps.source[i];
        swaps.source[i] = kept;
    }
    return swaps;
}

// Swaps the rows right of the block; `upper` gets those of the block, row after row, solved with the block's triangle.
static void swap_rows(System* system, const Swaps* swaps, const double* triangle, int64_t column, double* rows,
                      double* all_rows, double* upper) {
    const int64_t columns = system->own_columns - column;
    memset(rows, 0, (size_t)(swaps->count * columns) * sizeof *rows);
    for (int i = 0; i < swaps->count; ++i) {
        if (swaps->place[i] / width % system->p == system->row) {
            const double* source = at(system, own_before(swaps->place[i], system->p, system->row), column);
            for (int64_t j = 0; j < columns; ++j) {
                rows[i * columns + j] = source[j * system->own_rows];
            }
        }
    }
    MPI_Allreduce(rows, all_rows, (int)(swaps->count * columns), MPI_DOUBLE, MPI_SUM, system->along_column);
    for (int k = 0; k < width; ++k) {
        double* target = upper + k * columns;
        memcpy(target, all_rows + swaps->source[k] * columns, (size_t)columns * sizeof *target);
        for (int l = 0; l < k; ++l) {
            const double factor = triangle[l * width + k];
            for (int64_t j = 0; j < columns; ++j) {
                target[j] -= factor * upper[l * columns + j];
            }
        }
    }
    for (int i = 0; i < swaps->count; ++i) {
        if (swaps->place[i] / width % system->p == system->row) {
            double* target = at(system, own_before(swaps->place[i], system->p, system->row), column);
            const double* source = i < width ? upper + i * columns : all_rows + swaps->source[i] * columns;
            for (int64_t j = 0; j < columns; ++j) {
                target[j * system->own_rows] = source[j];
            }
        }
    }
}

// Subtracts the product of the block's factors (`count` rows) and `upper` from the rest of the matrix.
static void update(System* system, const double* factors, int64_t count, const double* upper, int64_t column) {
    const int64_t row = system->own_rows - count, columns = system->own_columns - column;
    for (int64_t j = 0; j < columns; ++j) {
        double* restrict target = at(system, row, column + j);
        for (int k = 0; k < width; k += 4) {
            const double a = upper[k * columns + j], b = upper[(k + 1) * columns + j];
            const double c = upper[(k + 2) * columns + j], d = upper[(k + 3) * columns + j];
            const double* restrict f = factors + k * count;
            for (int64_t i = 0; i < count; ++i) {
                target[i] -= f[i] * a + f[count + i] * b + f[2 * count + i] * c + f[3 * count + i] * d;
            }
        }
    }
}

// What is broadcast of a block: the pivots, its triangle of factors, the factors of the rows below, all column after
// column.
static void factor(System* system, uint64_t* checksum) {
    const int64_t most_rows = system->own_rows, most_columns = system->own_columns;
    double* panel = allocate((size_t)(width + width * width + most_rows * width), sizeof *panel);
    double* rows = allocate((size_t)(5 * width * most_columns), sizeof *rows);
    double *all_rows = rows + 2 * width * most_columns, *upper = all_rows + 2 * width * most_columns;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Type_contiguous(candidate_doubles, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(better_pivot, 1, &op);
    for (int64_t first = 0; first < system->size; first += width) {
        const int owner = (int)(first / width % system->q);
        const int64_t column = own_before(first, system->q, system->column);
        const int64_t below = own_before(first + width, system->p, system->row), count = system->own_rows - below;
        double *pivots = panel, *triangle = panel + width, *factors = triangle + width * width;
        if (owner == system->column) {
            factor_panel(system, first, pivots, type, op);
            // The triangle is in one row of the grid; its neighbours in the column need it too.
            const int holder = (int)(first / width % system->p);
            for (int k = 0; k < width; ++k) {
                if (holder == system->row) {
                    memcpy(triangle + k * width, at(system, below - width, column + k), width * sizeof *triangle);
                }
                memcpy(factors + k * count, at(system, below, column + k), (size_t)count * sizeof *factors);
            }
            MPI_Bcast(triangle, width * width, MPI_DOUBLE, holder, system->along_column);
        }
        const int64_t doubles = width + width * width + count * width;
        MPI_Bcast(panel, (int)doubles, MPI_DOUBLE, owner, system->along_row);
        *checksum = hash_bytes(*checksum, panel, (width + width * width) * sizeof *panel);
        const Swaps swaps = find_swaps(first, pivots);
        const int64_t right = own_before(first + width, system->q, system->column);
        swap_rows(system, &swaps, triangle, right, rows, all_rows, upper);
        update(system, factors, count, upper, right);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    free(rows);
    free(panel);
}

// Solves with the upper triangle; every rank gets the whole solution.
static double* solve(System* system) {
    double* solution = allocate((size_t)system->size, sizeof *solution);
    double* all = allocate((size_t)system->size, sizeof *all);
    double* products =
        allocate((size_t)system->own_rows, sizeof *products);  // of what is known with this rank's columns
    const int right_side = (int)(system->size / width % system->q);
    const int64_t right_column = own_before(system->size, system->q, right_side);
    for (int64_t first = system->size - width; first >= 0; first -= width) {
        const int row = (int)(first / width % system->p), column = (int)(first / width % system->q);
        const int64_t own_row = own_before(first, system->p, system->row);
        const int64_t own_column = own_before(first, system->q, system->column);
        double values[width], known[width];
        if (row == system->row) {
            for (int k = 0; k < width; ++k) {
                const double right = system->column == right_side ? *at(system, own_row + k, right_column) : 0;
                values[k] = right - products[own_row + k];
            }
            MPI_Reduce(values, known, width, MPI_DOUBLE, MPI_SUM, column, system->along_row);
        }
        if (column != system->column) {
            continue;
        }
        for (int k = width - 1; row == system->row && k >= 0; --k) {
            known[k] /= *at(system, own_row + k, own_column + k);
            for (int i = 0; i < k; ++i) {
                known[i] -= *at(system, own_row + i, own_column + k) * known[k];
            }
        }
        MPI_Bcast(known, width, MPI_DOUBLE, row, system->along_column);
        for (int k = 0; k < width; ++k) {
            const double* factors = at(system, 0, own_column + k);
            for (int64_t i = 0; i < own_row; ++i) {
                products[i] += factors[i] * known[k];
            }
            solution[first + k] = system->row == 0 ? known[k] : 0;
        }
    }
    MPI_Allreduce(solution, all, (int)system->size, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    free(products);
    free(solution);
    return all;
}

// HPL's: |A x - b| / (epsilon (|A| |x| + |b|) n) by largest elements, with the row sums of |A|.
static double scaled_residual(System* system, const double* solution) {
    fill(system);
    double* sums = allocate(4 * (size_t)system->own_rows, sizeof *sums);  // of A x - b, of |A|
    double *total = sums + 2 * system->own_rows, largest[4] = {0}, most[4];
    for (int64_t j = 0; j < system->own_columns; ++j) {
        const int64_t column = global(j, system->q, system->column);
        const double factor = column == system->size ? -1 : solution[column];
        for (int64_t i = 0; i < system->own_rows; ++i) {
            sums[i] += *at(system, i, j) * factor;
            sums[system->own_rows + i] += column == system->size ? 0 : fabs(*at(system, i, j));
            largest[3] = fmax(largest[3], column == system->size ? fabs(*at(system, i, j)) : 0);
        }
        largest[2] = fmax(largest[2], column == system->size ? 0 : fabs(factor));
    }
    MPI_Allreduce(sums, total, (int)(2 * system->own_rows), MPI_DOUBLE, MPI_SUM, system->along_row);
    for (int64_t i = 0; i < system->own_rows; ++i) {
        largest[0] = fmax(largest[0], fabs(total[i]));
        largest[1] = fmax(largest[1], total[system->own_rows + i]);
    }
    MPI_Allreduce(largest, most, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    free(sums);
    return most[0] / (0x1p-53 * (most[1] * most[2] + most[3]) * (double)system->size);
}

int main(int argc, char** argv) {
    int rank = 0, ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    System system;
    system.size = (number_argument(argc, argv, 1, "SIZE", 1024, 1, 50000) + width - 1) / width * width;
    system.seed = (uint64_t)number_argument(argc, argv, 2, "SEED", 1, 0, INT32_MAX);
    system.p = (int)number_argument(argc, argv, 3, "P", grid_rows(ranks), 1, ranks);
    if (ranks % system.p != 0) {
        refuse("P must divide the number of ranks");
    }
    system.q = ranks / system.p;
    system.row = rank / system.q;
    system.column = rank % system.q;
    MPI_Comm_split(MPI_COMM_WORLD, system.row, system.column, &system.along_row);
    MPI_Comm_split(MPI_COMM_WORLD, system.column, system.row, &system.along_column);
    system.own_rows = own_before(system.size, system.p, system.row);
    system.own_columns = own_before(system.size + 1, system.q, system.column);
    system.matrix = allocate((size_t)(system.own_rows * system.own_columns), sizeof *system.matrix);

    uint64_t checksum = hash_start;
    fill(&system);
    factor(&system, &checksum);
    double* solution = solve(&system);
    const int ok = everywhere(scaled_residual(&system, solution) < 16);
    checksum = hash_of_ranks(checksum, 0);
    if (rank == 0) {
        printf("hpl: ranks %d x %d, unknowns %lld, checksum %016llx, answer: %s\n", system.p, system.q,
               (long long)system.size, (unsigned long long)checksum, ok ? "ok" : "WRONG");
    }
    free(solution);
    free(system.matrix);
    MPI_Comm_free(&system.along_row);
    MPI_Comm_free(&system.along_column);
    MPI_Finalize();
    return ok ? 0 : 1;
}
