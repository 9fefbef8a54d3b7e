// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Soft bodies that repel each other within a cut-off, by replicated data: each rank moves its own and needs to know
// where all are. In even steps all positions come by one allgather. In odd ones they come by a broadcast from each rank
// in turn, and what came is used before the next one. Every few steps a root gathers energies and momenta.
//
// Checked: momentum is kept, and energy nearly. MPI adds nothing, so that the answer has the same bits with all
// schedules.
//
// Usage: nbody SIZE [ROOT [SEED [STEPS]]]   SIZE: thousands of bodies, rounded up to a multiple of the ranks

#include "common.h"

enum { steps_between_checks = 4, sums = 4 };  // energy and three momenta

// Bodies are near the points of a grid with edges of 1. A cell has edges of 2 at least, the cut-off.
static const double cut_off = 2, time_step = 0.005;

typedef struct {
    int rank, ranks;
    int64_t count, own;     // bodies in all, and of this rank
    int cells;              // in each direction
    double side;            // of the box, whose opposite faces are joined
    double *place, *speed;  // of all bodies, and of the own ones: three numbers each
    double* force;          // of the own ones
    int32_t *first, *body;  // bodies of each cell: body[first[cell]] up to body[first[cell + 1]]
} Bodies;

static Bodies make_bodies(int64_t thousands, uint64_t seed) {
    Bodies bodies;
    MPI_Comm_rank(MPI_COMM_WORLD, &bodies.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bodies.ranks);
    bodies.own = (1000 * thousands + bodies.ranks - 1) / bodies.ranks;
    bodies.count = bodies.own * bodies.ranks;
    const int64_t edge = (int64_t)ceil(cbrt((double)bodies.count));
    bodies.side = (double)edge;
    bodies.cells = (int)(bodies.side / cut_off);
    bodies.place = allocate(3 * (size_t)bodies.count, sizeof(double));
    bodies.speed = allocate(3 * (size_t)bodies.own, sizeof(double));
    bodies.force = allocate(3 * (size_t)bodies.own, sizeof(double));
    bodies.body = allocate((size_t)bodies.count, sizeof *bodies.body);
    const size_t cells = (size_t)(bodies.cells * bodies.cells * bodies.cells);
    bodies.first = allocate(cells + 1, sizeof *bodies.first);
    for (int64_t i = 0; i < bodies.own; ++i) {
        const int64_t number = bodies.rank * bodies.own + i;
        const int64_t grid[3] = {number % edge, number / edge % edge, number / edge / edge};
        for (int d = 0; d < 3; ++d) {
            const uint64_t at = 6 * (uint64_t)number + 2 * (uint64_t)d;
            bodies.place[3 * number + d] = (double)grid[d] + 0.25 + 0.5 * uniform_at(seed, at);
            bodies.speed[3 * i + d] = uniform_at(seed, at + 1) - 0.5;
        }
    }
    return bodies;
}

static void free_bodies(Bodies* bodies) {
    free(bodies->place);
    free(bodies->speed);
    free(bodies->force);
    free(bodies->body);
    free(bodies->first);
}

static int cell_of(const Bodies* bodies, const double* place) {
    int cell = 0;
    for (int d = 0; d < 3; ++d) {
        int at = (int)(place[d] / bodies->side * bodies->cells);
        at = at < 0 ? 0 : at >= bodies->cells ? bodies->cells - 1 : at;
        cell = cell * bodies->cells + at;
    }
    return cell;
}

// Puts the bodies from `begin` to `end` into the cells.
static void fill_cells(Bodies* bodies, int64_t begin, int64_t end) {
    const int cells = bodies->cells * bodies->cells * bodies->cells;
    memset(bodies->first, 0, (size_t)(cells + 1) * sizeof *bodies->first);
    for (int64_t i = begin; i < end; ++i) {
        ++bodies->first[cell_of(bodies, bodies->place + 3 * i) + 1];
    }
    for (int cell = 0; cell < cells; ++cell) {
        bodies->first[cell + 1] += bodies->first[cell];
    }
    for (int64_t i = end - 1; i >= begin;
         --i) {  // from the ends of the cells; it leaves first[cell + 1] at their begin
        bodies->body[--bodies->first[cell_of(bodies, bodies->place + 3 * i) + 1]] = (int32_t)i;
    }
    for (int cell = 0; cell < cells; ++cell) {
        bodies->first[cell] = bodies->first[cell + 1];
    }
    bodies->first[cells] = (int32_t)(end - begin);
}

