# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors
"""What to record of which MPI function, as C statements around the call.

`{0}`, `{1}`, ... stand for the parameters in the order of the MPI standard, so one entry serves every MPI library and
the large-count variant (MPI_X_c) alike. `DETAILS[name] = (before, after)`: `before` runs ahead of the call and sees
`call`; `after` runs behind it, under the lock, only if the call succeeded. A function without an entry is recorded with
its times, and with the communicator, window or file among its parameters.
"""

from __future__ import annotations

DETAILS: dict[str, tuple[str, str]] = {}
# Statements behind `after`, run even when the call failed.
ALWAYS: dict[str, str] = {}


def add(names: str, after: str, before: str = "") -> None:
    for name in names.split():
        DETAILS[name] = (before, after)


def handle(kind: str, name: str = "freed") -> str:
    """What the first parameter points to; an MPI may return an error where that is nothing."""
    return f"const MPI_{kind} {name} = {{0}} == NULL ? MPI_{kind.upper()}_NULL : *{{0}};"


# ---- point to point ----

SEND = "hocket_comm(&call, {5}); hocket_message(&call, {1}, {2}); hocket_peer(&call, {3}, {4});"
add("Send Bsend Ssend Rsend", SEND)
add("Isend Ibsend Issend Irsend", SEND + " hocket_new_request(&call, *{6}, REQUEST_SEND);")
add("Irecv", SEND + " hocket_new_request(&call, *{6}, REQUEST_RECEIVE);")
add(
    "Send_init Bsend_init Ssend_init Rsend_init",
    SEND + " hocket_new_request(&call, *{6}, REQUEST_SEND | REQUEST_PERSISTENT);",
)
add("Recv_init", SEND + " hocket_new_request(&call, *{6}, REQUEST_RECEIVE | REQUEST_PERSISTENT);")
PARTITIONED = (
    "hocket_comm(&call, {6}); hocket_message(&call, (int64_t){1} * {2}, {3}); hocket_peer(&call, {4}, {5}); "
    "hocket_new_request(&call, *{8}, REQUEST_PERSISTENT); "
    "hocket_partitions(&call, (int64_t){2} * hocket_type_bytes({3}, NULL));"
)
add("Psend_init Precv_init", PARTITIONED)
add("Pready", "hocket_ready(&call, {1}, 1);")
add("Pready_range", "hocket_ready(&call, {2}, (int64_t){1} - {0} + 1);")
add("Pready_list", "hocket_ready(&call, {2}, {0});")


def own_status(position: int) -> str:
    """The program may ignore the status; the trace wants it."""
    return f"MPI_Status seen; if ({{{position}}} == MPI_STATUS_IGNORE) {{{position}}} = &seen;"


add("Recv", SEND + " hocket_status(&call, {6});", own_status(6))
SENDRECV = (
    "hocket_comm(&call, {10}); hocket_message(&call, {1}, {2}); hocket_peer(&call, {3}, {4}); "
    "hocket_receive(&call, {8}, {9}, {6}, {7});"
)
add("Sendrecv", SENDRECV + " hocket_status(&call, {11});", own_status(11))
add("Isendrecv", SENDRECV + " hocket_new_request(&call, *{11}, REQUEST_RECEIVE);")
REPLACE = (
    "hocket_comm(&call, {7}); hocket_message(&call, {1}, {2}); hocket_peer(&call, {3}, {4}); "
    "hocket_receive(&call, {5}, {6}, {1}, {2});"
)
add("Sendrecv_replace", REPLACE + " hocket_status(&call, {8});", own_status(8))
add("Isendrecv_replace", REPLACE + " hocket_new_request(&call, *{8}, REQUEST_RECEIVE);")

add("Probe", "hocket_comm(&call, {2}); hocket_peer(&call, {0}, {1}); hocket_status(&call, {3});", own_status(3))


