// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Each rank sends to one partner and receives from one, both at the same time.

#include <algorithm>
#include <memory>

#include "bench/items/data.hpp"
#include "bench/items/later_function.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/partners.hpp"
#include "bench/items/registry.hpp"

namespace hocket::bench {

namespace {

struct Swap {
    void* sent;
    void* received;  ///< where functions replace: the buffer of both
    int count, target, origin;
    MPI_Comm comm;
    MPI_Request requests[2];
};

using Isendrecv = int(const void*, int, MPI_Datatype, int, int, void*, int, MPI_Datatype, int, int, MPI_Comm,
                      MPI_Request*);
using IsendrecvReplace = int(void*, int, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Request*);

/// Functions return MPI's error code.
struct Way {
    const char* name;
    const char* what;
    bool replaces;
    const char* later;  ///< a function that not every MPI has
    int (*swap)(Swap&, void* later);
};

constexpr Way ways[] = {
    {"sendrecv", "MPI_Sendrecv", false, nullptr,
     [](Swap& s, void*) {
         return MPI_Sendrecv(s.sent, s.count, MPI_BYTE, s.target, 0, s.received, s.count, MPI_BYTE, s.origin, 0, s.comm,
                             MPI_STATUS_IGNORE);
     }},
    {"sendrecv_replace", "MPI_Sendrecv_replace", true, nullptr,
     [](Swap& s, void*) {
         return MPI_Sendrecv_replace(s.received, s.count, MPI_BYTE, s.target, 0, s.origin, 0, s.comm,
                                     MPI_STATUS_IGNORE);
     }},
    {"isendrecv", "MPI_Isendrecv of MPI-4 and MPI_Wait", false, "Isendrecv",
     [](Swap& s, void* later) {
         const int code = reinterpret_cast<Isendrecv*>(later)(s.sent, s.count, MPI_BYTE, s.target, 0, s.received,
                                                              s.count, MPI_BYTE, s.origin, 0, s.comm, s.requests);
         return code != MPI_SUCCESS ? code : MPI_Wait(s.requests, MPI_STATUS_IGNORE);
     }},
    {"isendrecv_replace", "MPI_Isendrecv_replace of MPI-4 and MPI_Wait", true, "Isendrecv_replace",
     [](Swap& s, void* later) {
         const int code = reinterpret_cast<IsendrecvReplace*>(later)(s.received, s.count, MPI_BYTE, s.target, 0,
                                                                     s.origin, 0, s.comm, s.requests);
         return code != MPI_SUCCESS ? code : MPI_Wait(s.requests, MPI_STATUS_IGNORE);
     }},
    {"pingping", "MPI_Isend, MPI_Recv and MPI_Wait: messages that cross", false, nullptr,
     [](Swap& s, void*) {
         int code = MPI_Isend(s.sent, s.count, MPI_BYTE, s.target, 0, s.comm, s.requests);
         if (code == MPI_SUCCESS) {
             code = MPI_Recv(s.received, s.count, MPI_BYTE, s.origin, 0, s.comm, MPI_STATUS_IGNORE);
         }
         return code != MPI_SUCCESS ? code : MPI_Wait(s.requests, MPI_STATUS_IGNORE);
     }},
    {"exchange_init", "persistent requests: MPI_Startall and MPI_Waitall", false, nullptr,
     [](Swap& s, void*) {
         const int code = MPI_Startall(2, s.requests);
         return code != MPI_SUCCESS ? code : MPI_Waitall(2, s.requests, MPI_STATUSES_IGNORE);
     }},
};

class Exchanged : public Pattern {
public:
    Exchanged(const Way& way, const Setting& setting)
        : way_(way),
          setting_(setting),
          sent_(static_cast<std::size_t>(setting.bytes)),
          received_(sent_.size()),
          later_(way.later == nullptr ? nullptr : reinterpret_cast<void*>(later_function<void()>(way.later))) {
        const Partners partners = partners_of(setting);
        swap_ = {sent_.data(),
                 received_.data(),
                 static_cast<int>(setting.bytes),
                 partners.targets.empty() ? MPI_PROC_NULL : partners.targets[0],
                 partners.origins.empty() ? MPI_PROC_NULL : partners.origins[0],
                 setting.comm,
                 {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
        is_persistent_ = takes_part() && std::string_view(way.name) == "exchange_init";
        if (!is_persistent_) return;
        call(MPI_Recv_init(swap_.received, swap_.count, MPI_BYTE, swap_.origin, 0, swap_.comm, &swap_.requests[0]),
             "MPI_Recv_init");
        call(MPI_Send_init(swap_.sent, swap_.count, MPI_BYTE, swap_.target, 0, swap_.comm, &swap_.requests[1]),
             "MPI_Send_init");
    }

    void prepare(std::uint64_t seed) override {
        seed_ = seed;
        fill(way_.replaces ? received_ : sent_, seed, setting_.rank);
        if (!way_.replaces) std::fill(received_.begin(), received_.end(), data_byte(seed, -1, 0));
    }
    void run() override {
        if (takes_part()) call(way_.swap(swap_, later_), way_.what);
    }
    void verify() override {
        if (!takes_part()) return;
        check(received_, seed_, swap_.origin, "what rank " + std::to_string(setting_.rank) + " received");
    }
    void finish() override {
        for (MPI_Request& request : swap_.requests) {
            if (is_persistent_) call(MPI_Request_free(&request), "MPI_Request_free");
        }
    }

    [[nodiscard]] std::int64_t bytes_moved() const override { return takes_part() ? setting_.bytes : 0; }

private:
    /// A rank without a partner does nothing: MPI_Isendrecv of MPICH 4.0 crashes with MPI_PROC_NULL.
    [[nodiscard]] bool takes_part() const { return swap_.target != MPI_PROC_NULL; }

    const Way& way_;
    Setting setting_;
    Bytes sent_, received_;
    void* later_;
    bool is_persistent_ = false;
    Swap swap_{};
    std::uint64_t seed_ = 0;
};

}  // namespace

void add_exchanges(Items& items) {
    for (const Way& way : ways) {
        items.push_back({std::string("p2p.") + way.name,
                         way.what,
                         0,
                         2,
                         true,
                         {{"partners", "both-ways|shift", "both-ways"}},
                         [&way](const Setting& setting) { return std::make_unique<Exchanged>(way, setting); }});
    }
}

}  // namespace hocket::bench
