// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "probes/circuit_node.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "common/backoff.hpp"
#include "common/clock.hpp"
#include "hocket/base/error.hpp"
#include "probes/measuring.hpp"

namespace hocket::probes {

namespace {

constexpr std::size_t segment_bytes = 16'384;
constexpr double most_still_s = 20;  // beyond some set-ups and teardowns

bool tested(MPI_Request& request) {
    int done = 0;
    require(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
}

bool tested(std::vector<MPI_Request>& requests) {
    int done = 0;
    require(PMPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
            "MPI_Testall");
    return done != 0;
}

/// Lets the MPI go on with what it may have queued.
void progress() {
    int there = 0;
    require(PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

}  // namespace

CircuitNode::CircuitNode(const CircuitRun& run, int rank) : run_(run), rank_(rank), blocks_(run, rank) {
    std::map<int, std::size_t> place;
    for (int number = 0; number < static_cast<int>(run.circuits.size()); ++number) {
        const Circuit& circuit = run.circuits[static_cast<std::size_t>(number)];
        if (circuit.a == rank || circuit.b == rank) circuits_.push_back({number});
    }
    std::stable_sort(circuits_.begin(), circuits_.end(), [&](const OwnCircuit& left, const OwnCircuit& right) {
        return run.circuits[static_cast<std::size_t>(left.number)].setup_s <
               run.circuits[static_cast<std::size_t>(right.number)].setup_s;
    });
    for (std::size_t i = 0; i < circuits_.size(); ++i) place[circuits_[i].number] = i;

    // Begins of sends and ends of receives; what ends when a send begins is in it.
    std::vector<std::pair<double, Part*>> order;
    const double last_s = run.messages.empty() ? 0 : run.messages.back().end_s;
    for (std::size_t index = 0; index < run.messages.size(); ++index) {
        const CircuitMessage& message = run.messages[index];
        if (message.from != rank && message.to != rank) continue;
        auto& parts = message.from == rank ? sends_ : receives_;
        Part& part = parts.emplace_back();
        part.message = &message;
        part.index = index;
        part.circuit = place.at(message.circuit);
    }
    for (Part& part : sends_) order.emplace_back(part.message->begin_s, &part);
    for (Part& part : receives_) order.emplace_back(part.message->end_s - 1e-9 * last_s, &part);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& left, const auto& right) { return left.first < right.first; });
    for (const auto& [time_s, part] : order) {
        part->access = part->message->from == rank ? blocks_.send_follows(*part->message)
                                                   : blocks_.receive_follows(*part->message);
        part->buffer.assign(part->message->blocks.size() * static_cast<std::size_t>(run.block_bytes), 'h');
    }
    queues_.resize(run.one_at_a_time ? 1 : circuits_.size());
    for (Part& part : sends_) queues_[run.one_at_a_time ? 0 : part.circuit].sends.push_back(&part);
}

CircuitNode::Times CircuitNode::run(CircuitClient& client) {
    prepare();
    client.begin(run_);
    ask(client);
    await(client, started_);
    Backoff backoff;
    double still_since_s = now_s();
    while (left_ > 0) {
        moved_ = false;
        listen(client);
        for (SendQueue& queue : queues_)
            while (send_next(queue)) moved_ = true;
        for (Part& part : receives_)
            if (receive(part)) moved_ = true;
        give_back(client);
        if (moved_) {
            backoff.reset();
            still_since_s = now_s();
            continue;
        }
        if (now_s() - still_since_s > most_still_s + 10 * (run_.setup_s + run_.teardown_s))
            throw Error(std::to_string(left_) + " circuits are not used up and nothing moves: is the schedule wrong?");
        if (uses_circuits()) {
            backoff.pause();
        } else {
            progress();
            client.wait();
        }
    }
    client.end();
    await(client, over_);
    return std::move(times_);
}

void CircuitNode::prepare() {
    blocks_.fill();
    started_ = over_ = false;
    left_ = circuits_.size();
    times_.messages_s.assign(2 * run_.messages.size(), 0.0);
    times_.circuits_s.clear();
    for (OwnCircuit& circuit : circuits_) circuit = {circuit.number};
    for (SendQueue& queue : queues_) queue.next = 0;
    for (auto* parts : {&sends_, &receives_}) {
        for (Part& part : *parts) {
            part.state = Part::State::waits;
            ++circuits_[part.circuit].open_messages;
        }
    }
    for (Part& part : sends_) {
        require(PMPI_Irecv(nullptr, 0, MPI_BYTE, part.message->to, part.message->tag + 1, MPI_COMM_WORLD, &part.answer),
                "MPI_Irecv");
    }
    for (Part& part : receives_) post(part, false);
}

/// Begins the segments of a message. They arrive in order; one without bytes has one all the same.
void CircuitNode::post(Part& part, bool sends) {
    part.data.clear();
    std::size_t begin = 0;
    do {
        const auto bytes = static_cast<int>(std::min(segment_bytes, part.buffer.size() - begin));
        char* const place = part.buffer.data() + begin;
        const int tag = part.message->tag;
        MPI_Request& request = part.data.emplace_back(MPI_REQUEST_NULL);
        if (sends) {
            require(PMPI_Isend(place, bytes, MPI_BYTE, part.message->to, tag, MPI_COMM_WORLD, &request), "MPI_Isend");
        } else {
            require(PMPI_Irecv(place, bytes, MPI_BYTE, part.message->from, tag, MPI_COMM_WORLD, &request), "MPI_Irecv");
        }
        begin += segment_bytes;
    } while (begin < part.buffer.size());
}

/// Until a packet of the controller has set `done`.
void CircuitNode::await(CircuitClient& client, const bool& done) {
    while (!done) {
        progress();
        client.wait();
        listen(client);
    }
}

void CircuitNode::listen(CircuitClient& client) {
    while (auto packet = client.poll()) take(*packet);
}

void CircuitNode::take(std::istringstream& packet) {
    moved_ = true;
    std::string word;
    packet >> word;
    if (word == "go") {
        packet >> begin_s_;
        started_ = true;
    } else if (word == "open") {
        for (int number = 0; packet >> number;) {
            const auto circuit = std::find_if(circuits_.begin(), circuits_.end(),
                                              [&](const OwnCircuit& one) { return one.number == number; });
            if (circuit != circuits_.end()) circuit->open = true;
        }
    } else if (word == "over") {
        packet >> times_.whole_s;
        for (double time_s = 0; packet >> time_s;) times_.circuits_s.push_back(time_s);
        over_ = true;
    }
}

/// For as many of the next circuits as this node has ports; of one configuration where the switch changes them
/// together.
void CircuitNode::ask(CircuitClient& client) {
    int held = 0, configuration = -1;
    std::vector<int> wanted;
    for (OwnCircuit& circuit : circuits_) {
        if (circuit.released) continue;
        const int own = run_.circuits[static_cast<std::size_t>(circuit.number)].configuration;
        if (configuration < 0) configuration = own;
        if (held == run_.ports || (run_.stop == "all" && own != configuration)) break;
        ++held;
        if (!circuit.wanted) wanted.push_back(circuit.number);
        circuit.wanted = true;
    }
    if (!wanted.empty()) client.want(wanted);
}

void CircuitNode::give_back(CircuitClient& client) {
    std::vector<int> released;
    for (OwnCircuit& circuit : circuits_) {
        if (!circuit.open || circuit.released || circuit.open_messages > 0) continue;
        circuit.released = true;
        released.push_back(circuit.number);
    }
    if (released.empty()) return;
    moved_ = true;
    left_ -= released.size();
    client.release(released);
    ask(client);
}

/// Whether something moved: the message under way was answered, or the next one begins.
bool CircuitNode::send_next(SendQueue& queue) {
    if (queue.next == queue.sends.size()) return false;
    Part& part = *queue.sends[queue.next];
    if (part.state == Part::State::waits) {
        if (!circuits_[part.circuit].open || !blocks_.can_read(*part.message, part.access)) return false;
        blocks_.read(*part.message, part.access, part.buffer);
        times_.messages_s[2 * part.index] = now_s() - begin_s_;
        post(part, true);
        part.state = Part::State::moves;
        return true;
    }
    // Both are tested each time: the answer alone does not end the request of the data.
    const bool sent = tested(part.data);
    if (!tested(part.answer) || !sent) return false;
    times_.messages_s[2 * part.index + 1] = now_s() - begin_s_;
    finish(part);
    ++queue.next;
    return true;
}

bool CircuitNode::receive(Part& part) {
    bool moved = false;
    if (part.state == Part::State::waits) {
        if (!circuits_[part.circuit].wanted || !tested(part.data)) return false;
        require(
            PMPI_Isend(nullptr, 0, MPI_BYTE, part.message->from, part.message->tag + 1, MPI_COMM_WORLD, &part.answer),
            "MPI_Isend");
        part.state = Part::State::moves;
        moved = true;
    }
    if (part.state == Part::State::moves && blocks_.can_change(*part.message, part.access)) {
        blocks_.change(*part.message, part.access, part.buffer);
        part.state = Part::State::arrived;
        moved = true;
    }
    if (part.state == Part::State::arrived && tested(part.answer)) {
        finish(part);
        moved = true;
    }
    return moved;
}

void CircuitNode::finish(Part& part) {
    part.state = Part::State::done;
    --circuits_[part.circuit].open_messages;
}

bool CircuitNode::uses_circuits() const {
    return std::any_of(circuits_.begin(), circuits_.end(),
                       [](const OwnCircuit& one) { return one.open && !one.released; });
}

}  // namespace hocket::probes
