/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* CLOCK_MONOTONIC by the processor's time-stamp counter, where the kernel itself keeps time by it: then it runs evenly
 * and equally on all cores. Each thread sets it by the kernel's clock every 10 ms, so that an instant is as near to it
 * as the rates of the two agree over that time, and clocks of two ranks of a host agree as well. */
#include <stdio.h>
#include <string.h>

#include "record.h"

#if defined(__x86_64__)

#include <x86intrin.h>

enum { SET_AFTER_NS = 10000000, FRACTION_BITS = 32 };

static int is_used;
static uint64_t first_ticks, ticks_to_set;
static int64_t first_ns;

/* The two clocks at one instant, as far as nothing came between. */
static uint64_t read_both(int64_t* ns) {
    uint64_t best = UINT64_MAX, ticks = 0;
    for (int i = 0; i < 3; ++i) {
        const uint64_t before = __rdtsc();
        const int64_t now_ns = hocket_clock_ns();
        const uint64_t after = __rdtsc();
        if (after - before >= best) continue;
        best = after - before;
        ticks = before + best / 2;
        *ns = now_ns;
    }
    return ticks;
}

void hocket_clock_begin(void) {
    char source[16] = "";
    FILE* in = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
    if (!in) return;
    if (fgets(source, sizeof source, in) && strcmp(source, "tsc\n") == 0) first_ticks = read_both(&first_ns);
    fclose(in);
}

/* The rate over the time since hocket_clock_begin; a millisecond determines it to some 50 ppm. */
void hocket_clock_use(void) {
    if (first_ticks == 0) return;
    int64_t now_ns;
    uint64_t ticks;
    do {
        ticks = read_both(&now_ns);
    } while (now_ns - first_ns < 1000000);
    if (ticks <= first_ticks) return;
    ticks_to_set = (uint64_t)((double)SET_AFTER_NS * (double)(ticks - first_ticks) / (double)(now_ns - first_ns));
    is_used = 1;
}

static int64_t set_clock(struct clock* clock) {
    int64_t now_ns;
    const uint64_t ticks = read_both(&now_ns);
    const double rate = (double)(now_ns - first_ns) / (double)(ticks - first_ticks) * 4294967296.0;
    const uint64_t passed = ticks - clock->ticks;
    int64_t ahead_ns = 0;
    if (clock->ticks && passed < 4 * ticks_to_set)
        ahead_ns = clock->ns + (int64_t)((passed * clock->rate) >> FRACTION_BITS) - now_ns;
    /* It never goes back: what it is ahead it loses by running slower until it is set again. */
    if (ahead_ns < 0) ahead_ns = 0;
    if (ahead_ns > SET_AFTER_NS / 2) ahead_ns = SET_AFTER_NS / 2;
    clock->ticks = ticks;
    clock->ns = now_ns + ahead_ns;
    clock->rate = (uint64_t)(rate * (1.0 - (double)ahead_ns / SET_AFTER_NS));
    return clock->ns;
}

int64_t hocket_now_ns(void) {
    if (!is_used) return hocket_clock_ns();
    struct clock* clock = &hocket_thread.clock;
    const uint64_t passed = __rdtsc() - clock->ticks;
    if (passed > ticks_to_set) return set_clock(clock);
    return clock->ns + (int64_t)((passed * clock->rate) >> FRACTION_BITS);
}

#else

void hocket_clock_begin(void) {}
void hocket_clock_use(void) {}
int64_t hocket_now_ns(void) { return hocket_clock_ns(); }

#endif
