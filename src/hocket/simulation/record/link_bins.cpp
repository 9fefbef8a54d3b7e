// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/record/link_bins.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "hocket/base/error.hpp"

namespace hocket::simulation {

LinkBinRecorder::LinkBinRecorder(std::int32_t num_links, LinkBinOptions options)
    : row_of_link_(std::move(options.row_of_link)), num_bins_(options.num_bins / 2 * 2) {
    if (options.num_bins < 2 || options.num_bins > most_bins)
        throw InvalidInput(std::to_string(options.num_bins) + " bins of time; accepted: 2 to " +
                           std::to_string(most_bins));
    if (row_of_link_.empty()) {
        row_of_link_.resize(static_cast<std::size_t>(num_links));
        std::iota(row_of_link_.begin(), row_of_link_.end(), 0);
    }
    if (row_of_link_.size() != static_cast<std::size_t>(num_links))
        throw InvalidInput("rows are given for " + std::to_string(row_of_link_.size()) + " links; the network has " +
                           std::to_string(num_links));
    const auto [least, most] = std::minmax_element(row_of_link_.begin(), row_of_link_.end());
    if (least != row_of_link_.end() && (*least < -1 || *most >= num_links))
        throw InvalidInput("the row of a link is " + std::to_string(*least < -1 ? *least : *most) +
                           "; accepted: -1 to " + std::to_string(num_links - 1));
    num_rows_ = most == row_of_link_.end() ? 0 : *most + 1;
    bytes_.assign(static_cast<std::size_t>(num_rows_) * static_cast<std::size_t>(num_bins_), 0);
}

void LinkBinRecorder::find_rows(std::span<const LinkId> links, std::vector<std::int32_t>& rows) const {
    rows.clear();
    for (const LinkId l : links)
        if (row_of_link_[l.at()] >= 0) rows.push_back(row_of_link_[l.at()]);
}

void LinkBinRecorder::add(std::span<const std::int32_t> rows, double start_s, double end_s, double rate_bytes_per_s) {
    if (!(end_s > start_s) || !(rate_bytes_per_s > 0)) return;
    if (!(bin_s_ > 0)) bin_s_ = end_s / num_bins_;
    while (end_s > bin_s_ * num_bins_) double_width();
    for (std::int32_t b = bin_of(start_s), last = bin_of(end_s); b <= last; ++b) {
        const double passed = rate_bytes_per_s * (std::min(end_s, (b + 1) * bin_s_) - std::max(start_s, b * bin_s_));
        if (passed > 0) add(b, rows, passed);  // else a bound between two bins, as rounding has it
    }
}

void LinkBinRecorder::add_at_once(std::span<const std::int32_t> rows, double time_s, double bytes) {
    if (!(bytes > 0) || rows.empty()) return;
    if (!(time_s > 0)) return add(0, rows, bytes);  // whatever the width will be
    if (!(bin_s_ > 0)) bin_s_ = time_s / num_bins_;
    while (!(time_s < bin_s_ * num_bins_)) double_width();
    add(bin_of(time_s), rows, bytes);
}

std::int32_t LinkBinRecorder::bin_of(double time_s) const {
    return std::min(num_bins_ - 1, static_cast<std::int32_t>(time_s / bin_s_));
}

void LinkBinRecorder::add(std::int32_t bin, std::span<const std::int32_t> rows, double bytes) {
    num_used_ = std::max(num_used_, bin + 1);
    double* const sums = bytes_.data() + static_cast<std::ptrdiff_t>(bin) * num_rows_;
    for (const std::int32_t row : rows) sums[row] += bytes;
}

void LinkBinRecorder::double_width() {
    const auto rows = static_cast<std::ptrdiff_t>(num_rows_);
    for (std::ptrdiff_t b = 0; b < num_bins_ / 2; ++b)
        for (std::ptrdiff_t row = 0; row < rows; ++row)
            bytes_[static_cast<std::size_t>(b * rows + row)] =
                bytes_[static_cast<std::size_t>(2 * b * rows + row)] +
                bytes_[static_cast<std::size_t>((2 * b + 1) * rows + row)];
    std::fill(bytes_.begin() + num_bins_ / 2 * rows, bytes_.end(), 0.0);
    bin_s_ *= 2;
    num_used_ = (num_used_ + 1) / 2;
}

LinkBins LinkBinRecorder::take() {
    LinkBins result;
    result.bin_s = bin_s_;
    result.num_rows = num_rows_;
    result.num_bins = num_used_;
    bytes_.resize(static_cast<std::size_t>(result.num_rows) * static_cast<std::size_t>(result.num_bins));
    result.bytes = std::move(bytes_);
    return result;
}

}  // namespace hocket::simulation