def poll(found: str, details: str = "") -> str:
    """`found`: the condition that it found something. Polls in a row that found nothing become one record."""
    yes = f"call.flags |= HOCKET_TRACE_COMPLETED; {details}"
    return f"if ({found}) {{{{ {yes} }}}} else call.fields |= HOCKET_TRACE_FOLDED;"


add(
    "Iprobe",
    "hocket_comm(&call, {2}); hocket_peer(&call, {0}, {1}); " + poll("*{3}", "hocket_status(&call, {4});"),
    own_status(4),
)
add("Mprobe", "hocket_comm(&call, {2}); hocket_peer(&call, {0}, {1}); hocket_status(&call, {4});", own_status(4))
add(
    "Improbe",
    "hocket_comm(&call, {2}); hocket_peer(&call, {0}, {1}); " + poll("*{3}", "hocket_status(&call, {5});"),
    own_status(5),
)
add("Mrecv", "hocket_message(&call, {1}, {2}); hocket_status(&call, {4});", own_status(4))
add("Imrecv", "hocket_message(&call, {1}, {2}); hocket_new_request(&call, *{4}, REQUEST_RECEIVE);")

# ---- completion ----


def completion(count: str, requests: str, statuses: str, ignore: str) -> str:
    return f"struct batch batch; {statuses} = hocket_batch_begin(&batch, {count}, {requests}, {statuses}, {ignore});"


ONE, ALL = "MPI_STATUS_IGNORE", "MPI_STATUSES_IGNORE"
add("Wait", "hocket_batch_end(&batch, &call, 1, NULL, {1});", completion("1", "{0}", "{1}", ONE))
add(
    "Test",
    poll("*{1}", "hocket_batch_end(&batch, &call, 1, NULL, {2});"),
    completion("1", "{0}", "{2}", ONE),
)
add("Waitall", "hocket_batch_end(&batch, &call, {0}, NULL, {2});", completion("{0}", "{1}", "{2}", ALL))
add(
    "Testall",
    poll("*{2}", "hocket_batch_end(&batch, &call, {0}, NULL, {3});"),
    completion("{0}", "{1}", "{3}", ALL),
)
add("Waitany", "hocket_batch_end(&batch, &call, 1, {2}, {3});", completion("{0}", "{1}", "{3}", ONE))
add(
    "Testany",
    poll("*{3}", "hocket_batch_end(&batch, &call, 1, {2}, {4});"),
    completion("{0}", "{1}", "{4}", ONE),
)
add("Waitsome", "hocket_batch_end(&batch, &call, *{2}, {3}, {4});", completion("{0}", "{1}", "{4}", ALL))
add(
    "Testsome",
    poll("*{2} != 0", "hocket_batch_end(&batch, &call, *{2}, {3}, {4});"),
    completion("{0}", "{1}", "{4}", ALL),
)
add("Request_get_status", poll("*{1}", "hocket_name_request(&call, {0});"))
add("Parrived", poll("*{2}", "hocket_name_request(&call, {0});"))
add("Request_get_status_all Request_get_status_some", poll("*{2}"))
add("Request_get_status_any", poll("*{3}"))
for _name in "Wait Test Waitall Testall Waitany Testany Waitsome Testsome".split():
    ALWAYS[_name] = "hocket_batch_free(&batch);"

add("Start", "hocket_name_request(&call, *{0});")
add(
    "Startall",
    "hocket_batch_started(&batch, &call);",
    "struct batch batch; hocket_batch_begin(&batch, {0}, {1}, MPI_STATUSES_IGNORE, NULL);",
)
ALWAYS["Startall"] = "hocket_batch_free(&batch);"
add("Cancel", "hocket_name_request(&call, *{0});")
add("Request_free", "hocket_forget_request(&call, freed);", "const uint64_t freed = {0} == NULL ? 0 : KEY(*{0});")

# ---- collectives: each in a blocking, a non-blocking and a persistent form ----


def collective(name: str, arguments: int, after: str) -> None:
    add(name, after)
    add("I" + name.lower(), after + f" hocket_new_request(&call, *{{{arguments}}}, REQUEST_SEND);")
    add(name + "_init", after + f" hocket_new_request(&call, *{{{arguments + 1}}}, REQUEST_PERSISTENT);")


