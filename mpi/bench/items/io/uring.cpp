// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/io/uring.hpp"

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "bench/items/outcome.hpp"

namespace hocket::bench {

template <class Type>
Type* Uring::in(const Area& area, std::size_t offset) const {
    return reinterpret_cast<Type*>(static_cast<unsigned char*>(area.at) + offset);
}

Uring::Area Uring::map(std::size_t bytes, long long offset) {
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_, offset);
    if (at == MAP_FAILED) throw Failure(Status::unsupported, std::string("mmap of an io_uring: ") + strerror(errno));
    return {at, bytes};
}

Uring::Uring() {
    io_uring_params found{};
    ring_ = static_cast<int>(syscall(__NR_io_uring_setup, most_requests, &found));
    if (ring_ < 0) throw Failure(Status::unsupported, std::string("io_uring_setup: ") + strerror(errno));
    submissions_ = map(found.sq_off.array + found.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    completions_ = map(found.cq_off.cqes + found.cq_entries * sizeof(io_uring_cqe), IORING_OFF_CQ_RING);
    entries_ = map(found.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES);
    submission_tail_ = in<unsigned>(submissions_, found.sq_off.tail);
    submission_places_ = in<unsigned>(submissions_, found.sq_off.array);
    submission_mask_ = *in<unsigned>(submissions_, found.sq_off.ring_mask);
    completion_head_ = in<unsigned>(completions_, found.cq_off.head);
    completion_tail_ = in<unsigned>(completions_, found.cq_off.tail);
    completion_mask_ = *in<unsigned>(completions_, found.cq_off.ring_mask);
    completion_entries_ = found.cq_off.cqes;
}

Uring::~Uring() {
    for (const Area& area : {submissions_, completions_, entries_}) {
        if (area.at != nullptr) munmap(area.at, area.bytes);
    }
    if (ring_ >= 0) close(ring_);
}

std::size_t Uring::move(bool writes, int file, unsigned char* data, std::size_t bytes) {
    const std::size_t part = (bytes + most_requests - 1) / most_requests;
    unsigned tail = *submission_tail_, requests = 0;
    for (std::size_t begin = 0; begin < bytes; begin += part, ++requests, ++tail) {
        const unsigned place = tail & submission_mask_;
        io_uring_sqe& entry = in<io_uring_sqe>(entries_, 0)[place];
        entry = {};
        entry.opcode = writes ? IORING_OP_WRITE : IORING_OP_READ;
        entry.fd = file;
        entry.addr = reinterpret_cast<std::uintptr_t>(data + begin);
        entry.len = static_cast<unsigned>(std::min(part, bytes - begin));
        entry.off = begin;
        submission_places_[place] = place;
    }
    // The kernel reads what stands before the tail, and writes the other one: man 7 io_uring.
    std::atomic_ref(*submission_tail_).store(tail, std::memory_order_release);
    std::size_t moved = 0;
    int problem = 0;
    for (unsigned left = requests, to_submit = requests; left > 0;) {
        const long taken = syscall(__NR_io_uring_enter, ring_, to_submit, left, IORING_ENTER_GETEVENTS, nullptr, 0);
        if (taken < 0 && errno != EINTR) return 0;
        to_submit -= static_cast<unsigned>(std::max(taken, 0L));
        unsigned head = *completion_head_;
        const unsigned end = std::atomic_ref(*completion_tail_).load(std::memory_order_acquire);
        for (; head != end; ++head, --left) {
            const int result = in<io_uring_cqe>(completions_, completion_entries_)[head & completion_mask_].res;
            if (result < 0) problem = -result;
            moved += static_cast<std::size_t>(std::max(result, 0));
        }
        std::atomic_ref(*completion_head_).store(head, std::memory_order_release);
    }
    errno = problem;
    return moved;
}

}  // namespace hocket::bench
