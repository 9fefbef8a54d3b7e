// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Reads and writes by Fortran's own statements, to compare MPI's with: each rank has a file of its own.

#include <memory>

#include "bench/items/data.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"

#ifdef HOCKET_HAS_FORTRAN
extern "C" {  // fortran_file.f90
int hocket_bench_fortran_open(const char* path, int length, std::int64_t record);
int hocket_bench_fortran_read(void* data, std::int64_t bytes);
int hocket_bench_fortran_write(const void* data, std::int64_t bytes, int flushes);
int hocket_bench_fortran_close();
}
#endif

namespace hocket::bench {

namespace {

#ifdef HOCKET_HAS_FORTRAN

void require_io(int iostat, const char* statement) {
    if (iostat == 0) return;
    throw Failure(Status::error,
                  std::string("Fortran's ") + statement + " ended with iostat " + std::to_string(iostat));
}

class FortranFile : public Pattern {
public:
    FortranFile(bool writes, const Setting& setting)
        : setting_(setting),
          writes_(writes),
          flushes_(writes && setting.is_set("flush")),
          data_(static_cast<std::size_t>(setting.bytes)) {
        const std::string path = setting.folder + "/hocket-bench-fortran-" + std::to_string(setting.rank) + ".dat";
        require_io(hocket_bench_fortran_open(path.c_str(), static_cast<int>(path.size()),
                                             setting.option("access") == "direct" ? setting.bytes : 0),
                   "open");
        if (writes) return;
        fill(data_, 1, setting.rank);
        require_io(hocket_bench_fortran_write(data_.data(), setting.bytes, 1), "write");
    }
    void prepare(std::uint64_t seed) override {
        seed_ = writes_ ? seed : 1;
        fill(data_, writes_ ? seed : seed_ + 1, setting_.rank);
    }
    void run() override {
        if (writes_) {
            require_io(hocket_bench_fortran_write(data_.data(), setting_.bytes, flushes_ ? 1 : 0), "write");
        } else {
            require_io(hocket_bench_fortran_read(data_.data(), setting_.bytes), "read");
        }
    }
    void verify() override {
        if (writes_) require_io(hocket_bench_fortran_read(data_.data(), setting_.bytes), "read");
        check(data_, seed_, setting_.rank, "the file of rank " + std::to_string(setting_.rank));
    }
    void finish() override { require_io(hocket_bench_fortran_close(), "close"); }
    [[nodiscard]] std::int64_t bytes_moved() const override { return setting_.bytes; }

private:
    Setting setting_;
    bool writes_, flushes_;
    Bytes data_;
    std::uint64_t seed_ = 1;
};

#endif

std::unique_ptr<Pattern> make([[maybe_unused]] bool writes, [[maybe_unused]] const Setting& setting) {
#ifdef HOCKET_HAS_FORTRAN
    return std::make_unique<FortranFile>(writes, setting);
#else
    throw Failure(Status::unsupported, "hocket-bench was built where no Fortran compiler was found");
#endif
}

}  // namespace

void add_fortran_files(Items& items) {
    constexpr Option access{"access", "stream|direct", "stream"};
    items.push_back({"io.fortran_read",
                     "Fortran's read of a file of each rank's own",
                     1,
                     1,
                     false,
                     {access},
                     [](const Setting& setting) { return make(false, setting); }});
    items.push_back({"io.fortran_write",
                     "Fortran's write to a file of each rank's own, with or without flush",
                     1,
                     1,
                     false,
                     {{"flush", "false|true", "false"}, access},
                     [](const Setting& setting) { return make(true, setting); }});
}

}  // namespace hocket::bench
