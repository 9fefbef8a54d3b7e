// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>

#include "bench/items/pattern.hpp"

namespace hocket::bench {

/// The elements of a collective's buffers. All values are small whole numbers, so that sums are exact in any order.
struct Elements {
    const char* name;  ///< "float-sum"; "bytes" where nothing is reduced
    MPI_Datatype type;
    MPI_Op op;
    int size;  ///< bytes
    void (*put)(void* data, std::size_t j, int value);
    double (*get)(const void* data, std::size_t j);
    int (*combine)(int a, int b);
};

inline constexpr Option operator_option{
    "operator", "float-sum|double-sum|int32-sum|int64-sum|float-max|double-max|byte-bxor", "float-sum"};

const Elements& elements_of(const std::string& name);

/// Element `j` of what rank `source` has for rank `destination`, from 0 to 250.
inline int element(std::uint64_t seed, int source, int destination, std::size_t j) {
    return static_cast<int>(
        (seed * 31 + static_cast<std::uint64_t>(source) * 7 + static_cast<std::uint64_t>(destination) * 13 + j) % 251);
}

/// `num` elements at `data`.
void fill(const Elements& elements, void* data, std::size_t num, std::uint64_t seed, int source, int destination);
/// Values that no element has.
void spoil(const Elements& elements, void* data, std::size_t num);
/// Those of ranks `first` to `last` for `destination`, combined. @throws Failure  wrong_data
void check(const Elements& elements, const void* data, std::size_t num, std::uint64_t seed, int first, int last,
           int destination, const std::string& what);

}  // namespace hocket::bench
