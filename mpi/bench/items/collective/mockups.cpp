// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Collectives made of other collectives: the right-hand sides of the performance guidelines of [Traff10] and
// [HunoldLubbe16]. An MPI whose own function is slower than such a mock-up could be improved by it.

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "bench/items/collective/elements.hpp"
#include "bench/items/collective/pieces.hpp"
#include "bench/items/data.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"

namespace hocket::bench {

namespace {

constexpr int root = 0;

/// What mock-ups work with. `count` elements are a block: of a rank for another one, or the whole vector.
struct Work {
    MPI_Comm comm;
    int rank, ranks, count;
    int part;  ///< of a vector that is divided among the ranks, padded to be the same on all
    MPI_Datatype type;
    MPI_Op op;
    std::size_t size;  ///< bytes of an element
    Bytes send, receive;
    Bytes whole;  ///< room for a block of each rank
    Bytes own;    ///< room for a part
    std::vector<int> counts, places;

    [[nodiscard]] bool is_root() const { return rank == root; }
    [[nodiscard]] int all() const { return count * ranks; }
    /// `num` elements.
    void copy(const unsigned char* from, unsigned char* to, int num) const {
        std::copy_n(from, static_cast<std::size_t>(num) * size, to);
    }
    [[nodiscard]] unsigned char* block(Bytes& of, int number, int elements) const {
        return of.data() + static_cast<std::size_t>(number) * static_cast<std::size_t>(elements) * size;
    }
};

// Where a vector cannot be divided evenly it is copied to where there is room for the padding, and back.

void scatter_allgather(Work& w) {
    const bool is_even = w.part * w.ranks == w.count;
    unsigned char* vector = is_even ? w.receive.data() : w.whole.data();
    if (!is_even && w.is_root()) w.copy(w.receive.data(), vector, w.count);
    call(MPI_Scatter(vector, w.part, w.type, w.own.data(), w.part, w.type, root, w.comm), "MPI_Scatter");
    call(MPI_Allgather(w.own.data(), w.part, w.type, vector, w.part, w.type, w.comm), "MPI_Allgather");
    if (!is_even) w.copy(vector, w.receive.data(), w.count);
}

void reduce_to_parts(Work& w) {
    const bool is_even = w.part * w.ranks == w.count;
    if (!is_even) w.copy(w.send.data(), w.whole.data(), w.count);
    const void* vector = is_even ? w.send.data() : w.whole.data();
    call(MPI_Reduce_scatter_block(vector, w.own.data(), w.part, w.type, w.op, w.comm), "MPI_Reduce_scatter_block");
}

void reduce_scatter_allgather(Work& w) {
    reduce_to_parts(w);
    const bool is_even = w.part * w.ranks == w.count;
    unsigned char* vector = is_even ? w.receive.data() : w.whole.data();
    call(MPI_Allgather(w.own.data(), w.part, w.type, vector, w.part, w.type, w.comm), "MPI_Allgather");
    if (!is_even) w.copy(vector, w.receive.data(), w.count);
}

void reduce_scatter_gather(Work& w) {
    reduce_to_parts(w);
    const bool is_even = w.part * w.ranks == w.count;
    unsigned char* vector = is_even ? w.receive.data() : w.whole.data();
    call(MPI_Gather(w.own.data(), w.part, w.type, vector, w.part, w.type, root, w.comm), "MPI_Gather");
    if (!is_even && w.is_root()) w.copy(vector, w.receive.data(), w.count);
}

void reduce_bcast(Work& w) {
    call(MPI_Reduce(w.send.data(), w.receive.data(), w.count, w.type, w.op, root, w.comm), "MPI_Reduce");
    call(MPI_Bcast(w.receive.data(), w.count, w.type, root, w.comm), "MPI_Bcast");
}

void gather_bcast(Work& w) {
    call(MPI_Gather(w.send.data(), w.count, w.type, w.receive.data(), w.count, w.type, root, w.comm), "MPI_Gather");
    call(MPI_Bcast(w.receive.data(), w.all(), w.type, root, w.comm), "MPI_Bcast");
}

void alltoall_of_copies(Work& w) {
    for (int i = 0; i < w.ranks; ++i) w.copy(w.send.data(), w.block(w.whole, i, w.count), w.count);
    call(MPI_Alltoall(w.whole.data(), w.count, w.type, w.receive.data(), w.count, w.type, w.comm), "MPI_Alltoall");
}

void alltoallv(Work& w) {
    call(MPI_Alltoallv(w.send.data(), w.counts.data(), w.places.data(), w.type, w.receive.data(), w.counts.data(),
                       w.places.data(), w.type, w.comm),
         "MPI_Alltoallv");
}

void allgather_to_root(Work& w) {
    Bytes& to = w.is_root() ? w.receive : w.whole;
    call(MPI_Allgather(w.send.data(), w.count, w.type, to.data(), w.count, w.type, w.comm), "MPI_Allgather");
}

void gatherv(Work& w) {
    call(MPI_Gatherv(w.send.data(), w.count, w.type, w.receive.data(), w.counts.data(), w.places.data(), w.type, root,
                     w.comm),
         "MPI_Gatherv");
}

void allreduce_to_root(Work& w) {
    Bytes& to = w.is_root() ? w.receive : w.whole;
    call(MPI_Allreduce(w.send.data(), to.data(), w.count, w.type, w.op, w.comm), "MPI_Allreduce");
}

void reduce_scatter(Work& w) {
    call(MPI_Reduce_scatter(w.send.data(), w.receive.data(), w.counts.data(), w.type, w.op, w.comm),
         "MPI_Reduce_scatter");
}

void reduce_then_scatter(Work& w) {
    call(MPI_Reduce(w.send.data(), w.whole.data(), w.all(), w.type, w.op, root, w.comm), "MPI_Reduce");
    call(MPI_Scatter(w.whole.data(), w.count, w.type, w.receive.data(), w.count, w.type, root, w.comm), "MPI_Scatter");
}

void allreduce_own_block(Work& w) {
    call(MPI_Allreduce(w.send.data(), w.whole.data(), w.all(), w.type, w.op, w.comm), "MPI_Allreduce");
    w.copy(w.block(w.whole, w.rank, w.count), w.receive.data(), w.count);
}

void exscan_reduce_local(Work& w) {
    call(MPI_Exscan(w.send.data(), w.receive.data(), w.count, w.type, w.op, w.comm), "MPI_Exscan");
    if (w.rank == 0) {
        w.copy(w.send.data(), w.receive.data(), w.count);
    } else {
        call(MPI_Reduce_local(w.send.data(), w.receive.data(), w.count, w.type, w.op), "MPI_Reduce_local");
    }
}

void bcast_own_block(Work& w) {
    Bytes& blocks = w.is_root() ? w.send : w.whole;
    call(MPI_Bcast(blocks.data(), w.all(), w.type, root, w.comm), "MPI_Bcast");
    w.copy(w.block(blocks, w.rank, w.count), w.receive.data(), w.count);
}

void scatterv(Work& w) {
    call(MPI_Scatterv(w.send.data(), w.counts.data(), w.places.data(), w.type, w.receive.data(), w.count, w.type, root,
                      w.comm),
         "MPI_Scatterv");
}

struct Mockup {
    const char* as;
    void (*run)(Work&);
};

struct Imitated {
    const char* name;
    Movement movement;
    std::span<const Mockup> mockups;
};

constexpr Mockup of_allgather[] = {{"gather+bcast", gather_bcast}, {"alltoall", alltoall_of_copies}};
constexpr Mockup of_allreduce[] = {{"reduce+bcast", reduce_bcast},
                                   {"reduce_scatter_block+allgather", reduce_scatter_allgather}};
constexpr Mockup of_alltoall[] = {{"alltoallv", alltoallv}};
constexpr Mockup of_bcast[] = {{"scatter+allgather", scatter_allgather}};
constexpr Mockup of_gather[] = {{"allgather", allgather_to_root}, {"gatherv", gatherv}};
constexpr Mockup of_reduce[] = {{"allreduce", allreduce_to_root},
                                {"reduce_scatter_block+gather", reduce_scatter_gather}};
constexpr Mockup of_reduce_scatter_block[] = {
    {"reduce+scatter", reduce_then_scatter}, {"reduce_scatter", reduce_scatter}, {"allreduce", allreduce_own_block}};
constexpr Mockup of_scan[] = {{"exscan+reduce_local", exscan_reduce_local}};
constexpr Mockup of_scatter[] = {{"bcast", bcast_own_block}, {"scatterv", scatterv}};

constexpr Imitated imitated_functions[] = {
    {"allgather", Movement::allgather, of_allgather},
    {"allreduce", Movement::allreduce, of_allreduce},
    {"alltoall", Movement::alltoall, of_alltoall},
    {"bcast", Movement::bcast, of_bcast},
    {"gather", Movement::gather, of_gather},
    {"reduce", Movement::reduce, of_reduce},
    {"scan", Movement::scan, of_scan},
    {"scatter", Movement::scatter, of_scatter},
    {"reduce_scatter_block", Movement::reduce_scatter, of_reduce_scatter_block},
};

bool reduces(const Imitated& what) { return what.movement >= Movement::reduce; }

class MockupPattern : public Pattern {
public:
    MockupPattern(const Imitated& what, const Setting& setting)
        : what_(what),
          mockup_(*std::find_if(what.mockups.begin(), what.mockups.end(),
                                [&](const Mockup& one) { return setting.option("as") == one.as; })),
          elements_(elements_of(reduces(what) ? setting.option("operator") : "bytes")),
          exchange_(what.movement, setting.rank, setting.ranks, {}, setting.bytes / elements_.size, false) {
        const std::int64_t count = setting.bytes / elements_.size, ranks = setting.ranks;
        if (count * ranks > std::numeric_limits<int>::max()) {
            throw Failure(Status::unsupported, "blocks of all ranks together are more elements than an int counts");
        }
        const std::int64_t part = (count + ranks - 1) / ranks;
        work_ = {setting.comm,
                 setting.rank,
                 setting.ranks,
                 static_cast<int>(count),
                 static_cast<int>(part),
                 elements_.type,
                 elements_.op,
                 static_cast<std::size_t>(elements_.size),
                 {},
                 {},
                 {},
                 {},
                 {},
                 {}};
        const auto bytes_of = [&](std::int64_t num) { return static_cast<std::size_t>(num * elements_.size); };
        work_.send.resize(bytes_of(total(exchange_.sent(root))));
        work_.receive.resize(bytes_of(total(exchange_.received(root))));
        work_.whole.resize(bytes_of(std::max(count, part) * ranks));
        work_.own.resize(bytes_of(part));
        work_.counts.assign(static_cast<std::size_t>(ranks), work_.count);
        for (int i = 0; i < setting.ranks; ++i) work_.places.push_back(i * work_.count);
    }

