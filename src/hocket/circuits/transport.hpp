// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hocket/circuits/batches.hpp"
#include "hocket/circuits/pair_numbers.hpp"
#include "hocket/circuits/switchboard.hpp"
#include "hocket/simulation/transport.hpp"

namespace hocket::circuits {

/// When circuits are set up and torn down.
enum class Policy : std::uint8_t {
    naive,    ///< one for each message of a direction, on one port of a node
    batch,    ///< those of consecutive rounds at once, as many as the ports hold (the paper's); naive if that is faster
    lazy,     ///< when a message wants one; down when its port is wanted, the longest unused first
    pinned,   ///< as lazy, beside some that are there from the start to the end
    program,  ///< those that the program connects and disconnects
};
inline constexpr std::array<std::string_view, 5> policy_names{"naive", "batch", "lazy", "pinned", "program"};

/// One circuit of several that a message took one after another.
struct Hop {
    Rank source;
    std::int32_t send;  ///< op of the source
    NodeId from, to;
    double ready_s, begin_s, end_s;  ///< stored at `from`; on its way; stored at `to`
};

/// Messages wait for their circuits. A host sends one message at a time with Injection::one: it is free for the next
/// when the message has arrived, so that each takes alpha + n beta. Ranks of one host need no circuit to each other.
class CircuitTransport final : public Transport {
public:
    /// `collectives` of Policy::naive and, with rounds, of Policy::batch; `pinned` of Policy::pinned; of
    /// Policy::program the program as it was before with_circuit_messages().
    /// @throws InvalidInput  if the pinned ones do not fit together
    CircuitTransport(const Network&, Policy, Collectives = {}, const std::vector<HostPair>& pinned = {},
                     const Program* = nullptr);

    bool begin(const TransportMessage&, double now_s, std::vector<LinkId>& links) override;
    bool end(const TransportMessage&, double now_s) override;
    [[nodiscard]] double next_event_s() const override { return next_s_; }
    void update(double now_s, std::vector<std::int32_t>& ready) override;
    /// Tears down circuits without messages, which a batch keeps for later ones.
    /// @throws InvalidInput  if that does not help: names a circuit that cannot be set up
    bool relieve(double now_s) override;

