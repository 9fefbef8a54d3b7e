// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/base/big_array.hpp"

#include <sys/mman.h>

#include <limits>
#include <new>

namespace hocket::base {
namespace {

/// Memory of a large piece starts at a huge page, so that no part of it needs small ones.
std::size_t rounded_up(std::size_t bytes) {
    if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
    return bytes < huge_page_bytes / 2 ? bytes : (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
}

}  // namespace

void* map_memory(std::size_t bytes) {
    const std::size_t size = rounded_up(bytes), room = size < huge_page_bytes ? size : size + huge_page_bytes;
    void* const memory = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    if (size < huge_page_bytes) return memory;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t first = (begin + huge_page_bytes - 1) & ~(huge_page_bytes - 1);
    if (first > begin) munmap(memory, first - begin);
    if (const std::size_t rest = begin + room - (first + size); rest > 0)
        munmap(reinterpret_cast<void*>(first + size), rest);
#ifdef MADV_HUGEPAGE
    madvise(reinterpret_cast<void*>(first), size, MADV_HUGEPAGE);
#endif
    return reinterpret_cast<void*>(first);
}

void unmap_memory(void* memory, std::size_t bytes) { munmap(memory, rounded_up(bytes)); }

}  // namespace hocket::base
