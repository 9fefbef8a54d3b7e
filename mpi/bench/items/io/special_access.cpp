// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Reads that find nothing in the cache, writes with hints, and calls with large counts.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "bench/items/data.hpp"
#include "bench/items/io/file.hpp"
#include "bench/items/later_function.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"

namespace hocket::bench {

namespace {

/// A file of which each rank writes or reads its part by a call that derived classes name.
class PartOfFile : public Pattern {
public:
    explicit PartOfFile(bool writes, MPI_Offset first, const Setting& setting)
        : setting_(setting),
          writes_(writes),
          file_(setting),
          place_(first + (file_.is_shared() ? setting.rank * setting.bytes : 0)),
          data_(static_cast<std::size_t>(setting.bytes)) {
        file_.open();
        if (writes) return;
        fill(data_, file_seed, setting.rank);
        call(MPI_File_write_at(file_.handle(), place_, data_.data(), static_cast<int>(data_.size()), MPI_BYTE,
                               MPI_STATUS_IGNORE),
             "MPI_File_write_at");
        file_.hand_over(setting.comm);
    }
    void prepare(std::uint64_t seed) override {
        seed_ = writes_ ? seed : file_seed;
        fill(data_, writes_ ? seed : file_seed + 1, setting_.rank);
    }
    void verify() override {
        Bytes found = data_;
        if (writes_) {
            file_.hand_over(setting_.comm);
            std::fill(found.begin(), found.end(), data_byte(seed_, -1, 0));
            call(MPI_File_read_at(file_.handle(), place_, found.data(), static_cast<int>(found.size()), MPI_BYTE,
                                  MPI_STATUS_IGNORE),
                 "MPI_File_read_at");
        }
        check(found, seed_, setting_.rank, "the part of rank " + std::to_string(setting_.rank));
    }
    void finish() override { file_.remove(); }
    [[nodiscard]] std::int64_t bytes_moved() const override { return setting_.bytes; }

protected:
    static constexpr std::uint64_t file_seed = 1;

    Setting setting_;
    bool writes_;
    File file_;
    MPI_Offset place_;
    Bytes data_;
    std::uint64_t seed_ = 0;
};

/// The operating system is asked to forget the file before each run. Where it keeps it, nothing cold can be measured.
class ColdRead : public PartOfFile {
public:
    explicit ColdRead(const Setting& setting)
        : PartOfFile(false, 0, setting), plain_(::open(file_.path().c_str(), O_RDONLY | O_CLOEXEC)) {
        if (plain_ < 0) throw Failure(Status::error, file_.path() + ": cannot be opened");
    }
    ~ColdRead() override { close(plain_); }

    void before() override {
        call(MPI_Barrier(setting_.comm), "MPI_Barrier");
        const auto bytes = static_cast<off_t>(setting_.bytes);
        fdatasync(plain_);
        posix_fadvise(plain_, 0, 0, POSIX_FADV_DONTNEED);
        if (is_cached(bytes)) throw Failure(Status::unsupported, "the operating system keeps the file in its cache");
        call(MPI_Barrier(setting_.comm), "MPI_Barrier");
    }
    void run() override {
        call(MPI_File_read_at(file_.handle(), place_, data_.data(), static_cast<int>(data_.size()), MPI_BYTE,
                              MPI_STATUS_IGNORE),
             "MPI_File_read_at");
    }

private:
    /// Of the first bytes of the file.
    [[nodiscard]] bool is_cached(off_t bytes) const {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        void* const map = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ, MAP_SHARED, plain_, 0);
        if (map == MAP_FAILED) return true;
        std::vector<unsigned char> pages((static_cast<std::size_t>(bytes) + page - 1) / page);
        const int status = mincore(map, static_cast<std::size_t>(bytes), pages.data());
        munmap(map, static_cast<std::size_t>(bytes));
        return status != 0 || std::any_of(pages.begin(), pages.end(), [](unsigned char p) { return (p & 1U) != 0; });
    }

