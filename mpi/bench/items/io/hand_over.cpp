// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Data that go from rank to rank through a file, and a file that one rank writes for all.

#include <algorithm>
#include <memory>

#include "bench/items/data.hpp"
#include "bench/items/io/file.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"

namespace hocket::bench {

namespace {

/// write: each rank writes its part, all hand over, and each reads the part of the next one. read: only the last of it.
class HandOver : public Pattern {
public:
    HandOver(bool writes, const Setting& setting)
        : setting_(setting), writes_(writes), file_(setting), data_(static_cast<std::size_t>(setting.bytes)) {
        file_.open();
    }
    void prepare(std::uint64_t seed) override {
        seed_ = seed;
        given_.resize(data_.size());
        fill(given_, seed, setting_.rank);
        std::fill(data_.begin(), data_.end(), data_byte(seed, -1, 0));
        if (!writes_) write();
    }
    void run() override {
        if (writes_) write();
        call(MPI_File_read_at(file_.handle(), next() * setting_.bytes, data_.data(), static_cast<int>(data_.size()),
                              MPI_BYTE, MPI_STATUS_IGNORE),
             "MPI_File_read_at");
    }
    void verify() override { check(data_, seed_, next(), "what rank " + std::to_string(setting_.rank) + " read"); }
    void finish() override { file_.remove(); }
    [[nodiscard]] std::int64_t bytes_moved() const override { return (writes_ ? 2 : 1) * setting_.bytes; }

private:
    [[nodiscard]] int next() const { return (setting_.rank + 1) % setting_.ranks; }
    void write() {
        call(MPI_Barrier(setting_.comm), "MPI_Barrier");  // all have read what is there
        call(MPI_File_write_at(file_.handle(), setting_.rank * setting_.bytes, given_.data(),
                               static_cast<int>(given_.size()), MPI_BYTE, MPI_STATUS_IGNORE),
             "MPI_File_write_at");
        file_.hand_over(setting_.comm);
    }

    Setting setting_;
    bool writes_;
    File file_;
    Bytes given_, data_;
    std::uint64_t seed_ = 0;
};

/// Rank 0 gathers what all have, and writes it by one call.
class GatherWrite : public Pattern {
public:
    explicit GatherWrite(const Setting& setting)
        : setting_(setting),
          file_(setting),
          data_(static_cast<std::size_t>(setting.bytes)),
          all_(setting.rank == 0 ? data_.size() * static_cast<std::size_t>(setting.ranks) : 0) {
        file_.open();
    }
    void prepare(std::uint64_t seed) override {
        seed_ = seed;
        fill(data_, seed, setting_.rank);
    }
    void run() override {
        const int count = static_cast<int>(setting_.bytes);
        call(MPI_Gather(data_.data(), count, MPI_BYTE, all_.data(), count, MPI_BYTE, 0, setting_.comm), "MPI_Gather");
        if (setting_.rank != 0) return;
        call(MPI_File_write_at(file_.handle(), 0, all_.data(), static_cast<int>(all_.size()), MPI_BYTE,
                               MPI_STATUS_IGNORE),
             "MPI_File_write_at");
    }
    void verify() override {
        file_.hand_over(setting_.comm);
        Bytes found(data_.size());
        call(MPI_File_read_at(file_.handle(), setting_.rank * setting_.bytes, found.data(),
                              static_cast<int>(found.size()), MPI_BYTE, MPI_STATUS_IGNORE),
             "MPI_File_read_at");
        check(found, seed_, setting_.rank, "the file");
        call(MPI_Barrier(setting_.comm), "MPI_Barrier");
    }
    void finish() override { file_.remove(); }
    [[nodiscard]] std::int64_t bytes_moved() const override { return setting_.bytes; }

private:
    Setting setting_;
    File file_;
    Bytes data_, all_;
    std::uint64_t seed_ = 0;
};

constexpr Option only_shared{"file", "shared", "shared"};

Item hand_over(const char* name, const char* what, bool writes) {
    return {name, what, 1, 1, false, {only_shared}, [writes](const Setting& setting) {
                return std::make_unique<HandOver>(writes, setting);
            }};
}

}  // namespace

void add_hand_over(Items& items) {
    items.push_back(hand_over("io.hand_over", "write, sync, barrier, sync, and read what the next rank wrote", true));
    items.push_back(hand_over("io.read_back", "MPI_File_read_at of what the next rank wrote", false));
    items.push_back({"io.gather_write",
                     "MPI_Gather to rank 0, which writes all by MPI_File_write_at",
                     1,
                     1,
                     false,
                     {only_shared},
                     [](const Setting& setting) { return std::make_unique<GatherWrite>(setting); }});
}

}  // namespace hocket::bench
