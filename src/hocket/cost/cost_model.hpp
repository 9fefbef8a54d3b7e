// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "hocket/network/network.hpp"

namespace hocket {

/// How flows share links.
enum class Sharing : std::uint8_t {
    /// Each flow gets the least bandwidth of its route.
    none,
    /// rate = min over its links of bandwidth / flows on the link [Suzuki]
    equal,
    /// Max-min fair, by progressive filling.
    maxmin,
    /// A flow has the least bandwidth of its route for itself on every link while its bytes pass there, or waits for it
    /// [Hourai]; those that fit start, in the order in which they became ready.
    reserve,
};

/// "none", "equal", "maxmin", "reserve". @throws InvalidInput  listing these.
Sharing sharing_from(std::string_view name);
std::string_view name_of(Sharing);

/// What a message costs, in terms of LogGP [Alexandrov95] and of LogGPS [Ino01], which adds S:
///
/// L    latency: Link::latency_s, summed over the route
/// o_s  overhead of the sender: send_overhead_s
/// o_r  overhead of the receiver: receive_overhead_s
/// g    gap between two messages of a rank: no parameter; overheads, and bytes on shared links, keep them apart
/// G    gap per byte: 1 / (link_efficiency * Link::bandwidth_bytes_per_s), which flows share by `sharing`
/// S    size from which on sender and receiver synchronise: rendezvous_bytes
///
/// The defaults are costs of 0: messages take the time of the wire.
struct CostParameters {
    /// o_s: seconds of CPU time of a rank for each message that it sends. A rank's CPU does one thing at a time.
    double send_overhead_s = 0;
    /// o_r: the same for each message that it receives.
    double receive_overhead_s = 0;
    /// Rate of reductions: bytes of one operand a second.
    double reduce_bytes_per_s = std::numeric_limits<double>::infinity();
    /// S: from this size on a message asks its receiver first; smaller ones are sent eagerly. None = not known; then
    /// usual_rendezvous_bytes are assumed.
    std::optional<std::int64_t> rendezvous_bytes = std::numeric_limits<std::int64_t>::max();
    /// How flows share the bandwidth of links.
    Sharing sharing = Sharing::maxmin;
    /// o_s and o_r of messages between ranks of one host. None = as those between hosts.
    std::optional<double> host_overhead_s{};
    /// Seconds to go on when the rank had nothing to do: it slept, polled, or another had its core.
    double wake_s = 0;
    /// Rate of copies at both ends, which take CPU time beside the overheads.
    double copy_bytes_per_s = std::numeric_limits<double>::infinity();
    /// Share of each bandwidth that messages get: the rest is acknowledgements and late timers.
    double link_efficiency = 1;
    /// Cores that all ranks share, as on a machine that emulates a cluster. 0 = each has its own.
    std::int32_t cores = 0;
    /// Bytes that pass a link at once after a pause, as token buckets of shapers and of cloud networks let them: the
    /// larger of these and of what the link carries in `burst_s`.
    double burst_bytes = 0;
    /// Seconds; see burst_bytes.
    double burst_s = 0;

    bool operator==(const CostParameters&) const = default;
};

/// From here on MPIs over TCP ask the receiver first, where nothing else is known (Open MPI's btl_tcp_eager_limit).
inline constexpr std::int64_t usual_rendezvous_bytes = 65536;

/// Parameters that have been checked. Immutable.
class CostModel {
public:
    /// @throws InvalidInput  if a parameter is out of range.
    CostModel(const CostParameters& parameters = {});  // NOLINT(google-explicit-constructor): the same, checked

    /// Of MPI over kernel TCP on a current x86 core.
    static CostModel usual();
    /// The usual ones, except those in the table [calibration] of the network's file.
    static CostModel of(const Network&);

    const CostParameters& operator*() const { return parameters_; }
    const CostParameters* operator->() const { return &parameters_; }

    /// S, also where it is not known.
    [[nodiscard]] std::int64_t rendezvous_limit_bytes() const {
        return parameters_.rendezvous_bytes.value_or(usual_rendezvous_bytes);
    }

    bool operator==(const CostModel&) const = default;

private:
    CostParameters parameters_;
};

}  // namespace hocket
