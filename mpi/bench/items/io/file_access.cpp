// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Reads and writes of each rank's part of a file, again and again in the same place. The forms that have a file pointer
// get it back there off the clock.

#include <algorithm>
#include <memory>

#include "bench/items/data.hpp"
#include "bench/items/io/file.hpp"
#include "bench/items/io/forms.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"
#include "bench/items/started.hpp"

namespace hocket::bench {

namespace {

class FileAccess : public Started {
public:
    FileAccess(const Form& form, const Setting& setting)
        : setting_(setting),
          form_(form),
          file_(setting),
          syncs_(form.writes && setting.is_set("sync")),
          place_(file_.is_shared() ? setting.rank * setting.bytes : 0),
          data_(static_cast<std::size_t>(setting.bytes)) {
        file_.open();
        access_.file = file_.handle();
        access_.offset = place_;
        access_.buffer = data_.data();
        access_.count = static_cast<int>(setting.bytes);
        if (form.writes) return;
        fill(data_, file_seed, setting.rank);
        call(MPI_File_write_at(file_.handle(), place_, data_.data(), access_.count, MPI_BYTE, MPI_STATUS_IGNORE),
             "MPI_File_write_at");
        file_.hand_over(setting.comm);
    }

    void prepare(std::uint64_t seed) override {
        seed_ = form_.writes ? seed : file_seed;
        if (form_.writes) {
            fill(data_, seed, setting_.rank);
        } else {
            std::fill(data_.begin(), data_.end(), static_cast<unsigned char>(~data_byte(seed_, setting_.rank, 0)));
        }
    }

    void before() override {
        if (form_.position == Position::individual) {
            call(MPI_File_seek(file_.handle(), place_, MPI_SEEK_SET), "MPI_File_seek");
        } else if (form_.position == Position::shared) {
            call(MPI_Barrier(setting_.comm), "MPI_Barrier");  // all are done with the pointer
            call(MPI_File_seek_shared(file_.handle(), 0, MPI_SEEK_SET), "MPI_File_seek_shared");
        }
    }

    void start() override { call(form_.start(access_), form_.name); }
    void complete() override {
        if (form_.complete != nullptr) call(form_.complete(access_), form_.name);
        if (syncs_) call(MPI_File_sync(file_.handle()), "MPI_File_sync");
    }

    void verify() override {
        int count = 0;
        call(MPI_Get_count(&access_.status, MPI_BYTE, &count), "MPI_Get_count");
        if (count != access_.count) {
            throw Failure(Status::wrong_data, std::string("its status has ") + std::to_string(count) + " bytes of " +
                                                  std::to_string(access_.count));
        }
        if (!form_.writes) {
            check_part(data_, "what was read");
            return;
        }
        // Another rank may have written this rank's part: where the order of ranks is free, and where one collects what
        // others write. OMPIO of Open MPI 4.1 returns from a collective write before the part can be read.
        if (file_.is_shared() && (form_.is_collective || is_unordered())) file_.hand_over(setting_.comm);
        Bytes written(data_.size());
        call(MPI_File_read_at(file_.handle(), place_, written.data(), access_.count, MPI_BYTE, MPI_STATUS_IGNORE),
             "MPI_File_read_at");
        check_part(written, "the file");
    }

    void finish() override { file_.remove(); }

    [[nodiscard]] std::int64_t bytes_moved() const override { return setting_.bytes; }

private:
    static constexpr std::uint64_t file_seed = 1;  // of files that are read

    [[nodiscard]] bool is_unordered() const {
        return form_.position == Position::shared && !form_.is_collective && file_.is_shared();
    }

    /// Each rank's own block; in any order of ranks where the form leaves it free.
    void check_part(const Bytes& part, const char* what) const {
        const std::string text = std::string(what) + " on rank " + std::to_string(setting_.rank);
        if (!is_unordered()) {
            check(part, seed_, setting_.rank, text);
            return;
        }
        int block = block_of(part[0], seed_);
        std::vector<int> blocks(static_cast<std::size_t>(setting_.ranks)), expected;
        call(MPI_Allgather(&block, 1, MPI_INT, blocks.data(), 1, MPI_INT, setting_.comm), "MPI_Allgather");
        check(part, seed_, block, text);
        for (int rank = 0; rank < setting_.ranks; ++rank) expected.push_back(rank % 256);
        std::sort(blocks.begin(), blocks.end());
        std::sort(expected.begin(), expected.end());
        if (blocks != expected) throw Failure(Status::wrong_data, "a part of the file occurs twice in " + text);
    }

    Setting setting_;
    const Form& form_;
    File file_;
    bool syncs_;
    MPI_Offset place_;
    Bytes data_;
    Access access_{};
    std::uint64_t seed_ = 0;
};

}  // namespace

void add_file_access(Items& items) {
    for (const Form& form : forms()) {
        std::vector<Option> options{file_option};
        if (form.writes) options.push_back(sync_option);
        if (form.complete != nullptr) options.push_back(overlap_option);
        items.push_back({std::string("io.") + form.name, std::string("MPI_File_") + form.name, 1, 1, false, options,
                         [&form](const Setting& setting) -> std::unique_ptr<Pattern> {
                             auto pattern = std::make_unique<FileAccess>(form, setting);
                             if (form.complete == nullptr) return pattern;
                             return overlapped(std::move(pattern), setting);
                         }});
    }
}

}  // namespace hocket::bench
