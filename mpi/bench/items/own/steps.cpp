// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Patterns that a suite spells out step by step. The steps become one list of operations of this rank, with peers and
// buffers, so that a run only goes through it.

#include "bench/items/own/steps.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <span>

#include "bench/items/data.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/window_bytes.hpp"
#include "common/clock.hpp"

namespace hocket::bench {

namespace {

constexpr std::array<std::pair<std::string_view, Action>, 12> names{{{"send", Action::send},
                                                                     {"recv", Action::recv},
                                                                     {"isend", Action::isend},
                                                                     {"irecv", Action::irecv},
                                                                     {"sendrecv", Action::sendrecv},
                                                                     {"wait", Action::wait},
                                                                     {"put", Action::put},
                                                                     {"get", Action::get},
                                                                     {"fence", Action::fence},
                                                                     {"flush", Action::flush},
                                                                     {"barrier", Action::barrier},
                                                                     {"compute", Action::compute}}};

std::optional<int> number_in(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
}

/// Of "rank+2" and "rank-2".
std::optional<int> distance_in(std::string_view name) {
    if (!name.starts_with("rank+") && !name.starts_with("rank-")) return std::nullopt;
    const auto number = number_in(name.substr(5));
    if (!number) return std::nullopt;
    return name[4] == '+' ? *number : -*number;
}

/// One operation of this rank.
struct Operation {
    Action action;
    int to = MPI_PROC_NULL, from = MPI_PROC_NULL;
    int tag = 0;
    std::int64_t bytes = 0;
    std::size_t sent = 0, received = 0;               ///< places in the buffers
    std::int64_t sent_block = 0, received_block = 0;  ///< what stands there: `data_byte`
    MPI_Aint place = 0;                               ///< in the window of `to`
    int us = 0;
    Pattern* item = nullptr;
};

/// The data of the n-th message from one rank to another.
std::int64_t block_of_message(int from, int to, int tag, int n) {
    return std::int64_t{from} * 7 + std::int64_t{to} * 31 + std::int64_t{tag} * 3 + n;
}

/// All operations of one rank: of this one to run them, and of others to know what they put where.
class Compiler {
public:
    std::vector<Operation> operations;
    std::size_t sent_bytes = 0, received_bytes = 0;
    std::int64_t put_bytes = 0;  ///< to one target, the most

    Compiler(const std::vector<Step>& steps, std::int64_t bytes, int rank, int ranks)
        : bytes_(bytes), rank_(rank), ranks_(ranks) {
        for (const Step& step : steps) {
            if (!is_for(step.on)) continue;
            for (int i = 0; i < step.times; ++i) add(step);
        }
        for (const auto& [target, place] : places_) put_bytes = std::max<std::int64_t>(put_bytes, place);
    }

private:
    [[nodiscard]] bool is_for(std::string_view on) const {
        if (on == "all") return true;
        if (on == "even" || on == "odd") return rank_ % 2 == (on == "odd" ? 1 : 0);
        const auto who = peers(on, rank_, ranks_);
        return std::find(who.begin(), who.end(), rank_) != who.end();
    }

    void add(const Step& step) {
        const auto targets = step.to.empty() ? std::vector<int>{} : peers(step.to, rank_, ranks_);
        auto origins = step.from.empty() ? std::vector<int>{} : peers(step.from, rank_, ranks_);
        std::reverse(origins.begin(), origins.end());  // of sendrecv with all others: who is as far in front as behind
        const std::size_t num = step.to.empty() && step.from.empty() ? 1 : std::max(targets.size(), origins.size());
        for (std::size_t i = 0; i < num; ++i) {
            Operation operation{step.action};
            operation.tag = step.tag;
            operation.us = step.us;
            operation.bytes = step.bytes.value_or(bytes_);
            if (i < targets.size()) operation.to = targets[i];
            if (i < origins.size()) operation.from = origins[i];
            give_data(operation);
            operations.push_back(operation);
        }
    }

    void give_data(Operation& operation) {
        const auto size = static_cast<std::size_t>(operation.bytes);
        const bool gets = operation.action == Action::get;
        if (operation.to != MPI_PROC_NULL) {
            const int n = sends_[{operation.to, operation.tag}]++;
            operation.sent_block = block_of_message(rank_, operation.to, operation.tag, n);
            operation.sent = sent_bytes;
            sent_bytes += size;
        }
        if (operation.action == Action::put && operation.to != MPI_PROC_NULL) {
            operation.place = places_[operation.to];
            places_[operation.to] += operation.bytes;
        }
        if (operation.from == MPI_PROC_NULL) return;
        const int n = gets ? 0 : receives_[{operation.from, operation.tag}]++;
        operation.received_block = block_of_message(operation.from, gets ? operation.from : rank_, operation.tag, n);
        operation.received = received_bytes;
        received_bytes += size;
    }

