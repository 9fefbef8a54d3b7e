// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/nonblocking/background.hpp"

namespace hocket::interpose {

Background& background = *new Background;

}  // namespace hocket::interpose