    void prepare(std::uint64_t seed) override {
        seed_ = seed;
        spoil(elements_, work_.receive.data(), work_.receive.size() / work_.size);
        Bytes& input = what_.movement == Movement::bcast ? work_.receive : work_.send;
        for (const Piece& piece : exchange_.sent(root)) {
            fill(elements_, input.data() + static_cast<std::size_t>(piece.place) * work_.size,
                 static_cast<std::size_t>(piece.count), seed, work_.rank, piece.destination);
        }
    }

    void run() override { mockup_.run(work_); }

    void verify() override {
        for (const Piece& piece : exchange_.received(root)) {
            check(elements_, work_.receive.data() + static_cast<std::size_t>(piece.place) * work_.size,
                  static_cast<std::size_t>(piece.count), seed_, piece.first, piece.last, piece.destination,
                  "the result on rank " + std::to_string(work_.rank));
        }
    }

    [[nodiscard]] std::int64_t bytes_moved() const override { return static_cast<std::int64_t>(work_.send.size()); }

private:
    const Imitated& what_;
    const Mockup& mockup_;
    const Elements& elements_;
    Exchange exchange_;
    Work work_{};
    std::uint64_t seed_ = 0;
};

/// "a|b", kept for as long as the program runs.
std::string_view names_of(const Imitated& what) {
    static std::vector<std::unique_ptr<std::string>> kept;
    std::string& names = *kept.emplace_back(std::make_unique<std::string>());
    for (const Mockup& mockup : what.mockups) names += (names.empty() ? "" : "|") + std::string(mockup.as);
    return names;
}

}  // namespace

void add_mockups(Items& items) {
    for (const Imitated& what : imitated_functions) {
        std::vector<Option> options{{"as", names_of(what), what.mockups[0].as}};
        if (reduces(what)) options.push_back(operator_option);
        items.push_back({std::string("mockup.") + what.name, std::string("what ") + what.name + " does, by others",
                         reduces(what) ? 8 : 0, 1, true, options,
                         [&what](const Setting& setting) { return std::make_unique<MockupPattern>(what, setting); }});
    }
}

}  // namespace hocket::bench
