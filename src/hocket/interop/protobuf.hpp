// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/interop/source.hpp"

/// The wire format of Protocol Buffers (protobuf.dev, "Encoding"), without a schema: a message is a row of fields, and
/// a file of messages has the length of each before it.
namespace hocket::interop {

class Protobuf {
public:
    enum Wire : std::uint8_t { varint = 0, bits64 = 1, length = 2, bits32 = 5 };
    struct Field {
        std::uint64_t number;
        Wire wire;
        std::uint64_t value;     ///< unless it is of `length`
        std::string_view bytes;  ///< if it is
    };

    explicit Protobuf(const Source& source) : source_(&source), rest_(source.bytes) {}

    [[nodiscard]] bool at_end() const { return rest_.empty(); }
    /// The next message of a file of messages.
    Protobuf take_message() {
        Protobuf message = *this;
        message.rest_ = take_bytes(take_varint());
        return message;
    }
    /// What a field holds, as a message.
    [[nodiscard]] Protobuf inside(const Field& field) const {
        Protobuf message = *this;
        message.rest_ = field.bytes;
        if (field.wire != length) message.fail("a field of another kind", "a message");
        return message;
    }
    /// None at the end of the message.
    std::optional<Field> next() {
        if (rest_.empty()) return std::nullopt;
        const std::uint64_t key = take_varint();
        Field field{key >> 3U, static_cast<Wire>(key & 7U), 0, {}};
        switch (field.wire) {
            case varint:
                field.value = take_varint();
                break;
            case bits64:
                field.value = fixed(8);
                break;
            case length:
                field.bytes = take_bytes(take_varint());
                break;
            case bits32:
                field.value = fixed(4);
                break;
            default:
                fail("a field of kind " + std::to_string(key & 7U), "0, 1, 2, 5");
        }
        return field;
    }
    void take_varints(std::vector<std::uint64_t>& to) {
        while (!rest_.empty()) to.push_back(take_varint());
    }

    [[noreturn]] void fail(const std::string& found, const std::string& accepted) const {
        const auto at =
            rest_.empty() ? source_->bytes.size() : static_cast<std::size_t>(rest_.data() - source_->bytes.data());
        throw InvalidInput(
            source_->name + ": byte " + std::to_string(at) + ": found " + found + "; accepted: " + accepted,
            "the file is damaged, was cut off, or is of another format: --format names the format");
    }

private:
    std::uint64_t take_varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (rest_.empty()) fail("the end", "a number");
            const auto byte = static_cast<unsigned char>(rest_[0]);
            rest_.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80) return value;
        }
        fail("a number of more than 64 bits", "at most 64 bits");
    }
    std::string_view take_bytes(std::uint64_t size) {
        if (size > rest_.size()) fail("the end", std::to_string(size) + " bytes");
        const std::string_view found = rest_.substr(0, static_cast<std::size_t>(size));
        rest_.remove_prefix(static_cast<std::size_t>(size));
        return found;
    }
    std::uint64_t fixed(std::size_t size) {
        const std::string_view bytes = take_bytes(size);
        std::uint64_t value = 0;
        for (std::size_t i = size; i-- > 0;) value = (value << 8U) | static_cast<unsigned char>(bytes[i]);
        return value;
    }

    const Source* source_;
    std::string_view rest_;
};

class ProtobufWriter {
public:
    void number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7U) text_.push_back(static_cast<char>(value | 0x80U));
        text_.push_back(static_cast<char>(value));
    }
    void varint(std::uint64_t field, std::uint64_t value) {
        number(field << 3U | Protobuf::varint);
        number(value);
    }
    void bytes(std::uint64_t field, std::string_view value) {
        number(field << 3U | Protobuf::length);
        number(value.size());
        text_ += value;
    }
    /// One of a file of messages.
    void message(const ProtobufWriter& one) {
        number(one.text_.size());
        text_ += one.text_;
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

}  // namespace hocket::interop
