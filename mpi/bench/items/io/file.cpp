// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/io/file.hpp"

#include "bench/items/outcome.hpp"

namespace hocket::bench {

namespace {

constexpr int group_ranks = 2;

}  // namespace

File::File(const Setting& setting)
    : owners_(setting.option("file") == "own" ? MPI_COMM_SELF : setting.comm),
      is_shared_(setting.option("file") == "shared"),
      is_of_group_(setting.option("file") == "groups"),
      deletes_(!is_shared_ || setting.rank == 0),
      path_(setting.folder + "/hocket-bench") {
    if (is_of_group_) {
        const int group = setting.rank / group_ranks;
        deletes_ = setting.rank % group_ranks == 0;
        call(MPI_Comm_split(setting.comm, group, setting.rank, &owners_), "MPI_Comm_split");
        path_ += "-group-" + std::to_string(group);
    } else if (!is_shared_) {
        path_ += '-' + std::to_string(setting.rank);
    }
    path_ += ".dat";
}

void File::open() {
    if (deletes_) MPI_File_delete(path_.c_str(), MPI_INFO_NULL);  // of a launch that was killed; most often none
    call(MPI_Barrier(owners_), "MPI_Barrier");
    call(MPI_File_open(owners_, path_.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file_),
         "MPI_File_open");
}

void File::reopen() {
    call(MPI_File_open(owners_, path_.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file_), "MPI_File_open");
}

void File::close() { call(MPI_File_close(&file_), "MPI_File_close"); }

void File::hand_over(MPI_Comm comm) {
    call(MPI_File_sync(file_), "MPI_File_sync");
    call(MPI_Barrier(comm), "MPI_Barrier");
    call(MPI_File_sync(file_), "MPI_File_sync");
}

void File::remove() {
    if (file_ != MPI_FILE_NULL) close();
    call(MPI_Barrier(owners_), "MPI_Barrier");
    if (deletes_) call(MPI_File_delete(path_.c_str(), MPI_INFO_NULL), "MPI_File_delete");
    if (is_of_group_) call(MPI_Comm_free(&owners_), "MPI_Comm_free");
}

}  // namespace hocket::bench