    std::int64_t bytes_;
    int rank_, ranks_;
    std::map<std::pair<int, int>, int> sends_, receives_;  ///< so far, by peer and tag
    std::map<int, MPI_Aint> places_;                       ///< the next free one of this rank, by target
};

class Steps : public Pattern {
public:
    Steps(const std::vector<Step>& steps, const Setting& setting)
        : steps_(steps), setting_(setting), own_(steps, setting.bytes, setting.rank, setting.ranks) {
        sent_.resize(own_.sent_bytes);
        received_.resize(own_.received_bytes);
        for (const Step& step : steps) {
            if (step.item == nullptr) continue;
            Setting inner = setting;
            inner.bytes = step.bytes.value_or(setting.bytes);
            inner.options = step.options;
            items_.push_back(step.item->make(inner));
        }
        std::size_t next = 0;
        for (Operation& operation : own_.operations) {
            if (operation.action == Action::item) operation.item = items_[next++].get();
        }
        const auto has = [&](Action action) {
            return std::any_of(steps.begin(), steps.end(), [&](const Step& step) { return step.action == action; });
        };
        has_window_ = has(Action::put) || has(Action::get);
        flushes_ = has(Action::flush);
        if (has_window_) make_window();
        requests_.reserve(own_.operations.size());
    }

    void prepare(std::uint64_t seed) override {
        seed_ = seed;
        std::fill(received_.begin(), received_.end(), data_byte(seed, -1, 0));
        for (const Operation& operation : own_.operations) {
            if (operation.to != MPI_PROC_NULL) fill(sent(operation), seed, operation.sent_block);
        }
        if (has_window_) fill_window();
        for (const auto& item : items_) item->prepare(seed);
    }
    void before() override {
        for (const auto& item : items_) item->before();
    }

    void run() override {
        for (const Operation& o : own_.operations) execute(o);
        wait();
    }

    void verify() override {
        for (const Operation& operation : own_.operations) {
            if (operation.from == MPI_PROC_NULL) continue;
            check(received(operation), seed_, operation.received_block,
                  "what rank " + std::to_string(setting_.rank) + " has from rank " + std::to_string(operation.from));
        }
        if (has_window_) check_window();
        for (const auto& item : items_) item->verify();
    }

    void finish() override {
        for (const auto& item : items_) item->finish();
        if (!has_window_) return;
        if (flushes_) call(MPI_Win_unlock_all(window_), "MPI_Win_unlock_all");
        call(MPI_Win_free(&window_), "MPI_Win_free");
    }

    [[nodiscard]] std::int64_t bytes_moved() const override {
        std::int64_t all = 0;
        for (const auto& item : items_) all += item->bytes_moved();
        return all + static_cast<std::int64_t>(sent_.size());
    }

private:
    [[nodiscard]] std::span<unsigned char> sent(const Operation& o) {
        return std::span(sent_).subspan(o.sent, static_cast<std::size_t>(o.bytes));
    }
    [[nodiscard]] std::span<unsigned char> received(const Operation& o) {
        return std::span(received_).subspan(o.received, static_cast<std::size_t>(o.bytes));
    }

    void execute(const Operation& o) {
        unsigned char* const out = sent_.data() + o.sent;
        unsigned char* const in = received_.data() + o.received;
        const int count = static_cast<int>(o.bytes);
        switch (o.action) {
            case Action::send:
                call(MPI_Send(out, count, MPI_BYTE, o.to, o.tag, setting_.comm), "MPI_Send");
                break;
            case Action::recv:
                call(MPI_Recv(in, count, MPI_BYTE, o.from, o.tag, setting_.comm, MPI_STATUS_IGNORE), "MPI_Recv");
                break;
            case Action::isend:
                call(MPI_Isend(out, count, MPI_BYTE, o.to, o.tag, setting_.comm, &requests_.emplace_back()),
                     "MPI_Isend");
                break;
            case Action::irecv:
                call(MPI_Irecv(in, count, MPI_BYTE, o.from, o.tag, setting_.comm, &requests_.emplace_back()),
                     "MPI_Irecv");
                break;
            case Action::sendrecv:
                call(MPI_Sendrecv(out, count, MPI_BYTE, o.to, o.tag, in, count, MPI_BYTE, o.from, o.tag, setting_.comm,
                                  MPI_STATUS_IGNORE),
                     "MPI_Sendrecv");
                break;
            case Action::wait:
                wait();
                break;
            case Action::put:
                call(MPI_Put(out, count, MPI_BYTE, o.to, put_place(setting_.rank) + o.place, count, MPI_BYTE, window_),
                     "MPI_Put");
                break;
            case Action::get:
                call(MPI_Get(in, count, MPI_BYTE, o.from, 0, count, MPI_BYTE, window_), "MPI_Get");
                break;
            case Action::fence:
                call(MPI_Win_fence(0, window_), "MPI_Win_fence");
                break;
            case Action::flush:
                call(MPI_Win_flush_all(window_), "MPI_Win_flush_all");
                break;
            case Action::barrier:
                call(MPI_Barrier(setting_.comm), "MPI_Barrier");
                break;
            case Action::compute:
                for (const std::int64_t end = now_ns() + std::int64_t{1000} * o.us; now_ns() < end;) {
                }
                break;
            case Action::item:
                o.item->run();
                break;
        }
    }

