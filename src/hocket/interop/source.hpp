// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "hocket/base/error.hpp"

namespace hocket::interop {

/// A file of another tool, as it was read.
struct Source {
    std::string name;  ///< for messages
    std::string_view bytes;
};

/// Reads a binary file forward; numbers are unaligned.
class BinaryReader {
public:
    BinaryReader(const Source& source, bool big_endian) : source_(&source), big_endian_(big_endian) {}

    [[nodiscard]] std::size_t at() const { return at_; }
    [[nodiscard]] std::size_t left() const { return source_->bytes.size() - at_; }
    void go_to(std::uint64_t at, const char* what) {
        if (at > source_->bytes.size())
            fail(std::string(what) + " at byte " + std::to_string(at), "a place inside the file");
        at_ = static_cast<std::size_t>(at);
    }

    template <std::integral T>
    T take(const char* what) {
        if (left() < sizeof(T)) fail_short(what);
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            const std::size_t from = big_endian_ ? i : sizeof(T) - 1 - i;
            value = (value << 8U) | static_cast<unsigned char>(source_->bytes[at_ + from]);
        }
        at_ += sizeof(T);
        return static_cast<T>(value);
    }

    /// A count of things that take at least `least_bytes` each: more than fit into the rest of the file are refused.
    std::uint32_t take_count(const char* what, std::size_t least_bytes) {
        const auto count = take<std::uint32_t>(what);
        if (count > left() / least_bytes)
            fail(std::to_string(count) + " " + what, "as many as fit into the rest of the file");
        return count;
    }

    std::string_view take_bytes(std::size_t size, const char* what) {
        if (size > left()) fail_short(what);
        const std::string_view found = source_->bytes.substr(at_, size);
        at_ += size;
        return found;
    }

    [[noreturn]] void fail(const std::string& found, const std::string& accepted) const {
        throw InvalidInput(
            source_->name + ": byte " + std::to_string(at_) + ": found " + found + "; accepted: " + accepted,
            "the file is damaged or was cut off: copy it again, or write it anew");
    }

private:
    [[noreturn]] void fail_short(const char* what) const { fail("the end of the file", std::string("more: ") + what); }

    const Source* source_;
    bool big_endian_;
    std::size_t at_ = 0;
};

}  // namespace hocket::interop
