// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// One-sided operations on partners within an epoch. Each operation has a place of its own in the window of its target.

#include <algorithm>
#include <cstring>
#include <memory>

#include "bench/items/data.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"
#include "bench/items/rma/epoch.hpp"
#include "bench/items/started.hpp"

namespace hocket::bench {

namespace {

/// One operation.
struct Operation {
    unsigned char* origin;
    unsigned char* compared;  ///< of compare_and_swap
    unsigned char* result;    ///< of what fetches
    int count;
    int target;
    MPI_Aint place;
    MPI_Win window;
    MPI_Request* request;  ///< of request-based ones
};

/// What the target's place, or the result, holds afterwards: the origin's data, what was in the target, or both.
enum class Left { origin, target, both };

struct Kind {
    const char* name;
    const char* function;
    Left in_target;
    bool fetches;
    Left in_result;  ///< where it fetches
    bool has_request;
    bool one_word;  ///< the operation is on 8 bytes
    int (*start)(const Operation&);
};

constexpr Kind kinds[] = {
    {"put",
     "MPI_Put",
     Left::origin,
     false,
     {},
     false,
     false,
     [](const Operation& o) {
         return MPI_Put(o.origin, o.count, MPI_BYTE, o.target, o.place, o.count, MPI_BYTE, o.window);
     }},
    {"get", "MPI_Get", Left::target, true, Left::target, false, false,
     [](const Operation& o) {
         return MPI_Get(o.result, o.count, MPI_BYTE, o.target, o.place, o.count, MPI_BYTE, o.window);
     }},
    {"accumulate",
     "MPI_Accumulate with MPI_BAND",
     Left::both,
     false,
     {},
     false,
     false,
     [](const Operation& o) {
         return MPI_Accumulate(o.origin, o.count, MPI_BYTE, o.target, o.place, o.count, MPI_BYTE, MPI_BAND, o.window);
     }},
    {"accumulate_replace",
     "MPI_Accumulate with MPI_REPLACE",
     Left::origin,
     false,
     {},
     false,
     false,
     [](const Operation& o) {
         return MPI_Accumulate(o.origin, o.count, MPI_BYTE, o.target, o.place, o.count, MPI_BYTE, MPI_REPLACE,
                               o.window);
     }},
    {"get_accumulate", "MPI_Get_accumulate with MPI_BAND", Left::both, true, Left::target, false, false,
     [](const Operation& o) {
         return MPI_Get_accumulate(o.origin, o.count, MPI_BYTE, o.result, o.count, MPI_BYTE, o.target, o.place, o.count,
                                   MPI_BYTE, MPI_BAND, o.window);
     }},
    {"get_accumulate_no_op", "MPI_Get_accumulate with MPI_NO_OP", Left::target, true, Left::target, false, false,
     [](const Operation& o) {
         return MPI_Get_accumulate(o.origin, o.count, MPI_BYTE, o.result, o.count, MPI_BYTE, o.target, o.place, o.count,
                                   MPI_BYTE, MPI_NO_OP, o.window);
     }},
    {"fetch_and_op", "MPI_Fetch_and_op with MPI_BAND on 8 bytes", Left::both, true, Left::target, false, true,
     [](const Operation& o) {
         return MPI_Fetch_and_op(o.origin, o.result, MPI_INT64_T, o.target, o.place, MPI_BAND, o.window);
     }},
    {"compare_and_swap", "MPI_Compare_and_swap on 8 bytes", Left::origin, true, Left::target, false, true,
     [](const Operation& o) {
         return MPI_Compare_and_swap(o.origin, o.compared, o.result, MPI_INT64_T, o.target, o.place, o.window);
     }},
    {"rput",
     "MPI_Rput",
     Left::origin,
     false,
     {},
     true,
     false,
     [](const Operation& o) {
         return MPI_Rput(o.origin, o.count, MPI_BYTE, o.target, o.place, o.count, MPI_BYTE, o.window, o.request);
     }},
    {"rget", "MPI_Rget", Left::target, true, Left::target, true, false,
     [](const Operation& o) {
         return MPI_Rget(o.result, o.count, MPI_BYTE, o.target, o.place, o.count, MPI_BYTE, o.window, o.request);
     }},
    {"raccumulate",
     "MPI_Raccumulate with MPI_BAND",
     Left::both,
     false,
     {},
     true,
     false,
     [](const Operation& o) {
         return MPI_Raccumulate(o.origin, o.count, MPI_BYTE, o.target, o.place, o.count, MPI_BYTE, MPI_BAND, o.window,
                                o.request);
     }},
    {"rget_accumulate", "MPI_Rget_accumulate with MPI_BAND", Left::both, true, Left::target, true, false,
     [](const Operation& o) {
         return MPI_Rget_accumulate(o.origin, o.count, MPI_BYTE, o.result, o.count, MPI_BYTE, o.target, o.place,
                                    o.count, MPI_BYTE, MPI_BAND, o.window, o.request);
     }},
};

constexpr std::int64_t word_bytes = 8;

class Transfer : public Started {
public:
    Transfer(const Kind& kind, const Setting& setting)
        : kind_(kind),
          setting_(setting),
          bytes_(kind.one_word ? word_bytes : setting.bytes),
          num_(setting.number("operations")),
          partners_(partners_of(setting)),
          shares_window_(setting.option("partners") == "exchange" || setting.option("partners") == "grid"),
          window_bytes_((shares_window_ ? setting.ranks : 1) * num_ * bytes_),
          epoch_(setting, partners_, window_bytes_),
          origin_(partners_.targets.size() * static_cast<std::size_t>(num_ * bytes_)),
          compared_(kind.one_word ? origin_.size() : 0),
          result_(kind.fetches ? origin_.size() : 0),
          requests_(kind.has_request ? partners_.targets.size() * static_cast<std::size_t>(num_) : 0,
                    MPI_REQUEST_NULL) {}