    /// Tears down what is left, `now_s` being when the last message has arrived; returns when all ports are free.
    double finish(double now_s);
    [[nodiscard]] const std::vector<Circuit>& circuits() const { return board_.circuits(); }
    /// From when messages were ready to when they began, all together.
    [[nodiscard]] double waiting_s() const { return waiting_s_; }
    [[nodiscard]] std::int64_t num_messages() const { return num_messages_; }
    [[nodiscard]] const std::vector<Hop>& hops() const { return hops_; }

private:
    static constexpr std::int32_t nobody = -1, pins = -2;  // owners of circuits that are not a batch
    // Messages of no batch: of no collective (nobody), of a round that no batch holds, or of one that is not made yet.
    static constexpr std::int32_t alone = -2, later = -3;
    struct Message {
        std::int32_t number;
        const std::int32_t* batch;  ///< in batch_of_send_, or &nobody
        double ready_s;
        std::int64_t sequence;  ///< in the order in which they became ready
    };
    /// Between two hosts. Direction 0 is from the first one.
    struct Connection {
        HostPair hosts;
        std::array<double, 2> latency_s{};  ///< [direction]
        std::int32_t circuit = -1;          ///< that has not been torn down
        bool is_open = false;               ///< its set-up has ended
        std::int32_t owner = nobody;
        std::int32_t served = nobody;  ///< collective of the last message that had it for itself
        double last_used_s = 0;
        std::array<bool, 2> is_busy{};                     ///< [direction] a message is on its way
        std::array<bool, 2> is_used{};                     ///< naive: one has been, and the next needs another circuit
        std::array<std::vector<Message>, 2> waiting = {};  ///< [direction] in their order
        std::int64_t wish = -1;                            ///< sequence of the message that wants a circuit
        std::int64_t wish_pass = -1;                       ///< in which it began to
        double room_s = 0;                                 ///< when what was torn down for its wavelength is down
        std::int32_t relays = 0;                           ///< messages on their way that are to take it
        std::int32_t users = 0;                            ///< pairs of ranks that have connected it
        std::int64_t asked = -1;                           ///< sequence of when the first of them did
        std::vector<std::int32_t> connecting = {}, disconnecting = {};  ///< messages that wait for that
    };
    /// A message that takes several circuits.
    struct Relay {
        std::vector<NodeId> hosts;  ///< from its source to its target
        std::size_t hop = 0;        ///< it is on its way from this one, or waits there
        double ready_s;             ///< since when it has been there
        Rank source = {};
        std::int32_t send = -1;
        double begin_s = 0;  ///< when it left
    };
    struct Request {
        std::int32_t number;  ///< of its message
        Rank rank;
        std::int32_t op;
    };
    /// Of two ranks, whose connects and disconnects alternate.
    struct Agreement {
        bool is_connected = false;
        std::vector<Request> held = {};  ///< of one of them, which waits for the other
    };
    /// For a circuit, by a message. Each message has at most one.
    struct Wish {
        std::int64_t sequence;
        std::int32_t connection;
        NodeId other;  ///< than the host in whose list it is
        bool operator<(const Wish& later) const { return sequence < later.sequence; }
    };
    struct Host {
        std::int32_t sending = 0;             ///< messages on their way
        std::vector<std::int32_t> live = {};  ///< connections with a circuit
        std::vector<Wish> wishes = {};        ///< sorted
        bool has_changed = false;
        std::int64_t asking_pass = -1;  ///< in which its wishes are looked at
        std::int64_t queued_pass = -1;  ///< in which one of them is in next_wishes_
    };
    struct NextWish {
        Wish wish;
        NodeId host;
        std::size_t index;  ///< in its list, when it was looked at
        bool operator>(const NextWish& other) const { return other.wish < wish; }
    };
    struct Sent {
        std::int32_t connection = -1;
        bool is_cleared = false;
    };
    struct Batch {
        std::int32_t collective;
        std::vector<HostPair> circuits = {};           ///< sorted
        std::vector<std::int32_t> messages_left = {};  ///< [circuit]
        std::int32_t all_left = 0;                     ///< their sum
        std::vector<std::int32_t> to_set_up = {};      ///< connections
        bool is_wanted = false;                        ///< a message of it waits, or waited
        bool is_begun = false;                         ///< a circuit of it has been set up
        bool is_broken = false;  ///< circuits of it were torn down for others: its messages take any
    };
    struct Collective {
        std::int32_t messages_left = 0;
        double down_s = 0;  ///< the last of its circuits, so far
        bool is_down = false;
        bool waits_for_ports = false;                 ///< no next batch: a host of its first round has none
        std::vector<std::int32_t> held = {};          ///< messages at the end of calls
        std::size_t first_round = 0, next_round = 0;  ///< of the batch that was made last; of the next
        std::int32_t current = -1;                    ///< batch that the next one waits for
    };
    struct Arrival {
        double time_s;
        std::int32_t number, connection, direction, batch, collective;
        bool operator>(const Arrival& other) const {
            return time_s != other.time_s ? time_s > other.time_s : number > other.number;
        }
    };
    using Opening = std::pair<double, std::int32_t>;  // when, connection

    Connection& at(std::int32_t c) { return connections_[static_cast<std::size_t>(c)]; }
    Batch& state(std::int32_t batch) { return batches_[static_cast<std::size_t>(batch)]; }
    [[nodiscard]] bool takes_any(std::int32_t batch) {
        return batch == nobody || batch == alone || (batch >= 0 && state(batch).is_broken);
    }
    std::int32_t connection_of(HostPair);
    [[nodiscard]] const std::int32_t* batch_of(const TransportMessage&) const;
    [[nodiscard]] std::int32_t collective_of(const TransportMessage&) const;
    void change(NodeId);
    void change(const Connection&);

    void arrive(const Arrival&);
    void connected(std::int32_t c, std::int32_t circuit, std::int32_t owner);
    void disconnect(std::int32_t c, double now_s);
    [[nodiscard]] static bool is_in_use(const Connection& connection) {
        return connection.is_busy[0] || connection.is_busy[1] || connection.relays > 0;
    }
    [[nodiscard]] bool has_use(const Connection&);
    void queue(Connection&, std::size_t direction, const Message&);
    [[nodiscard]] bool may_go(const Connection&, std::size_t direction, const Message&);
    bool clear_next(NodeId, std::vector<std::int32_t>& ready);
    [[nodiscard]] bool goes_at_once(const Connection&, std::size_t direction, std::int32_t batch);
    void go(Connection&, std::size_t direction);

