/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* The binary trace of one rank: `rank-000000.bin` of a folder in format "hocket.trace/3".
 *
 * Plain C, shared by the recorder (mpi/record) and the reader (rank_file.hpp). Everything is little endian and
 * unaligned.
 *
 *   file    = header (hocket_trace_header, 256 bytes), then blocks until one has size 0 or the file ends
 *   block   = hocket_trace_block, then `used` bytes of whole records, then what is not used up to `size`
 *   record  = a byte, the head, then its contents; numbers are varints: 7 bits a byte, the lowest first, and the
 *             highest bit means that more follow; "signed" ones are zigzag (0, -1, 1, -2, ...)
 *
 * The recorder maps the file and raises `used` when a record is whole. So whatever kills the program, the file holds
 * all records but the one at hand; only a file whose last record is a FOOTER is complete. A reader needs one block at a
 * time and the state of a hocket_trace_coder (coder.h), which has a fixed size.
 *
 * The lowest two bits of the head are the form (enum hocket_trace_form). DEFINITION: the other bits are the kind, then
 * the length of the body, and the body:
 *
 *   FUNCTION      u16 function, its MPI name, as in "MPI_Bcast"
 *   COMMUNICATOR  u16 function, u32 id, u32 parent (or NONE), u32 inter (0 or 1), i32 own rank in it, u32 n, u32 m, i32
 *                 local[n], i32 remote[m]: world ranks in communicator order, -1 for a process outside this world; m =
 *                 0 unless inter. `function` is the call that made it, or NONE16. Id 0 is MPI_COMM_WORLD, 1
 *                 MPI_COMM_SELF; ids count up in the order of creation and belong to this rank's file.
 *   DATATYPE      u16 NONE16, u32 id, i64 size in bytes, name
 *   OPERATOR      u16 NONE16, u32 id, u32 commutative (0 or 1), name
 *   NEIGHBOURS    u16 NONE16, u32 communicator, u32 n, u32 m, i32 sources[n], i32 destinations[m]: ranks in the
 *                 communicator, -1 for MPI_PROC_NULL, in the order of neighbourhood collectives; stands behind the
 *                 communicator if it has a topology
 *   FOOTER        u16 NONE16, u32 reason (enum hocket_trace_end), u64 number of calls
 *   RESET         nothing: all slots are empty from here on
 *
 * A definition stands before its first use. A reader skips kinds and fields that it does not know: what is added to
 * version 3 is a new kind of definition, or a field behind those known so far, and no reason for a new version.
 *
 * The other forms are a call. All of it but its times is its signature, and the signatures of earlier calls lie in
 * slots:
 *
 *   head, [THREAD: the thread, otherwise that of the record before], [SLOT: slot | NEW: slot, length, signature],
 *   enter - exit of the call before on this thread (signed), [unless FOLDED: exit - enter],
 *   [CPU_ENTER: reading - expected (signed)], [CPU_EXIT: likewise], [FOLDED: struct hocket_trace_fold]
 *
 * SUCCESSOR: the signature is in the slot of the one that last came behind that of the call before. NEW puts its
 * signature into the slot, unless that is HOCKET_TRACE_SLOTS. Instants are ns of CLOCK_MONOTONIC. A CPU reading is
 * expected to be the last one of this thread and the wall time since. For the next call, the exit of a FOLDED one is
 * its enter, and it has no CPU_EXIT.
 *
 *   signature = function, flags, fields (enum hocket_trace_field, without CPU_ENTER, CPU_EXIT, COUNT, FOLDED), then the
 *               fields whose bit is set in the order of their bits; i32 and i64 are signed
 *   request   = 0, then the number itself, if it is not above the last persistent one; otherwise 1 + the signed
 *               distance from the highest request that earlier calls named. So loops have the same signatures again and
 *               again.
 *
 * Versions 1 and 2 have records, behind the header, in place of blocks, until one has length 0 or the file ends:
 *
 *   record  = u32 length of the whole record (a multiple of 8: the end is padded with zeros), u16 kind, u16 function,
 *             then what the kind has, as above, or:
 *   CALL    = i64 enter_ns, i64 exit_ns, u32 fields, u16 thread, u16 flags, then the fields whose bit is set, in the
 *             order of their bits, each of fixed size
 *
 * Version 1 has no FOLDED. */
#ifndef HOCKET_TRACE_FORMAT_H
#define HOCKET_TRACE_FORMAT_H

#include <stdint.h>

#define HOCKET_TRACE_MAGIC "HOCKETTR"
#define HOCKET_TRACE_VERSION 3u
#define HOCKET_TRACE_HOST_BYTES 64
#define HOCKET_TRACE_NONE 0xffffffffu /* no communicator, datatype, operator */
#define HOCKET_TRACE_NONE16 0xffffu   /* no function */
#define HOCKET_TRACE_SLOTS 4096u
#define HOCKET_TRACE_BLOCK_BYTES 65536u /* of a block, unless one record needs more */
#define HOCKET_TRACE_RECORD_BYTES 8     /* versions 1 and 2: length, kind, function */

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

struct hocket_trace_block {
    uint32_t size;  /* of the whole block, this header included; 0: nothing was written here */
    uint32_t used;  /* by whole records, behind this header */
    uint64_t calls; /* records of calls in the blocks before */
};

