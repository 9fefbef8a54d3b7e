// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Reads and writes of the operating system and of C's library, to compare MPI's with: each rank has a file of its own.

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "bench/items/data.hpp"
#include "bench/items/io/uring.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"

namespace hocket::bench {

namespace {

constexpr std::size_t aligned_bytes = 4096;  // O_DIRECT: as the largest common block of a device

/// A file that is open in all the ways that are measured.
struct Opened {
    int file = -1, direct = -1;
    std::FILE* stream = nullptr;
    std::unique_ptr<Uring> ring = nullptr;
    unsigned char* data = nullptr;
    std::size_t bytes = 0;
};

std::array<iovec, 2> halves(const Opened& f) {
    const std::size_t half = f.bytes / 2;
    return {{{f.data, half}, {f.data + half, f.bytes - half}}};
}

/// Functions return the bytes moved, or less.
struct Way {
    const char* name;
    const char* what;
    bool writes;
    enum { buffered, direct, queued } by;
    std::size_t (*run)(Opened& f);
};

std::size_t done(ssize_t bytes) { return bytes < 0 ? 0 : static_cast<std::size_t>(bytes); }

constexpr Way ways[] = {
    {"pread", "pread", false, Way::buffered, [](Opened& f) { return done(pread(f.file, f.data, f.bytes, 0)); }},
    {"pwrite", "pwrite", true, Way::buffered, [](Opened& f) { return done(pwrite(f.file, f.data, f.bytes, 0)); }},
    {"preadv", "preadv of two halves", false, Way::buffered,
     [](Opened& f) { return done(preadv(f.file, halves(f).data(), 2, 0)); }},
    {"pwritev", "pwritev of two halves", true, Way::buffered,
     [](Opened& f) { return done(pwritev(f.file, halves(f).data(), 2, 0)); }},
    {"fread", "fread of C's library", false, Way::buffered,
     [](Opened& f) {
         std::rewind(f.stream);
         return std::fread(f.data, 1, f.bytes, f.stream);
     }},
    {"fwrite", "fwrite of C's library, and fflush", true, Way::buffered,
     [](Opened& f) {
         std::rewind(f.stream);
         const std::size_t written = std::fwrite(f.data, 1, f.bytes, f.stream);
         return std::fflush(f.stream) == 0 ? written : 0;
     }},
    {"pread_direct", "pread with O_DIRECT", false, Way::direct,
     [](Opened& f) { return done(pread(f.direct, f.data, f.bytes, 0)); }},
    {"pwrite_direct", "pwrite with O_DIRECT", true, Way::direct,
     [](Opened& f) { return done(pwrite(f.direct, f.data, f.bytes, 0)); }},
    {"uring_read", "io_uring: reads of 8 parts under way together", false, Way::queued,
     [](Opened& f) { return f.ring->read(f.file, f.data, f.bytes); }},
    {"uring_write", "io_uring: writes of 8 parts under way together", true, Way::queued,
     [](Opened& f) { return f.ring->write(f.file, f.data, f.bytes); }},
};

class PosixFile : public Pattern {
public:
    PosixFile(const Way& way, const Setting& setting)
        : way_(way),
          rank_(setting.rank),
          path_(setting.folder + "/hocket-bench-posix-" + std::to_string(setting.rank) + ".dat") {
        opened_.bytes = static_cast<std::size_t>(setting.bytes);
        if (way.by == Way::direct && opened_.bytes % aligned_bytes != 0) {
            throw Failure(Status::unsupported, "O_DIRECT is measured with multiples of 4 KiB");
        }
        const std::size_t room = (opened_.bytes + aligned_bytes - 1) / aligned_bytes * aligned_bytes;
        memory_.reset(static_cast<unsigned char*>(std::aligned_alloc(aligned_bytes, room)));
        opened_.data = memory_.get();
        if (opened_.data == nullptr) throw Failure(Status::error, "there is too little memory");
        opened_.file = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (opened_.file < 0) fail("open");
        opened_.stream = std::fopen(path_.c_str(), "r+be");
        if (opened_.stream == nullptr) fail("fopen");
        if (way.by == Way::queued) opened_.ring = std::make_unique<Uring>();
        if (way.by == Way::direct) {
            opened_.direct = open(path_.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC);
            if (opened_.direct < 0) throw Failure(Status::unsupported, "this file system has no O_DIRECT");
        }
        if (way.writes) return;
        fill(data(), file_seed, rank_);
        if (done(pwrite(opened_.file, opened_.data, opened_.bytes, 0)) != opened_.bytes) fail("pwrite");
        fsync(opened_.file);
    }

    void prepare(std::uint64_t seed) override {
        seed_ = way_.writes ? seed : file_seed;
        fill(data(), way_.writes ? seed : file_seed + 1, rank_);
    }
    void run() override {
        if (way_.run(opened_) != opened_.bytes) fail(way_.what);
    }
    void verify() override {
        if (way_.writes) {
            std::fill_n(opened_.data, opened_.bytes, data_byte(seed_, -1, 0));
            if (done(pread(opened_.file, opened_.data, opened_.bytes, 0)) != opened_.bytes) fail("pread");
        }
        check(data(), seed_, rank_, "the file of rank " + std::to_string(rank_));
    }
    void finish() override {
        std::fclose(opened_.stream);
        close(opened_.file);
        if (opened_.direct >= 0) close(opened_.direct);
        unlink(path_.c_str());
    }
    [[nodiscard]] std::int64_t bytes_moved() const override { return static_cast<std::int64_t>(opened_.bytes); }

private:
    static constexpr std::uint64_t file_seed = 1;

    struct Free {
        void operator()(unsigned char* memory) const { std::free(memory); }
    };

    [[nodiscard]] std::span<unsigned char> data() const { return {opened_.data, opened_.bytes}; }
    [[noreturn]] void fail(const char* function) const {
        throw Failure(Status::error, path_ + ": " + function + " failed: " + std::strerror(errno));
    }

    const Way& way_;
    int rank_;
    std::string path_;
    std::unique_ptr<unsigned char, Free> memory_;
    Opened opened_;
    std::uint64_t seed_ = 0;
};

}  // namespace

void add_posix_files(Items& items) {
    for (const Way& way : ways) {
        items.push_back(
            {std::string("io.posix.") + way.name, way.what, 1, 1, false, {}, [&way](const Setting& setting) {
                 return std::make_unique<PosixFile>(way, setting);
             }});
    }
}

}  // namespace hocket::bench