    // grants.cpp
    void want_circuit(std::int32_t c);
    void forget_wish(std::int32_t c);
    void grant_wishes(const std::vector<NodeId>& changed, double now_s);
    void grant(std::int32_t c, double now_s);
    [[nodiscard]] std::int32_t idle_at(NodeId);
    [[nodiscard]] bool is_blocked(NodeId);
    [[nodiscard]] std::optional<NextWish> wish_after(NodeId, const Wish&, std::size_t index) const;
    void put_wish(const NextWish&);
    void put_after(NodeId, const Wish&);
    NextWish take_wish();
    void make_fibre(Connection&, double now_s);

    // blocked.cpp
    void refuse_wait() const;
    [[nodiscard]] bool cannot_be_set_up(std::int32_t c);
    void serve_blocked(std::vector<std::int32_t>& ready);
    void take_electrical(std::int32_t c, std::vector<std::int32_t>& ready);
    void take_relays(std::int32_t c);
    [[nodiscard]] std::vector<NodeId> relay_path(NodeId from, NodeId to);
    bool begin_hop(const TransportMessage&, double now_s, std::vector<LinkId>& links);
    void forward(const Arrival&);

    // program_circuits.cpp
    [[nodiscard]] ProgramOpKind kind_of(const TransportMessage&) const;
    void request(const TransportMessage&, ProgramOpKind, double now_s);
    void serve_requests(const std::vector<NodeId>& hosts, double now_s, std::vector<std::int32_t>& ready);
    void finish_requests(std::vector<std::int32_t>& numbers, std::vector<std::int32_t>& ready);
    void refuse_requests() const;

    // batch_transport.cpp
    void want_batch(std::int32_t batch);
    void set_up_batches(double now_s);
    bool set_up(std::int32_t batch, double now_s);
    bool make_room(std::int32_t c, std::int32_t batch, double now_s);
    void make_next(std::int32_t collective);
    void make_anew();
    void leave_alone(const Collectives::Round&);
    [[nodiscard]] bool is_on_one_port(const std::vector<HostPair>&);
    void release(std::int32_t c, double now_s);
    void leave_batch(const Arrival&);
    void count_out(std::int32_t collective);
    bool end_call(const TransportMessage&);
    void end_calls(double now_s, std::vector<std::int32_t>& ready);
    void allow_after(std::int32_t batch);

    const Network& network_;
    const network::Circuits& rules_;
    Policy policy_;
    const Program* program_;
    CircuitPaths paths_;
    std::optional<CircuitPaths> electrical_;          // of Blocked::electrical
    std::unordered_set<std::int32_t> by_electrical_;  // messages on other links
    Switchboard board_;
    Collectives plan_;
    Filling filling_;
    std::vector<std::vector<std::int32_t>> batch_of_send_;  // [rank][op]
    std::vector<Batch> batches_;
    std::vector<std::int32_t> next_batches_;  // wanted, in the order in which nothing hindered them any longer
    std::vector<Collective> collectives_;
    std::unordered_map<std::int32_t, Relay> relays_;         // [message]
    std::map<std::pair<Rank, Rank>, Agreement> agreements_;  // the smaller rank first
    std::vector<Hop> hops_;
    bool has_opened_ = false;  // in update()
    std::vector<Connection> connections_;
    PairNumbers numbers_;                     // of connections
    std::vector<Host> hosts_;                 // [node]
    std::int64_t pass_ = 0;                   // of grant_wishes()
    std::vector<std::int64_t> blocked_pass_;  // [node] in which it was found blocked
    std::vector<NextWish> next_wishes_;       // a heap: of hosts the first that has not been looked at
    std::vector<NodeId> unblocked_;           // since the last look
    std::vector<NodeId> changed_;
    std::vector<NodeId> freed_, seen_, senders_;  // in update()
    std::vector<std::int32_t> lack_wavelength_;   // connections
    std::vector<Sent> sent_;                      // [message]
    std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
    std::priority_queue<Opening, std::vector<Opening>, std::greater<>> openings_;
    std::priority_queue<Opening, std::vector<Opening>, std::greater<>> downs_;  // of collectives
    std::vector<LinkId> path_;
    std::int64_t num_waiting_ = 0, sequence_ = 0, num_messages_ = 0;
    double waiting_s_ = 0, now_s_ = 0;
    double next_s_;
};

}  // namespace hocket::circuits
