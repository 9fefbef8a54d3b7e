// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Round trips of data with holes in memory: by a datatype, packed by MPI, and packed by a loop.

#include <algorithm>
#include <memory>
#include <utility>

#include "bench/items/layouts.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/p2p/round_trip.hpp"
#include "bench/items/registry.hpp"

namespace hocket::bench {

namespace {

/// What was received lies in `scattered_`, with holes; `received()` of the base is filled from there to be checked.
class Scattered : public RoundTrip {
public:
    explicit Scattered(const Setting& setting)
        : RoundTrip(setting),
          block_(static_cast<std::size_t>(setting.number("block_bytes"))),
          given_(2 * sent().size()),
          scattered_(given_.size()) {
        const std::string& by = setting.option("by");
        packs_ = by == "pack";
        copies_ = by == "copy";
        type_ = make_type(layout_of(packs_ || copies_ ? "vector" : by), setting.bytes, static_cast<int>(block_));
        int size = 0;
        call(MPI_Pack_size(1, type_, setting.comm, &size), "MPI_Pack_size");
        packed_.resize(static_cast<std::size_t>(size));
    }

    void prepare(std::uint64_t seed) override {
        RoundTrip::prepare(seed);
        std::fill(scattered_.begin(), scattered_.end(), hole);
        for (std::size_t j = 0; j < sent().size(); ++j) given_[place_with_holes(j, block_)] = sent()[j];
    }
    void verify() override {
        for (std::size_t j = 0; j < received().size(); ++j) {
            received()[j] = std::exchange(scattered_[place_with_holes(j, block_)], hole);
        }
        RoundTrip::verify();
        if (std::count(scattered_.begin(), scattered_.end(), hole) == static_cast<std::ptrdiff_t>(scattered_.size())) {
            return;
        }
        throw Failure(Status::wrong_data, "a receive has written between the blocks of its datatype");
    }
    void finish() override { call(MPI_Type_free(&type_), "MPI_Type_free"); }

private:
    static constexpr unsigned char hole = 0xA5;

    void send() override {
        const void* data = given_.data();
        int num = 1;
        MPI_Datatype type = type_;
        if (packs_) {
            num = 0;
            call(MPI_Pack(given_.data(), 1, type_, packed_.data(), static_cast<int>(packed_.size()), &num,
                          setting().comm),
                 "MPI_Pack");
            data = packed_.data();
            type = MPI_PACKED;
        } else if (copies_) {
            for (std::size_t at = 0; at < sent().size(); at += block_) {
                std::copy_n(given_.data() + 2 * at, block_, packed_.data() + at);
            }
            data = packed_.data();
            num = count();
            type = MPI_BYTE;
        }
        call(MPI_Send(data, num, type, peer(), 0, setting().comm), "MPI_Send");
    }

    void receive() override {
        const bool is_packed = packs_ || copies_;
        const int room = packs_ ? static_cast<int>(packed_.size()) : copies_ ? count() : 1;
        const MPI_Datatype type = packs_ ? MPI_PACKED : copies_ ? MPI_BYTE : type_;
        call(MPI_Recv(is_packed ? packed_.data() : scattered_.data(), room, type, peer(), 0, setting().comm,
                      MPI_STATUS_IGNORE),
             "MPI_Recv");
        if (packs_) {
            int place = 0;
            call(MPI_Unpack(packed_.data(), room, &place, scattered_.data(), 1, type_, setting().comm), "MPI_Unpack");
        }
        for (std::size_t at = 0; copies_ && at < received().size(); at += block_) {
            std::copy_n(packed_.data() + at, block_, scattered_.data() + 2 * at);
        }
    }

    std::size_t block_;
    bool packs_ = false, copies_ = false;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    Bytes given_, scattered_, packed_;
};

}  // namespace

void add_datatypes(Items& items) {
    items.push_back({"p2p.pingpong.scattered",
                     "a round trip of blocks with holes between them",
                     1,
                     2,
                     true,
                     {{"by", "vector|indexed|struct|subarray|pack|copy", "vector"}, block_option},
                     [](const Setting& setting) { return std::make_unique<Scattered>(setting); }});
}

}  // namespace hocket::bench
