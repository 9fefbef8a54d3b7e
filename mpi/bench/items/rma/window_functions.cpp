// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Windows and epochs without operations.

#include <memory>
#include <string_view>

#include "bench/items/data.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"
#include "bench/items/rma/epoch.hpp"

namespace hocket::bench {

namespace {

/// A window and the memory behind it.
struct Window {
    MPI_Comm comm;
    MPI_Aint bytes;
    unsigned char* memory = nullptr;
    MPI_Win window = MPI_WIN_NULL;
};

/// How a window comes and goes. Functions return MPI's error code.
struct Maker {
    const char* name;
    const char* what;
    int (*make)(Window& w);
    int (*free)(Window& w);
    bool has_memory;  ///< of the MPI's; else the pattern's own is given
};

int free_window(Window& w) { return MPI_Win_free(&w.window); }

constexpr Maker makers[] = {
    {"rma.win_create", "MPI_Win_create and MPI_Win_free",
     [](Window& w) { return MPI_Win_create(w.memory, w.bytes, 1, MPI_INFO_NULL, w.comm, &w.window); }, free_window,
     false},
    {"rma.win_allocate", "MPI_Win_allocate and MPI_Win_free",
     [](Window& w) { return MPI_Win_allocate(w.bytes, 1, MPI_INFO_NULL, w.comm, &w.memory, &w.window); }, free_window,
     true},
    {"rma.win_allocate_shared", "MPI_Win_allocate_shared and MPI_Win_free",
     [](Window& w) { return MPI_Win_allocate_shared(w.bytes, 1, MPI_INFO_NULL, w.comm, &w.memory, &w.window); },
     free_window, true},
    {"rma.alloc_mem_win_create", "MPI_Alloc_mem, MPI_Win_create, MPI_Win_free and MPI_Free_mem",
     [](Window& w) {
         const int code = MPI_Alloc_mem(w.bytes, MPI_INFO_NULL, &w.memory);
         return code != MPI_SUCCESS ? code : MPI_Win_create(w.memory, w.bytes, 1, MPI_INFO_NULL, w.comm, &w.window);
     },
     [](Window& w) {
         const int code = MPI_Win_free(&w.window);
         return code != MPI_SUCCESS ? code : MPI_Free_mem(w.memory);
     },
     true},
    {"rma.win_create_dynamic", "MPI_Win_create_dynamic, MPI_Win_attach, MPI_Win_detach and MPI_Win_free",
     [](Window& w) {
         const int code = MPI_Win_create_dynamic(MPI_INFO_NULL, w.comm, &w.window);
         return code != MPI_SUCCESS ? code : MPI_Win_attach(w.window, w.memory, w.bytes);
     },
     [](Window& w) {
         const int code = MPI_Win_detach(w.window, w.memory);
         return code != MPI_SUCCESS ? code : MPI_Win_free(&w.window);
     },
     false},
};

/// Makes and frees a window of this many bytes.
class CreateFree : public Pattern {
public:
    CreateFree(const Maker& maker, const Setting& setting)
        : maker_(maker), setting_(setting), memory_(static_cast<std::size_t>(setting.bytes)) {}
    void run() override {
        make();
        free();
    }
    /// One more, of which each rank writes the first byte of the next one.
    void verify() override {
        if (setting_.bytes == 0) return;
        make();
        const unsigned char given = data_byte(1, setting_.rank, 0);
        const int next = (setting_.rank + 1) % setting_.ranks,
                  before = (setting_.rank + setting_.ranks - 1) % setting_.ranks;
        window_.memory[0] = static_cast<unsigned char>(given + 1);
        MPI_Aint own = 0, place = 0;
        const bool is_dynamic = std::string_view(maker_.name) == "rma.win_create_dynamic";
        if (is_dynamic) call(MPI_Get_address(window_.memory, &own), "MPI_Get_address");
        call(MPI_Sendrecv(&own, 1, MPI_AINT, before, 0, &place, 1, MPI_AINT, next, 0, setting_.comm, MPI_STATUS_IGNORE),
             "MPI_Sendrecv");
        call(MPI_Win_fence(0, window_.window), "MPI_Win_fence");
        call(MPI_Put(&given, 1, MPI_BYTE, next, place, 1, MPI_BYTE, window_.window), "MPI_Put");
        call(MPI_Win_fence(0, window_.window), "MPI_Win_fence");
        const unsigned char found = window_.memory[0], expected = data_byte(1, before, 0);
        free();
        if (found != expected) throw Failure(Status::wrong_data, "what was put in the window is not there");
    }

private:
    void make() {
        window_ = {setting_.comm, setting_.bytes, maker_.has_memory ? nullptr : memory_.data(), MPI_WIN_NULL};
        call_making_window(maker_.make(window_), maker_.what);
    }
    void free() { call(maker_.free(window_), maker_.what); }

    const Maker& maker_;
    Setting setting_;
    Bytes memory_;
    Window window_{};
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
    for (const Maker& maker : makers) {
        items.push_back({maker.name, maker.what, 0, 1, true, {}, [&maker](const Setting& setting) {
                             return std::make_unique<CreateFree>(maker, setting);
                         }});
    }
    items.push_back({"rma.epoch",
                     "an epoch without an operation",
                     -1,
                     2,
                     true,
                     {partners_option, Epoch::option, Epoch::info_option},
                     [](const Setting& setting) { return std::make_unique<Synchronize>(setting); }});
}

}  // namespace hocket::bench
