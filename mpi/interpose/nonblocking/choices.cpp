// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/nonblocking/choices.hpp"

#include <memory>

namespace hocket::interpose {

Choices::~Choices() {
    for (auto& sizes : choices_) {
        for (auto& choice : sizes) delete choice.load();
    }
}

Choice& Choices::at(Function function, std::size_t size_class) {
    std::atomic<Choice*>& place = choices_[static_cast<std::size_t>(function)][size_class];
    if (Choice* const found = place.load(std::memory_order_acquire)) return *found;
    auto made = std::make_unique<Choice>(size_class >= first_large_class);
    Choice* first = nullptr;
    if (!place.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel)) return *first;
    return *made.release();
}

}  // namespace hocket::interpose