// Adds what the bodies in the cells do to the own body `i`; returns its half of their energy. The energy of a pair is
// (c^2 - r^2)^2 / 4, so that the force is (c^2 - r^2) r away from the other.
static double repel(const Bodies* bodies, int64_t i) {
    const int64_t number = bodies->rank * bodies->own + i;
    const double *place = bodies->place + 3 * number, half = bodies->side / 2;
    const int cells = bodies->cells, own_cell = cell_of(bodies, place);
    const int at[3] = {own_cell / cells / cells, own_cell / cells % cells, own_cell % cells};
    double energy = 0;
    for (int neighbour = 0; neighbour < 27; ++neighbour) {
        const int x = (at[0] + neighbour / 9 - 1 + cells) % cells, y = (at[1] + neighbour / 3 % 3 - 1 + cells) % cells;
        const int cell = (x * cells + y) * cells + (at[2] + neighbour % 3 - 1 + cells) % cells;
        for (int32_t k = bodies->first[cell]; k < bodies->first[cell + 1]; ++k) {
            const double* other = bodies->place + 3 * (int64_t)bodies->body[k];
            double apart[3], square = 0;
            for (int d = 0; d < 3; ++d) {
                apart[d] = place[d] - other[d];
                apart[d] -= apart[d] > half ? bodies->side : apart[d] < -half ? -bodies->side : 0;
                square += apart[d] * apart[d];
            }
            const double strength = cut_off * cut_off - square;
            if (strength > 0 && bodies->body[k] != number) {
                for (int d = 0; d < 3; ++d) {
                    bodies->force[3 * i + d] += strength * apart[d];
                }
                energy += strength * strength / 8;
            }
        }
    }
    return energy;
}

static double repel_all(Bodies* bodies, int64_t begin, int64_t end) {
    double energy = 0;
    fill_cells(bodies, begin, end);
    for (int64_t i = 0; i < bodies->own; ++i) {
        energy += repel(bodies, i);
    }
    return energy;
}

// Learns where all bodies are and finds the forces on the own ones; returns this rank's part of the energy.
static double find_forces(Bodies* bodies, int in_turn) {
    const int numbers = (int)(3 * bodies->own);
    double energy = 0;
    memset(bodies->force, 0, (size_t)numbers * sizeof *bodies->force);
    if (!in_turn) {
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, bodies->place, numbers, MPI_DOUBLE, MPI_COMM_WORLD);
        return repel_all(bodies, 0, bodies->count);
    }
    for (int root = 0; root < bodies->ranks; ++root) {
        MPI_Bcast(bodies->place + (int64_t)root * numbers, numbers, MPI_DOUBLE, root, MPI_COMM_WORLD);
        energy += repel_all(bodies, root * bodies->own, (root + 1) * bodies->own);
    }
    return energy;
}

static void push(Bodies* bodies, double time) {
    for (int64_t i = 0; i < 3 * bodies->own; ++i) {
        bodies->speed[i] += time * bodies->force[i];
    }
}

static void move(Bodies* bodies, double time) {
    double* place = bodies->place + 3 * bodies->rank * bodies->own;
    for (int64_t i = 0; i < 3 * bodies->own; ++i) {
        place[i] += time * bodies->speed[i];
        place[i] -= place[i] < 0 ? -bodies->side : place[i] >= bodies->side ? bodies->side : 0;
    }
}

// Energy and momenta of all bodies, on the root; `room` has place for those of each rank.
static void gather_sums(const Bodies* bodies, double energy, int root, double* room, double* total) {
    double own[sums] = {energy, 0, 0, 0};
    for (int64_t i = 0; i < 3 * bodies->own; ++i) {
        own[0] += bodies->speed[i] * bodies->speed[i] / 2;
        own[1 + i % 3] += bodies->speed[i];
    }
    MPI_Gather(own, sums, MPI_DOUBLE, room, sums, MPI_DOUBLE, root, MPI_COMM_WORLD);
    memset(total, 0, sums * sizeof *total);
    for (int i = 0; bodies->rank == root && i < sums * bodies->ranks; ++i) {
        total[i % sums] += room[i];
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t size = number_argument(argc, argv, 1, "SIZE", 24, 1, 100000);
    const int root = (int)number_argument(argc, argv, 2, "ROOT", 0, 0, ranks - 1);
    const uint64_t seed = (uint64_t)number_argument(argc, argv, 3, "SEED", 1, 0, INT32_MAX);
    const int steps = (int)number_argument(argc, argv, 4, "STEPS", 8, 1, 100000);

    Bodies bodies = make_bodies(size, seed);
    double* room = allocate(sums * (size_t)ranks, sizeof *room);
    double at_first[sums], now[sums];
    gather_sums(&bodies, find_forces(&bodies, 0), root, room, at_first);
    int ok = 1;
    for (int step = 1; step <= steps; ++step) {  // by velocity Verlet
        push(&bodies, time_step / 2);
        move(&bodies, time_step);
        const double energy = find_forces(&bodies, step % 2);
        push(&bodies, time_step / 2);
        if (step % steps_between_checks == 0 || step == steps) {
            gather_sums(&bodies, energy, root, room, now);
            ok = ok && fabs(now[0] - at_first[0]) <= 1e-3 * at_first[0];
            for (int d = 1; d < sums; ++d) {
                ok = ok && fabs(now[d] - at_first[d]) <= 1e-9 * (double)bodies.count;
            }
        }
    }
    MPI_Bcast(&ok, 1, MPI_INT, root, MPI_COMM_WORLD);
    uint64_t checksum = hash_bytes(hash_start, bodies.speed, 3 * (size_t)bodies.own * sizeof(double));
    checksum = hash_of_ranks(checksum, root);
    if (bodies.rank == root) {
        printf("nbody: ranks %d, bodies %lld, steps %d, energy %.9g, checksum %016llx, answer: %s\n", ranks,
               (long long)bodies.count, steps, now[0], (unsigned long long)checksum, ok ? "ok" : "WRONG");
    }
    free(room);
    free_bodies(&bodies);
    MPI_Finalize();
    return ok ? 0 : 1;
}
