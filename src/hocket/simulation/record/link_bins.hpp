// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/base/index.hpp"

namespace hocket {

/// Whether and how the use of links over time is recorded.
struct LinkBinOptions {
    /// The most that the result has, at least 2, rounded down to even; 0 = record nothing.
    std::int32_t num_bins = 0;
    /// Several links may add up in one row; -1 = not recorded; empty = a row each.
    std::vector<std::int32_t> row_of_link = {};
};

/// Bytes that passed links over time.
struct LinkBins {
    double bin_s = 0;  ///< bin b is the time from b * bin_s to (b + 1) * bin_s; 0 = all has passed at time 0
    std::int32_t num_rows = 0;
    std::int32_t num_bins = 0;  ///< up to the last that something passed in
    std::vector<double> bytes;  ///< [bin * num_rows + row]
};

namespace simulation {

/// Adds up what passes links in a fixed number of bins of equal width, from time 0 on. When time leaves the last bin,
/// neighbours become one, and the width doubles: memory does not grow with time, and no bin is lost.
class LinkBinRecorder {
public:
    /// @throws InvalidInput  if there are too many bins, or a row for each link is not given.
    LinkBinRecorder(std::int32_t num_links, LinkBinOptions options);

    [[nodiscard]] bool is_recorded(LinkId link) const { return row_of_link_[link.at()] >= 0; }
    /// The rows of links, without those that are not recorded.
    void find_rows(std::span<const LinkId> links, std::vector<std::int32_t>& rows) const;
    /// Bytes pass the links of all these rows at a rate, from one time to a later one.
    void add(std::span<const std::int32_t> rows, double start_s, double end_s, double rate_bytes_per_s);
    void add(std::span<const LinkId> links, double start_s, double end_s, double rate_bytes_per_s) {
        find_rows(links, rows_);
        add(rows_, start_s, end_s, rate_bytes_per_s);
    }
    /// Bytes pass the links of all these rows in one moment.
    void add_at_once(std::span<const std::int32_t> rows, double time_s, double bytes);
    void add_at_once(std::span<const LinkId> links, double time_s, double bytes) {
        find_rows(links, rows_);
        add_at_once(rows_, time_s, bytes);
    }
    LinkBins take();

    static constexpr std::int32_t most_bins = 1 << 16;

private:
    void double_width();
    [[nodiscard]] std::int32_t bin_of(double time_s) const;
    void add(std::int32_t bin, std::span<const std::int32_t> rows, double bytes);

    std::vector<std::int32_t> row_of_link_, rows_;
    std::int32_t num_rows_, num_bins_;
    std::int32_t num_used_ = 0;  // bins up to the last that something passed in
    double bin_s_ = 0;           // 0 = not known: nothing has passed after time 0
    std::vector<double> bytes_;  // [bin * num_rows_ + row]: what passes now lies together
};

}  // namespace simulation
}  // namespace hocket
