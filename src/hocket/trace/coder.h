/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* Writes calls as format.h defines version 3. Plain C, shared by the recorder and encode.cpp. */
#ifndef HOCKET_TRACE_CODER_H
#define HOCKET_TRACE_CODER_H

#include <stdint.h>
#include <string.h>

#include "hocket/trace/format.h"

#define HOCKET_TRACE_THREADS 64u         /* threads beyond these share the instants from which times are counted */
#define HOCKET_TRACE_TEXTS (1u << 20)    /* bytes of all signatures that are kept */
#define HOCKET_TRACE_LONGEST (1u << 18)  /* a longer signature is not kept */
#define HOCKET_TRACE_MOST_BESIDE 128u    /* bytes of a call's record beside its signature, at most */
#define HOCKET_TRACE_MOST_SCALARS 256u   /* bytes of a signature without vectors, at most */
#define HOCKET_TRACE_MOST_COMPLETION 32u /* bytes of a completion in a signature, at most */
#define HOCKET_TRACE_MOST_VARINT 10u

/* From what the times of a thread's next call are counted. */
struct hocket_trace_instants {
    int64_t exit_ns, cpu_ns, cpu_at_ns;
};

/* What requests are counted from. */
struct hocket_trace_requests {
    uint64_t highest, persistent;
};

struct hocket_trace_slot {
    uint32_t at, length, hash; /* in `texts`; length 0: empty */
    uint32_t successor;        /* slot of the signature that came behind this one the last time */
};

/* Zeros at the beginning, but for `texts`: HOCKET_TRACE_TEXTS bytes. */
struct hocket_trace_coder {
    struct hocket_trace_instants threads[HOCKET_TRACE_THREADS];
    struct hocket_trace_requests requests;
    uint32_t last_slot, last_thread;
    uint32_t num_text;
    unsigned char* texts;
    struct hocket_trace_slot slots[HOCKET_TRACE_SLOTS];
};

struct hocket_trace_times {
    int64_t enter_ns, exit_ns, cpu_enter_ns, cpu_exit_ns;
    uint32_t fields; /* CPU_ENTER, CPU_EXIT, FOLDED */
    uint16_t thread;
    const struct hocket_trace_fold* fold;
};