def counts(send: int, values: int, types: str, datatype: str) -> str:
    return f"hocket_counts(&call, {send}, {{{values}}}, sizeof *{{{values}}}, {types}, {datatype});"


def own_block(values: int, datatype: int) -> str:
    return f"hocket_message(&call, {{{values}}}[hocket_own_rank(&call)], {{{datatype}}});"


IN_PLACE = "hocket_in_place(&call, {0}, {%d});"
collective("Barrier", 1, "hocket_comm(&call, {0});")
collective(
    "Bcast",
    5,
    "hocket_comm(&call, {4}); hocket_root(&call, {3}); "
    "if (!hocket_is_bystander(&call)) hocket_message(&call, {1}, {2});",
)
collective(
    "Reduce",
    7,
    IN_PLACE % 0 + " hocket_comm(&call, {6}); hocket_root(&call, {5}); if "
    "(!hocket_is_bystander(&call)) {{ hocket_message(&call, {2}, {3}); hocket_operator(&call, {4}); }}",
)
REDUCTION = IN_PLACE % 0 + " hocket_comm(&call, {5}); hocket_message(&call, {2}, {3}); hocket_operator(&call, {4});"
for _name in "Allreduce Scan Exscan Reduce_scatter_block".split():
    collective(_name, 6, REDUCTION)
collective(
    "Reduce_scatter",
    6,
    IN_PLACE % 0
    + " hocket_comm(&call, {5}); hocket_operator(&call, {4}); "
    + counts(0, 2, "NULL", "{3}")
    + own_block(2, 3),
)

# Arguments that count at the root only are read at the root only; with MPI_IN_PLACE the other side tells the block.
collective(
    "Gather",
    8,
    "hocket_comm(&call, {7}); hocket_root(&call, {6}); if (hocket_is_root(&call)) {{ "
    + IN_PLACE % 0
    + " hocket_message(&call, {4}, {5}); }} "
    "else if (!hocket_is_bystander(&call)) hocket_message(&call, {1}, {2});",
)
collective(
    "Gatherv",
    9,
    "hocket_comm(&call, {8}); hocket_root(&call, {7}); if (hocket_is_root(&call)) {{ "
    + IN_PLACE % 0
    + counts(0, 4, "NULL", "{6}")
    + " if (call.root >= 0) "
    + own_block(4, 6)
    + " }} "
    "else if (!hocket_is_bystander(&call)) hocket_message(&call, {1}, {2});",
)
collective(
    "Scatter",
    8,
    "hocket_comm(&call, {7}); hocket_root(&call, {6}); if (hocket_is_root(&call)) {{ "
    + IN_PLACE % 3
    + " hocket_message(&call, {1}, {2}); }} "
    "else if (!hocket_is_bystander(&call)) hocket_message(&call, {4}, {5});",
)
collective(
    "Scatterv",
    9,
    "hocket_comm(&call, {8}); hocket_root(&call, {7}); if (hocket_is_root(&call)) {{ "
    + IN_PLACE % 4
    + counts(1, 1, "NULL", "{3}")
    + " if (call.root >= 0) "
    + own_block(1, 3)
    + " }} "
    "else if (!hocket_is_bystander(&call)) hocket_message(&call, {5}, {6});",
)
SIDE = "if (call.flags & HOCKET_TRACE_IN_PLACE) {{ %s }} else {{ %s }}"
for _name in ("Allgather", "Alltoall"):
    collective(
        _name,
        7,
        "hocket_comm(&call, {6}); "
        + IN_PLACE % 0
        + SIDE % ("hocket_message(&call, {4}, {5});", "hocket_message(&call, {1}, {2});"),
    )
