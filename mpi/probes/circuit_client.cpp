// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "probes/circuit_client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <compare>
#include <cstring>
#include <iomanip>
#include <string_view>

namespace hocket::probes {

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;  // of a packet

/// The order of set-ups and teardowns in the schedule, each by the number of its circuit.
std::vector<std::size_t> turns_of(const CircuitRun& run) {
    struct Turn {
        double begin_s, end_s;
        int configuration;
        bool is_teardown;
        std::size_t circuit;
        auto operator<=>(const Turn&) const = default;
    };
    std::vector<Turn> turns;
    for (std::size_t i = 0; i < run.circuits.size(); ++i) {
        const Circuit& one = run.circuits[i];
        turns.push_back({one.setup_s, one.setup_s + run.setup_s, one.configuration, false, i});
        turns.push_back({one.teardown_s, one.teardown_s + run.teardown_s, one.configuration, true, i});
    }
    std::sort(turns.begin(), turns.end());
    std::vector<std::size_t> numbers;
    for (const Turn& turn : turns) numbers.push_back(turn.circuit);
    return numbers;
}

}  // namespace

CircuitClient::CircuitClient(const std::string& path, int node)
    : node_(node), socket_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)), buffer_(most_bytes, '\0') {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        const std::string reason = std::strerror(errno);
        close(socket_);
        throw Error("no circuit switch at " + path + ": " + reason);
    }
    send("join " + std::to_string(node));
}

CircuitClient::~CircuitClient() { close(socket_); }

void CircuitClient::begin(const CircuitRun& run) {
    std::ostringstream packet;
    packet << "begin" << std::setprecision(12);
    if (node_ == 0) {
        packet << ' ' << run.ports << ' ' << run.setup_s << ' ' << run.teardown_s << ' ' << run.stop << ' '
               << (run.is_serial ? "serial" : run.accounting);
        for (const Circuit& circuit : run.circuits)
            packet << ' ' << circuit.a << ':' << circuit.b << ':' << circuit.configuration;
        if (run.is_serial)
            for (const std::size_t turn : turns_of(run)) packet << ' ' << turn;
    }
    send(packet.str());
}

void CircuitClient::wait() const {
    pollfd ready{socket_, POLLIN, 0};
    ::poll(&ready, 1, 1);
}

void CircuitClient::send(const std::string& word, const std::vector<int>& circuits) const {
    std::string packet = word;
    for (const int circuit : circuits) packet += ' ' + std::to_string(circuit);
    send(packet);
}

void CircuitClient::send(const std::string& packet) const {
    if (::send(socket_, packet.data(), packet.size(), MSG_NOSIGNAL) < 0)
        throw Error(std::string("the controller of the switch cannot be reached: ") + std::strerror(errno));
}

std::optional<std::istringstream> CircuitClient::poll() {
    const ssize_t size = recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return std::nullopt;
    if (size <= 0) throw Error("the controller of the switch has ended");
    const std::string packet(buffer_, 0, static_cast<std::size_t>(size));
    constexpr std::string_view failure = "error";
    if (packet.starts_with(failure)) throw SwitchError(packet.substr(std::min(packet.size(), failure.size() + 1)));
    return std::istringstream(packet);
}

}  // namespace hocket::probes
