// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Functions of files that move no data.

#include <memory>

#include "bench/items/data.hpp"
#include "bench/items/io/file.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"

namespace hocket::bench {

namespace {

constexpr MPI_Offset far = 1 << 20;

class OpenClose : public Pattern {
public:
    explicit OpenClose(const Setting& setting) : file_(setting) {
        file_.open();
        file_.close();
    }
    void run() override {
        MPI_File file = MPI_FILE_NULL;
        call(MPI_File_open(file_.owners(), file_.path().c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file), "MPI_File_open");
        call(MPI_File_close(&file), "MPI_File_close");
    }
    void finish() override { file_.remove(); }

private:
    File file_;
};

/// The pointer goes to and fro.
class Seek : public Pattern {
public:
    explicit Seek(const Setting& setting) : file_(setting) { file_.open(); }
    void run() override {
        place_ = far - place_;
        call(MPI_File_seek(file_.handle(), place_, MPI_SEEK_SET), "MPI_File_seek");
    }
    void verify() override {
        MPI_Offset found = -1;
        call(MPI_File_get_position(file_.handle(), &found), "MPI_File_get_position");
        if (found != place_) throw Failure(Status::wrong_data, "MPI_File_get_position returns another position");
    }
    void finish() override { file_.remove(); }

private:
    File file_;
    MPI_Offset place_ = 0;
};

class SeekShared : public Pattern {
public:
    explicit SeekShared(const Setting& setting) : comm_(setting.comm), file_(setting) { file_.open(); }
    void run() override {
        place_ = far - place_;
        call(MPI_File_seek_shared(file_.handle(), place_, MPI_SEEK_SET), "MPI_File_seek_shared");
    }
    void verify() override {
        MPI_Offset found = -1;
        call(MPI_File_get_position_shared(file_.handle(), &found), "MPI_File_get_position_shared");
        call(MPI_Barrier(comm_), "MPI_Barrier");
        if (found != place_) throw Failure(Status::wrong_data, "MPI_File_get_position_shared returns another position");
    }
    void finish() override { file_.remove(); }

private:
    MPI_Comm comm_;
    File file_;
    MPI_Offset place_ = 0;
};

/// Of a file that nothing, or `dirty` bytes of each rank, were written to since the last one.
class Sync : public Pattern {
public:
    explicit Sync(const Setting& setting)
        : file_(setting), place_(setting.rank * setting.bytes), data_(static_cast<std::size_t>(setting.bytes)) {
        file_.open();
    }
    void prepare(std::uint64_t seed) override {
        fill(data_, seed, 0);
        write();
    }
    void before() override { write(); }
    void run() override { call(MPI_File_sync(file_.handle()), "MPI_File_sync"); }
    void finish() override { file_.remove(); }

private:
    void write() {
        if (data_.empty()) return;
        call(MPI_File_write_at(file_.handle(), place_, data_.data(), static_cast<int>(data_.size()), MPI_BYTE,
                               MPI_STATUS_IGNORE),
             "MPI_File_write_at");
    }

    File file_;
    MPI_Offset place_;
    Bytes data_;
};

template <class Made>
Item item(const char* name, const char* what, std::int64_t min_bytes, bool batched) {
    return {name, what, min_bytes, 1, batched, {file_option}, [](const Setting& setting) {
                return std::make_unique<Made>(setting);
            }};
}

}  // namespace

void add_file_functions(Items& items) {
    items.push_back(item<OpenClose>("io.open", "MPI_File_open and MPI_File_close", -1, false));
    items.push_back(item<Seek>("io.seek", "MPI_File_seek", -1, true));
    items.push_back(item<SeekShared>("io.seek_shared", "MPI_File_seek_shared", -1, true));
    items.push_back(item<Sync>("io.sync", "MPI_File_sync after each rank has written this many bytes", 0, false));
}

}  // namespace hocket::bench
