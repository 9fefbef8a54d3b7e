// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Breadth-first searches of a graph, as Graph500 does them, from one root after another. Each rank has a part of the
// vertices and knows of all which ones were reached in the level before. In each level it looks for unreached vertices
// of its own with a neighbour among those.
//
//   few are found    their numbers go to all by an allgather, padded to the most that a rank has: an allreduce tells
//   many are found   a bit for each vertex goes to all by an allreduce with "or", between the first and the last word
//
// So sizes vary from level to level, and with the root. The graph is a random one of degree 4:
// each vertex v has neighbours a v + b and (v - b) / a modulo a prime, for two pairs (a, b).
//
// Checked: all vertices are reached, each in the level after that of one of its neighbours and none in an earlier one.
//
// Usage: bfs SIZE [SEED [SEARCHES]]   SIZE: thousands of vertices, rounded up to a prime

#include "common.h"

enum { pairs = 2, degree = 2 * pairs, unreached = 255 };

typedef struct {
    int rank, ranks;
    uint64_t vertices, begin, end;  // in all, and this rank's
    int32_t* neighbours;            // of this rank's, `degree` of each
} Graph;

static uint64_t power(uint64_t base, uint64_t exponent, uint64_t modulus) {
    uint64_t result = 1;
    for (; exponent > 0; exponent /= 2) {
        result = exponent % 2 == 1 ? result * base % modulus : result;
        base = base * base % modulus;
    }
    return result;
}

static uint64_t next_prime(uint64_t number) {
    for (;; ++number) {
        uint64_t divisor = 2;
        while (divisor * divisor <= number && number % divisor != 0) {
            ++divisor;
        }
        if (divisor * divisor > number) {
            return number;
        }
    }
}

static Graph make_graph(int64_t thousands, uint64_t seed) {
    Graph graph;
    MPI_Comm_rank(MPI_COMM_WORLD, &graph.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &graph.ranks);
    const uint64_t vertices = next_prime((uint64_t)(1000 * thousands));
    graph.vertices = vertices;
    graph.begin = vertices * (uint64_t)graph.rank / (uint64_t)graph.ranks;
    graph.end = vertices * (uint64_t)(graph.rank + 1) / (uint64_t)graph.ranks;
    uint64_t factor[degree], summand[degree];  // a neighbour is factor * v + summand modulo vertices
    for (int i = 0; i < pairs; ++i) {
        const uint64_t a = 2 + random_at(seed, 2 * (uint64_t)i) % (vertices - 2);
        const uint64_t b = random_at(seed, 2 * (uint64_t)i + 1) % vertices;
        const uint64_t inverse = power(a, vertices - 2, vertices);
        factor[2 * i] = a;
        summand[2 * i] = b;
        factor[2 * i + 1] = inverse;
        summand[2 * i + 1] = (vertices - b) * inverse % vertices;
    }
    graph.neighbours = allocate(degree * (graph.end - graph.begin), sizeof *graph.neighbours);
    for (uint64_t v = graph.begin; v < graph.end; ++v) {
        for (int i = 0; i < degree; ++i) {
            const uint64_t neighbour = (factor[i] * v + summand[i]) % vertices;
            graph.neighbours[degree * (v - graph.begin) + (uint64_t)i] = (int32_t)neighbour;
        }
    }
    return graph;
}

static const int32_t* neighbours(const Graph* graph, uint64_t vertex) {
    return graph->neighbours + degree * (vertex - graph->begin);
}

// Room for one level: bits of all vertices, and the numbers of those found.
typedef struct {
    uint64_t words;
    uint64_t *last, *found;  // bits: of the level before, found by this rank
    int32_t *own, *numbers;  // numbers that this rank found; of all ranks
} Front;

static void set(uint64_t* bits, uint64_t vertex) { bits[vertex / 64] |= UINT64_C(1) << vertex % 64; }
static int is_set(const uint64_t* bits, int32_t vertex) { return (int)(bits[vertex / 64] >> vertex % 64 & 1); }

