// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/base/json_writer.hpp"

#include <algorithm>
#include <cmath>

#include "hocket/base/error.hpp"
#include "hocket/base/json_text.hpp"

namespace hocket::base {

JsonWriter& JsonWriter::key(std::string_view name) {
    HOCKET_ASSERT(!open_.empty() && !has_key_, "a key belongs to an object and a value");
    separate();
    quote(name);
    text_ += open_.back().layout == Layout::lines || spaces_ == Spaces::after_separators ? ": " : ":";
    has_key_ = true;
    return *this;
}

void JsonWriter::value(std::string_view text) {
    separate();
    quote(text);
}

void JsonWriter::raw(std::string_view text) {
    separate();
    text_ += text;
}

void JsonWriter::begin(char bracket, Layout layout) {
    separate();
    text_ += bracket;
    open_.push_back({layout});
    if (layout == Layout::lines) ++lines_open_;
}

void JsonWriter::end(char bracket) {
    HOCKET_ASSERT(!open_.empty() && !has_key_, "nothing to end, or a key without a value");
    if (open_.back().layout == Layout::lines) {
        --lines_open_;
        break_line();
    }
    text_ += bracket;
    open_.pop_back();
}

/// What is between the value before, if any, and a key or a value.
void JsonWriter::separate() {
    if (has_key_ || open_.empty()) {
        has_key_ = false;
        return;
    }
    const bool is_first = open_.back().is_empty, in_lines = open_.back().layout == Layout::lines;
    if (!is_first) text_ += in_lines || spaces_ == Spaces::none ? "," : ", ";
    if (in_lines) break_line();
    open_.back().is_empty = false;
}

void JsonWriter::break_line() {
    text_ += '\n';
    text_.append(indent_ * lines_open_, ' ');
}

void JsonWriter::quote(std::string_view text) {
    const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
    if (std::all_of(text.begin(), text.end(), is_plain)) {
        ((text_ += '"') += text) += '"';
    } else {
        text_ += json_text(text);
    }
}

void JsonWriter::whole(std::int64_t number) { raw(std::to_string(number)); }
void JsonWriter::whole(std::uint64_t number) { raw(std::to_string(number)); }
void JsonWriter::value(double number) { raw(std::isfinite(number) ? number_text(number) : "null"); }

}  // namespace hocket::base
