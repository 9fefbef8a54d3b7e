// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Windows and epochs without operations.

#include <memory>

#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"
#include "bench/items/rma/epoch.hpp"

namespace hocket::bench {

namespace {

/// Makes and frees a window of this many bytes.
class CreateFree : public Pattern {
public:
    explicit CreateFree(const Setting& setting)
        : comm_(setting.comm), memory_(static_cast<std::size_t>(setting.bytes)) {}
    void run() override {
        MPI_Win window = MPI_WIN_NULL;
        call(MPI_Win_create(memory_.data(), static_cast<MPI_Aint>(memory_.size()), 1, MPI_INFO_NULL, comm_, &window),
             "MPI_Win_create");
        call(MPI_Win_free(&window), "MPI_Win_free");
    }

private:
    MPI_Comm comm_;
    std::vector<unsigned char> memory_;
};

/// An epoch without an operation.
class Synchronize : public Pattern {
public:
    explicit Synchronize(const Setting& setting) : partners_(partners_of(setting)), epoch_(setting, partners_, 1) {}
    void run() override {
        epoch_.begin();
        for (const int target : partners_.targets) {
            epoch_.begin_target(target);
            epoch_.end_target(target);
        }
        epoch_.end();
    }
    void finish() override { epoch_.free(); }

private:
    Partners partners_;
    Epoch epoch_;
};

}  // namespace

void add_rma_windows(Items& items) {
    items.push_back({"rma.win_create", "MPI_Win_create and MPI_Win_free", 0, 1, true, {}, [](const Setting& setting) {
                         return std::make_unique<CreateFree>(setting);
                     }});
    items.push_back({"rma.epoch",
                     "an epoch without an operation",
                     -1,
                     2,
                     true,
                     {partners_option, Epoch::option},
                     [](const Setting& setting) { return std::make_unique<Synchronize>(setting); }});
}

}  // namespace hocket::bench
