// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "hocket/base/index.hpp"
#include "hocket/network/network.hpp"

namespace hocket {

/// A message that is ready to be sent.
struct TransportMessage {
    std::int32_t number;  ///< among all messages, in the order of their sends
    Rank source, target;
    std::int32_t send;  ///< op of the source's RankProgram; beyond its last one for the messages of a handshake
    std::int64_t bytes;
};

/// How messages get from source to target: by which links, and since when. For networks that change with their
/// messages, such as those whose circuits are set up first. A message waits until its transport lets it begin, then its
/// bytes share the links as any flow does.
///
/// The calls come in the order of time, and `now_s` is the time of each. Those of one instant come in the order in
/// which messages became ready and ended; update() comes after them.
class Transport {
public:
    virtual ~Transport() = default;
    /// Whether the message begins now. If so, `links`, which is empty, gets the links on its way in their order;
    /// without any, the message has no transfer time. If not, it waits, and its pair with it if messages of a pair are
    /// ordered: begin() is called again when update() has named it.
    virtual bool begin(const TransportMessage&, double now_s, std::vector<LinkId>& links) = 0;
    /// The last byte of a message that has begun has left its source, or a host that stored it. It arrives the
    /// latencies of its links later. Whether that is at its target; if not, it is stored there and forwarded, and
    /// begin() is called again when update() has named it.
    virtual bool end(const TransportMessage&, double now_s) = 0;
    /// When update() is to be called; infinity = not before another message begins or ends. A time that is past is now.
    [[nodiscard]] virtual double next_event_s() const = 0;
    /// Appends the numbers of the messages that are to be asked again by begin(). next_event_s() is later than now
    /// after it.
    virtual void update(double now_s, std::vector<std::int32_t>& ready) = 0;
    /// Nothing goes on any more, and messages may wait for ever: whether something has been done about it, so that
    /// update() is to be called.
    virtual bool relieve(double now_s) {
        static_cast<void>(now_s);
        return false;
    }
};

namespace simulation {

/// The transport of a network whose routes are fixed: no message waits. Not virtual, so that it costs an engine
/// nothing.
class StaticRoutes {
public:
    explicit StaticRoutes(const Network& network) : network_(network) {}

    bool begin(const TransportMessage& message, double, std::vector<LinkId>& links) const {
        network_.route(message.source, message.target, links);
        return true;
    }
    static bool end(const TransportMessage&, double) { return true; }
    [[nodiscard]] static constexpr double next_event_s() { return std::numeric_limits<double>::infinity(); }
    static void update(double, std::vector<std::int32_t>&) {}
    static bool relieve(double) { return false; }

private:
    const Network& network_;
};

}  // namespace simulation
}  // namespace hocket
