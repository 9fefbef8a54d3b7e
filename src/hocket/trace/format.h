/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* The binary trace of one rank: `rank-000000.bin` of a folder in format "hocket.trace/2".
 *
 * Plain C, shared by the recorder (mpi/record) and the reader (trace.hpp). Everything is little endian and unaligned.
 *
 *   file    = header (hocket_trace_header, 256 bytes), then records until one has length 0 or the file ends
 *   record  = u32 length of the whole record (a multiple of 8: the end is padded with zeros), u16 kind, u16 function,
 *             then what the kind says
 *
 * The recorder maps the file and writes a record's length last. So whatever kills the program, the file holds a prefix
 * of complete records followed by zeros; only a file whose last record is a FOOTER is complete.
 *
 *   FUNCTION      defines `function`: the rest of the record is its MPI name, as in "MPI_Bcast"
 *   COMMUNICATOR  u32 id, u32 parent (or NONE), u32 inter (0 or 1), i32 own rank in it, u32 n, u32 m, i32 local[n],
 *                 i32 remote[m]: world ranks in communicator order, -1 for a process outside this world; m = 0 unless
 *                 inter. `function` is the call that made it, or NONE16. Id 0 is MPI_COMM_WORLD, 1 MPI_COMM_SELF; ids
 *                 count up in the order of creation and belong to this rank's file.
 *   DATATYPE      u32 id, i64 size in bytes, name
 *   OPERATOR      u32 id, u32 commutative (0 or 1), name
 *   CALL          one MPI call: i64 enter_ns, i64 exit_ns (CLOCK_MONOTONIC), u32 fields, u16 thread, u16 flags, then the
 *                 fields whose bit is set, in the order of their bits (enum hocket_trace_field). With FOLDED several
 *                 polls in a row that found nothing (struct hocket_trace_fold)
 *   FOOTER        u32 reason (enum hocket_trace_end), u64 number of CALL records
 *
 * A definition stands before its first use. A reader skips kinds it does not know. Version 1 has no FOLDED. */
#ifndef HOCKET_TRACE_FORMAT_H
#define HOCKET_TRACE_FORMAT_H

#include <stdint.h>

#define HOCKET_TRACE_MAGIC "HOCKETTR"
#define HOCKET_TRACE_VERSION 2u
#define HOCKET_TRACE_HOST_BYTES 64
#define HOCKET_TRACE_NONE 0xffffffffu /* no communicator, datatype, operator */
#define HOCKET_TRACE_NONE16 0xffffu   /* no function */
#define HOCKET_TRACE_RECORD_BYTES 8   /* length, kind, function */
#define HOCKET_TRACE_CALL_BYTES 32    /* a CALL without fields */

struct hocket_trace_header {
    char magic[8];                      /* HOCKET_TRACE_MAGIC */
    uint32_t version;                   /* HOCKET_TRACE_VERSION */
    uint32_t header_bytes;              /* offset of the first record: sizeof(struct hocket_trace_header) */
    int32_t rank;                       /* in MPI_COMM_WORLD */
    int32_t num_ranks;                  /* size of MPI_COMM_WORLD */
    int64_t clock_offset_ns;            /* add it to this file's instants to have them on rank 0's clock */
    int64_t open_enter_ns;              /* the main thread is in a call since then; 0: it is not */
    uint32_t open_function;             /* that call's function; valid where open_enter_ns is not 0 */
    uint32_t process;                   /* process id */
    char host[HOCKET_TRACE_HOST_BYTES]; /* host name, zero-terminated */
    char reserved[144];                 /* zeros */
};

struct hocket_trace_record {
    uint32_t length; /* of the whole record, this header included; 0: nothing was written here */
    uint16_t kind;   /* enum hocket_trace_kind */
    uint16_t function;
};

enum hocket_trace_kind {
    HOCKET_TRACE_FUNCTION = 1,
    HOCKET_TRACE_COMMUNICATOR = 2,
    HOCKET_TRACE_DATATYPE = 3,
    HOCKET_TRACE_OPERATOR = 4,
    HOCKET_TRACE_CALL = 5,
    HOCKET_TRACE_FOOTER = 6
};

/* How the recording ended. */
enum hocket_trace_end {
    HOCKET_TRACE_END_FINALIZE = 0, /* MPI_Finalize returned */
    HOCKET_TRACE_END_EXIT = 1,     /* the process ended without MPI_Finalize */
    HOCKET_TRACE_END_ABORT = 2,    /* MPI_Abort */
    HOCKET_TRACE_END_LIMIT = 3     /* the file reached its limit; the program went on */
};

