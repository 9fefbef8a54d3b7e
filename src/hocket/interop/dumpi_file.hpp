// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/interop/source.hpp"

/// The bytes of a DUMPI file, by docs/traceformat.dox of sst-dumpi.
namespace hocket::interop {

struct DumpiStatus {
    std::int32_t bytes, source, tag;
};

/// The arguments of a call, by the letters of its layout (dumpi_functions.hpp).
struct DumpiArguments {
    std::array<std::int32_t, 128> values;  ///< of single numbers; -1: not there
    std::vector<std::uint32_t> requests;
    std::vector<std::int32_t> numbers, indices, send, receive, ranges;
    std::vector<std::int16_t> send_types, receive_types;
    std::vector<DumpiStatus> statuses;
    std::string_view layout;
    int lists = 0;  ///< of the letter a, read so far

    DumpiArguments() { values.fill(-1); }
    [[nodiscard]] bool has(char letter) const { return layout.find(letter) != std::string_view::npos; }
    [[nodiscard]] std::int32_t operator[](char letter) const { return values[static_cast<std::size_t>(letter)]; }
};

struct DumpiCall {
    std::string_view function;  ///< without MPI_
    std::int64_t thread;
    std::int64_t enter_cpu_ns, exit_cpu_ns, enter_ns, exit_ns;  ///< -1: not there
    DumpiArguments arguments;
};

class DumpiFile {
public:
    /// Reads all but the calls.
    /// @throws InvalidInput  here and in next(), naming the file and the byte.
    explicit DumpiFile(const Source& source);

    /// The next call. False at the end of the stream.
    bool next(DumpiCall& call);

    [[nodiscard]] const std::string& host() const { return host_; }
    [[nodiscard]] const std::vector<std::int32_t>& sizes() const { return sizes_; }  ///< of datatypes, by their handle
    /// Calls of functions that were not to be recorded.
    [[nodiscard]] const std::map<std::string, std::int64_t>& ignored() const { return ignored_; }
    [[noreturn]] void fail(const std::string& found, const std::string& accepted) const { in_.fail(found, accepted); }

private:
    struct Version {
        std::array<std::uint8_t, 3> parts{};
        [[nodiscard]] bool at_least(std::uint8_t a, std::uint8_t b, std::uint8_t c) const {
            return parts >= std::array<std::uint8_t, 3>{a, b, c};
        }
    };

    std::uint64_t index();
    void read_header(std::uint64_t at);
    void read_sizes(std::uint64_t at);
    void read_footer(std::uint64_t at);
    void take_argument(DumpiArguments& to, char letter, std::string_view function, std::uint8_t mask);
    void take_list(DumpiArguments& to, char letter, std::string_view function, std::uint8_t mask);
    template <class T>
    std::vector<T> list(const char* what);
    void text();
    void texts(std::string_view function);
    void statuses(DumpiArguments& to, std::uint8_t mask);

    BinaryReader in_;
    Version version_;
    std::int64_t cpu_base_s_ = 0, wall_base_s_ = 0;
    std::string host_;
    std::vector<std::int32_t> sizes_;
    std::map<std::string, std::int64_t> ignored_;
};

}  // namespace hocket::interop
