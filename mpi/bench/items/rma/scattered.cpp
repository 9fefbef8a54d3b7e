// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Put and get of data with holes, on both sides.

#include <algorithm>
#include <memory>

#include "bench/items/data.hpp"
#include "bench/items/layouts.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"
#include "bench/items/rma/epoch.hpp"

namespace hocket::bench {

namespace {

class Scattered : public Pattern {
public:
    Scattered(bool gets, const Setting& setting)
        : setting_(setting),
          gets_(gets),
          block_(static_cast<std::size_t>(setting.number("block_bytes"))),
          partners_(partners_of(setting)),
          type_(make_type(layout_of(setting.option("by")), setting.bytes, static_cast<int>(block_))),
          size_(2 * static_cast<std::size_t>(setting.bytes)),
          epoch_(setting, partners_, static_cast<std::int64_t>(size_)),
          own_(size_) {}

    void prepare(std::uint64_t seed) override {
        seed_ = seed;
        std::fill(own_.begin(), own_.end(), hole);
        epoch_.begin_own();
        std::fill_n(epoch_.memory(), size_, hole);
        if (gets_) scatter(epoch_.memory());
        epoch_.end_own();
        if (!gets_) scatter(own_.data());
    }
    void run() override {
        epoch_.begin();
        for (const int target : partners_.targets) {
            epoch_.begin_target(target);
            call(gets_ ? MPI_Get(own_.data(), 1, type_, target, 0, 1, type_, epoch_.window())
                       : MPI_Put(own_.data(), 1, type_, target, 0, 1, type_, epoch_.window()),
                 gets_ ? "MPI_Get" : "MPI_Put");
            epoch_.end_target(target);
        }
        epoch_.end();
    }
    void verify() override {
        Bytes found = own_;
        epoch_.begin_own();
        if (!gets_) std::copy_n(epoch_.memory(), size_, found.begin());
        epoch_.end_own();
        const std::vector<int>& sources = gets_ ? partners_.targets : partners_.origins;
        if (sources.empty()) return;
        Bytes data(static_cast<std::size_t>(setting_.bytes));
        for (std::size_t j = 0; j < data.size(); ++j) data[j] = found[place_with_holes(j, block_)];
        check(data, seed_, sources[0], gets_ ? "what was fetched" : "the window");
        for (std::size_t at = block_; at < size_; at += 2 * block_) {
            const auto begin = found.begin() + static_cast<std::ptrdiff_t>(at);
            const auto num = static_cast<std::ptrdiff_t>(block_);
            if (std::count(begin, begin + num, hole) == num) continue;
            throw Failure(Status::wrong_data, "there are data between the blocks of the datatype");
        }
    }
    void finish() override {
        call(MPI_Type_free(&type_), "MPI_Type_free");
        epoch_.free();
    }
    [[nodiscard]] std::int64_t bytes_moved() const override {
        return static_cast<std::int64_t>(partners_.targets.size()) * setting_.bytes;
    }

private:
    static constexpr unsigned char hole = 0xA5;
    void scatter(unsigned char* to) const {
        for (std::size_t j = 0; j < static_cast<std::size_t>(setting_.bytes); ++j) {
            to[place_with_holes(j, block_)] = data_byte(seed_, setting_.rank, j);
        }
    }

    Setting setting_;
    bool gets_;
    std::size_t block_;
    Partners partners_;
    MPI_Datatype type_;
    std::size_t size_;
    Epoch epoch_;
    Bytes own_;
    std::uint64_t seed_ = 0;
};

Item item(const char* name, const char* what, bool gets) {
    return {name,
            what,
            1,
            2,
            true,
            {{"partners", "one-way|both-ways|shift", "one-way"},
             Epoch::option,
             Epoch::info_option,
             {"by", "vector|indexed|struct|subarray", "vector"},
             block_option},
            [gets](const Setting& setting) { return std::make_unique<Scattered>(gets, setting); }};
}

}  // namespace

void add_rma_scattered(Items& items) {
    items.push_back(item("rma.put.scattered", "MPI_Put of blocks with holes between them", false));
    items.push_back(item("rma.get.scattered", "MPI_Get of blocks with holes between them", true));
}

}  // namespace hocket::bench
