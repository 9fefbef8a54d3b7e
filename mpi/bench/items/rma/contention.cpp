// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Ranks that want the same: a counter, a lock, random places, and a target that computes meanwhile.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "bench/items/medians.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"
#include "bench/items/window_bytes.hpp"
#include "common/clock.hpp"
#include "hocket/base/random_order.hpp"

namespace hocket::bench {

namespace {

constexpr Option contended_operations{"operations", "", "16"};

/// A window of numbers on each rank, in one epoch of MPI_Win_lock_all or none.
class Numbers : public Pattern {
public:
    Numbers(const Setting& setting, std::int64_t num, bool locks_all)
        : setting_(setting), num_(num), locks_all_(locks_all) {
        call_making_window(MPI_Win_allocate(whole_lines(num * MPI_Aint{sizeof(std::int64_t)}), sizeof(std::int64_t),
                                            MPI_INFO_NULL, setting.comm, &numbers_, &window_),
                           "MPI_Win_allocate");
        MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
        if (locks_all) call(MPI_Win_lock_all(0, window_), "MPI_Win_lock_all");
    }
    void finish() override {
        if (locks_all_) call(MPI_Win_unlock_all(window_), "MPI_Win_unlock_all");
        call(MPI_Win_free(&window_), "MPI_Win_free");
    }

protected:
    [[nodiscard]] const Setting& setting() const { return setting_; }
    [[nodiscard]] MPI_Win window() const { return window_; }
    /// Around what a rank does with its own part: nobody else uses it then.
    template <class Function>
    void own(const Function& function) {
        if (locks_all_) call(MPI_Win_flush_all(window_), "MPI_Win_flush_all");
        call(MPI_Barrier(setting_.comm), "MPI_Barrier");
        if (!locks_all_) call(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, setting_.rank, 0, window_), "MPI_Win_lock");
        call(MPI_Win_sync(window_), "MPI_Win_sync");
        function(std::span(numbers_, static_cast<std::size_t>(num_)));
        call(MPI_Win_sync(window_), "MPI_Win_sync");
        if (!locks_all_) call(MPI_Win_unlock(setting_.rank, window_), "MPI_Win_unlock");
        call(MPI_Barrier(setting_.comm), "MPI_Barrier");
    }

private:
    Setting setting_;
    std::int64_t num_;
    bool locks_all_;
    std::int64_t* numbers_ = nullptr;
    MPI_Win window_ = MPI_WIN_NULL;
};

/// All ranks count up one number on rank 0.
class Counter : public Numbers {
public:
    explicit Counter(const Setting& setting)
        : Numbers(setting, 1, true), fetched_(static_cast<std::size_t>(setting.number("operations"))) {}
    void prepare(std::uint64_t /*seed*/) override {
        own([](std::span<std::int64_t> numbers) { numbers[0] = 0; });
    }
    void run() override {
        const std::int64_t one = 1;
        for (std::int64_t& before : fetched_) {
            call(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, window()), "MPI_Fetch_and_op");
            call(MPI_Win_flush(0, window()), "MPI_Win_flush");
        }
    }
    /// Each value was fetched once.
    void verify() override {
        std::vector<std::int64_t> all(fetched_.size() * static_cast<std::size_t>(setting().ranks));
        const int count = static_cast<int>(fetched_.size());
        call(MPI_Allgather(fetched_.data(), count, MPI_INT64_T, all.data(), count, MPI_INT64_T, setting().comm),
             "MPI_Allgather");
        std::sort(all.begin(), all.end());
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i] == static_cast<std::int64_t>(i)) continue;
            throw Failure(Status::wrong_data, "the counter was " + std::to_string(all[i]) + " where it should be " +
                                                  std::to_string(i) + ": increments are lost or doubled");
        }
    }
    [[nodiscard]] int operations() const override { return static_cast<int>(fetched_.size()); }

private:
    std::vector<std::int64_t> fetched_;
};

/// All ranks lock rank 0 exclusively, and count up a number there by get and put. Its parts are the times from the wish
/// to lock until the value is there.
class Lock : public Numbers {
public:
    explicit Lock(const Setting& setting) : Numbers(setting, 1, false), num_(setting.number("operations")) {}
    void prepare(std::uint64_t /*seed*/) override {
        own([](std::span<std::int64_t> numbers) { numbers[0] = 0; });
    }
    void run() override {
        for (int i = 0; i < num_; ++i) {
            std::int64_t value = 0;
            const std::int64_t begin_ns = now_ns();
            call(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window()), "MPI_Win_lock");
            call(MPI_Get(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, window()), "MPI_Get");
            call(MPI_Win_flush(0, window()), "MPI_Win_flush");
            waits_.add(now_ns() - begin_ns);
            ++value;
            call(MPI_Put(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, window()), "MPI_Put");
            call(MPI_Win_unlock(0, window()), "MPI_Win_unlock");
        }
    }
    void verify() override {
        std::int64_t found = 0;
        own([&](std::span<std::int64_t> numbers) { found = numbers[0]; });
        const std::int64_t expected = std::int64_t{num_} * setting().ranks;
        if (setting().rank != 0 || found == expected) return;
        throw Failure(Status::wrong_data,
                      "under the lock " + std::to_string(expected) + " was counted as " + std::to_string(found));
    }
    [[nodiscard]] int operations() const override { return num_; }
    [[nodiscard]] std::vector<Part> parts() const override {
        return {
            {"wait_median", waits_.median()}, {"wait_p95", waits_.quantile(0.95)}, {"wait_max", waits_.quantile(1)}};
    }

