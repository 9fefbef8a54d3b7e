// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/function_kind.hpp"

#include <map>

#include "hocket/trace/collectives.hpp"

namespace hocket::replay {

namespace {

std::string_view without_c(std::string_view name) {
    if (name.ends_with("_c")) name.remove_suffix(2);
    return name;
}

}  // namespace

FunctionKind kind_of(std::string_view name) {
    using enum FunctionKind;
    static const std::map<std::string_view, FunctionKind> kinds = {
        {"MPI_Init", init},
        {"MPI_Init_thread", init},
        {"MPI_Finalize", finalize},
        {"MPI_Send", send},
        {"MPI_Ssend", send},
        {"MPI_Rsend", send},
        {"MPI_Bsend", send},
        {"MPI_Isend", isend},
        {"MPI_Issend", isend},
        {"MPI_Irsend", isend},
        {"MPI_Ibsend", isend},
        {"MPI_Send_init", isend},
        {"MPI_Ssend_init", isend},
        {"MPI_Rsend_init", isend},
        {"MPI_Bsend_init", isend},
        {"MPI_Psend_init", partitioned_send},
        {"MPI_Recv", recv},
        {"MPI_Mrecv", recv},
        {"MPI_Irecv", irecv},
        {"MPI_Imrecv", irecv},
        {"MPI_Recv_init", irecv},
        {"MPI_Precv_init", irecv},
        {"MPI_Sendrecv", sendrecv},
        {"MPI_Sendrecv_replace", sendrecv},
        {"MPI_Isendrecv", isendrecv},
        {"MPI_Isendrecv_replace", isendrecv},
        {"MPI_Start", start},
        {"MPI_Startall", start},
        {"MPI_Pready", ready},
        {"MPI_Pready_range", ready},
        {"MPI_Pready_list", ready},
        {"MPI_Wait", complete},
        {"MPI_Waitall", complete},
        {"MPI_Waitany", complete},
        {"MPI_Waitsome", complete},
        {"MPI_Test", complete},
        {"MPI_Testall", complete},
        {"MPI_Testany", complete},
        {"MPI_Testsome", complete},
        {"MPI_Request_get_status", look},
        {"MPI_Parrived", look},
        {"MPI_Mprobe", matched_probe},
        {"MPI_Improbe", matched_probe},
        {"MPI_Comm_dup", set_up},
        {"MPI_Comm_dup_with_info", set_up},
        {"MPI_Comm_idup", set_up},
        {"MPI_Comm_idup_with_info", set_up},
        {"MPI_Comm_create", set_up},
        {"MPI_Comm_create_group", set_up},
        {"MPI_Comm_create_from_group", set_up},
        {"MPI_Comm_split", set_up},
        {"MPI_Comm_split_type", set_up},
        {"MPI_Cart_create", set_up},
        {"MPI_Cart_sub", set_up},
        {"MPI_Graph_create", set_up},
        {"MPI_Dist_graph_create", set_up},
        {"MPI_Dist_graph_create_adjacent", set_up},
        {"MPI_Intercomm_create", set_up},
        {"MPI_Intercomm_create_from_groups", set_up},
        {"MPI_Intercomm_merge", set_up},
        {"MPI_Comm_spawn", set_up},
        {"MPI_Comm_spawn_multiple", set_up},
        {"MPI_Comm_accept", set_up},
        {"MPI_Comm_connect", set_up},
        {"MPI_Comm_join", set_up},
        {"MPI_Comm_disconnect", set_up},
        {"MPI_Win_create", set_up},
        {"MPI_Win_create_dynamic", set_up},
        {"MPI_Win_allocate", set_up},
        {"MPI_Win_allocate_shared", set_up},
        {"MPI_Win_free", set_up},
    };
    name = without_c(name);
    if (const auto found = kinds.find(name); found != kinds.end()) return found->second;
    if (!trace::collective_of(name).collective.empty()) return collective;
    if (name.starts_with("MPI_File_")) return file;
    return one_sided_kind_of(name) == OneSidedKind::none ? local : one_sided;
}

OneSidedKind one_sided_kind_of(std::string_view name) {
    using enum OneSidedKind;
    static const std::map<std::string_view, OneSidedKind> kinds = {
        {"MPI_Put", put},
        {"MPI_Rput", put},
        {"MPI_Get", get},
        {"MPI_Rget", get},
        {"MPI_Accumulate", update},
        {"MPI_Raccumulate", update},
        {"MPI_Get_accumulate", fetch},
        {"MPI_Rget_accumulate", fetch},
        {"MPI_Fetch_and_op", fetch},
        {"MPI_Compare_and_swap", fetch},
        {"MPI_Win_fence", fence},
        {"MPI_Win_lock", lock},
        {"MPI_Win_lock_all", lock_all},
        {"MPI_Win_unlock", unlock},
        {"MPI_Win_flush", flush},
        {"MPI_Win_unlock_all", unlock_all},
        {"MPI_Win_flush_all", flush_all},
        {"MPI_Win_flush_local", flush_local},
        {"MPI_Win_flush_local_all", flush_local_all},
        {"MPI_Win_post", post},
        {"MPI_Win_start", start},
        {"MPI_Win_complete", complete},
        {"MPI_Win_wait", wait},
        {"MPI_Win_test", wait},
    };
    const auto found = kinds.find(without_c(name));
    return found == kinds.end() ? none : found->second;
}

}  // namespace hocket::replay
