// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/function_kind.hpp"

#include <map>

#include "hocket/trace/collectives.hpp"

namespace hocket::replay {

FunctionKind kind_of(std::string_view name) {
    using enum FunctionKind;
    static const std::map<std::string_view, FunctionKind> kinds = {
        {"MPI_Init", init},         {"MPI_Init_thread", init},  {"MPI_Finalize", finalize},
        {"MPI_Send", send},         {"MPI_Ssend", send},        {"MPI_Rsend", send},
        {"MPI_Bsend", send},        {"MPI_Isend", isend},       {"MPI_Issend", isend},
        {"MPI_Irsend", isend},      {"MPI_Ibsend", isend},      {"MPI_Send_init", isend},
        {"MPI_Ssend_init", isend},  {"MPI_Rsend_init", isend},  {"MPI_Bsend_init", isend},
        {"MPI_Recv", recv},         {"MPI_Mrecv", recv},        {"MPI_Irecv", irecv},
        {"MPI_Imrecv", irecv},      {"MPI_Recv_init", irecv},   {"MPI_Sendrecv", sendrecv},
        {"MPI_Start", start},       {"MPI_Startall", start},    {"MPI_Sendrecv_replace", sendrecv},
        {"MPI_Wait", complete},     {"MPI_Waitall", complete},  {"MPI_Waitany", complete},
        {"MPI_Waitsome", complete}, {"MPI_Test", complete},     {"MPI_Testall", complete},
        {"MPI_Testany", complete},  {"MPI_Testsome", complete}, {"MPI_Isendrecv", unsupported},
    };
    if (name.ends_with("_c")) {
        name.remove_suffix(2);
    }
    if (const auto found = kinds.find(name); found != kinds.end()) {
        return found->second;
    }
    if (!trace::collective_of(name).collective.empty()) {
        return collective;
    }
    if (name.starts_with("MPI_File_")) {
        return file;
    }
    for (const std::string_view one_sided :
         {"MPI_Put", "MPI_Get", "MPI_Rput", "MPI_Rget", "MPI_Accumulate", "MPI_Raccumulate", "MPI_Get_accumulate",
          "MPI_Rget_accumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap", "MPI_Isendrecv_replace"}) {
        if (name == one_sided) {
            return unsupported;
        }
    }
    return local;
}

}  // namespace hocket::replay
