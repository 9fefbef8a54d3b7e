// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include "hocket/network/network.hpp"
#include "hocket/program/op_stream.hpp"
#include "hocket/program/program.hpp"
#include "hocket/simulation/options.hpp"
#include "hocket/simulation/timeline.hpp"
#include "hocket/simulation/transport.hpp"

namespace hocket {

// What the engine takes a Program to mean.
//
// Messages. The k-th send of a rank to a peer with a tag, in the order of the ops, is received by the peer's k-th recv
// of that rank and tag; a recv has room for at least the bytes sent. A message becomes a flow of its bytes on its route
// when the send is ready (its dependencies done, its overhead paid) and, with `ordered_pairs`, all flows of the pair
// that became ready before have left. The flow holds its share of every link of the route from its start t on; when its
// bytes have passed, at t + transfer time, the send ends; its last byte is delivered the latencies of the route later.
// Only by Sharing::reserve it holds a link from t + the latencies of the route up to and with that link on, for the
// transfer time. Messages of 0 bytes, between ranks on one node, or over unlimited links alone, have no transfer time.
// A recv ends when the message is delivered, the recv posted, and its overhead paid.
//
// Transport. A message that becomes a flow asks its transport first, which by default gives it the route of the network
// at once. Another one may make it wait, and then it starts when the transport lets it.
//
// Rendezvous. From `rendezvous_bytes` on the sender first asks by an empty message, which needs no recv to be taken,
// and the receiver answers by another when the recv is posted (its dependencies done); the send is ready when the
// answer is taken. Both are messages as others: they cost overheads and latencies, and an answer waits for what its
// rank is sending to the same peer.
//
// Buckets. A link has a bucket of tokens, full at the start, that fills at its bandwidth while no flow holds the link.
// The bytes of a flow that find a token on every link of the route when it starts have no transfer time.
//
// Use of links. Bytes with a transfer time pass a link at the rates of their flow, those without it in one moment: when
// the flow starts, by Sharing::reserve the latencies up to and with the link later.
//
// Processors. Overheads, copies, computations and reductions of a rank run one after another in the order in which they
// became ready, each on the core that is free first if `cores` are shared; those of no duration do not wait. Between
// two of them a rank that had to wait for the second pays `wake_s` more.
//
// Intervals. send: from the start of its overhead, or of that of its request, to when its bytes have left; recv: posted
// to end; compute and reduce: the time on the processor.

/// Events are ordered by (time, sequence number): the same input gives the same Timeline, bit for bit.
/// @throws InvalidInput  if the program has more ranks than the network, names a rank or dependency that is not there,
///         has a negative size or duration, or cannot finish (a message without its counterpart, or a cycle of waits):
///         the message names the first op that waits.
Timeline simulate(const Program&, const Network&, const SimulationOptions& = {});
/// Of a stream, with the same results but for Timeline::ranks, which stays empty: in a memory for the ops and messages
/// that are not done. A stream whose messages have no counterpart begins anew without those, if it can.
/// @throws InvalidInput  likewise, naming an op that waits.
Timeline simulate(OpStream&, const Network&, const SimulationOptions& = {});
/// By a transport of another kind than the routes of the network. An op whose message it lets wait for ever is named as
/// one that waits.
Timeline simulate(const Program&, const Network&, const SimulationOptions&, Transport&);

}  // namespace hocket