static inline unsigned char* hocket_trace_put(unsigned char* to, uint64_t value) {
    while (value >= 0x80) {
        *to++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *to++ = (unsigned char)value;
    return to;
}

static inline uint64_t hocket_trace_zigzag(int64_t value) {
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static inline unsigned char* hocket_trace_put_signed(unsigned char* to, int64_t value) {
    return hocket_trace_put(to, hocket_trace_zigzag(value));
}

/* Counted with wrap-around, as the reader does. */
static inline int64_t hocket_trace_distance(uint64_t to, uint64_t from) { return (int64_t)(to - from); }

static inline unsigned char* hocket_trace_put_request(const struct hocket_trace_requests* known, unsigned char* to,
                                                      uint64_t request) {
    const uint64_t distance = hocket_trace_zigzag(hocket_trace_distance(request, known->highest));
    if (request <= known->persistent || distance == UINT64_MAX) {
        *to++ = 0;
        return hocket_trace_put(to, request);
    }
    return hocket_trace_put(to, distance + 1);
}

/* Behind each call that named a request. */
static inline void hocket_trace_add_request(struct hocket_trace_requests* known, uint64_t request, uint32_t flags) {
    if (request > known->highest) known->highest = request;
    if (flags & HOCKET_TRACE_PERSISTENT) known->persistent = request;
}

static inline uint32_t hocket_trace_hash(const unsigned char* text, uint32_t length) {
    uint64_t hash = length, part;
    for (; length >= 8; length -= 8, text += 8) {
        memcpy(&part, text, 8);
        hash = (hash ^ part) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    part = 0;
    memcpy(&part, text, length);
    hash = (hash ^ part) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

static inline int hocket_trace_slot_has(const struct hocket_trace_coder* coder, uint32_t slot,
                                        const unsigned char* signature, uint32_t length) {
    const struct hocket_trace_slot* found = &coder->slots[slot];
    return found->length == length && memcmp(coder->texts + found->at, signature, length) == 0;
}

/* The slot that has the signature, or the one to put it into: then `is_there` is 0. */
static inline uint32_t hocket_trace_find_slot(const struct hocket_trace_coder* coder, const unsigned char* signature,
                                              uint32_t length, uint32_t hash, int* is_there) {
    enum { PLACES = 4 };
    uint32_t place = hash % HOCKET_TRACE_SLOTS;
    *is_there = 0;
    for (uint32_t i = 0; i < PLACES; ++i) {
        const uint32_t slot = (hash + i) % HOCKET_TRACE_SLOTS;
        if (coder->slots[slot].length == 0) return slot;
        if (coder->slots[slot].hash == hash && hocket_trace_slot_has(coder, slot, signature, length)) {
            *is_there = 1;
            return slot;
        }
    }
    /* All are taken: not always the same one has to go. */
    place = (hash + (coder->num_text >> 4) % PLACES) % HOCKET_TRACE_SLOTS;
    return place;
}

static inline void hocket_trace_follow(struct hocket_trace_coder* coder, uint32_t slot) {
    coder->slots[coder->last_slot].successor = slot;
    coder->last_slot = slot;
}

/* Head, thread and signature. */
static inline unsigned char* hocket_trace_put_signature(struct hocket_trace_coder* coder, unsigned char* to,
                                                        uint32_t head, uint32_t thread, const unsigned char* signature,
                                                        uint32_t length) {
    const uint32_t expected = coder->slots[coder->last_slot].successor;
    uint32_t slot = expected, hash = 0, form = HOCKET_TRACE_SUCCESSOR;
    if (!hocket_trace_slot_has(coder, expected, signature, length)) {
        int is_there = 0;
        const int is_kept = length <= HOCKET_TRACE_LONGEST;
        hash = hocket_trace_hash(signature, length);
        slot = is_kept ? hocket_trace_find_slot(coder, signature, length, hash, &is_there) : HOCKET_TRACE_SLOTS;
        form = is_there ? HOCKET_TRACE_SLOT : HOCKET_TRACE_NEW;
        if (!is_there && is_kept && length > HOCKET_TRACE_TEXTS - coder->num_text) {
            *to++ = HOCKET_TRACE_RESET << 2;
            *to++ = 0;
            memset(coder->slots, 0, sizeof coder->slots);
            coder->num_text = coder->last_slot = 0;
            slot = hash % HOCKET_TRACE_SLOTS;
        }
    }
    *to++ = (unsigned char)(head | form);
    if (head & HOCKET_TRACE_HEAD_THREAD) to = hocket_trace_put(to, thread);
    if (form != HOCKET_TRACE_SUCCESSOR) to = hocket_trace_put(to, slot);
    if (form == HOCKET_TRACE_NEW) {
        to = hocket_trace_put(to, length);
        memcpy(to, signature, length);
        to += length;
        if (slot < HOCKET_TRACE_SLOTS) {
            struct hocket_trace_slot* place = &coder->slots[slot];
            place->at = coder->num_text;
            place->length = length;
            place->hash = hash;
            place->successor = 0;
            memcpy(coder->texts + coder->num_text, signature, length);
            coder->num_text += length;
        }
    }
    if (slot < HOCKET_TRACE_SLOTS) hocket_trace_follow(coder, slot);
    return to;
}

static inline unsigned char* hocket_trace_put_cpu(struct hocket_trace_instants* own, unsigned char* to, int64_t cpu_ns,
                                                  int64_t now_ns) {
    to = hocket_trace_put_signed(to, cpu_ns - own->cpu_ns - (now_ns - own->cpu_at_ns));
    own->cpu_ns = cpu_ns;
    own->cpu_at_ns = now_ns;
    return to;
}

/* At `to` there is room for `length` + HOCKET_TRACE_MOST_BESIDE bytes. Returns the end; a fold is the last there. */
static inline unsigned char* hocket_trace_put_call(struct hocket_trace_coder* coder, unsigned char* to,
                                                   const struct hocket_trace_times* times,
                                                   const unsigned char* signature, uint32_t length) {
    struct hocket_trace_instants* own = &coder->threads[times->thread % HOCKET_TRACE_THREADS];
    const uint32_t folded = times->fields & HOCKET_TRACE_FOLDED;
    uint32_t head = folded ? HOCKET_TRACE_HEAD_FOLDED : 0;
    if (times->fields & HOCKET_TRACE_CPU_ENTER) head |= HOCKET_TRACE_HEAD_CPU_ENTER;
    if ((times->fields & HOCKET_TRACE_CPU_EXIT) && !folded) head |= HOCKET_TRACE_HEAD_CPU_EXIT;
    if (times->thread != coder->last_thread) head |= HOCKET_TRACE_HEAD_THREAD;
    coder->last_thread = times->thread;
    to = hocket_trace_put_signature(coder, to, head, times->thread, signature, length);
    to = hocket_trace_put_signed(to, times->enter_ns - own->exit_ns);
    if (!folded) to = hocket_trace_put(to, (uint64_t)(times->exit_ns - times->enter_ns));
    own->exit_ns = folded ? times->enter_ns : times->exit_ns;
    if (head & HOCKET_TRACE_HEAD_CPU_ENTER) to = hocket_trace_put_cpu(own, to, times->cpu_enter_ns, times->enter_ns);
    if (head & HOCKET_TRACE_HEAD_CPU_EXIT) to = hocket_trace_put_cpu(own, to, times->cpu_exit_ns, times->exit_ns);
    if (folded) {
        memcpy(to, times->fold, sizeof *times->fold);
        to += sizeof *times->fold;
    }
    return to;
}

#endif
