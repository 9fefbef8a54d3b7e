// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/layouts.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "bench/items/outcome.hpp"

namespace hocket::bench {

namespace {

MPI_Datatype committed(int code, const char* function, MPI_Datatype& type) {
    call(code, function);
    call(MPI_Type_commit(&type), "MPI_Type_commit");
    return type;
}

constexpr std::array layouts{
    Layout{"vector", "MPI_Type_vector",
           [](int blocks, int block) {
               MPI_Datatype type = MPI_DATATYPE_NULL;
               return committed(MPI_Type_vector(blocks, block, 2 * block, MPI_BYTE, &type), "MPI_Type_vector", type);
           }},
    Layout{"indexed", "MPI_Type_indexed",
           [](int blocks, int block) {
               MPI_Datatype type = MPI_DATATYPE_NULL;
               std::vector<int> lengths(static_cast<std::size_t>(blocks), block), places;
               for (int i = 0; i < blocks; ++i) places.push_back(2 * block * i);
               return committed(MPI_Type_indexed(blocks, lengths.data(), places.data(), MPI_BYTE, &type),
                                "MPI_Type_indexed", type);
           }},
    Layout{"struct", "MPI_Type_create_struct",
           [](int blocks, int block) {
               MPI_Datatype type = MPI_DATATYPE_NULL;
               std::vector<int> lengths(static_cast<std::size_t>(blocks), block);
               std::vector<MPI_Aint> places;
               for (MPI_Aint i = 0; i < blocks; ++i) places.push_back(2 * block * i);
               const std::vector<MPI_Datatype> types(lengths.size(), MPI_BYTE);
               return committed(MPI_Type_create_struct(blocks, lengths.data(), places.data(), types.data(), &type),
                                "MPI_Type_create_struct", type);
           }},
    Layout{"subarray", "MPI_Type_create_subarray",
           [](int blocks, int block) {
               MPI_Datatype type = MPI_DATATYPE_NULL;
               const std::array<int, 2> all{blocks, 2 * block}, part{blocks, block}, first{0, 0};
               return committed(
                   MPI_Type_create_subarray(2, all.data(), part.data(), first.data(), MPI_ORDER_C, MPI_BYTE, &type),
                   "MPI_Type_create_subarray", type);
           }},
};

}  // namespace

const Layout& layout_of(const std::string& name) {
    return *std::find_if(layouts.begin(), layouts.end(), [&](const Layout& one) { return name == one.name; });
}

MPI_Datatype make_type(const Layout& layout, std::int64_t bytes, int block) {
    if (bytes % block != 0) {
        throw Failure(Status::unsupported,
                      std::to_string(bytes) + " bytes are not whole blocks of " + std::to_string(block) + " bytes");
    }
    return layout.make(static_cast<int>(bytes / block), block);
}

}  // namespace hocket::bench
