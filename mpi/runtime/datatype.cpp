// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/datatype.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <random>
#include <vector>

namespace hocket::runtime {

namespace {

std::mutex keyval_mutex;
int keyval = MPI_KEYVAL_INVALID;

// The answer is cached on the datatype itself, so that it dies with the handle and goes along with MPI_Type_dup.
int answer_keyval() {
    const std::lock_guard lock(keyval_mutex);
    if (keyval == MPI_KEYVAL_INVALID) {
        PMPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, nullptr);
    }
    return keyval;
}

// Equal size and extent are not enough: an indexed type may list the elements in another order. So one element of
// random bytes is packed and compared.
bool packs_to_itself(MPI_Datatype type, const TypeInfo& info) {
    if (info.size_bytes != info.extent_bytes || info.true_lower_bytes != 0 ||
        info.true_upper_bytes != info.extent_bytes || info.size_bytes > (std::int64_t{1} << 30)) {
        return false;
    }
    if (info.named || info.size_bytes == 0) return true;  // Open MPI refuses to pack nothing

    const int key = answer_keyval();
    static char yes, no;
    void* answer = nullptr;
    int found = 0;
    PMPI_Type_get_attr(type, key, &answer, &found);
    if (found != 0) return answer == &yes;

    const auto bytes = static_cast<std::size_t>(info.size_bytes);
    std::vector<unsigned char> element(bytes), packed(bytes);
    std::minstd_rand random(1);
    std::generate(element.begin(), element.end(), [&] { return static_cast<unsigned char>(random() >> 16); });
    int position = 0;
    PMPI_Pack(element.data(), 1, type, packed.data(), static_cast<int>(bytes), &position, MPI_COMM_SELF);
    const bool same = static_cast<std::size_t>(position) == bytes && element == packed;
    PMPI_Type_set_attr(type, key, same ? &yes : &no);
    return same;
}

// Calls step(first, count) for parts whose bytes fit an int.
template <class Step>
int in_parts(const Buffer& buffer, std::int64_t size_bytes, Step step) {
    const std::int64_t most =
        std::max<std::int64_t>(1, (std::int64_t{1} << 30) / std::max<std::int64_t>(1, size_bytes));
    for (std::int64_t first = 0; first < buffer.count; first += most) {
        const int code = step(first, std::min(most, buffer.count - first));
        if (code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
}

// MPICH's MPI_Pack and MPI_Unpack refuse MPI_BOTTOM: then the same data are described from an address of ours.
class Anchored {
public:
    Anchored(const Buffer& buffer, void* anchor)
        : address_(buffer.address), count_(static_cast<int>(buffer.count)), type_(buffer.type) {
        if (address_ != MPI_BOTTOM) return;
        const MPI_Aint offset = -reinterpret_cast<MPI_Aint>(anchor);
        PMPI_Type_create_hindexed(1, &count_, &offset, buffer.type, &type_);
        PMPI_Type_commit(&type_);
        owned_ = true;
        address_ = anchor;
        count_ = 1;
    }
    Anchored(const Anchored&) = delete;
    Anchored& operator=(const Anchored&) = delete;
    ~Anchored() {
        if (owned_) PMPI_Type_free(&type_);
    }
    [[nodiscard]] void* address() const { return address_; }
    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] MPI_Datatype type() const { return type_; }

private:
    void* address_;
    int count_;
    MPI_Datatype type_;
    bool owned_ = false;
};

void copy_bytes(void* to, const void* from, std::int64_t bytes) {
    if (bytes > 0 && to != from) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

namespace {

// Asking MPI takes longer than a small message. The answers for named datatypes are kept, since they cannot change.
struct Known {
    MPI_Datatype type;
    TypeInfo info;
};
constexpr std::size_t max_known = 4;
thread_local std::array<Known, max_known> known;
thread_local std::size_t num_known = 0;

}  // namespace

const TypeInfo* find_known(MPI_Datatype type) {
    for (std::size_t i = 0; i < std::min(num_known, max_known); ++i) {
        if (known[i].type == type) return &known[i].info;
    }
    return nullptr;
}

namespace {

std::int64_t extent_of(MPI_Datatype type) {
    if (const TypeInfo* const info = find_known(type)) return info->extent_bytes;
    MPI_Count lower = 0, extent = 0;
    PMPI_Type_get_extent_x(type, &lower, &extent);
    return static_cast<std::int64_t>(extent);
}

bool is_named(MPI_Datatype type) {
    int integers = 0, addresses = 0, types = 0, combiner = 0;
    return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED;
}

}  // namespace

std::int64_t size_of(MPI_Datatype type) {
    if (const TypeInfo* const info = find_known(type)) return info->size_bytes;
    MPI_Count size = MPI_UNDEFINED;
    PMPI_Type_size_x(type, &size);
    return size == MPI_UNDEFINED ? -1 : static_cast<std::int64_t>(size);
}

TypeInfo describe(MPI_Datatype type) {
    if (const TypeInfo* const info = find_known(type)) return *info;
    MPI_Count lower = 0, extent = 0, true_lower = 0, true_extent = 0;
    PMPI_Type_get_extent_x(type, &lower, &extent);
    PMPI_Type_get_true_extent_x(type, &true_lower, &true_extent);
    TypeInfo info{size_of(type), extent, true_lower, true_lower + true_extent, false, is_named(type)};
    info.contiguous = packs_to_itself(type, info);
    if (info.named) known[num_known++ % max_known] = {type, info};
    return info;
}

Buffer part_of(const Buffer& buffer, std::int64_t first, std::int64_t count) {
    return {static_cast<char*>(buffer.address) + first * extent_of(buffer.type), count, buffer.type};
}

int pack(const Buffer& from, char* to, MPI_Comm comm) {
    if (from.count == 0) return MPI_SUCCESS;
    const TypeInfo info = describe(from.type);
    if (info.size_bytes == 0) return MPI_SUCCESS;
    if (info.contiguous) {
        copy_bytes(to, from.address, from.count * info.size_bytes);
        return MPI_SUCCESS;
    }
    return in_parts(from, info.size_bytes, [&](std::int64_t first, std::int64_t count) {
        const Anchored part(part_of(from, first, count), to);
        int position = 0;
        return PMPI_Pack(part.address(), part.count(), part.type(), to + first * info.size_bytes,
                         static_cast<int>(count * info.size_bytes), &position, comm);
    });
}

int unpack(const char* from, const Buffer& to, MPI_Comm comm) {
    if (to.count == 0) return MPI_SUCCESS;
    const TypeInfo info = describe(to.type);
    if (info.size_bytes == 0) return MPI_SUCCESS;
    if (info.contiguous) {
        copy_bytes(to.address, from, to.count * info.size_bytes);
        return MPI_SUCCESS;
    }
    return in_parts(to, info.size_bytes, [&](std::int64_t first, std::int64_t count) {
        const Anchored part(part_of(to, first, count), const_cast<char*>(from));
        int position = 0;
        return PMPI_Unpack(from + first * info.size_bytes, static_cast<int>(count * info.size_bytes), &position,
                           part.address(), part.count(), part.type(), comm);
    });
}

int copy(const Buffer& from, const Buffer& to, MPI_Comm comm) {
    if (from.count == 0 || from.address == to.address) return MPI_SUCCESS;
    const TypeInfo info = describe(from.type);
    if (info.size_bytes == 0) return MPI_SUCCESS;
    if (info.contiguous) {
        copy_bytes(to.address, from.address, from.count * info.size_bytes);
        return MPI_SUCCESS;
    }
    std::vector<char> packed(static_cast<std::size_t>(from.count * info.size_bytes));
    const int code = pack(from, packed.data(), comm);
    return code == MPI_SUCCESS ? unpack(packed.data(), to, comm) : code;
}

void forget_datatypes() {
    const std::lock_guard lock(keyval_mutex);
    if (keyval != MPI_KEYVAL_INVALID) PMPI_Type_free_keyval(&keyval);
}

}  // namespace hocket::runtime
