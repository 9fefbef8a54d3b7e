// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace hocket::base {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20U;

/// Zeroed memory that counts only once it is touched. A large piece asks for huge pages: a simulation of a large
/// network visits its records in random order, and misses in the translation of addresses would cost as much as those
/// in the data.
/// @throws std::bad_alloc
void* map_memory(std::size_t bytes);
void unmap_memory(void* memory, std::size_t bytes);

/// An array of map_memory().
template <class T>
class BigArray {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    BigArray() = default;
    explicit BigArray(std::size_t size) : size_(size) {
        if (size > 0) data_ = static_cast<T*>(map_memory(size * sizeof(T)));
    }
    BigArray(BigArray&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    BigArray& operator=(BigArray&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    BigArray(const BigArray&) = delete;
    BigArray& operator=(const BigArray&) = delete;
    ~BigArray() {
        if (size_ > 0) unmap_memory(data_, size_ * sizeof(T));
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] T* data() { return data_; }
    [[nodiscard]] const T* data() const { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T& operator[](std::int32_t i) { return data_[static_cast<std::size_t>(i)]; }
    const T& operator[](std::int32_t i) const { return data_[static_cast<std::size_t>(i)]; }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

/// The same memory for a std::vector that may become large.
template <class T>
struct BigAllocator {
    using value_type = T;
    BigAllocator() = default;
    template <class U>
    explicit BigAllocator(const BigAllocator<U>&) {}

    T* allocate(std::size_t size) {
        return is_large(size) ? static_cast<T*>(map_memory(size * sizeof(T))) : std::allocator<T>().allocate(size);
    }
    void deallocate(T* data, std::size_t size) {
        if (is_large(size))
            unmap_memory(data, size * sizeof(T));
        else
            std::allocator<T>().deallocate(data, size);
    }
    bool operator==(const BigAllocator&) const = default;

private:
    static bool is_large(std::size_t size) { return size >= huge_page_bytes / 2 / sizeof(T); }
};

}  // namespace hocket::base
