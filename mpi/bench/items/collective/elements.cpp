// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/collective/elements.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "bench/items/outcome.hpp"

namespace hocket::bench {

namespace {

constexpr std::size_t period = 251;  // of elements in a block
constexpr int spoilt = 253;          // no element and, for up to many ranks, no sum that is expected in its place

constexpr auto sum = [](int a, int b) { return a + b; };
constexpr auto larger = [](int a, int b) { return std::max(a, b); };
constexpr auto differing_bits = [](int a, int b) { return a ^ b; };

template <class Type>
Elements elements(const char* name, MPI_Datatype type, MPI_Op op, int (*combine)(int, int)) {
    return {name,
            type,
            op,
            sizeof(Type),
            [](void* data, std::size_t j, int value) { static_cast<Type*>(data)[j] = static_cast<Type>(value); },
            [](const void* data, std::size_t j) { return static_cast<double>(static_cast<const Type*>(data)[j]); },
            combine};
}

}  // namespace

const Elements& elements_of(const std::string& name) {
    // Not constants of the program: in Open MPI the handles are addresses.
    static const std::array all{elements<unsigned char>("bytes", MPI_BYTE, MPI_OP_NULL, differing_bits),
                                elements<float>("float-sum", MPI_FLOAT, MPI_SUM, sum),
                                elements<double>("double-sum", MPI_DOUBLE, MPI_SUM, sum),
                                elements<std::int32_t>("int32-sum", MPI_INT32_T, MPI_SUM, sum),
                                elements<std::int64_t>("int64-sum", MPI_INT64_T, MPI_SUM, sum),
                                elements<float>("float-max", MPI_FLOAT, MPI_MAX, larger),
                                elements<double>("double-max", MPI_DOUBLE, MPI_MAX, larger),
                                elements<unsigned char>("byte-bxor", MPI_BYTE, MPI_BXOR, differing_bits)};
    return *std::find_if(all.begin(), all.end(), [&](const Elements& one) { return name == one.name; });
}

void fill(const Elements& elements, void* data, std::size_t num, std::uint64_t seed, int source, int destination) {
    for (std::size_t j = 0; j < num; ++j) elements.put(data, j, element(seed, source, destination, j));
}

void spoil(const Elements& elements, void* data, std::size_t num) {
    for (std::size_t j = 0; j < num; ++j) elements.put(data, j, spoilt);
}

void check(const Elements& elements, const void* data, std::size_t num, std::uint64_t seed, int first, int last,
           int destination, const std::string& what) {
    std::vector<int> expected(std::min(num, period));
    for (std::size_t j = 0; j < expected.size(); ++j) {
        expected[j] = element(seed, first, destination, j);
        for (int source = first + 1; source <= last; ++source) {
            expected[j] = elements.combine(expected[j], element(seed, source, destination, j));
        }
    }
    for (std::size_t j = 0; j < num; ++j) {
        const double found = elements.get(data, j);
        if (found == expected[j % period]) continue;
        throw Failure(Status::wrong_data, "element " + std::to_string(j) + " of " + what + " is " +
                                              std::to_string(found) + ", expected " +
                                              std::to_string(expected[j % period]));
    }
}

}  // namespace hocket::bench
