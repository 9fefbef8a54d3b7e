// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Round trips while other messages or receives wait, which the MPI has to look through.

#include <memory>

#include "bench/items/outcome.hpp"
#include "bench/items/p2p/round_trip.hpp"
#include "bench/items/registry.hpp"

namespace hocket::bench {

namespace {

constexpr int waiting_tag = 1, timed_tag = 2;

/// Both ranks have `depth` messages of one byte that nobody receives, or as many receives that nobody sends to.
class Queue : public RoundTrip {
public:
    Queue(bool of_messages, const Setting& setting)
        : RoundTrip(setting), of_messages_(of_messages), depth_(setting.number("depth")) {
        if (!takes_part()) return;
        waiting_.resize(static_cast<std::size_t>(depth_));
        requests_.assign(waiting_.size(), MPI_REQUEST_NULL);
        if (of_messages_) {
            send_all();
        } else {
            receive_all();
        }
    }
    void finish() override {
        if (!takes_part()) return;
        if (of_messages_) {
            receive_all();
        } else {
            send_all();
        }
        call(MPI_Waitall(depth_, requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    }

private:
    void send_all() {
        for (int i = 0; i < depth_; ++i) {
            const unsigned char byte = 0;
            call(MPI_Send(&byte, 1, MPI_BYTE, peer(), waiting_tag, setting().comm), "MPI_Send");
        }
    }
    void receive_all() {
        for (std::size_t i = 0; i < waiting_.size(); ++i) {
            call(MPI_Irecv(&waiting_[i], 1, MPI_BYTE, peer(), waiting_tag, setting().comm, &requests_[i]), "MPI_Irecv");
        }
    }
    void send() override {
        call(MPI_Send(sent().data(), count(), MPI_BYTE, peer(), timed_tag, setting().comm), "MPI_Send");
    }
    void receive() override {
        call(MPI_Recv(received().data(), count(), MPI_BYTE, peer(), timed_tag, setting().comm, MPI_STATUS_IGNORE),
             "MPI_Recv");
    }

    bool of_messages_;
    int depth_;
    Bytes waiting_;
    std::vector<MPI_Request> requests_;
};

Item item(const char* name, const char* what, bool of_messages) {
    return {name, what, 0, 2, true, {{"depth", "", "256"}}, [=](const Setting& setting) {
                return std::make_unique<Queue>(of_messages, setting);
            }};
}

}  // namespace

void add_queues(Items& items) {
    items.push_back(item("p2p.pingpong.unexpected", "a round trip beside `depth` messages that nobody receives", true));
    items.push_back(item("p2p.pingpong.posted", "a round trip beside `depth` receives that nobody sends to", false));
}

}  // namespace hocket::bench