private:
    int num_;
    Medians waits_;
};

/// Each rank updates numbers at random on all ranks. The same updates once more undo them.
class RandomAccess : public Numbers {
public:
    explicit RandomAccess(const Setting& setting)
        : Numbers(setting, table, true), num_(setting.number("operations")), values_(static_cast<std::size_t>(num_)) {}
    void prepare(std::uint64_t seed) override {
        seed_ = seed;
        own([](std::span<std::int64_t> numbers) {
            for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
        });
    }
    void run() override {
        for (int i = 0; i < num_; ++i) {
            const std::uint64_t bits = base::random_bits(seed_ * 4096 + static_cast<std::uint64_t>(setting().rank),
                                                         static_cast<std::uint64_t>(i));
            auto& value = values_[static_cast<std::size_t>(i)];
            value = static_cast<std::int64_t>(bits >> 1U);
            const int target = static_cast<int>(bits % static_cast<std::uint64_t>(setting().ranks));
            call(MPI_Accumulate(&value, 1, MPI_INT64_T, target, static_cast<MPI_Aint>(bits / 64 % table), 1,
                                MPI_INT64_T, MPI_BXOR, window()),
                 "MPI_Accumulate");
        }
        call(MPI_Win_flush_all(window()), "MPI_Win_flush_all");
    }
    void verify() override {
        std::int64_t changed = 0, left = 0;
        const auto differences = [&](std::int64_t& count) {
            own([&](std::span<std::int64_t> numbers) {
                for (std::size_t i = 0; i < numbers.size(); ++i) count += numbers[i] != static_cast<std::int64_t>(i);
            });
            call(MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_SUM, setting().comm), "MPI_Allreduce");
        };
        differences(changed);
        run();
        differences(left);
        if (changed > 0 && left == 0) return;
        throw Failure(Status::wrong_data,
                      changed == 0 ? "no update has arrived" : std::to_string(left) + " numbers have lost updates");
    }
    [[nodiscard]] int operations() const override { return num_; }

private:
    static constexpr std::int64_t table = 4096;
    int num_;
    std::vector<std::int64_t> values_;
    std::uint64_t seed_ = 0;
};

/// Rank 0 accumulates to rank 1, which calls no MPI function for `busy_us`. Its part `origin` is what that takes rank
/// 0: about `busy_us` where the target must help.
class BusyTarget : public Numbers {
public:
    explicit BusyTarget(const Setting& setting)
        : Numbers(setting, 1, false), busy_ns_(std::int64_t{1000} * setting.number("busy_us")) {}
    void prepare(std::uint64_t /*seed*/) override {
        own([](std::span<std::int64_t> numbers) { numbers[0] = 0; });
    }
    void run() override {
        const std::int64_t begin_ns = now_ns(), one = 1;
        if (setting().rank == 0) {
            call(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window()), "MPI_Win_lock");
            call(MPI_Accumulate(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, MPI_SUM, window()), "MPI_Accumulate");
            call(MPI_Win_unlock(1, window()), "MPI_Win_unlock");
            took_.add(now_ns() - begin_ns);
        }
        while (setting().rank == 1 && now_ns() - begin_ns < busy_ns_) {
        }
        call(MPI_Barrier(setting().comm), "MPI_Barrier");
    }
    void verify() override {
        std::int64_t found = 0;
        own([&](std::span<std::int64_t> numbers) { found = numbers[0]; });
        if (setting().rank != 1 || found == 1) return;
        throw Failure(Status::wrong_data, "1 was added to 0, and there is " + std::to_string(found));
    }
    [[nodiscard]] std::vector<Part> parts() const override { return {{"origin", took_.median()}}; }

private:
    std::int64_t busy_ns_;
    Medians took_;
};

template <class Made>
Item item(const char* name, const char* what, Option option, bool batched) {
    return {
        name, what, -1, 2, batched, {option}, [](const Setting& setting) {
                return std::make_unique<Made>(setting); }};
}

}  // namespace

void add_rma_contention(Items& items) {
    items.push_back(item<Counter>("rma.counter", "all ranks: MPI_Fetch_and_op of one number on rank 0",
                                  contended_operations, true));
    items.push_back(item<Lock>("rma.contended_lock",
                               "all ranks: get and put of one number on rank 0 in exclusive locks",
                               contended_operations, false));
    items.push_back(item<RandomAccess>("rma.random_access", "all ranks: updates of numbers at random on all ranks",
                                       {"operations", "", "64"}, true));
    items.push_back(
        item<BusyTarget>("rma.busy_target", "MPI_Accumulate to a rank that computes", {"busy_us", "", "1000"}, false));
}

}  // namespace hocket::bench
