// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include "hocket/program/program.hpp"

namespace hocket::circuits {

/// The program in which each connect and disconnect is an empty message to its peer, which the transport lets begin
/// when the circuit is up or released. Ops keep their numbers; the recvs come after them, and nothing waits for them.
/// @throws InvalidInput  for a connect or disconnect without its counterpart: the k-th of a rank to a peer goes with
///         the k-th of that peer to the rank, connects and disconnects in turns, a connect first
Program with_circuit_messages(const Program&);

}  // namespace hocket::circuits
