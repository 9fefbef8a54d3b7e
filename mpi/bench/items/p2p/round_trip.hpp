// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>

#include "bench/items/data.hpp"
#include "bench/items/pattern.hpp"

namespace hocket::bench {

/// A message from rank 0 to rank 1 and one back; the other ranks do nothing. How it is sent and received is said by
/// those that derive from it.
class RoundTrip : public Pattern {
public:
    explicit RoundTrip(const Setting& setting)
        : setting_(setting),
          takes_part_(setting.rank < 2),
          sent_(takes_part_ ? static_cast<std::size_t>(setting.bytes) : 0),
          received_(sent_.size()) {}

    void prepare(std::uint64_t seed) override {
        seed_ = seed;
        fill(sent_, seed, setting_.rank);
        std::fill(received_.begin(), received_.end(), data_byte(seed, -1, 0));
    }
    void run() override {
        if (!takes_part_) return;
        if (setting_.rank == 0) send();
        receive();
        if (setting_.rank == 1) send();
    }
    void verify() override {
        if (takes_part_) check(received_, seed_, peer(), "what rank " + std::to_string(setting_.rank) + " received");
    }

    [[nodiscard]] std::int64_t bytes_moved() const override { return static_cast<std::int64_t>(sent_.size()); }
    [[nodiscard]] int operations() const override { return 2; }

protected:
    virtual void send() = 0;
    virtual void receive() = 0;

    [[nodiscard]] const Setting& setting() const { return setting_; }
    [[nodiscard]] bool takes_part() const { return takes_part_; }
    [[nodiscard]] int peer() const { return 1 - setting_.rank; }
    [[nodiscard]] int count() const { return static_cast<int>(sent_.size()); }
    [[nodiscard]] Bytes& sent() { return sent_; }
    [[nodiscard]] Bytes& received() { return received_; }

private:
    Setting setting_;
    bool takes_part_;
    Bytes sent_, received_;
    std::uint64_t seed_ = 0;
};

}  // namespace hocket::bench
