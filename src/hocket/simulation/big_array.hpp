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
        // Memory of a large array starts at a huge page, so that no part of it needs small ones.
        const std::size_t room = is_large() ? bytes() + huge_page_bytes : bytes();
        void* const memory = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        memory_ = memory;
        memory_bytes_ = room;
        auto start = reinterpret_cast<std::uintptr_t>(memory);
        if (is_large()) {
            start = (start + huge_page_bytes - 1) & ~(huge_page_bytes - 1);
#ifdef MADV_HUGEPAGE
            madvise(reinterpret_cast<void*>(start), bytes(), MADV_HUGEPAGE);
#endif
        }
        data_ = reinterpret_cast<T*>(start);
    }
    BigArray(BigArray&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          memory_(std::exchange(other.memory_, nullptr)),
          memory_bytes_(other.memory_bytes_) {}
    BigArray& operator=(BigArray&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(memory_, other.memory_);
        std::swap(memory_bytes_, other.memory_bytes_);
        return *this;
    }
    BigArray(const BigArray&) = delete;
    BigArray& operator=(const BigArray&) = delete;
    ~BigArray() {
        if (memory_ != nullptr) munmap(memory_, memory_bytes_);
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] T* data() { return data_; }
    [[nodiscard]] const T* data() const { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T& operator[](std::int32_t i) { return data_[static_cast<std::size_t>(i)]; }
    const T& operator[](std::int32_t i) const { return data_[static_cast<std::size_t>(i)]; }

private:
    static constexpr std::size_t huge_page_bytes = std::size_t{2} << 20U;
    [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }
    [[nodiscard]] bool is_large() const { return bytes() >= huge_page_bytes / 2; }

    T* data_ = nullptr;
    std::size_t size_ = 0;
    void* memory_ = nullptr;
    std::size_t memory_bytes_ = 0;
};

}  // namespace hocket::simulation
