// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>

namespace hocket::bench {

/// A queue of Linux's io_uring, by its system calls: man 7 io_uring. No library is needed for so little.
class Uring {
public:
    static constexpr unsigned most_requests = 8;

    /// @throws Failure  unsupported, where the kernel or what confines this process has no io_uring
    Uring();
    Uring(const Uring&) = delete;
    Uring& operator=(const Uring&) = delete;
    ~Uring();

    /// Moves the first bytes of a file, in equal parts that are under way together. Returns the bytes moved; with an
    /// error fewer, and `errno`.
    std::size_t read(int file, unsigned char* data, std::size_t bytes) { return move(false, file, data, bytes); }
    std::size_t write(int file, unsigned char* data, std::size_t bytes) { return move(true, file, data, bytes); }

private:
    std::size_t move(bool writes, int file, unsigned char* data, std::size_t bytes);

    struct Area {
        void* at = nullptr;
        std::size_t bytes = 0;
    };
    template <class Type>
    [[nodiscard]] Type* in(const Area& area, std::size_t offset) const;
    Area map(std::size_t bytes, long long offset);

    int ring_ = -1;
    Area submissions_, completions_, entries_;  // entries: of the submissions
    unsigned *submission_tail_ = nullptr, *submission_places_ = nullptr, submission_mask_ = 0;
    unsigned *completion_head_ = nullptr, *completion_tail_ = nullptr, completion_mask_ = 0;
    std::size_t completion_entries_ = 0;  // where they begin
};

}  // namespace hocket::bench
