// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/functions.hpp"
#include "selection/choice.hpp"

namespace hocket::interpose {

using selection::Choice;

constexpr std::size_t num_size_classes = 48;

/// 0 for no byte, else 1 + log2.
inline std::size_t size_class_of(std::int64_t bytes) {
    std::size_t log2 = 0;
    for (; bytes > 0 && log2 + 1 < num_size_classes; bytes >>= 1) ++log2;
    return log2;
}

constexpr std::size_t first_large_class = 13;  ///< 4096 bytes

/// By function and size.
class Choices {
public:
    Choices() = default;
    Choices(const Choices&) = delete;
    Choices& operator=(const Choices&) = delete;
    ~Choices();
    Choice& at(Function function, std::size_t size_class);

private:
    std::array<std::array<std::atomic<Choice*>, num_size_classes>, num_functions> choices_{};
};

}  // namespace hocket::interpose
