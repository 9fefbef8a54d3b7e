// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Round trips in MPI's ways to send and to receive a message.

#include <memory>
#include <string_view>
#include <utility>

#include "bench/items/outcome.hpp"
#include "bench/items/p2p/round_trip.hpp"
#include "bench/items/registry.hpp"

namespace hocket::bench {

namespace {

struct Message {
    void* data;
    int count;
    int peer;
    MPI_Comm comm;
};

constexpr int tag = 1;

/// Functions return MPI's error code.
struct TripWay {
    const char* name;
    const char* what;
    int (*send)(const Message&);
    int (*receive)(const Message&);
};

int send(const Message& m) { return MPI_Send(m.data, m.count, MPI_BYTE, m.peer, tag, m.comm); }

int receive(const Message& m) { return MPI_Recv(m.data, m.count, MPI_BYTE, m.peer, tag, m.comm, MPI_STATUS_IGNORE); }

int received(const Message& m, MPI_Message& matched) {
    return MPI_Mrecv(m.data, m.count, MPI_BYTE, &matched, MPI_STATUS_IGNORE);
}

constexpr TripWay trip_ways[] = {
    {"send", "MPI_Send and MPI_Recv", send, receive},
    {"ssend", "MPI_Ssend and MPI_Recv",
     [](const Message& m) { return MPI_Ssend(m.data, m.count, MPI_BYTE, m.peer, tag, m.comm); }, receive},
    {"bsend", "MPI_Bsend and MPI_Recv",
     [](const Message& m) { return MPI_Bsend(m.data, m.count, MPI_BYTE, m.peer, tag, m.comm); }, receive},
    {"isend", "MPI_Isend, MPI_Irecv and MPI_Wait",
     [](const Message& m) {
         MPI_Request request = MPI_REQUEST_NULL;
         const int code = MPI_Isend(m.data, m.count, MPI_BYTE, m.peer, tag, m.comm, &request);
         return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
     },
     [](const Message& m) {
         MPI_Request request = MPI_REQUEST_NULL;
         const int code = MPI_Irecv(m.data, m.count, MPI_BYTE, m.peer, tag, m.comm, &request);
         return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
     }},
    {"issend", "MPI_Issend, MPI_Wait and MPI_Recv",
     [](const Message& m) {
         MPI_Request request = MPI_REQUEST_NULL;
         const int code = MPI_Issend(m.data, m.count, MPI_BYTE, m.peer, tag, m.comm, &request);
         return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
     },
     receive},
    {"test", "MPI_Send, MPI_Irecv and MPI_Test", send,
     [](const Message& m) {
         MPI_Request request = MPI_REQUEST_NULL;
         int code = MPI_Irecv(m.data, m.count, MPI_BYTE, m.peer, tag, m.comm, &request), done = 0;
         while (code == MPI_SUCCESS && done == 0) code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
         return code;
     }},
    {"any_source", "MPI_Send and MPI_Recv from any source", send,
     [](const Message& m) {
         return MPI_Recv(m.data, m.count, MPI_BYTE, MPI_ANY_SOURCE, tag, m.comm, MPI_STATUS_IGNORE);
     }},
    {"any_tag", "MPI_Send and MPI_Recv of any tag", send,
     [](const Message& m) {
         return MPI_Recv(m.data, m.count, MPI_BYTE, m.peer, MPI_ANY_TAG, m.comm, MPI_STATUS_IGNORE);
     }},
    {"probe", "MPI_Send, MPI_Probe and MPI_Recv", send,
     [](const Message& m) {
         const int code = MPI_Probe(m.peer, tag, m.comm, MPI_STATUS_IGNORE);
         return code != MPI_SUCCESS ? code : receive(m);
     }},
    {"iprobe", "MPI_Send, MPI_Iprobe and MPI_Recv", send,
     [](const Message& m) {
         int code = MPI_SUCCESS, is_there = 0;
         while (code == MPI_SUCCESS && is_there == 0) {
             code = MPI_Iprobe(m.peer, tag, m.comm, &is_there, MPI_STATUS_IGNORE);
         }
         return code != MPI_SUCCESS ? code : receive(m);
     }},
    {"mprobe", "MPI_Send, MPI_Mprobe and MPI_Mrecv", send,
     [](const Message& m) {
         MPI_Message matched = MPI_MESSAGE_NULL;
         const int code = MPI_Mprobe(m.peer, tag, m.comm, &matched, MPI_STATUS_IGNORE);
         return code != MPI_SUCCESS ? code : received(m, matched);
     }},
    {"improbe", "MPI_Send, MPI_Improbe and MPI_Mrecv", send,
     [](const Message& m) {
         MPI_Message matched = MPI_MESSAGE_NULL;
         int code = MPI_SUCCESS, is_there = 0;
         while (code == MPI_SUCCESS && is_there == 0) {
             code = MPI_Improbe(m.peer, tag, m.comm, &is_there, &matched, MPI_STATUS_IGNORE);
         }
         return code != MPI_SUCCESS ? code : received(m, matched);
     }},
};

class PingPong : public RoundTrip {
public:
    PingPong(const TripWay& way, const Setting& setting) : RoundTrip(setting), way_(way) {
        if (std::string_view(way.name) != "bsend") return;
        buffer_.resize(2 * (static_cast<std::size_t>(setting.bytes) + MPI_BSEND_OVERHEAD));
        call(MPI_Buffer_attach(buffer_.data(), static_cast<int>(buffer_.size())), "MPI_Buffer_attach");
    }
    void send() override { call(way_.send({sent().data(), count(), peer(), setting().comm}), way_.what); }
    void receive() override { call(way_.receive({received().data(), count(), peer(), setting().comm}), way_.what); }
    void finish() override {
        if (buffer_.empty()) return;
        void* buffer = nullptr;
        int size = 0;
        call(MPI_Buffer_detach(static_cast<void*>(&buffer), &size), "MPI_Buffer_detach");
    }

private:
    const TripWay& way_;
    Bytes buffer_;
};

/// Each receive is posted before its sender can be there: the first one off the clock, each other one before the
/// message that asks for it.
class Ready : public RoundTrip {
public:
    explicit Ready(const Setting& setting) : RoundTrip(setting), posted_(received().size()) {}
    void before() override {
        if (setting().rank == 1) post();
    }
    void run() override {
        if (setting().rank == 0) post();
        RoundTrip::run();
    }
    void finish() override {  // rank 1 waits for one more message
        if (setting().rank == 0) send();
        if (setting().rank == 1 && request_ != MPI_REQUEST_NULL) receive();
    }

private:
    void send() override {
        if (setting().rank == 1) post();
        call(MPI_Rsend(sent().data(), count(), MPI_BYTE, peer(), tag, setting().comm), "MPI_Rsend");
    }
    void receive() override {
        call(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
        std::swap(received(), posted_);
    }
    void post() {
        if (request_ != MPI_REQUEST_NULL) return;
        call(MPI_Irecv(posted_.data(), count(), MPI_BYTE, peer(), tag, setting().comm, &request_), "MPI_Irecv");
    }

    Bytes posted_;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Persistent requests.
class Persistent : public RoundTrip {
public:
    explicit Persistent(const Setting& setting) : RoundTrip(setting) {
        if (!takes_part()) return;
        call(MPI_Send_init(sent().data(), count(), MPI_BYTE, peer(), tag, setting.comm, &send_), "MPI_Send_init");
        call(MPI_Recv_init(received().data(), count(), MPI_BYTE, peer(), tag, setting.comm, &receive_),
             "MPI_Recv_init");
    }
    void finish() override {
        if (!takes_part()) return;
        for (MPI_Request* request : {&send_, &receive_}) call(MPI_Request_free(request), "MPI_Request_free");
    }

private:
    void send() override { complete(send_); }
    void receive() override { complete(receive_); }
    static void complete(MPI_Request& request) {
        call(MPI_Start(&request), "MPI_Start");
        call(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    }

    MPI_Request send_ = MPI_REQUEST_NULL, receive_ = MPI_REQUEST_NULL;
};

template <class Made>
Item item(const char* name, const char* what) {
    return {name, what, 0, 2, true, {}, [](const Setting& setting) { return std::make_unique<Made>(setting); }};
}

}  // namespace

void add_pingpongs(Items& items) {
    for (const TripWay& way : trip_ways) {
        items.push_back(
            {std::string("p2p.pingpong.") + way.name, way.what, 0, 2, true, {}, [&way](const Setting& setting) {
                 return std::make_unique<PingPong>(way, setting);
             }});
    }
    items.push_back(item<Ready>("p2p.pingpong.rsend", "MPI_Rsend to a receive that was posted before"));
    items.push_back(item<Persistent>("p2p.pingpong.send_init", "persistent requests: MPI_Start and MPI_Wait"));
}

}  // namespace hocket::bench
