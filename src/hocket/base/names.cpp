// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/base/names.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace hocket::base {
namespace {

/// Levenshtein distance: insertions, deletions and substitutions.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
    constexpr std::size_t longest_word = 64;
    if (word.size() > longest_word) return {};
    std::string_view best;
    // One slip in three letters, and never all letters.
    std::size_t best_distance = std::min(std::max<std::size_t>(1, word.size() / 3) + 1, word.size());
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best.empty() ? std::string{} : "did you mean \"" + std::string(best) + "\"?";
}

std::string list_of(std::span<const std::string_view> names) {
    std::string text;
    for (const std::string_view name : names) {
        if (!text.empty()) text += ", ";
        text += quoted(name);
    }
    return text;
}

std::string quoted(std::string_view text) {
    constexpr std::size_t longest = 80;
    constexpr std::string_view hexadecimal = "0123456789abcdef";
    std::string result = "\"";
    std::size_t length = std::min(text.size(), longest);
    while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U)
        --length;  // a cut inside a UTF-8 sequence would make the message unprintable
    for (const char c : text.substr(0, length)) {
        const auto code = static_cast<unsigned char>(c);
        if (code < 0x20 || code == 0x7F) {
            result += "\\x";
            result += hexadecimal[code >> 4U];
            result += hexadecimal[code & 15U];
        } else {
            if (c == '"' || c == '\\') result += '\\';
            result += c;
        }
    }
    return result + (length < text.size() ? "...\"" : "\"");
}

}  // namespace hocket::base