    int plain_;
};

constexpr Option hint_option{"hint",
                             "none|cb_nodes=1|cb_buffer_size=65536|cb_buffer_size=16777216|romio_cb_write=enable|"
                             "romio_cb_write=disable|romio_ds_write=disable|collective_buffering=false",
                             "none"};

/// A collective write to a file that was opened with a hint.
class HintedWrite : public PartOfFile {
public:
    explicit HintedWrite(const Setting& setting) : PartOfFile(true, 0, setting) {
        const std::string& hint = setting.option("hint");
        const auto equals = hint.find('=');
        if (equals == std::string::npos) return;
        const std::string key = hint.substr(0, equals), value = hint.substr(equals + 1);
        MPI_Info info = MPI_INFO_NULL;
        call(MPI_Info_create(&info), "MPI_Info_create");
        call(MPI_Info_set(info, key.c_str(), value.c_str()), "MPI_Info_set");
        call(MPI_File_set_info(file_.handle(), info), "MPI_File_set_info");
        call(MPI_Info_free(&info), "MPI_Info_free");
        call(MPI_File_get_info(file_.handle(), &info), "MPI_File_get_info");
        char found[MPI_MAX_INFO_VAL + 1] = "";
        int is_there = 0;
        call(MPI_Info_get(info, key.c_str(), MPI_MAX_INFO_VAL, found, &is_there), "MPI_Info_get");
        call(MPI_Info_free(&info), "MPI_Info_free");
        if (is_there != 0 && value == found) return;
        throw Failure(Status::unsupported, "the hint " + hint + " is not taken: MPI_File_get_info has " +
                                               (is_there != 0 ? std::string(found) : std::string("nothing")));
    }
    void run() override {
        call(MPI_File_write_at_all(file_.handle(), place_, data_.data(), static_cast<int>(data_.size()), MPI_BYTE,
                                   MPI_STATUS_IGNORE),
             "MPI_File_write_at_all");
    }
};

/// The functions of MPI-4 whose counts are MPI_Count, behind the first 4 GiB of a file with a hole.
class LargeCount : public PartOfFile {
public:
    LargeCount(bool writes, const Setting& setting)
        : PartOfFile(writes, behind, setting),
          function_(later_function<Function>(writes ? "File_write_at_c" : "File_read_at_c")) {}
    void run() override {
        call(function_(file_.handle(), place_, data_.data(), static_cast<MPI_Count>(data_.size()), MPI_BYTE,
                       MPI_STATUS_IGNORE),
             writes_ ? "MPI_File_write_at_c" : "MPI_File_read_at_c");
    }

private:
    using Function = int(MPI_File, MPI_Offset, void*, MPI_Count, MPI_Datatype, MPI_Status*);
    static constexpr MPI_Offset behind = MPI_Offset{1} << 32;
    Function* function_;
};

}  // namespace

void add_special_access(Items& items) {
    items.push_back({"io.read_at.cold",
                     "MPI_File_read_at of data that are not in the cache of the operating system",
                     4096,
                     1,
                     false,
                     {file_option},
                     [](const Setting& setting) { return std::make_unique<ColdRead>(setting); }});
    items.push_back({"io.write_at_all.hint",
                     "MPI_File_write_at_all with a hint, which MPI_File_get_info must have taken",
                     1,
                     1,
                     false,
                     {file_option, hint_option},
                     [](const Setting& setting) { return std::make_unique<HintedWrite>(setting); }});
    for (const bool writes : {false, true}) {
        items.push_back({writes ? "io.write_at_c" : "io.read_at_c",
                         writes ? "MPI_File_write_at_c of MPI-4 behind the first 4 GiB of the file"
                                : "MPI_File_read_at_c of MPI-4 behind the first 4 GiB of the file",
                         1,
                         1,
                         false,
                         {file_option},
                         [writes](const Setting& setting) { return std::make_unique<LargeCount>(writes, setting); }});
    }
}

}  // namespace hocket::bench