enum hocket_trace_flag {
    HOCKET_TRACE_IN_PLACE = 1,  /* the send or receive buffer was MPI_IN_PLACE */
    HOCKET_TRACE_COMPLETED = 2, /* a test or a probe that said yes */
    HOCKET_TRACE_PERSISTENT = 4 /* the call made a persistent request */
};

/* Thread CPU time is expensive to read (0.5 us where the kernel does it), so it is read only where 10 us of wall time
 * have passed since the thread's last reading; in between the thread counts as running. */
#define HOCKET_TRACE_CPU_INTERVAL_NS 10000

enum hocket_trace_field {
    HOCKET_TRACE_CPU_ENTER = 1 << 0,      /* i64: CLOCK_THREAD_CPUTIME_ID at enter, ns */
    HOCKET_TRACE_CPU_EXIT = 1 << 1,       /* i64 */
    HOCKET_TRACE_COMM = 1 << 2,           /* u32: communicator the call acts on */
    HOCKET_TRACE_BYTES = 1 << 3,          /* i64: message of point-to-point, bcast, reduce, allreduce, scan, I/O and
                                             one-sided calls; block of one rank of the other collectives; for v-variants
                                             the sum of what this rank contributes (Scatterv: of what it gets) */
    HOCKET_TRACE_COUNT = 1 << 4,          /* i64: elements of `datatype` in `bytes` */
    HOCKET_TRACE_TYPE = 1 << 5,           /* u32: datatype */
    HOCKET_TRACE_ROOT = 1 << 6,           /* i32: rank in the communicator; -1 MPI_PROC_NULL, -3 MPI_ROOT */
    HOCKET_TRACE_OP = 1 << 7,             /* u32: operator */
    HOCKET_TRACE_PEER = 1 << 8,           /* i32 peer, i32 tag as asked for: peer -1 MPI_PROC_NULL, -2 MPI_ANY_SOURCE;
                                             tag -1 MPI_ANY_TAG or none */
    HOCKET_TRACE_RECEIVE = 1 << 9,        /* i32 peer, i32 tag, i64 bytes: receiving half of a send-receive, as asked */
    HOCKET_TRACE_STATUS = 1 << 10,        /* i32 source, i32 tag, i64 bytes: what was received or found */
    HOCKET_TRACE_REQUEST = 1 << 11,       /* u64: the request made, started, completed or freed; counts from 1 */
    HOCKET_TRACE_REQUESTS = 1 << 12,      /* u32 n, n times hocket_trace_completion: started or completed */
    HOCKET_TRACE_SEND_BYTES = 1 << 13,    /* u32 n, i64[n]: bytes sent to each rank, v-variants */
    HOCKET_TRACE_RECEIVE_BYTES = 1 << 14, /* u32 n, i64[n]: bytes received from each rank; Reduce_scatter: blocks */
    HOCKET_TRACE_NEW_COMM = 1 << 15,      /* u32: the communicator that the call made */
    HOCKET_TRACE_WINDOW = 1 << 16,        /* u32: window, counts from 0 in this file */
    HOCKET_TRACE_FILE = 1 << 17,          /* u32: file handle, counts from 0 in this file */
    HOCKET_TRACE_ERROR = 1 << 18, /* i32: the call's return value where it is not MPI_SUCCESS; no other details */
    HOCKET_TRACE_FOLDED = 1 << 19 /* struct hocket_trace_fold */
};

/* Polls of one thread, one function and one communicator that found nothing, from the first one's enter to the last
 * one's exit. A thread that polls in several ways in turns, and does nothing else in MPI, has one fold for each way. Their
 * spans overlap; the times here do not: each instant from the first fold's enter on belongs to one of them, so a reader
 * can lay them one behind the other in that order, each `inside + outside` long. For that the enter of any fold but the first
 * is the exit of the poll before it. The recorder counts up in the file itself, so a program that is killed leaves what it
 * had polled by then. */
struct hocket_trace_fold {
    uint64_t calls;
    int64_t inside_ns;     /* in these calls */
    int64_t outside_ns;    /* between the polls of this thread, before those of this fold */
    int64_t inside_cpu_ns; /* CPU time of the thread, likewise */
    int64_t outside_cpu_ns;
};

struct hocket_trace_completion {
    uint64_t request;
    int32_t source; /* -1 where nothing was received */
    int32_t tag;    /* -1 likewise */
    int64_t bytes;  /* received; -1 likewise */
};

#endif
