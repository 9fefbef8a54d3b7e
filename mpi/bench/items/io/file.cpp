// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/io/file.hpp"

#include "bench/items/outcome.hpp"

namespace hocket::bench {

File::File(const Setting& setting)
    : owners_(setting.option("file") == "own" ? MPI_COMM_SELF : setting.comm),
      is_shared_(setting.option("file") == "shared"),
      deletes_(!is_shared_ || setting.rank == 0),
      path_(setting.folder + "/hocket-bench" + (is_shared_ ? "" : "-" + std::to_string(setting.rank)) + ".dat") {}

void File::open() {
    if (deletes_) MPI_File_delete(path_.c_str(), MPI_INFO_NULL);  // of a launch that was killed; most often none
    call(MPI_Barrier(owners_), "MPI_Barrier");
    call(MPI_File_open(owners_, path_.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file_),
         "MPI_File_open");
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
}

}  // namespace hocket::bench
