// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include "interpose/call_kinds.hpp"

namespace hocket::interpose {

/// The MPI's own function with the arguments of one call.
class Native {
public:
    template <class Function>
    Native(const Function& function)  // NOLINT: a lambda is passed as it stands
        : function_(&function), call_([](const void* f) { return (*static_cast<const Function*>(f))(); }) {}
    int operator()() const { return call_(function_); }

private:
    const void* function_;
    int (*call_)(const void*);
};

/// Carries the call out by the plan, or natively, and returns its MPI error code. What decides is the same on all ranks
/// of the communicator: collective, members, bytes of the signature, root, operator, and what the self-check has found.
int reroute(const Call& call, const Native& native);

/// Makes a call of a kind that no schedule serves, and counts it.
int count_native(CallKind kind, const Native& native);

}  // namespace hocket::interpose
