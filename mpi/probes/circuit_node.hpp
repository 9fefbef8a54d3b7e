// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "probes/circuit_blocks.hpp"
#include "probes/circuit_client.hpp"
#include "probes/circuit_runs.hpp"

namespace hocket::probes {

/// What one rank does in a run: asks for its circuits, sends and receives on them, gives them back.
///
/// A receiver answers each message. Its sender goes on with the answer, as the next message would share the link with
/// this one; and both ends release a circuit when nothing of theirs is under way on it. Messages go in segments that
/// MPIs send at once: what they send each other about a large one would wait behind the data that goes the other way,
/// up to as long as these take.
class CircuitNode {
public:
    /// `run` must live as long.
    CircuitNode(const CircuitRun& run, int rank);

    struct Times {
        double whole_s = 0;              ///< from the first set-up to the last teardown, by the clock of the controller
        std::vector<double> circuits_s;  ///< set-up, open, teardown, down of each, from there
        std::vector<double>
            messages_s;  ///< of each of the run: begin and answer at its sender, from there; 0 for others'
    };
    /// Collective. @throws SwitchError; Error if nothing moves any more.
    Times run(CircuitClient& client);

    /// @throws Error  if a byte is wrong
    void check() const { blocks_.check(); }

private:
    struct OwnCircuit {
        int number;
        int open_messages = 0;  // not yet answered
        bool wanted = false, open = false, released = false;
    };
    struct Part {  // a message that this rank sends or receives
        const CircuitMessage* message = nullptr;
        std::size_t index = 0;    // in the run
        std::size_t circuit = 0;  // in circuits_
        CircuitBlocks::Access access{};
        std::vector<char> buffer;
        std::vector<MPI_Request> data;  // of its segments
        MPI_Request answer = MPI_REQUEST_NULL;
        enum class State { waits, moves, arrived, done } state = State::waits;
    };
    struct SendQueue {  // messages that are sent one after another
        std::vector<Part*> sends;
        std::size_t next = 0;
    };

    void prepare();
    void listen(CircuitClient& client);
    void take(std::istringstream& packet);
    void ask(CircuitClient& client);
    void give_back(CircuitClient& client);
    bool send_next(SendQueue& queue);
    bool receive(Part& part);
    void finish(Part& part);
    void post(Part& part, bool sends);
    [[nodiscard]] bool uses_circuits() const;
    void await(CircuitClient& client, const bool& done);

    const CircuitRun& run_;
    int rank_;
    CircuitBlocks blocks_;
    std::vector<OwnCircuit> circuits_;  // in the order of their set-ups
    std::vector<Part> sends_, receives_;
    std::vector<SendQueue> queues_;
    std::size_t left_ = 0;  // circuits that are not released
    bool moved_ = false, started_ = false, over_ = false;
    double begin_s_ = 0;  // by the clock of the machine, on which all hosts are emulated
    Times times_;
};

}  // namespace hocket::probes
