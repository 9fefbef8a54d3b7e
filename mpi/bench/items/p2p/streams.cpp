// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Many messages in flight between pairs of ranks, and an answer: bandwidth and message rate.

#include <algorithm>
#include <memory>
#include <span>

#include "bench/items/data.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"

namespace hocket::bench {

namespace {

enum class Pairs { first_two, halves };  ///< ranks 0 and 1; or each rank of the first half and one of the second

/// Each sender sends a window of messages, and its receiver answers when it has them all.
class Stream : public Pattern {
public:
    Stream(Pairs pairs, bool both_ways, const Setting& setting)
        : setting_(setting), window_(setting.number("window")), size_(static_cast<std::size_t>(setting.bytes)) {
        const int half = pairs == Pairs::halves ? setting.ranks / 2 : 1;
        if (setting.rank >= 2 * half) return;
        const bool is_first = setting.rank < half;
        peer_ = is_first ? setting.rank + half : setting.rank - half;
        sends_ = is_first || both_ways;
        receives_ = !is_first || both_ways;
        if (sends_) sent_.resize(size_ * static_cast<std::size_t>(window_));
        if (receives_) received_.resize(size_ * static_cast<std::size_t>(window_));
        requests_.reserve(2 * static_cast<std::size_t>(window_));
    }

    void prepare(std::uint64_t seed) override {
        seed_ = seed;
        for (int k = 0; sends_ && k < window_; ++k) fill(message(sent_, k), seed, block(setting_.rank, k));
        std::fill(received_.begin(), received_.end(), data_byte(seed, -1, 0));
    }

    void run() override {
        if (peer_ < 0) return;
        requests_.clear();
        const int count = static_cast<int>(size_);
        for (int k = 0; receives_ && k < window_; ++k) {
            call(MPI_Irecv(message(received_, k).data(), count, MPI_BYTE, peer_, data_tag, setting_.comm,
                           &requests_.emplace_back()),
                 "MPI_Irecv");
        }
        for (int k = 0; sends_ && k < window_; ++k) {
            call(MPI_Isend(message(sent_, k).data(), count, MPI_BYTE, peer_, data_tag, setting_.comm,
                           &requests_.emplace_back()),
                 "MPI_Isend");
        }
        call(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
        if (receives_) call(MPI_Send(nullptr, 0, MPI_BYTE, peer_, answer_tag, setting_.comm), "MPI_Send");
        if (!sends_) return;
        call(MPI_Recv(nullptr, 0, MPI_BYTE, peer_, answer_tag, setting_.comm, MPI_STATUS_IGNORE), "MPI_Recv");
    }

    void verify() override {
        for (int k = 0; receives_ && k < window_; ++k) {
            check(message(received_, k), seed_, block(peer_, k),
                  "message " + std::to_string(k) + " to rank " + std::to_string(setting_.rank));
        }
    }

    [[nodiscard]] std::int64_t bytes_moved() const override { return static_cast<std::int64_t>(sent_.size()); }
    [[nodiscard]] int operations() const override { return window_; }

private:
    static constexpr int data_tag = 0, answer_tag = 1;
    [[nodiscard]] std::int64_t block(int sender, int k) const { return std::int64_t{sender} * window_ + k; }
    [[nodiscard]] std::span<unsigned char> message(Bytes& all, int k) const {
        return std::span(all).subspan(size_ * static_cast<std::size_t>(k), size_);
    }

    Setting setting_;
    int window_;
    std::size_t size_;
    int peer_ = -1;
    bool sends_ = false, receives_ = false;
    Bytes sent_, received_;
    std::vector<MPI_Request> requests_;
    std::uint64_t seed_ = 0;
};

/// What the processor does for a message: to start its send, or to receive one that is there already.
class Overhead : public Pattern {
public:
    Overhead(bool of_send, const Setting& setting)
        : setting_(setting), of_send_(of_send), num_(setting.number("operations")) {
        if (setting.rank > 1) return;
        size_ = static_cast<std::size_t>(setting.bytes);
        data_.resize(size_ * static_cast<std::size_t>(num_));
        requests_.assign(static_cast<std::size_t>(num_), MPI_REQUEST_NULL);
    }

