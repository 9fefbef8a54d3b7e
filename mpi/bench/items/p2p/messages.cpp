// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Non-blocking messages between partners, the reference for one-sided communication.

#include <algorithm>
#include <memory>

#include "bench/items/data.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/partners.hpp"
#include "bench/items/registry.hpp"
#include "bench/items/started.hpp"

namespace hocket::bench {

namespace {

class Messages : public Started {
public:
    explicit Messages(const Setting& setting)
        : setting_(setting), partners_(partners_of(setting)), operations_(setting.number("operations")) {
        sent_.resize(partners_.targets.size() * static_cast<std::size_t>(operations_ * setting.bytes));
        received_.resize(partners_.origins.size() * static_cast<std::size_t>(operations_ * setting.bytes));
        requests_.reserve((partners_.targets.size() + partners_.origins.size()) *
                          static_cast<std::size_t>(operations_));
    }

    void prepare(std::uint64_t seed) override {
        seed_ = seed;
        for_each(partners_.targets, sent_, [&](int target, int k, auto part) { fill(part, seed, block(target, k)); });
        std::fill(received_.begin(), received_.end(), data_byte(seed, -1, 0));
    }

    void start() override {
        requests_.clear();
        const int count = static_cast<int>(setting_.bytes);
        for_each(partners_.origins, received_, [&](int origin, int k, auto part) {
            call(MPI_Irecv(part.data(), count, MPI_BYTE, origin, k, setting_.comm, &requests_.emplace_back()),
                 "MPI_Irecv");
        });
        for_each(partners_.targets, sent_, [&](int target, int k, auto part) {
            call(MPI_Isend(part.data(), count, MPI_BYTE, target, k, setting_.comm, &requests_.emplace_back()),
                 "MPI_Isend");
        });
    }
    void complete() override {
        call(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    }

    void verify() override {
        for_each(partners_.origins, received_, [&](int origin, int k, auto part) {
            check(part, seed_, block(setting_.rank, k),
                  "what rank " + std::to_string(setting_.rank) + " received from rank " + std::to_string(origin));
        });
    }

    [[nodiscard]] std::int64_t bytes_moved() const override { return static_cast<std::int64_t>(sent_.size()); }
    [[nodiscard]] int operations() const override { return operations_; }

private:
    [[nodiscard]] std::int64_t block(int receiver, int k) const { return std::int64_t{receiver} * operations_ + k; }

    template <class Function>
    void for_each(const std::vector<int>& ranks, Bytes& data, const Function& function) {
        const auto size = static_cast<std::size_t>(setting_.bytes);
        std::size_t place = 0;
        for (const int rank : ranks) {
            for (int k = 0; k < operations_; ++k, place += size) {
                function(rank, k, std::span(data).subspan(place, size));
            }
        }
    }

    Setting setting_;
    Partners partners_;
    int operations_;
    Bytes sent_, received_;
    std::vector<MPI_Request> requests_;
    std::uint64_t seed_ = 0;
};

}  // namespace

void add_messages(Items& items) {
    items.push_back({"p2p.isend_irecv",
                     "MPI_Isend and MPI_Irecv between partners, and MPI_Waitall",
                     0,
                     2,
                     true,
                     {partners_option, operations_option, overlap_option},
                     [](const Setting& setting) { return overlapped(std::make_unique<Messages>(setting), setting); }});
}

}  // namespace hocket::bench
