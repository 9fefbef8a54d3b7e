// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/io/forms.hpp"

namespace hocket::bench {

namespace {

int wait(int code, MPI_Request& request, Access& access) {
    return code != MPI_SUCCESS ? code : MPI_Wait(&request, &access.status);
}

constexpr Form all_forms[] = {
    {"read_at", Position::offset, false, false,
     [](Access& a) { return MPI_File_read_at(a.file, a.offset, a.buffer, a.count, MPI_BYTE, &a.status); }},
    {"iread_at", Position::offset, false, false,
     [](Access& a) {
         MPI_Request request = MPI_REQUEST_NULL;
         return wait(MPI_File_iread_at(a.file, a.offset, a.buffer, a.count, MPI_BYTE, &request), request, a);
     }},
    {"read_at_all", Position::offset, true, false,
     [](Access& a) { return MPI_File_read_at_all(a.file, a.offset, a.buffer, a.count, MPI_BYTE, &a.status); }},
    {"read_at_all_begin", Position::offset, true, false,
     [](Access& a) {
         const int code = MPI_File_read_at_all_begin(a.file, a.offset, a.buffer, a.count, MPI_BYTE);
         return code != MPI_SUCCESS ? code : MPI_File_read_at_all_end(a.file, a.buffer, &a.status);
     }},
    {"read", Position::individual, false, false,
     [](Access& a) { return MPI_File_read(a.file, a.buffer, a.count, MPI_BYTE, &a.status); }},
    {"iread", Position::individual, false, false,
     [](Access& a) {
         MPI_Request request = MPI_REQUEST_NULL;
         return wait(MPI_File_iread(a.file, a.buffer, a.count, MPI_BYTE, &request), request, a);
     }},
    {"read_all", Position::individual, true, false,
     [](Access& a) { return MPI_File_read_all(a.file, a.buffer, a.count, MPI_BYTE, &a.status); }},
    {"read_all_begin", Position::individual, true, false,
     [](Access& a) {
         const int code = MPI_File_read_all_begin(a.file, a.buffer, a.count, MPI_BYTE);
         return code != MPI_SUCCESS ? code : MPI_File_read_all_end(a.file, a.buffer, &a.status);
     }},
    {"read_shared", Position::shared, false, false,
     [](Access& a) { return MPI_File_read_shared(a.file, a.buffer, a.count, MPI_BYTE, &a.status); }},
    {"iread_shared", Position::shared, false, false,
     [](Access& a) {
         MPI_Request request = MPI_REQUEST_NULL;
         return wait(MPI_File_iread_shared(a.file, a.buffer, a.count, MPI_BYTE, &request), request, a);
     }},
    {"read_ordered", Position::shared, true, false,
     [](Access& a) { return MPI_File_read_ordered(a.file, a.buffer, a.count, MPI_BYTE, &a.status); }},
    {"read_ordered_begin", Position::shared, true, false,
     [](Access& a) {
         const int code = MPI_File_read_ordered_begin(a.file, a.buffer, a.count, MPI_BYTE);
         return code != MPI_SUCCESS ? code : MPI_File_read_ordered_end(a.file, a.buffer, &a.status);
     }},
    {"iread_at_all", Position::offset, true, false,
     [](Access& a) {
         MPI_Request request = MPI_REQUEST_NULL;
         return wait(MPI_File_iread_at_all(a.file, a.offset, a.buffer, a.count, MPI_BYTE, &request), request, a);
     }},
    {"iread_all", Position::individual, true, false,
     [](Access& a) {
         MPI_Request request = MPI_REQUEST_NULL;
         return wait(MPI_File_iread_all(a.file, a.buffer, a.count, MPI_BYTE, &request), request, a);
     }},
    {"write_at", Position::offset, false, true,
     [](Access& a) { return MPI_File_write_at(a.file, a.offset, a.buffer, a.count, MPI_BYTE, &a.status); }},
    {"iwrite_at", Position::offset, false, true,
     [](Access& a) {
         MPI_Request request = MPI_REQUEST_NULL;
         return wait(MPI_File_iwrite_at(a.file, a.offset, a.buffer, a.count, MPI_BYTE, &request), request, a);
     }},
    {"write_at_all", Position::offset, true, true,
     [](Access& a) { return MPI_File_write_at_all(a.file, a.offset, a.buffer, a.count, MPI_BYTE, &a.status); }},
    {"write_at_all_begin", Position::offset, true, true,
     [](Access& a) {
         const int code = MPI_File_write_at_all_begin(a.file, a.offset, a.buffer, a.count, MPI_BYTE);
         return code != MPI_SUCCESS ? code : MPI_File_write_at_all_end(a.file, a.buffer, &a.status);
     }},
    {"write", Position::individual, false, true,
     [](Access& a) { return MPI_File_write(a.file, a.buffer, a.count, MPI_BYTE, &a.status); }},
    {"iwrite", Position::individual, false, true,
     [](Access& a) {
         MPI_Request request = MPI_REQUEST_NULL;
         return wait(MPI_File_iwrite(a.file, a.buffer, a.count, MPI_BYTE, &request), request, a);
     }},
    {"write_all", Position::individual, true, true,
     [](Access& a) { return MPI_File_write_all(a.file, a.buffer, a.count, MPI_BYTE, &a.status); }},
    {"write_all_begin", Position::individual, true, true,
     [](Access& a) {
         const int code = MPI_File_write_all_begin(a.file, a.buffer, a.count, MPI_BYTE);
         return code != MPI_SUCCESS ? code : MPI_File_write_all_end(a.file, a.buffer, &a.status);
     }},
    {"write_shared", Position::shared, false, true,
     [](Access& a) { return MPI_File_write_shared(a.file, a.buffer, a.count, MPI_BYTE, &a.status); }},
    {"iwrite_shared", Position::shared, false, true,
     [](Access& a) {
         MPI_Request request = MPI_REQUEST_NULL;
         return wait(MPI_File_iwrite_shared(a.file, a.buffer, a.count, MPI_BYTE, &request), request, a);
     }},
    {"write_ordered", Position::shared, true, true,
     [](Access& a) { return MPI_File_write_ordered(a.file, a.buffer, a.count, MPI_BYTE, &a.status); }},
    {"write_ordered_begin", Position::shared, true, true,
     [](Access& a) {
         const int code = MPI_File_write_ordered_begin(a.file, a.buffer, a.count, MPI_BYTE);
         return code != MPI_SUCCESS ? code : MPI_File_write_ordered_end(a.file, a.buffer, &a.status);
     }},
    {"iwrite_at_all", Position::offset, true, true,
     [](Access& a) {
         MPI_Request request = MPI_REQUEST_NULL;
         return wait(MPI_File_iwrite_at_all(a.file, a.offset, a.buffer, a.count, MPI_BYTE, &request), request, a);
     }},
    {"iwrite_all", Position::individual, true, true,
     [](Access& a) {
         MPI_Request request = MPI_REQUEST_NULL;
         return wait(MPI_File_iwrite_all(a.file, a.buffer, a.count, MPI_BYTE, &request), request, a);
     }},
};

}  // namespace

std::span<const Form> forms() { return all_forms; }

}  // namespace hocket::bench
