// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "hocket/trace/format.h"

/// Writes rank files of version 2 by format.h alone, independently of the reader.
class Writer {
public:
    Writer(std::int32_t rank, std::int32_t num_ranks) {
        hocket_trace_header header{};
        std::memcpy(header.magic, HOCKET_TRACE_MAGIC, sizeof header.magic);
        header.version = 2;
        header.header_bytes = sizeof header;
        header.rank = rank;
        header.num_ranks = num_ranks;
        std::strcpy(header.host, "a0");
        bytes.assign(reinterpret_cast<const char*>(&header), sizeof header);
    }

    template <class... Values>
    void record(std::uint16_t kind, std::uint16_t function, const Values&... values) {
        std::string body;
        (append(body, values), ...);
        body.resize((body.size() + 7) / 8 * 8);
        append(bytes, static_cast<std::uint32_t>(body.size() + 8));
        append(bytes, kind);
        append(bytes, function);
        bytes += body;
    }

    void function(std::uint16_t id, const std::string& name) { record(HOCKET_TRACE_FUNCTION, id, name); }

    void communicator(std::uint32_t id, std::int32_t own_rank, const std::vector<std::int32_t>& members,
                      const std::vector<std::int32_t>& remote = {}, std::uint16_t made_by = HOCKET_TRACE_NONE16,
                      std::uint32_t parent = HOCKET_TRACE_NONE) {
        record(HOCKET_TRACE_COMMUNICATOR, made_by, id, parent, static_cast<std::uint32_t>(!remote.empty()), own_rank,
               static_cast<std::uint32_t>(members.size()), static_cast<std::uint32_t>(remote.size()), members, remote);
    }

    /// A call with the fields of `mask` given in the order of their bits.
    template <class... Fields>
    void call(std::uint16_t function, std::int64_t enter_ns, std::int64_t exit_ns, std::uint32_t mask,
              const Fields&... fields) {
        record(HOCKET_TRACE_CALL, function, enter_ns, exit_ns, mask, std::uint16_t{0}, flags, fields...);
        ++calls;
    }

    void footer(std::uint32_t reason = HOCKET_TRACE_END_FINALIZE) {
        record(HOCKET_TRACE_FOOTER, HOCKET_TRACE_NONE16, reason, calls);
    }

    std::string bytes;
    std::uint64_t calls = 0;
    std::uint16_t flags = 0;

private:
    template <class T>
    static void append(std::string& to, const T& value) {
        to.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    static void append(std::string& to, const std::string& text) { to += text; }
    static void append(std::string& to, const std::vector<std::int32_t>& values) {
        to.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int32_t));
    }
};
