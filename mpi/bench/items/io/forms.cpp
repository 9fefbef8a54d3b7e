// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/io/forms.hpp"

#include <algorithm>

namespace hocket::bench {

namespace {

// How functions take their arguments.
constexpr auto at = [](Access& a, auto function, auto... more) {
    return function(a.file, a.offset, a.buffer, a.count, a.type, more...);
};
constexpr auto here = [](Access& a, auto function, auto... more) {
    return function(a.file, a.buffer, a.count, a.type, more...);
};

enum class Who { each, all };  ///< independent or collective

template <auto take, auto function>
constexpr Form blocking(const char* name, Position position, Who who, bool writes) {
    return {name, position, who == Who::all, writes, [](Access& a) { return take(a, function, &a.status); }, nullptr};
}
template <auto take, auto function>
constexpr Form nonblocking(const char* name, Position position, Who who, bool writes) {
    return {name,
            position,
            who == Who::all,
            writes,
            [](Access& a) { return take(a, function, &a.request); },
            [](Access& a) { return MPI_Wait(&a.request, &a.status); }};
}
template <auto take, auto begin, auto end>
constexpr Form split(const char* name, Position position, bool writes) {
    return {name,
            position,
            true,
            writes,
            [](Access& a) { return take(a, begin); },
            [](Access& a) { return end(a.file, a.buffer, &a.status); }};
}

constexpr auto offset = Position::offset, individual = Position::individual, shared = Position::shared;
constexpr auto each = Who::each, all = Who::all;
constexpr bool reads = false, writes = true;

constexpr Form all_forms[] = {
    blocking<at, MPI_File_read_at>("read_at", offset, each, reads),
    nonblocking<at, MPI_File_iread_at>("iread_at", offset, each, reads),
    blocking<at, MPI_File_read_at_all>("read_at_all", offset, all, reads),
    split<at, MPI_File_read_at_all_begin, MPI_File_read_at_all_end>("read_at_all_begin", offset, reads),
    blocking<here, MPI_File_read>("read", individual, each, reads),
    nonblocking<here, MPI_File_iread>("iread", individual, each, reads),
    blocking<here, MPI_File_read_all>("read_all", individual, all, reads),
    split<here, MPI_File_read_all_begin, MPI_File_read_all_end>("read_all_begin", individual, reads),
    blocking<here, MPI_File_read_shared>("read_shared", shared, each, reads),
    nonblocking<here, MPI_File_iread_shared>("iread_shared", shared, each, reads),
    blocking<here, MPI_File_read_ordered>("read_ordered", shared, all, reads),
    split<here, MPI_File_read_ordered_begin, MPI_File_read_ordered_end>("read_ordered_begin", shared, reads),
    nonblocking<at, MPI_File_iread_at_all>("iread_at_all", offset, all, reads),
    nonblocking<here, MPI_File_iread_all>("iread_all", individual, all, reads),
    blocking<at, MPI_File_write_at>("write_at", offset, each, writes),
    nonblocking<at, MPI_File_iwrite_at>("iwrite_at", offset, each, writes),
    blocking<at, MPI_File_write_at_all>("write_at_all", offset, all, writes),
    split<at, MPI_File_write_at_all_begin, MPI_File_write_at_all_end>("write_at_all_begin", offset, writes),
    blocking<here, MPI_File_write>("write", individual, each, writes),
    nonblocking<here, MPI_File_iwrite>("iwrite", individual, each, writes),
    blocking<here, MPI_File_write_all>("write_all", individual, all, writes),
    split<here, MPI_File_write_all_begin, MPI_File_write_all_end>("write_all_begin", individual, writes),
    blocking<here, MPI_File_write_shared>("write_shared", shared, each, writes),
    nonblocking<here, MPI_File_iwrite_shared>("iwrite_shared", shared, each, writes),
    blocking<here, MPI_File_write_ordered>("write_ordered", shared, all, writes),
    split<here, MPI_File_write_ordered_begin, MPI_File_write_ordered_end>("write_ordered_begin", shared, writes),
    nonblocking<at, MPI_File_iwrite_at_all>("iwrite_at_all", offset, all, writes),
    nonblocking<here, MPI_File_iwrite_all>("iwrite_all", individual, all, writes),
};

}  // namespace

std::span<const Form> forms() { return all_forms; }

const Form& form_of(std::string_view name) {
    return *std::find_if(std::begin(all_forms), std::end(all_forms),
                         [&](const Form& form) { return form.name == name; });
}

}  // namespace hocket::bench
