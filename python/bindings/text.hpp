// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

#include "hocket/trace/format.h"

namespace bindings {

/// Names in a trace are bytes that a program or a damaged file gave: what is no UTF-8 is shown as U+FFFD.
inline nanobind::str text(const std::string& bytes) {
    return nanobind::steal<nanobind::str>(
        PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

inline nanobind::list texts(const std::vector<std::string>& names) {
    nanobind::list found;
    for (const std::string& name : names) found.append(text(name));
    return found;
}

/// Of enum hocket_trace_end; -1: the file has no footer.
inline std::string_view end_name(int end) {
    switch (end) {
        case HOCKET_TRACE_END_FINALIZE:
            return "finalize";
        case HOCKET_TRACE_END_EXIT:
            return "exit";
        case HOCKET_TRACE_END_ABORT:
            return "abort";
        case HOCKET_TRACE_END_LIMIT:
            return "limit";
        default:
            return "cut off";
    }
}

}  // namespace bindings
