// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hocket/base/index.hpp"
#include "hocket/simulation/record/link_bins.hpp"
#include "hocket/traffic/traffic.hpp"

namespace hocket {

/// Whose messages are recorded one by one.
struct MessageRecordOptions {
    /// None = no message is recorded.
    std::vector<Rank> sources = {};
    /// Of all these together: the first that start.
    std::int64_t most_messages = 100'000;
};

struct RecordedMessage {
    std::int32_t source, target;
    std::int64_t bytes;
    double start_s, end_s;  ///< until its last byte has arrived; end NaN = it had not when the simulation was stopped
};

namespace simulation {

/// Watches the flows of a traffic simulation, one part after another.
class TrafficRecorder {
public:
    /// @throws InvalidInput  if an option is out of range.
    TrafficRecorder(std::int32_t num_sources, std::int32_t num_links, LinkBinOptions, const MessageRecordOptions&);

    /// A part of so many flows begins, again at time 0.
    void begin(std::int32_t num_flows);
    /// `delays_s`: [of links] how long after they leave the bytes pass there; empty = at once.
    void start(std::int32_t flow, Rank source, const Traffic::Message&, std::span<const LinkId> links,
               std::span<const double> delays_s, double now_s);
    void change_rate(std::int32_t flow, double now_s, double rate_bytes_per_s) {
        pass(flow, now_s);
        flows_[static_cast<std::size_t>(flow)].rate_bytes_per_s = rate_bytes_per_s;
    }
    /// All bytes of the flow, which has started now, have no transfer time.
    void pass_at_once(std::int32_t flow, double now_s, double bytes);
    /// The last byte of the flow leaves now, and arrives later.
    void end(std::int32_t flow, double now_s, double arrival_s);
    /// The part has come so far, or to its end: of flows that have not ended, what has passed until now.
    void stop(double now_s);

    LinkBins take_bins() { return bins_ ? bins_->take() : LinkBins{}; }
    /// Those that started first in all parts.
    std::vector<RecordedMessage> take_messages() { return std::move(messages_); }
    /// Messages of the sources that were not recorded, being too many.
    [[nodiscard]] std::int64_t num_left_out() const { return num_left_out_; }

private:
    struct Flow {
        double since_s = 0, rate_bytes_per_s = 0;
        std::int64_t message = -1;  ///< into messages_
        std::int32_t num_rows = 0;
    };
    void set_rows(std::int32_t flow, std::span<const LinkId> links, std::span<const double> delays_s);
    [[nodiscard]] std::span<const std::int32_t> rows_of(std::int32_t flow) const {
        return std::span(rows_).subspan(static_cast<std::size_t>(flow) * most_rows_,
                                        static_cast<std::size_t>(flows_[static_cast<std::size_t>(flow)].num_rows));
    }
    /// `visit(rows, how much later than they leave bytes pass there)`, of the flow
    void for_delays(std::int32_t flow, const auto& visit) const {
        const std::span<const std::int32_t> rows = rows_of(flow);
        if (delays_s_.empty()) return visit(rows, 0.0);
        for (std::size_t i = 0; i < rows.size(); ++i)
            visit(rows.subspan(i, 1), delays_s_[static_cast<std::size_t>(flow)][i]);
    }
    /// Counts what has passed at the rate so far.
    void pass(std::int32_t flow, double now_s);

    std::optional<LinkBinRecorder> bins_;
    std::vector<Flow> flows_;
    std::size_t most_rows_ = 0;                  // of a flow so far
    std::vector<std::int32_t> rows_;             // [flow * most_rows_ + i]
    std::vector<std::int32_t> found_;            // of the route at hand
    std::vector<std::vector<double>> delays_s_;  // [flow][of rows], if there are any
    std::vector<bool> is_recorded_;              // [source]
    std::int64_t most_messages_;
    std::int64_t num_left_out_ = 0;
    std::vector<RecordedMessage> messages_;
    std::size_t first_of_part_ = 0;  // of messages_
};

}  // namespace simulation
}  // namespace hocket