    void wait() {
        if (requests_.empty()) return;
        call(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
        requests_.clear();
    }

    /// The window: what others get, and for each rank a part that it puts into. On all ranks alike.
    void make_window() {
        for (int rank = 0; rank < setting_.ranks; ++rank) {
            const Compiler of(steps_, setting_.bytes, rank, setting_.ranks);
            part_bytes_ = std::max(part_bytes_, of.put_bytes);
            for (const Operation& operation : of.operations) {
                if (operation.action == Action::get) given_bytes_ = std::max(given_bytes_, operation.bytes);
            }
        }
        window_bytes_ = whole_lines(given_bytes_ + setting_.ranks * part_bytes_);
        call_making_window(MPI_Win_allocate(window_bytes_, 1, MPI_INFO_NULL, setting_.comm, &memory_, &window_),
                           "MPI_Win_allocate");
        MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
        call(flushes_ ? MPI_Win_lock_all(0, window_) : MPI_Win_fence(0, window_),
             flushes_ ? "MPI_Win_lock_all" : "MPI_Win_fence");
    }
    [[nodiscard]] MPI_Aint put_place(int origin) const { return given_bytes_ + origin * part_bytes_; }

    void synchronize() {
        if (flushes_) {
            call(MPI_Win_flush_all(window_), "MPI_Win_flush_all");
            call(MPI_Win_sync(window_), "MPI_Win_sync");
        } else {
            call(MPI_Win_fence(0, window_), "MPI_Win_fence");
        }
        call(MPI_Barrier(setting_.comm), "MPI_Barrier");
        if (flushes_) call(MPI_Win_sync(window_), "MPI_Win_sync");
    }
    void fill_window() {
        synchronize();
        std::fill_n(memory_, window_bytes_, data_byte(seed_, -1, 0));
        fill({memory_, static_cast<std::size_t>(given_bytes_)}, seed_,
             block_of_message(setting_.rank, setting_.rank, 0, 0));
        synchronize();
    }
    void check_window() {
        synchronize();
        std::string problem;  // not thrown before all are done with the window
        for (int origin = 0; origin < setting_.ranks; ++origin) {
            for (const Operation& o : Compiler(steps_, setting_.bytes, origin, setting_.ranks).operations) {
                if (o.action != Action::put || o.to != setting_.rank) continue;
                try {
                    check({memory_ + put_place(origin) + o.place, static_cast<std::size_t>(o.bytes)}, seed_,
                          o.sent_block, "the window of rank " + std::to_string(setting_.rank));
                } catch (const Failure& failure) {
                    problem = failure.what();
                }
            }
        }
        synchronize();
        if (!problem.empty()) throw Failure(Status::wrong_data, problem);
    }

    const std::vector<Step>& steps_;
    Setting setting_;
    Compiler own_;
    Bytes sent_, received_;
    std::vector<std::unique_ptr<Pattern>> items_;
    std::vector<MPI_Request> requests_;
    bool has_window_ = false, flushes_ = false;
    std::int64_t given_bytes_ = 0, part_bytes_ = 0, window_bytes_ = 0;
    unsigned char* memory_ = nullptr;
    MPI_Win window_ = MPI_WIN_NULL;
    std::uint64_t seed_ = 0;
};

}  // namespace

std::optional<Action> action_of(std::string_view name) {
    for (const auto& [known, action] : names) {
        if (known == name) return action;
    }
    return std::nullopt;
}

bool is_peer(std::string_view name) {
    constexpr std::array<std::string_view, 6> known{"left", "right", "partner", "others", "first", "last"};
    return std::find(known.begin(), known.end(), name) != known.end() || number_in(name) || distance_in(name);
}

std::vector<int> peers(std::string_view name, int rank, int ranks) {
    const auto around = [&](int other) { return std::vector<int>{(other % ranks + ranks) % ranks}; };
    if (name == "left") return around(rank - 1);
    if (name == "right") return around(rank + 1);
    if (name == "first") return {0};
    if (name == "last") return {ranks - 1};
    if (name == "partner") return (rank ^ 1) < ranks ? std::vector<int>{rank ^ 1} : std::vector<int>{};
    if (const auto distance = distance_in(name)) return around(rank + *distance);
    if (const auto number = number_in(name)) return *number < ranks ? std::vector<int>{*number} : std::vector<int>{};
    std::vector<int> others;
    for (int k = 1; k < ranks; ++k) others.push_back((rank + k) % ranks);
    return others;
}

Item pattern_of_steps(const std::string& name, const std::string& what, std::vector<Step> steps) {
    int min_ranks = 1;
    for (const Step& step : steps) {
        if (step.item != nullptr) min_ranks = std::max(min_ranks, step.item->min_ranks);
    }
    return {"pattern." + name, what, 0, min_ranks, true, {}, [steps = std::move(steps)](const Setting& setting) {
                return std::make_unique<Steps>(steps, setting);
            }};
}

}  // namespace hocket::bench