    void prepare(std::uint64_t seed) override {
        complete();
        seed_ = seed;
        for (int k = 0; setting_.rank == 0 && k < num_; ++k) fill(message(k), seed, k);
        if (setting_.rank == 1) std::fill(data_.begin(), data_.end(), data_byte(seed, -1, 0));
    }
    /// The side that is not measured does its part.
    void before() override {
        complete();
        is_open_ = true;
        if (of_send_ && setting_.rank == 1) start_all([&](int k) { return receive(k); });
        if (!of_send_ && setting_.rank == 0) start_all([&](int k) { return send(k); });
        call(MPI_Barrier(setting_.comm), "MPI_Barrier");
        // A message that a receiver has not looked for may not have arrived.
        int is_there = 0;
        for (int i = 0; !of_send_ && setting_.rank == 1 && i < looks; ++i) {
            call(MPI_Iprobe(0, 0, setting_.comm, &is_there, MPI_STATUS_IGNORE), "MPI_Iprobe");
        }
    }
    void run() override {
        if (of_send_ && setting_.rank == 0) start_all([&](int k) { return send(k); });
        if (of_send_ || setting_.rank != 1) return;
        for (int k = 0; k < num_; ++k) {
            call(MPI_Recv(message(k).data(), static_cast<int>(size_), MPI_BYTE, 0, 0, setting_.comm, MPI_STATUS_IGNORE),
                 "MPI_Recv");
        }
    }
    void verify() override {
        complete();
        for (int k = 0; setting_.rank == 1 && k < num_; ++k)
            check(message(k), seed_, k, "message " + std::to_string(k));
    }
    void finish() override { complete(); }
    [[nodiscard]] int operations() const override { return num_; }

private:
    static constexpr int looks = 100;

    int send(int k) {
        return MPI_Isend(message(k).data(), static_cast<int>(size_), MPI_BYTE, 1, 0, setting_.comm, &request(k));
    }
    int receive(int k) {
        return MPI_Irecv(message(k).data(), static_cast<int>(size_), MPI_BYTE, 0, 0, setting_.comm, &request(k));
    }
    template <class Start>
    void start_all(const Start& start) {
        for (int k = 0; k < num_; ++k) call(start(k), of_send_ ? "MPI_Isend" : "MPI_Irecv");
    }
    void complete() {
        if (!is_open_) return;
        is_open_ = false;
        if (requests_.empty()) return;
        call(MPI_Waitall(num_, requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    }
    [[nodiscard]] MPI_Request& request(int k) { return requests_[static_cast<std::size_t>(k)]; }
    [[nodiscard]] std::span<unsigned char> message(int k) {
        return std::span(data_).subspan(size_ * static_cast<std::size_t>(k), size_);
    }

    Setting setting_;
    bool of_send_;
    int num_;
    std::size_t size_ = 0;
    bool is_open_ = false;  ///< a run was begun whose requests may be pending
    Bytes data_;
    std::vector<MPI_Request> requests_;
    std::uint64_t seed_ = 0;
};

Item stream(const char* name, const char* what, Pairs pairs, bool both_ways) {
    return {name, what, 0, 2, true, {{"window", "", "64"}}, [=](const Setting& setting) {
                return std::make_unique<Stream>(pairs, both_ways, setting);
            }};
}

Item overhead(const char* name, const char* what, bool of_send) {
    return {name, what, 0, 2, false, {{"operations", "", "16"}}, [=](const Setting& setting) {
                return std::make_unique<Overhead>(of_send, setting);
            }};
}

}  // namespace

void add_streams(Items& items) {
    items.push_back(
        stream("p2p.bandwidth", "a window of messages from rank 0 to rank 1, and an answer", Pairs::first_two, false));
    items.push_back(stream("p2p.bidirectional", "windows of messages of ranks 0 and 1 to each other, and answers",
                           Pairs::first_two, true));
    items.push_back(stream("p2p.message_rate",
                           "windows of messages from one half of the ranks to the other, and answers", Pairs::halves,
                           false));
    items.push_back(stream("p2p.message_rate_both_ways",
                           "windows of messages of both halves of the ranks to each other", Pairs::halves, true));
    items.push_back(overhead("p2p.send_overhead", "the calls of MPI_Isend alone: o_s of LogGP", true));
    items.push_back(overhead("p2p.receive_overhead", "MPI_Recv of messages that are there: o_r of LogGP", false));
}

}  // namespace hocket::bench