struct hocket_trace_record { /* versions 1 and 2 */
    uint32_t length;         /* of the whole record, this header included; 0: nothing was written here */
    uint16_t kind;           /* enum hocket_trace_kind */
    uint16_t function;
};

enum hocket_trace_kind {
    HOCKET_TRACE_FUNCTION = 1,
    HOCKET_TRACE_COMMUNICATOR = 2,
    HOCKET_TRACE_DATATYPE = 3,
    HOCKET_TRACE_OPERATOR = 4,
    HOCKET_TRACE_CALL = 5, /* versions 1 and 2 */
    HOCKET_TRACE_FOOTER = 6,
    HOCKET_TRACE_RESET = 7,
    HOCKET_TRACE_NEIGHBOURS = 8
};

enum hocket_trace_form {
    HOCKET_TRACE_DEFINITION = 0,
    HOCKET_TRACE_SUCCESSOR = 1,
    HOCKET_TRACE_SLOT = 2,
    HOCKET_TRACE_NEW = 3
};

enum hocket_trace_head {
    HOCKET_TRACE_HEAD_CPU_ENTER = 4,
    HOCKET_TRACE_HEAD_CPU_EXIT = 8,
    HOCKET_TRACE_HEAD_THREAD = 16,
    HOCKET_TRACE_HEAD_FOLDED = 32
};

/* How the recording ended. */
enum hocket_trace_end {
    HOCKET_TRACE_END_FINALIZE = 0, /* MPI_Finalize returned */
    HOCKET_TRACE_END_EXIT = 1,     /* the process ended without MPI_Finalize */
    HOCKET_TRACE_END_ABORT = 2,    /* MPI_Abort */
    HOCKET_TRACE_END_LIMIT = 3     /* the file reached its limit; the program went on */
};

enum hocket_trace_flag {
    HOCKET_TRACE_IN_PLACE = 1,       /* the send or receive buffer was MPI_IN_PLACE */
    HOCKET_TRACE_COMPLETED = 2,      /* a test or a probe that succeeded */
    HOCKET_TRACE_PERSISTENT = 4,     /* the call made a persistent request */
    HOCKET_TRACE_EXCLUSIVE_LOCK = 8, /* of MPI_Win_lock without MPI_MODE_NOCHECK; earlier recorders wrote neither */
    HOCKET_TRACE_SHARED_LOCK = 16    /* likewise, also of MPI_Win_lock_all */
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
                                             the sum of what this rank contributes (Scatterv: of what it gets); Pready:
                                             of the partitions that became ready */
    HOCKET_TRACE_COUNT = 1 << 4,          /* i64: elements of `datatype` in `bytes`; versions 1 and 2 */
    HOCKET_TRACE_TYPE = 1 << 5,           /* u32: datatype */
    HOCKET_TRACE_ROOT = 1 << 6,           /* i32: rank in the communicator; -1 MPI_PROC_NULL, -3 MPI_ROOT */
    HOCKET_TRACE_OP = 1 << 7,             /* u32: operator */
    HOCKET_TRACE_PEER = 1 << 8,           /* i32 peer, i32 tag as asked for: peer -1 MPI_PROC_NULL, -2 MPI_ANY_SOURCE;
                                             tag -1 MPI_ANY_TAG or none */
    HOCKET_TRACE_RECEIVE = 1 << 9,        /* i32 peer, i32 tag, i64 bytes: receiving half of a send-receive, as asked */
    HOCKET_TRACE_STATUS = 1 << 10,        /* i32 source, i32 tag, i64 bytes: what was received or found */
    HOCKET_TRACE_REQUEST = 1 << 11,       /* u64: the request made, started, completed or freed; counts from 1 */
    HOCKET_TRACE_REQUESTS = 1 << 12,      /* u32 n, n times hocket_trace_completion: started or completed */
    HOCKET_TRACE_SEND_BYTES = 1 << 13,    /* u32 n, i64[n]: bytes sent to each rank or neighbour, v-variants;
                                             Win_post and Win_start: the group, as ranks of the window */
    HOCKET_TRACE_RECEIVE_BYTES = 1 << 14, /* u32 n, i64[n]: bytes received from each; Reduce_scatter: blocks */
    HOCKET_TRACE_NEW_COMM = 1 << 15,      /* u32: the communicator that the call made */
    HOCKET_TRACE_WINDOW = 1 << 16,        /* u32: window, counts from 0 in this file */
    HOCKET_TRACE_FILE = 1 << 17,          /* u32: file handle, counts from 0 in this file */
    HOCKET_TRACE_ERROR = 1 << 18, /* i32: the call's return value where it is not MPI_SUCCESS; no other details */
    HOCKET_TRACE_FOLDED = 1 << 19 /* struct hocket_trace_fold */
};

/* Polls of one thread, one function and one communicator that found nothing, from the first one's enter to the last
 * one's exit. A thread that polls in several ways in turns, and does nothing else in MPI, has one fold for each way.
 * Their spans overlap; the times here do not: each instant from the first fold's enter on belongs to one of them, so a
 * reader can lay them one behind the other in that order, each `inside + outside` long. For that the enter of any fold
 * but the first is the exit of the poll before it. The recorder counts up in the file itself, so a program that is
 * killed leaves what it had polled by then. */
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
