// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Communicators, topologies, groups and sessions: each is made and freed.

#include <memory>

#include "bench/items/later_function.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/registry.hpp"

namespace hocket::bench {

namespace {

/// Makes a communicator of `comm`; returns MPI's error code.
struct Maker {
    const char* name;
    const char* what;
    int (*make)(MPI_Comm comm, int rank, int ranks, MPI_Comm* made);
    bool has_all;  ///< ranks of `comm`
};

constexpr Maker makers[] = {
    {"comm.dup", "MPI_Comm_dup", [](MPI_Comm comm, int, int, MPI_Comm* made) { return MPI_Comm_dup(comm, made); },
     true},
    {"comm.idup", "MPI_Comm_idup and MPI_Wait",
     [](MPI_Comm comm, int, int, MPI_Comm* made) {
         MPI_Request request = MPI_REQUEST_NULL;
         const int code = MPI_Comm_idup(comm, made, &request);
         return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
     },
     true},
    {"comm.split", "MPI_Comm_split in reverse order",
     [](MPI_Comm comm, int rank, int, MPI_Comm* made) { return MPI_Comm_split(comm, 0, -rank, made); }, true},
    {"comm.split_type", "MPI_Comm_split_type with MPI_COMM_TYPE_SHARED",
     [](MPI_Comm comm, int rank, int, MPI_Comm* made) {
         return MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, made);
     },
     false},
    {"comm.create", "MPI_Comm_create of all ranks",
     [](MPI_Comm comm, int, int, MPI_Comm* made) {
         MPI_Group group = MPI_GROUP_NULL;
         const int code = MPI_Comm_group(comm, &group);
         if (code != MPI_SUCCESS) return code;
         const int created = MPI_Comm_create(comm, group, made);
         MPI_Group_free(&group);
         return created;
     },
     true},
    {"comm.create_group", "MPI_Comm_create_group of all ranks",
     [](MPI_Comm comm, int, int, MPI_Comm* made) {
         MPI_Group group = MPI_GROUP_NULL;
         const int code = MPI_Comm_group(comm, &group);
         if (code != MPI_SUCCESS) return code;
         const int created = MPI_Comm_create_group(comm, group, 0, made);
         MPI_Group_free(&group);
         return created;
     },
     true},
    {"comm.cart", "MPI_Cart_create of a ring",
     [](MPI_Comm comm, int, int ranks, MPI_Comm* made) {
         const int is_periodic = 1;
         return MPI_Cart_create(comm, 1, &ranks, &is_periodic, 0, made);
     },
     true},
    {"comm.dist_graph", "MPI_Dist_graph_create_adjacent of a ring",
     [](MPI_Comm comm, int rank, int ranks, MPI_Comm* made) {
         const int before = (rank + ranks - 1) % ranks, behind = (rank + 1) % ranks;
         return MPI_Dist_graph_create_adjacent(comm, 1, &before, MPI_UNWEIGHTED, 1, &behind, MPI_UNWEIGHTED,
                                               MPI_INFO_NULL, 0, made);
     },
     true},
};

class MakeFree : public Pattern {
public:
    MakeFree(const Maker& maker, const Setting& setting) : maker_(maker), setting_(setting) {}
    void run() override {
        MPI_Comm made = MPI_COMM_NULL;
        call(maker_.make(setting_.comm, setting_.rank, setting_.ranks, &made), maker_.what);
        call(MPI_Comm_free(&made), "MPI_Comm_free");
    }
    /// One more, which all ranks use.
    void verify() override {
        MPI_Comm made = MPI_COMM_NULL;
        call(maker_.make(setting_.comm, setting_.rank, setting_.ranks, &made), maker_.what);
        int size = 0, sum = 0;
        const int one = 1;
        call(MPI_Comm_size(made, &size), "MPI_Comm_size");
        call(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made), "MPI_Allreduce");
        call(MPI_Comm_free(&made), "MPI_Comm_free");
        if (sum == size && (size == setting_.ranks || !maker_.has_all)) return;
        throw Failure(Status::wrong_data, "the communicator has " + std::to_string(size) + " ranks, and " +
                                              std::to_string(sum) + " of them take part");
    }

private:
    const Maker& maker_;
    Setting setting_;
};

// MPI-4. Both MPIs have handles of MPI_Session that fit a pointer.
using SessionInit = int(MPI_Info, MPI_Errhandler, void**);
using SessionFinalize = int(void**);
using GroupFromPset = int(void*, const char*, MPI_Group*);
using CommFromGroup = int(MPI_Group, const char*, MPI_Info, MPI_Errhandler, MPI_Comm*);

class Session : public Pattern {
public:
    Session(bool makes_comm, const Setting& setting)
        : makes_comm_(makes_comm),
          setting_(setting),
          init_(later_function<SessionInit>("Session_init")),
          finalize_(later_function<SessionFinalize>("Session_finalize")),
          group_(later_function<GroupFromPset>("Group_from_session_pset")),
          comm_(later_function<CommFromGroup>("Comm_create_from_group")) {
        if (makes_comm_ && world_size() != setting.ranks) {
            throw Failure(Status::unsupported, "the process set mpi://WORLD has more ranks than take part");
        }
        if (makes_comm_) open();
    }
    void run() override {
        if (!makes_comm_) {
            open();
            close();
            return;
        }
        made_ = make();
        call(MPI_Comm_free(&made_), "MPI_Comm_free");
    }
    void verify() override {
        if (!makes_comm_) return;
        MPI_Comm made = make();
        int sum = 0;
        const int one = 1;
        call(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made), "MPI_Allreduce");
        call(MPI_Comm_free(&made), "MPI_Comm_free");
        if (sum != setting_.ranks) throw Failure(Status::wrong_data, std::to_string(sum) + " ranks take part");
    }
    void finish() override {
        if (makes_comm_) close();
    }

private:
    static int world_size() {
        int size = 0;
        call(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
        return size;
    }
    void open() { call(init_(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session_), "MPI_Session_init"); }
    void close() { call(finalize_(&session_), "MPI_Session_finalize"); }
    MPI_Comm make() {
        MPI_Group group = MPI_GROUP_NULL;
        MPI_Comm made = MPI_COMM_NULL;
        call(group_(session_, "mpi://WORLD", &group), "MPI_Group_from_session_pset");
        call(comm_(group, "hocket-bench", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made), "MPI_Comm_create_from_group");
        call(MPI_Group_free(&group), "MPI_Group_free");
        return made;
    }

    bool makes_comm_;
    Setting setting_;
    SessionInit* init_;
    SessionFinalize* finalize_;
    GroupFromPset* group_;
    CommFromGroup* comm_;
    void* session_ = nullptr;
    MPI_Comm made_ = MPI_COMM_NULL;
};

Item session(const char* name, const char* what, bool makes_comm) {
    return {name,
            what,
            -1,
            1,
            true,
            {},
            [=](const Setting& setting) {
                return std::make_unique<Session>(makes_comm, setting); }};
}

}  // namespace

void add_communicators(Items& items) {
    for (const Maker& maker : makers) {
        items.push_back({maker.name, maker.what, -1, 1, true, {}, [&maker](const Setting& setting) {
                             return std::make_unique<MakeFree>(maker, setting);
                         }});
    }
    items.push_back(session("session.init", "MPI_Session_init and MPI_Session_finalize of MPI-4", false));
    items.push_back(session("session.comm", "a communicator from the process set mpi://WORLD of a session", true));
}

}  // namespace hocket::bench
