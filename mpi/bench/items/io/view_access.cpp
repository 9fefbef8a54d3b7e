// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Reads and writes through views with holes, and of memory with holes. What a view means is computed here once more,
// and the file is checked by plain reads of its bytes.

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <string_view>

#include "bench/items/data.hpp"
#include "bench/items/io/file.hpp"
#include "bench/items/io/forms.hpp"
#include "bench/items/layouts.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"

namespace hocket::bench {

namespace {

/// Of an array of rows that are `ranks` blocks long, each rank has the same block of all rows.
struct Part {
    int rows, block, rank, ranks;
};

MPI_Datatype subarray(const std::vector<int>& all, const std::vector<int>& own, const std::vector<int>& first) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    call(MPI_Type_create_subarray(static_cast<int>(all.size()), all.data(), own.data(), first.data(), MPI_ORDER_C,
                                  MPI_BYTE, &type),
         "MPI_Type_create_subarray");
    return type;
}

/// A type of the whole file of which a rank has its part, by the option `layout`.
MPI_Datatype file_type(const std::string& layout, const Part& part) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int length = part.block * part.ranks, place = part.block * part.rank;
    if (layout == "subarray-2d") return subarray({part.rows, length}, {part.rows, part.block}, {0, place});
    if (layout == "subarray-3d") {
        const int planes = part.rows % 2 == 0 ? 2 : 1, rows = part.rows / planes;
        return subarray({planes, rows, length}, {planes, rows, part.block}, {0, 0, place});
    }
    if (layout == "darray") {
        const std::array<int, 2> all{part.rows, length}, how{MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC},
            by{MPI_DISTRIBUTE_DFLT_DARG, part.block}, ranks{1, part.ranks};
        call(MPI_Type_create_darray(part.ranks, part.rank, 2, all.data(), how.data(), by.data(), ranks.data(),
                                    MPI_ORDER_C, MPI_BYTE, &type),
             "MPI_Type_create_darray");
        return type;
    }
    call(MPI_Type_vector(part.rows, part.block, length, MPI_BYTE, &type), "MPI_Type_vector");
    return type;
}

class ViewAccess : public Pattern {
public:
    ViewAccess(const Form& form, const Setting& setting)
        : setting_(setting),
          form_(form),
          file_(setting),
          block_(setting.number("block_bytes")),
          data_(static_cast<std::size_t>(setting.bytes)) {
        if (setting.bytes % block_ != 0) {
            throw Failure(Status::unsupported, std::to_string(setting.bytes) + " bytes are not whole blocks of " +
                                                   std::to_string(block_) + " bytes");
        }
        if (layout() == "external32" && setting.option("memory") != "contiguous") {
            throw Failure(Status::unsupported, "external32 is measured with contiguous memory");
        }
        file_.open();
        if (!form.writes) {
            if (setting.rank == 0) write_all();
            file_.hand_over(setting.comm);
        }
        set_view();
        access_.file = file_.handle();
        if (setting.option("memory") == "vector") {
            has_holes_ = true;
            memory_.resize(2 * data_.size());
            access_.type = make_type(layout_of("vector"), setting.bytes, block_);
            access_.count = 1;
        } else {
            memory_.resize(data_.size());
            access_.type = layout() == "external32" ? MPI_INT32_T : MPI_BYTE;
            access_.count = static_cast<int>(setting.bytes) / (layout() == "external32" ? word_bytes : 1);
        }
        access_.buffer = memory_.data();
    }

    void prepare(std::uint64_t seed) override {
        seed_ = form_.writes ? seed : file_seed;
        std::fill(memory_.begin(), memory_.end(), static_cast<unsigned char>(~data_byte(seed_, setting_.rank, 0)));
        if (!form_.writes) return;
        fill(data_, seed, setting_.rank);
        for (std::size_t j = 0; j < data_.size(); ++j) memory_[memory_place(j)] = data_[j];
    }

    void before() override {
        if (form_.position != Position::shared) return;
        call(MPI_Barrier(setting_.comm), "MPI_Barrier");
        call(MPI_File_seek_shared(file_.handle(), 0, MPI_SEEK_SET), "MPI_File_seek_shared");
    }
    void run() override { call(form_.run(access_), form_.name); }

    void verify() override {
        if (form_.writes) {
            file_.hand_over(setting_.comm);
            const Bytes all = read_all();
            for (std::size_t j = 0; j < data_.size(); ++j) data_[j] = all[file_place(setting_.rank, j)];
        } else {
            for (std::size_t j = 0; j < data_.size(); ++j) data_[j] = memory_[memory_place(j)];
        }
        check(data_, seed_, setting_.rank,
              std::string(form_.writes ? "the file" : "what was read") + " on rank " + std::to_string(setting_.rank));
        call(MPI_Barrier(setting_.comm), "MPI_Barrier");  // nobody writes before all have read
    }

    void finish() override {
        if (has_holes_) call(MPI_Type_free(&access_.type), "MPI_Type_free");
        call(MPI_Type_free(&file_type_), "MPI_Type_free");
        file_.remove();
    }

    [[nodiscard]] std::int64_t bytes_moved() const override { return setting_.bytes; }

private:
    static constexpr std::uint64_t file_seed = 1;
    static constexpr int word_bytes = 4;

