// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include "common/clock.hpp"
#include "common/mpi_calls.hpp"

/// What the measuring programs have in common.
namespace hocket::probes {

using hocket::require;
using hocket::wait_aside;

}  // namespace hocket::probes
