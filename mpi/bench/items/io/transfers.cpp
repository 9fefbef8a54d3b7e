// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Many reads or writes in a run: in what order they go through the file, and how many are pending at once.

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>

#include "bench/items/data.hpp"
#include "bench/items/io/file.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"
#include "hocket/base/random_order.hpp"

namespace hocket::bench {

namespace {

constexpr Option order_option{"order", "segmented|strided|random", "segmented"};
constexpr Option operations_option{"operations", "", "16"};
constexpr Option depth_option{"depth", "", "1"};
constexpr Option file_or_group_option{"file", "shared|own|groups", "shared"};
constexpr Option opens_option{"opens", "false|true", "false"};

/// segmented: each rank has a segment of the file. strided: the ranks take turns, block by block. random: a segment of
/// each rank, its blocks in random order.
class Transfers : public Pattern {
public:
    Transfers(bool writes, const Setting& setting)
        : setting_(setting),
          writes_(writes),
          opens_(setting.is_set("opens")),
          num_(setting.number("operations")),
          depth_(std::min(setting.number("depth"), num_)),
          size_(static_cast<std::size_t>(setting.bytes)),
          file_(setting),
          data_(size_ * static_cast<std::size_t>(num_)),
          requests_(static_cast<std::size_t>(depth_), MPI_REQUEST_NULL) {
        MPI_Comm_rank(file_.owners(), &own_);
        MPI_Comm_size(file_.owners(), &owners_);
        blocks_.resize(static_cast<std::size_t>(num_));
        std::iota(blocks_.begin(), blocks_.end(), 0);
        if (setting.option("order") == "random") {
            const base::RandomOrder order(num_, base::random_bits(1, static_cast<std::uint64_t>(setting.rank)));
            for (int& block : blocks_) block = order.at(block);
        }
        file_.open();
        for (int k = 0; k < num_; ++k) fill(part(k), file_seed, block_of_rank(k));
        if (!writes) {
            transfer(true);
            file_.hand_over(setting.comm);
        }
        if (opens_) file_.close();
    }

    void prepare(std::uint64_t seed) override {
        seed_ = writes_ ? seed : file_seed;
        for (int k = 0; k < num_; ++k) fill(part(k), writes_ ? seed : file_seed + 1, block_of_rank(k));
    }
    void run() override {
        if (opens_) file_.reopen();
        transfer(writes_);
        if (opens_) file_.close();
    }
    void verify() override {
        if (opens_) file_.reopen();
        if (writes_) {
            file_.hand_over(setting_.comm);
            transfer(false);
        }
        if (opens_) file_.close();
        for (int k = 0; k < num_; ++k) check(part(k), seed_, block_of_rank(k), "block " + std::to_string(k));
    }
    void finish() override { file_.remove(); }

    [[nodiscard]] std::int64_t bytes_moved() const override { return static_cast<std::int64_t>(data_.size()); }
    [[nodiscard]] int operations() const override { return num_; }

private:
    static constexpr std::uint64_t file_seed = 1;

    [[nodiscard]] std::int64_t block_of_rank(int k) const { return std::int64_t{setting_.rank} * num_ + k; }
    [[nodiscard]] std::span<unsigned char> part(int k) {
        return std::span(data_).subspan(size_ * static_cast<std::size_t>(k), size_);
    }
    [[nodiscard]] MPI_Offset place(int k) const {
        const MPI_Offset block =
            setting_.option("order") == "strided" ? MPI_Offset{k} * owners_ + own_ : MPI_Offset{own_} * num_ + k;
        return block * setting_.bytes;
    }