    [[nodiscard]] const std::string& layout() const { return setting_.option("layout"); }
    [[nodiscard]] bool is_ordered() const { return form_.position == Position::shared; }
    [[nodiscard]] std::size_t all_bytes() const {
        return static_cast<std::size_t>(setting_.bytes * setting_.ranks) * (is_ordered() ? 2 : 1);
    }

    void set_view() {
        const bool is_external = layout() == "external32";
        const Part part{static_cast<int>(setting_.bytes / block_), block_, setting_.rank, setting_.ranks};
        MPI_Offset place = 0;
        if (is_external) {
            call(MPI_Type_dup(MPI_INT32_T, &file_type_), "MPI_Type_dup");
            place = setting_.rank * setting_.bytes;
        } else if (is_ordered()) {  // one view for all ranks
            MPI_Datatype block = MPI_DATATYPE_NULL;
            call(MPI_Type_contiguous(block_, MPI_BYTE, &block), "MPI_Type_contiguous");
            call(MPI_Type_create_resized(block, 0, MPI_Aint{2} * block_, &file_type_), "MPI_Type_create_resized");
            call(MPI_Type_free(&block), "MPI_Type_free");
        } else {
            file_type_ = file_type(layout(), part);
            place = layout() == "vector" ? setting_.rank * block_ : 0;
        }
        call(MPI_Type_commit(&file_type_), "MPI_Type_commit");
        call(MPI_File_set_view(file_.handle(), place, is_external ? MPI_INT32_T : MPI_BYTE, file_type_,
                               is_external ? "external32" : "native", MPI_INFO_NULL),
             "MPI_File_set_view");
    }

    /// Of byte `j` of a rank's data.
    [[nodiscard]] std::size_t file_place(int rank, std::size_t j) const {
        const auto block = static_cast<std::size_t>(block_), bytes = static_cast<std::size_t>(setting_.bytes);
        const auto own = static_cast<std::size_t>(rank), ranks = static_cast<std::size_t>(setting_.ranks);
        if (is_ordered()) return place_with_holes(own * bytes + j, block);
        if (layout() == "external32") {  // has the most significant byte first
            const std::size_t in_word = j % word_bytes;
            return own * bytes + j - in_word +
                   (std::endian::native == std::endian::little ? word_bytes - 1 - in_word : in_word);
        }
        return (j / block * ranks + own) * block + j % block;
    }
    [[nodiscard]] std::size_t memory_place(std::size_t j) const {
        return has_holes_ ? place_with_holes(j, static_cast<std::size_t>(block_)) : j;
    }

    void write_all() {
        Bytes all(all_bytes());
        for (int rank = 0; rank < setting_.ranks; ++rank) {
            for (std::size_t j = 0; j < data_.size(); ++j) all[file_place(rank, j)] = data_byte(file_seed, rank, j);
        }
        MPI_File file = plain(MPI_MODE_WRONLY);
        call(MPI_File_write_at(file, 0, all.data(), static_cast<int>(all.size()), MPI_BYTE, MPI_STATUS_IGNORE),
             "MPI_File_write_at");
        call(MPI_File_close(&file), "MPI_File_close");
    }
    [[nodiscard]] Bytes read_all() const {
        Bytes all(all_bytes());
        MPI_File file = plain(MPI_MODE_RDONLY);
        call(MPI_File_read_at(file, 0, all.data(), static_cast<int>(all.size()), MPI_BYTE, MPI_STATUS_IGNORE),
             "MPI_File_read_at");
        call(MPI_File_close(&file), "MPI_File_close");
        return all;
    }
    [[nodiscard]] MPI_File plain(int mode) const {
        MPI_File file = MPI_FILE_NULL;
        call(MPI_File_open(MPI_COMM_SELF, file_.path().c_str(), mode, MPI_INFO_NULL, &file), "MPI_File_open");
        return file;
    }

    Setting setting_;
    const Form& form_;
    File file_;
    int block_;
    Bytes data_, memory_;
    bool has_holes_ = false;
    MPI_Datatype file_type_ = MPI_DATATYPE_NULL;
    Access access_{};
    std::uint64_t seed_ = 0;
};

constexpr std::string_view viewed[] = {"read_at",  "read_at_all",  "iread_at",  "iread_at_all",  "read_ordered",
                                       "write_at", "write_at_all", "iwrite_at", "iwrite_at_all", "write_ordered"};

}  // namespace

void add_views(Items& items) {
    for (const std::string_view name : viewed) {
        const Form& form = form_of(name);
        const bool is_ordered = form.position == Position::shared;
        items.push_back(
            {"io.view." + std::string(name),
             std::string("MPI_File_") + form.name + " through a view with holes",
             8,
             1,
             false,
             {{"layout", is_ordered ? "vector" : "vector|subarray-2d|subarray-3d|darray|external32", "vector"},
              {"memory", "contiguous|vector", "contiguous"},
              {"block_bytes", "", "64"},
              {"file", "shared", "shared"}},
             [&form](const Setting& setting) { return std::make_unique<ViewAccess>(form, setting); }});
    }
}

}  // namespace hocket::bench