collective(
    "Allgatherv",
    8,
    "hocket_comm(&call, {7}); "
    + IN_PLACE % 0
    + counts(0, 4, "NULL", "{6}")
    + SIDE % (own_block(4, 6), "hocket_message(&call, {1}, {2});"),
)
collective(
    "Alltoallv",
    9,
    "hocket_comm(&call, {8}); "
    + IN_PLACE % 0
    + counts(0, 5, "NULL", "{7}")
    + " if (!(call.flags & HOCKET_TRACE_IN_PLACE)) {{ "
    + counts(1, 1, "NULL", "{3}")
    + " }}",
)
collective(
    "Alltoallw",
    9,
    "hocket_comm(&call, {8}); "
    + IN_PLACE % 0
    + counts(0, 5, "{7}", "MPI_DATATYPE_NULL")
    + " if (!(call.flags & HOCKET_TRACE_IN_PLACE)) {{ "
    + counts(1, 1, "{3}", "MPI_DATATYPE_NULL")
    + " }}",
)
# Blocks of v-variants are by neighbour; who the neighbours are stands with the communicator.
for _name in ("Neighbor_allgather", "Neighbor_alltoall"):
    collective(_name, 7, "hocket_comm(&call, {6}); hocket_message(&call, {1}, {2});")


def neighbour_counts(send: int, values: int, types: str, datatype: str) -> str:
    return counts(send, values, types, datatype).replace("hocket_counts", "hocket_neighbour_counts")


collective(
    "Neighbor_allgatherv",
    8,
    "hocket_comm(&call, {7}); hocket_message(&call, {1}, {2}); " + neighbour_counts(0, 4, "NULL", "{6}"),
)
collective(
    "Neighbor_alltoallv",
    9,
    "hocket_comm(&call, {8}); " + neighbour_counts(0, 5, "NULL", "{7}") + neighbour_counts(1, 1, "NULL", "{3}"),
)
collective(
    "Neighbor_alltoallw",
    9,
    "hocket_comm(&call, {8}); "
    + neighbour_counts(0, 5, "{7}", "MPI_DATATYPE_NULL")
    + neighbour_counts(1, 1, "{3}", "MPI_DATATYPE_NULL"),
)
# The non-blocking names keep the capital of the second word: MPI_Ineighbor_alltoall, MPI_Ireduce_scatter_block.

# ---- communicators ----

for _names, _parent, _made in (
    ("Comm_dup", "{0}", "{1}"),
    ("Comm_dup_with_info", "{0}", "{2}"),
    ("Comm_create", "{0}", "{2}"),
    ("Comm_create_group", "{0}", "{3}"),
    ("Comm_split", "{0}", "{3}"),
    ("Comm_split_type", "{0}", "{4}"),
    ("Cart_create", "{0}", "{5}"),
    ("Cart_sub", "{0}", "{2}"),
    ("Graph_create", "{0}", "{5}"),
    ("Dist_graph_create", "{0}", "{8}"),
    ("Dist_graph_create_adjacent", "{0}", "{9}"),
    ("Intercomm_create", "{0}", "{5}"),
    ("Intercomm_merge", "{0}", "{2}"),
    ("Comm_spawn", "{5}", "{6}"),
    ("Comm_spawn_multiple", "{6}", "{7}"),
    ("Comm_accept", "{3}", "{4}"),
    ("Comm_connect", "{3}", "{4}"),
    ("Comm_join", "MPI_COMM_NULL", "{1}"),
    ("Comm_create_from_group", "MPI_COMM_NULL", "{4}"),
    ("Intercomm_create_from_groups", "MPI_COMM_NULL", "{7}"),
):
    add(_names, f"hocket_comm(&call, {_parent}); hocket_new_comm(&call, *{_made}, {_parent});")
# The communicator may be used only when the request is complete: it is defined at its first use.
add("Comm_idup", "hocket_comm(&call, {0}); hocket_new_request(&call, *{2}, REQUEST_SEND);")
add("Comm_idup_with_info", "hocket_comm(&call, {0}); hocket_new_request(&call, *{3}, REQUEST_SEND);")
add(
    "Comm_free Comm_disconnect",
    "hocket_comm_id(&call, freed); hocket_forget_comm(gone);",
    handle("Comm", "gone") + " const uint32_t freed = hocket_comm_before(gone);",
)