    void transfer(bool writes) {
        const int count = static_cast<int>(size_);
        for (int i = 0; i < num_; ++i) {
            const int k = blocks_[static_cast<std::size_t>(i)];
            unsigned char* const data = part(k).data();
            if (depth_ == 1) {
                call(writes ? MPI_File_write_at(file_.handle(), place(k), data, count, MPI_BYTE, MPI_STATUS_IGNORE)
                            : MPI_File_read_at(file_.handle(), place(k), data, count, MPI_BYTE, MPI_STATUS_IGNORE),
                     writes ? "MPI_File_write_at" : "MPI_File_read_at");
                continue;
            }
            MPI_Request& request = requests_[static_cast<std::size_t>(i % depth_)];
            call(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
            call(writes ? MPI_File_iwrite_at(file_.handle(), place(k), data, count, MPI_BYTE, &request)
                        : MPI_File_iread_at(file_.handle(), place(k), data, count, MPI_BYTE, &request),
                 writes ? "MPI_File_iwrite_at" : "MPI_File_iread_at");
        }
        call(MPI_Waitall(depth_, requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    }

    Setting setting_;
    bool writes_, opens_;
    int num_, depth_;
    std::size_t size_;
    File file_;
    int own_ = 0, owners_ = 1;
    Bytes data_;
    std::vector<int> blocks_;  ///< in the order of the transfers
    std::vector<MPI_Request> requests_;
    std::uint64_t seed_ = 0;
};

/// Each rank appends blocks by the pointer that all share; the file grows, and is emptied from time to time.
class Append : public Pattern {
public:
    explicit Append(const Setting& setting)
        : setting_(setting),
          num_(setting.number("operations")),
          file_(setting),
          data_(static_cast<std::size_t>(setting.bytes)) {
        file_.open();
    }
    void prepare(std::uint64_t seed) override {
        seed_ = seed;
        fill(data_, seed, setting_.rank);
        empty();
    }
    void before() override {
        if (written_ > most_bytes) empty();
    }
    void run() override {
        for (int k = 0; k < num_; ++k) {
            call(MPI_File_write_shared(file_.handle(), data_.data(), static_cast<int>(data_.size()), MPI_BYTE,
                                       MPI_STATUS_IGNORE),
                 "MPI_File_write_shared");
        }
        written_ += setting_.ranks * num_ * setting_.bytes;
    }
    /// The blocks of all ranks, in any order.
    void verify() override {
        file_.hand_over(setting_.comm);
        std::vector<int> found(static_cast<std::size_t>(setting_.ranks));
        Bytes block(data_.size());
        for (int k = 0; k < setting_.ranks * num_; ++k) {
            call(MPI_File_read_at(file_.handle(), k * setting_.bytes, block.data(), static_cast<int>(block.size()),
                                  MPI_BYTE, MPI_STATUS_IGNORE),
                 "MPI_File_read_at");
            const int writer = block_of(block[0], seed_);
            check(block, seed_, writer, "block " + std::to_string(k) + " of the file");
            // Of more than 256 ranks, the first one of those whose blocks are alike.
            if (writer < setting_.ranks) ++found[static_cast<std::size_t>(writer)];
        }
        call(MPI_Barrier(setting_.comm), "MPI_Barrier");
        if (setting_.ranks > 256) return;
        if (std::count(found.begin(), found.end(), num_) == setting_.ranks) return;
        throw Failure(Status::wrong_data, "not every rank has as many blocks in the file as it wrote");
    }
    void finish() override { file_.remove(); }

    [[nodiscard]] std::int64_t bytes_moved() const override { return num_ * setting_.bytes; }
    [[nodiscard]] int operations() const override { return num_; }

private:
    static constexpr std::int64_t most_bytes = std::int64_t{64} << 20;

    void empty() {
        written_ = 0;
        call(MPI_Barrier(setting_.comm), "MPI_Barrier");
        call(MPI_File_set_size(file_.handle(), 0), "MPI_File_set_size");
        call(MPI_File_seek_shared(file_.handle(), 0, MPI_SEEK_SET), "MPI_File_seek_shared");
    }

    Setting setting_;
    int num_;
    File file_;
    Bytes data_;
    std::int64_t written_ = 0;
    std::uint64_t seed_ = 0;
};

Item transfers(const char* name, const char* what, bool writes) {
    return {name,
            what,
            1,
            1,
            false,
            {order_option, operations_option, depth_option, file_or_group_option, opens_option},
            [writes](const Setting& setting) { return std::make_unique<Transfers>(writes, setting); }};
}

}  // namespace

void add_transfers(Items& items) {
    items.push_back(transfers("io.many_reads", "MPI_File_read_at or MPI_File_iread_at again and again", false));
    items.push_back(transfers("io.many_writes", "MPI_File_write_at or MPI_File_iwrite_at again and again", true));
    items.push_back({"io.append",
                     "MPI_File_write_shared again and again at the end of the file",
                     1,
                     1,
                     false,
                     {operations_option, {"file", "shared", "shared"}},
                     [](const Setting& setting) { return std::make_unique<Append>(setting); }});
}

}  // namespace hocket::bench
