// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace hocket::simulation {

/// Zeroed memory that counts only once it is touched. Large arrays ask for huge pages: a simulation of a large network
/// visits its records in random order, and misses in the translation of addresses would cost as much as those in the data.
template <class T>
class BigArray {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    BigArray() = default;
    explicit BigArray(std::size_t size) : size_(size) {
        if (size == 0) return;
        void* const memory =
            mmap(nullptr, size * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
        constexpr std::size_t huge_page_bytes = std::size_t{2} << 20U;
        if (size * sizeof(T) >= 2 * huge_page_bytes) madvise(memory, size * sizeof(T), MADV_HUGEPAGE);
#endif
        data_ = static_cast<T*>(memory);
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
        if (data_ != nullptr) munmap(data_, size_ * sizeof(T));
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

}  // namespace hocket::simulation