// Makes what each rank has found known to all, as bits in front->last; returns how many there are.
static int64_t share(const Graph* graph, Front* front, int32_t count) {
    // The most of any rank, and the span of words that have bits, as maxima.
    int32_t own[3] = {count, 0, -(int32_t)front->words}, most[3];
    if (count > 0) {
        own[1] = front->own[count - 1] / 64 + 1;
        own[2] = -(front->own[0] / 64);
    }
    MPI_Allreduce(own, most, 3, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD);
    memset(front->last, 0, front->words * sizeof *front->last);
    const int32_t first = -most[2], span = most[1] - first;
    int64_t found = 0;
    if (most[0] == 0) {
        return 0;
    }
    if ((int64_t)most[0] * graph->ranks * 4 < (int64_t)span * 8) {
        for (int32_t i = count; i < most[0]; ++i) {
            front->own[i] = -1;
        }
        MPI_Allgather(front->own, most[0], MPI_INT32_T, front->numbers, most[0], MPI_INT32_T, MPI_COMM_WORLD);
        for (int32_t i = 0; i < most[0] * graph->ranks; ++i) {
            if (front->numbers[i] >= 0) {
                set(front->last, (uint64_t)front->numbers[i]);
                ++found;
            }
        }
        return found;
    }
    memset(front->found, 0, front->words * sizeof *front->found);
    for (int32_t i = 0; i < count; ++i) {
        set(front->found, (uint64_t)front->own[i]);
    }
    MPI_Allreduce(front->found + first, front->last + first, span, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD);
    for (int32_t i = first; i < first + span; ++i) {
        found += __builtin_popcountll(front->last[i]);
    }
    return found;
}

// Levels of all vertices from `root`. Returns how many were reached.
static int64_t search(const Graph* graph, Front* front, uint64_t root, unsigned char* level) {
    memset(level, unreached, graph->vertices);
    memset(front->last, 0, front->words * sizeof *front->last);
    set(front->last, root);
    level[root] = 0;
    int64_t reached = 1, found = 1;
    for (int next = 1; found > 0; ++next) {
        int32_t count = 0;
        for (uint64_t v = graph->begin; v < graph->end; ++v) {
            int near = 0;
            for (int i = 0; level[v] == unreached && i < degree && !near; ++i) {
                near = is_set(front->last, neighbours(graph, v)[i]);
            }
            if (near) {
                front->own[count++] = (int32_t)v;
            }
        }
        found = share(graph, front, count);
        for (uint64_t word = 0; word < front->words; ++word) {
            for (uint64_t left = front->last[word]; left != 0; left &= left - 1) {
                level[64 * word + (uint64_t)__builtin_ctzll(left)] = (unsigned char)next;
            }
        }
        reached += found;
    }
    return reached;
}

// Whether each vertex of this rank is one level above the lowest of its neighbours.
static int check(const Graph* graph, uint64_t root, const unsigned char* level) {
    int ok = level[root] == 0;
    for (uint64_t v = graph->begin; v < graph->end; ++v) {
        int lowest = unreached;
        for (int i = 0; i < degree; ++i) {
            const int there = level[neighbours(graph, v)[i]];
            lowest = there < lowest ? there : lowest;
        }
        ok = ok && (v == root || level[v] == lowest + 1);
    }
    return ok;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int64_t size = number_argument(argc, argv, 1, "SIZE", 1000, 1, 2000000);
    const uint64_t seed = (uint64_t)number_argument(argc, argv, 2, "SEED", 1, 0, INT32_MAX);
    const int searches = (int)number_argument(argc, argv, 3, "SEARCHES", 3, 1, 100000);

    const Graph graph = make_graph(size, seed);
    Front front = {.words = (graph.vertices + 63) / 64};
    front.last = allocate(2 * front.words, sizeof *front.last);
    front.found = front.last + front.words;
    const size_t most_own = graph.vertices / (uint64_t)graph.ranks + 1;
    front.own = allocate(most_own, sizeof *front.own);
    front.numbers = allocate(most_own * (size_t)graph.ranks, sizeof *front.numbers);
    unsigned char* level = allocate(graph.vertices, 1);
    uint64_t checksum = hash_start;
    int ok = 1;
    for (int i = 0; i < searches; ++i) {
        const uint64_t root = random_at(seed + 1000, (uint64_t)i) % graph.vertices;
        const int64_t reached = search(&graph, &front, root, level);
        const int right = check(&graph, root, level);
        ok = ok && right && reached == (int64_t)graph.vertices;
        checksum = hash_bytes(checksum, level + graph.begin, graph.end - graph.begin);
    }
    ok = everywhere(ok);
    checksum = hash_of_ranks(checksum, 0);
    if (graph.rank == 0) {
        printf("bfs: ranks %d, vertices %llu, searches %d, checksum %016llx, answer: %s\n", graph.ranks,
               (unsigned long long)graph.vertices, searches, (unsigned long long)checksum, ok ? "ok" : "WRONG");
    }
    free(front.last);
    free(front.own);
    free(front.numbers);
    free(level);
    free(graph.neighbours);
    MPI_Finalize();
    return ok ? 0 : 1;
}
