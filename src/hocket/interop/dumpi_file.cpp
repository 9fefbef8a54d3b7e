// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/interop/dumpi_file.hpp"

#include <algorithm>
#include <utility>

#include "hocket/interop/dumpi_functions.hpp"

namespace hocket::interop {

namespace {

constexpr std::uint64_t head_magic = 0xffaadd44554d5049;  // ff aa dd D U M P I
constexpr std::uint64_t foot_magic = 0xf007fee7;
constexpr std::string_view letters_of_32_bits = "inNpPgGrmfxyYR", letters_of_16_bits = "hetTcCvVuwF",
                           letters_of_8_bits = "ko";

bool is_in(char letter, std::string_view letters) { return letters.find(letter) != std::string_view::npos; }

}  // namespace

DumpiFile::DumpiFile(const Source& source) : in_(source, true) {
    in_.go_to(index(), "the stream of calls");
    cpu_base_s_ = in_.take<std::uint32_t>("the base of CPU time");
    wall_base_s_ = in_.take<std::uint32_t>("the base of wall time");
}

/// The index at the end of the file; gives where the calls begin. It grew at its front: the places before the last
/// four are there if the magic number stands before them.
std::uint64_t DumpiFile::index() {
    if (in_.take<std::uint64_t>("the magic number") != head_magic) in_.fail("no DUMPI file", "ff aa dd DUMPI first");
    const std::size_t size = in_.at() + in_.left();
    std::size_t before = 3;  // of sizes, addresses and names of counters
    std::uint64_t sizes = 0;
    for (;; --before) {
        if (size >= 8 * (before + 5) + 8) {
            in_.go_to(size - 8 * (before + 5), "the index");
            if (in_.take<std::uint64_t>("the index") == head_magic) break;
        }
        if (before == 0)
            in_.fail("no index", "an index at the end of the file: the program ended without MPI_Finalize");
    }
    if (before == 3) sizes = in_.take<std::uint64_t>("the index");
    for (std::size_t i = 0; i < std::min<std::size_t>(before, 2); ++i) in_.take<std::uint64_t>("the index");
    const auto header = in_.take<std::uint64_t>("the index");
    const auto body = in_.take<std::uint64_t>("the index");
    const auto footer = in_.take<std::uint64_t>("the index");
    if (header != 0) read_header(header);
    if (sizes != 0) read_sizes(sizes);
    if (footer != 0) read_footer(footer);
    return body;
}

void DumpiFile::read_header(std::uint64_t at) {
    in_.go_to(at, "the header");
    for (std::uint8_t& part : version_.parts) part = in_.take<std::uint8_t>("the version");
    in_.take<std::uint64_t>("the time of the start");
    const auto length = in_.take<std::uint16_t>("the name of the host");
    host_ = std::string(in_.take_bytes(length, "the name of the host"));
}

void DumpiFile::read_sizes(std::uint64_t at) {
    in_.go_to(at, "the sizes of datatypes");
    const std::uint32_t count = in_.take_count("datatypes", 4);
    for (std::uint32_t i = 0; i < count; ++i) sizes_.push_back(in_.take<std::int32_t>("the size of a datatype"));
}

/// Calls of functions that were not to be recorded.
void DumpiFile::read_footer(std::uint64_t at) {
    in_.go_to(at, "the footer");
    if (in_.take<std::uint64_t>("the footer") != foot_magic) in_.fail("no footer", "f007fee7 first");
    for (std::size_t i = 0; i <= dumpi_functions.size(); ++i) in_.take<std::uint32_t>("a number of calls");
    for (const DumpiFunction& function : dumpi_functions)
        if (const auto calls = in_.take<std::uint32_t>("a number of calls"); calls > 0)
            ignored_["MPI_" + std::string(function.name)] += calls;
}

bool DumpiFile::next(DumpiCall& call) {
    while (true) {
        const auto number = in_.take<std::uint16_t>("a call");
        if (number == dumpi_end_of_stream) return false;
        const bool of_program = number == dumpi_function_enter || number == dumpi_function_exit;
        if (number >= dumpi_functions.size() && !of_program)
            in_.fail("function number " + std::to_string(number), "0 to 289 and 291 to 293");
        const auto mask = in_.take<std::uint8_t>("the mask of a call");
        call.thread = (mask & 64U) != 0 ? in_.take<std::uint16_t>("a thread") : 0;
        std::int64_t* const times[4] = {&call.enter_cpu_ns, &call.exit_cpu_ns, &call.enter_ns, &call.exit_ns};
        for (unsigned i = 0; i < 4; ++i) {
            *times[i] = -1;
            if ((mask & (i < 2 ? 4U : 8U)) == 0) continue;
            const std::int64_t second = in_.take<std::uint16_t>("a time") + (i < 2 ? cpu_base_s_ : wall_base_s_);
            const auto ns = in_.take<std::uint32_t>("a time");
            if (ns >= 1'000'000'000) in_.fail(std::to_string(ns) + " ns in a time", "fewer than 1000000000");
            *times[i] = second * 1'000'000'000 + ns;
        }
        if ((mask & 128U) != 0) {
            const auto counters = in_.take<std::uint8_t>("counters");
            in_.take_bytes(std::size_t{counters} * 16, "values of counters");
        }
        if (of_program) {
            in_.take<std::uint64_t>("the address of a function");
            continue;
        }
        const DumpiFunction& function = dumpi_functions[number];
        call.function = function.name;
        call.arguments = {};
        call.arguments.layout = function.layout;
        bool only_at_root = false;
        for (const char letter : function.layout) {
            if (letter == '?') {
                only_at_root = true;
            } else if (!std::exchange(only_at_root, false) || call.arguments['m'] == call.arguments['r']) {
                take_argument(call.arguments, letter, function.name, mask);
            }
        }
        return true;
    }
}

void DumpiFile::take_argument(DumpiArguments& to, char letter, std::string_view function, std::uint8_t mask) {
    std::int32_t& value = to.values[static_cast<std::size_t>(letter)];
    if (is_in(letter, letters_of_32_bits))
        value = in_.take<std::int32_t>("an argument");
    else if (is_in(letter, letters_of_16_bits))
        value = in_.take<std::int16_t>("an argument");
    else if (is_in(letter, letters_of_8_bits))
        value = in_.take<std::int8_t>("an argument");
    else if (letter == 'l')
        in_.take<std::int64_t>("an argument");
    else
        take_list(to, letter, function, mask);
}

void DumpiFile::take_list(DumpiArguments& to, char letter, std::string_view function, std::uint8_t mask) {
    switch (letter) {
        case 'a':
            if (function == "Type_struct" && !version_.at_least(0, 6, 9) && to.lists == 1) {
                in_.take<std::int32_t>("an argument");  // versions before wrote one displacement in place of all
                return;
            }
            if (function == "Cart_get" && !version_.at_least(0, 6, 8) && to.lists == 2) {
                in_.take<std::int32_t>("an argument");  // likewise of the coordinates
                return;
            }
            ++to.lists;
            list<std::int32_t>("numbers");
            return;
        case 'A':
            to.numbers = list<std::int32_t>("numbers");
            return;
        case 'S':
            to.send = list<std::int32_t>("sizes");
            return;
        case 'D':
            to.receive = list<std::int32_t>("sizes");
            return;
        case 'X':
            to.indices = list<std::int32_t>("indices");
            return;
        case 'q':
            to.requests = list<std::uint32_t>("requests");
            return;
        case 'H':
            to.send_types = list<std::int16_t>("datatypes");
            return;
        case 'J':
            to.receive_types = list<std::int16_t>("datatypes");
            return;
        case 'K':
            list<std::int8_t>("numbers");
            return;
        case 'b':
            for (std::uint32_t i = in_.take_count("ranges", 4); i > 0; --i) {
                const auto range = list<std::int32_t>("numbers");
                for (std::size_t k = 0; k < 3; ++k) to.ranges.push_back(k < range.size() ? range[k] : 0);
            }
            return;
        case 'z':
            text();
            return;
        case 'Z':
            texts(function);
            return;
        case '3':
            for (std::uint32_t i = in_.take_count("texts", 4); i > 0; --i) texts({});
            return;
        case 's':
            statuses(to, mask);
            return;
        default:
            HOCKET_ASSERT(false, "a layout of DUMPI has an unknown letter");
    }
}

template <class T>
std::vector<T> DumpiFile::list(const char* what) {
    std::vector<T> found(in_.take_count(what, sizeof(T)));
    for (T& one : found) one = in_.take<T>(what);
    return found;
}
void DumpiFile::text() { in_.take_bytes(in_.take_count("letters", 1), "a text"); }
void DumpiFile::texts(std::string_view function) {
    const std::uint32_t count = in_.take_count("texts", 4);
    // Early versions wrote the number of arguments of MPI_Init twice.
    if (function == "Init" && !version_.at_least(0, 6, 2)) in_.take<std::uint32_t>("the number of arguments");
    for (std::uint32_t i = 0; i < count; ++i) text();
}

void DumpiFile::statuses(DumpiArguments& to, std::uint8_t mask) {
    if ((mask & 3U) == 0) return;
    const bool has_tag = version_.at_least(0, 6, 3);
    for (std::uint32_t i = in_.take_count("statuses", has_tag ? 14 : 10); i > 0; --i) {
        DumpiStatus status{};
        status.bytes = in_.take<std::int32_t>("a status");
        status.source = in_.take<std::int32_t>("a status");
        in_.take<std::uint16_t>("a status");  // cancelled and error
        status.tag = has_tag ? in_.take<std::int32_t>("a status") : -1;
        to.statuses.push_back(status);
    }
}
}  // namespace hocket::interop
