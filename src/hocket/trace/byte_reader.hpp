// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "hocket/base/error.hpp"

namespace hocket::trace {

/// Takes values out of a part of a file; errors name the place in the file.
class ByteReader {
public:
    /// `offset`: of the bytes in the file. `name`: of the file; it must outlive the reader.
    ByteReader(std::string_view bytes, std::uint64_t offset, const std::string& name)
        : bytes_(bytes), offset_(offset), name_(&name) {}

    [[nodiscard]] std::size_t at() const { return at_; }
    [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
    void skip(std::size_t size) { at_ += size; }
    void back_to(std::size_t at) { at_ = at; }

    /// A part of what is left, which is skipped here.
    ByteReader part(std::size_t size) {
        if (size > left()) fail_short("a part");
        ByteReader made(bytes_.substr(at_, size), offset_ + at_, *name_);
        at_ += size;
        return made;
    }
    /// Of bytes that the record at hand stands for.
    [[nodiscard]] ByteReader instead(std::string_view bytes) const { return {bytes, offset_ + at_, *name_}; }
    std::string_view rest() {
        const std::string_view found = bytes_.substr(at_);
        at_ = bytes_.size();
        return found;
    }

    template <class T>
    T take(const char* what) {
        if (left() < sizeof(T)) fail_short(what);
        T value;
        std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }

    std::uint64_t take_varint(const char* what) {
        std::uint64_t value = 0;
        for (unsigned shift = 0; at_ < bytes_.size(); shift += 7) {
            const auto byte = static_cast<unsigned char>(bytes_[at_++]);
            if (shift == 63 && byte > 1) fail(1, "a number above 64 bits", what);
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80) return value;
        }
        fail_short(what);
    }

    std::int64_t take_signed(const char* what) { return unzigzag(take_varint(what)); }

    /// 0, -1, 1, -2, ... for 0, 1, 2, 3, ...: the inverse of hocket_trace_zigzag.
    static std::int64_t unzigzag(std::uint64_t value) {
        return static_cast<std::int64_t>((value >> 1) ^ (0 - (value & 1)));
    }

    /// Up to the first zero.
    std::string take_name() {
        const std::string_view found = rest();
        return std::string(found.substr(0, found.find('\0')));
    }

    /// `back`: bytes from here to what was found.
    [[noreturn]] void fail(std::size_t back, const std::string& found, const std::string& accepted) const {
        throw InvalidInput(
            *name_ + ": byte " + std::to_string(offset_ + at_ - back) + ": found " + found + "; accepted: " + accepted,
            "record the program again, or delete the damaged trace");
    }

private:
    /// Nothing is left then.
    [[noreturn]] void fail_short(const char* what) {
        const std::size_t back = left();
        at_ = bytes_.size();
        fail(back, "the end of the record", std::string(what) + " inside the record");
    }

    std::string_view bytes_;
    std::uint64_t offset_;
    const std::string* name_;
    std::size_t at_ = 0;
};

}  // namespace hocket::trace
