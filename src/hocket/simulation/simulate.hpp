// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hocket/base/index.hpp"
#include "hocket/cost/cost_model.hpp"
#include "hocket/network/network.hpp"
#include "hocket/program/program.hpp"
#include "hocket/simulation/record/link_bins.hpp"
#include "hocket/simulation/transport.hpp"

namespace hocket {

/// How far a simulation has come.
struct SimulationProgress {
    /// Messages that have left; of a Program, ops that have ended, with those of handshakes.
    std::int64_t num_done = 0;
    /// Of these.
    std::int64_t num_total = 0;
    double simulated_s = 0;
};
/// Called many times a second, from the thread that simulates; returns whether to go on. An exception ends the simulation
/// and reaches its caller.
using OnProgress = std::function<bool(const SimulationProgress&)>;

struct SimulationOptions {
    /// What messages cost beside the latencies and bandwidths of the network, and how they share links.
    CostModel costs = {};
    /// Messages of one (source, target) travel one after another, as on one TCP connection.
    bool ordered_pairs = true;
    /// Fill Timeline::link_use and link_bursts.
    bool record_links = false;
    /// Rates by the plain rules, computed anew at each change: slow, and to compare with.
    bool reference = false;
    /// Fill Timeline::link_bins.
    LinkBinOptions link_bins = {};
    /// None = no progress is reported.
    OnProgress on_progress = {};
};

// What the engine takes a Program to mean.
//
// Messages. The k-th send of a rank to a peer with a tag, in the order of the ops, is received by the peer's k-th recv of
// that rank and tag; a recv has room for at least the bytes sent. A message becomes a flow of its bytes on its route when
// the send is ready (its dependencies done, its overhead paid) and, with `ordered_pairs`, all flows of the pair that became
// ready before have left. The flow holds its share of every link of the route from its start t on; when its bytes have passed, at t + transfer time,
// the send ends; its last byte is delivered the latencies of the route later. Only by Sharing::reserve it holds a link from
// t + the latencies of the route up to and with that link on, for the transfer time. Messages of 0 bytes, between ranks on one
// node, or over unlimited links alone, have no transfer time. A recv ends when the message is delivered, the recv
// posted, and its overhead paid.
//
// Transport. A message that becomes a flow asks its transport first, which by default gives it the route of the network
// at once. Another one may make it wait, and then it starts when the transport lets it.
//
// Rendezvous. From `rendezvous_bytes` on the sender first asks by an empty message, which needs no recv to be taken, and the receiver
// answers by another when the recv is posted (its dependencies done); the send is ready when the answer is taken. Both are messages as
// others: they cost overheads and latencies, and an answer waits for what its rank is sending to the same peer.
//
// Buckets. A link has a bucket of tokens, full at the start, that fills at its bandwidth while no flow holds the link. The bytes of a
// flow that find a token on every link of the route when it starts have no transfer time.
//
// Use of links. Bytes with a transfer time pass a link at the rates of their flow, those without it in one moment: when the flow starts,
// by Sharing::reserve the latencies up to and with the link later.
//
// Processors. Overheads, copies, computations and reductions of a rank run one after another in the order in which they became
// ready, each on the core that is free first if `cores` are shared; those of no duration do not wait. Between
// two of them a rank that had to wait for the second pays `wake_s` more.
//
// Intervals. send: from the start of its overhead, or of that of its request, to when its bytes have left; recv: posted to end; compute and
// reduce: the time on the processor.

/// The result of simulating a Program on a Network. Times in seconds from the start. If the simulation was stopped, NaN is
/// the start and the end of an op that had not ended, and the finish of a rank that had not finished.
struct Timeline {
    struct Interval {
        double start_s, end_s;
    };
    struct LinkUse {
        double start_s, end_s;
        double rate_bytes_per_s;
    };
    struct LinkBurst {
        double time_s;
        double bytes;
    };
    bool completed = true;                            ///< false = stopped by on_progress
    double makespan_s = 0;                            ///< if stopped, the time reached
    std::vector<std::vector<Interval>> ranks;         ///< [rank][op of RankProgram]
    std::vector<double> finish_s;                     ///< [rank] end of its last op
    std::vector<double> link_bytes;                   ///< [link]
    std::vector<std::vector<LinkUse>> link_use;       ///< [link] piecewise constant load, if asked for
    std::vector<std::vector<LinkBurst>> link_bursts;  ///< [link] beside it, bytes without a transfer time, by time
    LinkBins link_bins;                               ///< both in bins of time, if asked for
    std::int64_t num_events = 0;  ///< completed messages, computations and reductions; also those of handshakes
};

/// Events are ordered by (time, sequence number): the same input gives the same Timeline, bit for bit.
/// @throws InvalidInput  if the program has more ranks than the network, names a rank or dependency that is not there,
///         has a negative size or duration, or cannot finish (a message without its counterpart, or a cycle of waits):
///         the message names the first op that waits.
Timeline simulate(const Program&, const Network&, const SimulationOptions& = {});
/// By a transport of another kind than the routes of the network. An op whose message it lets wait for ever is named as one
/// that waits.
Timeline simulate(const Program&, const Network&, const SimulationOptions&, Transport&);

}  // namespace hocket
