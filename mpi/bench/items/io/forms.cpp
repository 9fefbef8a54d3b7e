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
constexpr auto by_each = Who::each, by_all = Who::all;
constexpr bool to_read = false, to_write = true;

constexpr Form all_forms[] = {
    blocking<at, MPI_File_read_at>("read_at", offset, by_each, to_read),
    nonblocking<at, MPI_File_iread_at>("iread_at", offset, by_each, to_read),
    blocking<at, MPI_File_read_at_all>("read_at_all", offset, by_all, to_read),
    split<at, MPI_File_read_at_all_begin, MPI_File_read_at_all_end>("read_at_all_begin", offset, to_read),
    blocking<here, MPI_File_read>("read", individual, by_each, to_read),
    nonblocking<here, MPI_File_iread>("iread", individual, by_each, to_read),
    blocking<here, MPI_File_read_all>("read_all", individual, by_all, to_read),
    split<here, MPI_File_read_all_begin, MPI_File_read_all_end>("read_all_begin", individual, to_read),
    blocking<here, MPI_File_read_shared>("read_shared", shared, by_each, to_read),
    nonblocking<here, MPI_File_iread_shared>("iread_shared", shared, by_each, to_read),
    blocking<here, MPI_File_read_ordered>("read_ordered", shared, by_all, to_read),
    split<here, MPI_File_read_ordered_begin, MPI_File_read_ordered_end>("read_ordered_begin", shared, to_read),
    nonblocking<at, MPI_File_iread_at_all>("iread_at_all", offset, by_all, to_read),
    nonblocking<here, MPI_File_iread_all>("iread_all", individual, by_all, to_read),
    blocking<at, MPI_File_write_at>("write_at", offset, by_each, to_write),
    nonblocking<at, MPI_File_iwrite_at>("iwrite_at", offset, by_each, to_write),
    blocking<at, MPI_File_write_at_all>("write_at_all", offset, by_all, to_write),
    split<at, MPI_File_write_at_all_begin, MPI_File_write_at_all_end>("write_at_all_begin", offset, to_write),
    blocking<here, MPI_File_write>("write", individual, by_each, to_write),
    nonblocking<here, MPI_File_iwrite>("iwrite", individual, by_each, to_write),
    blocking<here, MPI_File_write_all>("write_all", individual, by_all, to_write),
    split<here, MPI_File_write_all_begin, MPI_File_write_all_end>("write_all_begin", individual, to_write),
    blocking<here, MPI_File_write_shared>("write_shared", shared, by_each, to_write),
    nonblocking<here, MPI_File_iwrite_shared>("iwrite_shared", shared, by_each, to_write),
    blocking<here, MPI_File_write_ordered>("write_ordered", shared, by_all, to_write),
    split<here, MPI_File_write_ordered_begin, MPI_File_write_ordered_end>("write_ordered_begin", shared, to_write),
    nonblocking<at, MPI_File_iwrite_at_all>("iwrite_at_all", offset, by_all, to_write),
    nonblocking<here, MPI_File_iwrite_all>("iwrite_all", individual, by_all, to_write),
};

}  // namespace

std::span<const Form> forms() { return all_forms; }

const Form& form_of(std::string_view name) {
    return *std::find_if(std::begin(all_forms), std::end(all_forms),
                         [&](const Form& form) { return form.name == name; });
}

}  // namespace hocket::bench
