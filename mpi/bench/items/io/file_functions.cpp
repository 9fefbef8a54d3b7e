// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Functions of files that move no data.

#include <unistd.h>

#include <memory>

#include "bench/items/data.hpp"
#include "bench/items/io/file.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"

namespace hocket::bench {

namespace {

constexpr MPI_Offset far = 1 << 20;

/// read-write, read-only: of a file that is there. create: of a new one, which is deleted then. delete-on-close: the
/// same by MPI_MODE_DELETE_ON_CLOSE.
class OpenClose : public Pattern {
public:
    explicit OpenClose(const Setting& setting) : file_(setting) {
        const std::string& mode = setting.option("mode");
        deletes_ = mode == "create" && (!file_.is_shared() || setting.rank == 0);
        is_there_ = mode.starts_with("read");
        mode_ = mode == "read-only" ? MPI_MODE_RDONLY : MPI_MODE_RDWR;
        if (!is_there_) mode_ |= MPI_MODE_CREATE;
        if (mode == "delete-on-close") mode_ |= MPI_MODE_DELETE_ON_CLOSE;
        if (!is_there_) return;
        file_.open();
        file_.close();
    }
    void run() override {
        MPI_File file = MPI_FILE_NULL;
        call(MPI_File_open(file_.owners(), file_.path().c_str(), mode_, MPI_INFO_NULL, &file), "MPI_File_open");
        call(MPI_File_close(&file), "MPI_File_close");
        if (deletes_) call(MPI_File_delete(file_.path().c_str(), MPI_INFO_NULL), "MPI_File_delete");
        // Nobody makes it anew before it is gone.
        if (!is_there_ && file_.is_shared()) call(MPI_Barrier(file_.owners()), "MPI_Barrier");
    }
    void verify() override {
        if (!is_there_ && access(file_.path().c_str(), F_OK) == 0) {
            throw Failure(Status::wrong_data, "the file is still there");
        }
    }
    void finish() override {
        if (is_there_) file_.remove();
    }

private:
    File file_;
    int mode_;
    bool deletes_, is_there_;
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

/// What one function is called with.
struct Call {
    MPI_File file;
    int turn;  ///< of runs
};

/// Functions return MPI's error code.
struct Function {
    const char* name;
    const char* what;
    int (*run)(Call& call);
    bool (*is_right)(const Call& call);  ///< after the call; null: nothing to see
};

constexpr Function functions[] = {
    {"set_view", "MPI_File_set_view",
     [](Call& c) { return MPI_File_set_view(c.file, far * c.turn, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL); },
     [](const Call& c) {
         MPI_Offset place = -1;
         return MPI_File_get_byte_offset(c.file, 1, &place) == MPI_SUCCESS && place == far * c.turn + 1;
     }},
    {"set_size", "MPI_File_set_size", [](Call& c) { return MPI_File_set_size(c.file, far * c.turn); },
     [](const Call& c) {
         MPI_Offset bytes = -1;
         return MPI_File_get_size(c.file, &bytes) == MPI_SUCCESS && bytes == far * c.turn;
     }},
    {"get_size", "MPI_File_get_size",
     [](Call& c) {
         MPI_Offset bytes = 0;
         return MPI_File_get_size(c.file, &bytes);
     },
     nullptr},
    {"preallocate", "MPI_File_preallocate of 1 MiB", [](Call& c) { return MPI_File_preallocate(c.file, far); },
     [](const Call& c) {
         MPI_Offset bytes = -1;
         return MPI_File_get_size(c.file, &bytes) == MPI_SUCCESS && bytes == far;
     }},
    {"set_atomicity", "MPI_File_set_atomicity", [](Call& c) { return MPI_File_set_atomicity(c.file, c.turn); },
     [](const Call& c) {
         int is_atomic = -1;
         return MPI_File_get_atomicity(c.file, &is_atomic) == MPI_SUCCESS && is_atomic == c.turn;
     }},
    {"get_position_shared", "MPI_File_get_position_shared",
     [](Call& c) {
         MPI_Offset place = 0;
         return MPI_File_get_position_shared(c.file, &place);
     },
     nullptr},
    {"get_info", "MPI_File_get_info",
     [](Call& c) {
         MPI_Info info = MPI_INFO_NULL;
         const int code = MPI_File_get_info(c.file, &info);
         return code != MPI_SUCCESS ? code : MPI_Info_free(&info);
     },
     nullptr},
};

class CallFunction : public Pattern {
public:
    CallFunction(const Function& function, const Setting& setting) : function_(function), file_(setting) {
        file_.open();
        call_.file = file_.handle();
    }
    void run() override {
        call_.turn = 1 - call_.turn;
        call(function_.run(call_), function_.what);
    }
    void verify() override {
        file_.hand_over(file_.owners());
        const bool is_right = function_.is_right == nullptr || function_.is_right(call_);
        call(MPI_Barrier(file_.owners()), "MPI_Barrier");  // nobody goes on before all have looked
        if (!is_right) throw Failure(Status::wrong_data, std::string(function_.what) + " had no effect");
    }
    void finish() override { file_.remove(); }

private:
    const Function& function_;
    File file_;
    Call call_{MPI_FILE_NULL, 0};
};

template <class Made>
Item item(const char* name, const char* what, std::int64_t min_bytes, bool batched,
          std::vector<Option> options = {file_option}) {
    return {name, what, min_bytes, 1, batched, std::move(options), [](const Setting& setting) {
                return std::make_unique<Made>(setting);
            }};
}

}  // namespace

void add_file_functions(Items& items) {
    constexpr Option mode{"mode", "read-write|read-only|create|delete-on-close", "read-write"};
    items.push_back(item<OpenClose>("io.open", "MPI_File_open and MPI_File_close", -1, false, {file_option, mode}));
    items.push_back(item<Seek>("io.seek", "MPI_File_seek", -1, true));
    items.push_back(item<SeekShared>("io.seek_shared", "MPI_File_seek_shared", -1, true));
    items.push_back(item<Sync>("io.sync", "MPI_File_sync after each rank has written this many bytes", 0, false));
    for (const Function& function : functions) {
        items.push_back(
            {std::string("io.") + function.name,
             function.what,
             -1,
             1,
             false,
             {file_option},
             [&function](const Setting& setting) { return std::make_unique<CallFunction>(function, setting); }});
    }
}

}  // namespace hocket::bench
