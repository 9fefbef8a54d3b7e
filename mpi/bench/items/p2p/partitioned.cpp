// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Partitioned messages of MPI-4: the receiver gets one message, the sender makes its parts ready one after the other.

#include <algorithm>
#include <memory>

#include "bench/items/data.hpp"
#include "bench/items/later_function.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/partners.hpp"
#include "bench/items/registry.hpp"
#include "bench/items/started.hpp"

namespace hocket::bench {

namespace {

using PsendInit = int(const void*, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request*);
using PrecvInit = int(void*, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request*);
using Pready = int(int, MPI_Request);

class Partitioned : public Started {
public:
    explicit Partitioned(const Setting& setting)
        : setting_(setting),
          partners_(partners_of(setting)),
          parts_(setting.number("partitions")),
          ready_(later_function<Pready>("Pready")),
          size_(static_cast<std::size_t>(parts_ * setting.bytes)),
          sent_(partners_.targets.size() * size_),
          received_(partners_.origins.size() * size_) {
        const auto send = later_function<PsendInit>("Psend_init");
        const auto receive = later_function<PrecvInit>("Precv_init");
        for (std::size_t i = 0; i < partners_.origins.size(); ++i) {
            call(receive(received_.data() + i * size_, parts_, setting.bytes, MPI_BYTE, partners_.origins[i], 0,
                         setting.comm, MPI_INFO_NULL, &requests_.emplace_back()),
                 "MPI_Precv_init");
        }
        for (std::size_t i = 0; i < partners_.targets.size(); ++i) {
            call(send(sent_.data() + i * size_, parts_, setting.bytes, MPI_BYTE, partners_.targets[i], 0, setting.comm,
                      MPI_INFO_NULL, &requests_.emplace_back()),
                 "MPI_Psend_init");
        }
    }

    void prepare(std::uint64_t seed) override {
        seed_ = seed;
        for (std::size_t i = 0; i < partners_.targets.size(); ++i) {
            fill(std::span(sent_).subspan(i * size_, size_), seed, partners_.targets[i]);
        }
        std::fill(received_.begin(), received_.end(), data_byte(seed, -1, 0));
    }

    void start() override {
        if (requests_.empty()) return;  // Open MPI 5.0 takes no empty list
        call(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()), "MPI_Startall");
        for (std::size_t i = partners_.origins.size(); i < requests_.size(); ++i) {
            for (int part = 0; part < parts_; ++part) call(ready_(part, requests_[i]), "MPI_Pready");
        }
    }
    void complete() override {
        if (requests_.empty()) return;
        call(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    }

    void verify() override {
        for (std::size_t i = 0; i < partners_.origins.size(); ++i) {
            check(std::span(received_).subspan(i * size_, size_), seed_, setting_.rank,
                  "what rank " + std::to_string(setting_.rank) + " received");
        }
    }

    void finish() override {
        for (MPI_Request& request : requests_) call(MPI_Request_free(&request), "MPI_Request_free");
    }

    [[nodiscard]] std::int64_t bytes_moved() const override { return static_cast<std::int64_t>(sent_.size()); }
    [[nodiscard]] int operations() const override { return parts_; }

private:
    Setting setting_;
    Partners partners_;
    int parts_;
    Pready* ready_;
    std::size_t size_;
    Bytes sent_, received_;
    std::vector<MPI_Request> requests_;  ///< receives, then sends
    std::uint64_t seed_ = 0;
};

}  // namespace

void add_partitioned(Items& items) {
    items.push_back(
        {"p2p.partitioned",
         "partitioned messages of MPI-4; bytes are those of a partition",
         1,
         2,
         true,
         {partners_option, {"partitions", "", "4"}, overlap_option},
         [](const Setting& setting) { return overlapped(std::make_unique<Partitioned>(setting), setting); }});
}

}  // namespace hocket::bench
