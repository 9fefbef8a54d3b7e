// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Atomic writes of all ranks to one place, also with holes in it: afterwards all the data there are of one rank.

#include <algorithm>
#include <memory>

#include "bench/items/data.hpp"
#include "bench/items/io/file.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"

namespace hocket::bench {

namespace {

constexpr int block_bytes = 16;     // so small that a write takes long enough for others to come between
constexpr int checked_rounds = 40;  // Open MPI 4.1's OMPIO tears some of them, not all

class AtomicWrite : public Pattern {
public:
    AtomicWrite(bool is_strided, const Setting& setting)
        : setting_(setting),
          file_(setting),
          data_(static_cast<std::size_t>(setting.bytes / block_bytes * block_bytes)) {
        file_.open();
        const int count = static_cast<int>(setting.bytes / block_bytes);
        const int stride = is_strided ? 2 * block_bytes : block_bytes;
        call(MPI_Type_vector(count, block_bytes, stride, MPI_BYTE, &type_), "MPI_Type_vector");
        call(MPI_Type_commit(&type_), "MPI_Type_commit");
        call(MPI_File_set_view(file_.handle(), 0, MPI_BYTE, type_, "native", MPI_INFO_NULL), "MPI_File_set_view");
        call(MPI_File_set_atomicity(file_.handle(), 1), "MPI_File_set_atomicity");
        int is_atomic = 0;
        call(MPI_File_get_atomicity(file_.handle(), &is_atomic), "MPI_File_get_atomicity");
        if (is_atomic == 0) throw Failure(Status::unsupported, "the file does not become atomic");
        std::fill(data_.begin(), data_.end(), static_cast<unsigned char>(1 + setting.rank));
    }

    void run() override {
        call(MPI_File_write_at(file_.handle(), 0, data_.data(), static_cast<int>(data_.size()), MPI_BYTE,
                               MPI_STATUS_IGNORE),
             "MPI_File_write_at");
    }

    /// Of many rounds: a single one may be whole by luck.
    void verify() override {
        int torn = 0;
        Bytes found(data_.size());
        for (int round = 0; round < checked_rounds; ++round) {
            call(MPI_Barrier(setting_.comm), "MPI_Barrier");
            run();
            call(MPI_Barrier(setting_.comm), "MPI_Barrier");
            call(MPI_File_read_at(file_.handle(), 0, found.data(), static_cast<int>(found.size()), MPI_BYTE,
                                  MPI_STATUS_IGNORE),
                 "MPI_File_read_at");
            if (std::count(found.begin(), found.end(), found[0]) != static_cast<std::ptrdiff_t>(found.size())) ++torn;
        }
        if (torn == 0) return;
        throw Failure(Status::wrong_data, "atomic writes were torn in " + std::to_string(torn) + " of " +
                                              std::to_string(checked_rounds) +
                                              " rounds: data of several ranks stand side by side");
    }

    void finish() override {
        call(MPI_Type_free(&type_), "MPI_Type_free");
        file_.remove();
    }

    [[nodiscard]] std::int64_t bytes_moved() const override { return static_cast<std::int64_t>(data_.size()); }

private:
    Setting setting_;
    File file_;
    Bytes data_;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace

void add_atomic_writes(Items& items) {
    const auto add = [&items](const char* name, const char* what, bool is_strided) {
        items.push_back(
            {name,
             what,
             2 * block_bytes,
             2,
             false,
             {{"file", "shared", "shared"}},
             [is_strided](const Setting& setting) { return std::make_unique<AtomicWrite>(is_strided, setting); }});
    };
    add("io.write_at.atomic", "MPI_File_write_at of all ranks to the same place in atomic mode", false);
    add("io.write_at.atomic_strided",
        "MPI_File_write_at of all ranks to the same strided blocks of 16 B in atomic mode", true);
}

}  // namespace hocket::bench