    void prepare(std::uint64_t seed) override {
        seed_ = seed;
        epoch_.begin_own();
        fill({epoch_.memory(), static_cast<std::size_t>(window_bytes_)}, target_seed(), 0);
        epoch_.end_own();
        for (std::size_t i = 0; i < partners_.targets.size(); ++i) {
            fill(part(origin_, i), origin_seed(), setting_.rank);
            if (kind_.one_word) fill_as_target(part(compared_, i), setting_.rank);
            if (kind_.fetches) fill(part(result_, i), origin_seed() + 1, 0);
        }
    }

    /// All but the end of the last target.
    void start() override {
        epoch_.begin();
        request_ = waited_ = requests_.data();
        for (std::size_t i = 0; i < partners_.targets.size(); ++i) {
            if (i > 0) end_target(partners_.targets[i - 1]);
            const int target = partners_.targets[i];
            epoch_.begin_target(target);
            for (int k = 0; k < num_; ++k) {
                const auto place = static_cast<std::ptrdiff_t>(i) * num_ * bytes_ + k * bytes_;
                call(kind_.start({origin_.data() + place, compared_.data() + place, result_.data() + place,
                                  static_cast<int>(bytes_), target, first_place(setting_.rank) + k * bytes_,
                                  epoch_.window(), request_}),
                     kind_.function);
                if (kind_.has_request) ++request_;
            }
        }
    }
    void complete() override {
        if (!partners_.targets.empty()) end_target(partners_.targets.back());
        epoch_.end();
    }

    void verify() override {
        epoch_.begin_own();
        const BytesView window(epoch_.memory(), static_cast<std::size_t>(window_bytes_));
        std::string problem;  // not thrown before the others are done with the window
        for (const int origin : partners_.origins) {
            const auto place = static_cast<std::size_t>(first_place(origin));
            problem += difference(window.subspan(place, size_of_part()), origin, kind_.in_target,
                                  "the window of rank " + std::to_string(setting_.rank));
        }
        epoch_.end_own();
        for (std::size_t i = 0; kind_.fetches && i < partners_.targets.size(); ++i) {
            problem += difference(part(result_, i), setting_.rank, kind_.in_result,
                                  "what rank " + std::to_string(setting_.rank) + " fetched");
        }
        if (!problem.empty()) throw Failure(Status::wrong_data, problem);
    }

    void finish() override { epoch_.free(); }

    [[nodiscard]] std::int64_t bytes_moved() const override { return static_cast<std::int64_t>(origin_.size()); }
    [[nodiscard]] int operations() const override { return num_; }

private:
    void end_target(int target) {
        if (request_ != waited_) {
            call(MPI_Waitall(static_cast<int>(request_ - waited_), waited_, MPI_STATUSES_IGNORE), "MPI_Waitall");
            waited_ = request_;
        }
        epoch_.end_target(target);
    }

    [[nodiscard]] std::uint64_t origin_seed() const { return 2 * seed_; }
    [[nodiscard]] std::uint64_t target_seed() const { return 2 * seed_ + 1; }
    [[nodiscard]] std::size_t size_of_part() const { return static_cast<std::size_t>(num_ * bytes_); }
    /// Of the operations of `origin` in the window of a target.
    [[nodiscard]] MPI_Aint first_place(int origin) const { return shares_window_ ? origin * num_ * bytes_ : 0; }
    [[nodiscard]] std::span<unsigned char> part(Bytes& data, std::size_t i) const {
        return std::span(data).subspan(i * size_of_part(), size_of_part());
    }

    /// `data` as the part of `origin` in the window of each target before the run.
    void fill_as_target(std::span<unsigned char> data, int origin) const {
        for (std::size_t j = 0; j < data.size(); ++j) data[j] = target_byte(origin, j);
    }
    [[nodiscard]] unsigned char target_byte(int origin, std::size_t j) const {
        return data_byte(target_seed(), 0, static_cast<std::size_t>(first_place(origin)) + j);
    }

    /// Empty if there is none.
    [[nodiscard]] std::string difference(BytesView found, int origin, Left left, const std::string& what) const {
        for (std::size_t j = 0; j < found.size(); ++j) {
            const unsigned char before = target_byte(origin, j), given = data_byte(origin_seed(), origin, j);
            const unsigned char expected = left == Left::origin   ? given
                                           : left == Left::target ? before
                                                                  : static_cast<unsigned char>(before & given);
            if (found[j] == expected) continue;
            return "byte " + std::to_string(j) + " of " + what + " is " + std::to_string(found[j]) + ", expected " +
                   std::to_string(expected) + "; ";
        }
        return {};
    }

    const Kind& kind_;
    Setting setting_;
    std::int64_t bytes_;
    int num_;
    Partners partners_;
    bool shares_window_;
    std::int64_t window_bytes_;
    Epoch epoch_;
    Bytes origin_, compared_, result_;
    std::vector<MPI_Request> requests_;
    MPI_Request *request_ = nullptr, *waited_ = nullptr;  ///< the next one; the first that is not complete
    std::uint64_t seed_ = 0;
};

}  // namespace

void add_rma_transfers(Items& items) {
    for (const Kind& kind : kinds) {
        items.push_back({std::string("rma.") + kind.name,
                         kind.function,
                         kind.one_word ? -1 : 0,
                         2,
                         true,
                         {partners_option, operations_option, kind.has_request ? Epoch::passive_option : Epoch::option,
                          Epoch::info_option, overlap_option},
                         [&kind](const Setting& setting) {
                             return overlapped(std::make_unique<Transfer>(kind, setting), setting);
                         }});
    }
}

}  // namespace hocket::bench