# ---- what else has handles ----

add("Type_free", "hocket_forget_type(freed);", handle("Datatype"))
add("Op_free", "hocket_forget_operator(freed);", handle("Op"))

ONE_SIDED = "hocket_window(&call, {%d}); hocket_message(&call, {1}, {2}); hocket_peer(&call, {3}, -1);"
add("Put Get", ONE_SIDED % 7)
add("Accumulate", ONE_SIDED % 8 + " hocket_operator(&call, {7});")
add("Rput Rget", ONE_SIDED % 7 + " hocket_new_request(&call, *{8}, REQUEST_SEND);")
add("Raccumulate", ONE_SIDED % 8 + " hocket_operator(&call, {7}); hocket_new_request(&call, *{9}, REQUEST_SEND);")
GET_ACCUMULATE = (
    "hocket_window(&call, {11}); hocket_message(&call, {4}, {5}); hocket_peer(&call, {6}, -1); "
    "hocket_operator(&call, {10});"
)
add("Get_accumulate", GET_ACCUMULATE)
add("Rget_accumulate", GET_ACCUMULATE + " hocket_new_request(&call, *{12}, REQUEST_SEND);")
add(
    "Fetch_and_op",
    "hocket_window(&call, {6}); hocket_message(&call, 1, {2}); hocket_peer(&call, {3}, -1); "
    "hocket_operator(&call, {5});",
)
add("Compare_and_swap", "hocket_window(&call, {6}); hocket_message(&call, 1, {3}); hocket_peer(&call, {4}, -1);")
add("Win_create", "hocket_comm(&call, {4}); hocket_window(&call, *{5});")
add("Win_allocate Win_allocate_shared", "hocket_comm(&call, {3}); hocket_window(&call, *{5});")
add("Win_create_dynamic", "hocket_comm(&call, {1}); hocket_window(&call, *{2});")
# With MPI_MODE_NOCHECK no lock is taken.
LOCK = "if (!({%d} & MPI_MODE_NOCHECK)) call.flags |= %s;"
add(
    "Win_lock",
    "hocket_window(&call, {3}); hocket_peer(&call, {1}, -1); "
    + LOCK % (2, "{0} == MPI_LOCK_EXCLUSIVE ? HOCKET_TRACE_EXCLUSIVE_LOCK : HOCKET_TRACE_SHARED_LOCK"),
)
add("Win_lock_all", "hocket_window(&call, {1}); " + LOCK % (0, "HOCKET_TRACE_SHARED_LOCK"))
add("Win_unlock Win_flush Win_flush_local", "hocket_window(&call, {1}); hocket_peer(&call, {0}, -1);")
add("Win_post Win_start", "hocket_window_group(&call, {0}, {2});")
add("Win_test", "hocket_window(&call, {0}); " + poll("*{1}"))
add("Win_free", "hocket_forget_window(freed);", handle("Win"))

add("File_open", "hocket_comm(&call, {0}); hocket_file(&call, *{4});")
add("File_close", "hocket_forget_file(freed);", handle("File"))
ACCESS = "hocket_file(&call, {0}); hocket_message(&call, {%d}, {%d});"
for _name in "read write read_all write_all read_shared write_shared read_ordered write_ordered".split():
    add("File_" + _name, ACCESS % (2, 3))
for _name in "read_at write_at read_at_all write_at_all".split():
    add("File_" + _name, ACCESS % (3, 4))
for _name in "iread iwrite iread_all iwrite_all iread_shared iwrite_shared".split():
    add("File_" + _name, ACCESS % (2, 3) + " hocket_new_request(&call, *{4}, REQUEST_SEND);")
for _name in "iread_at iwrite_at iread_at_all iwrite_at_all".split():
    add("File_" + _name, ACCESS % (3, 4) + " hocket_new_request(&call, *{5}, REQUEST_SEND);")
