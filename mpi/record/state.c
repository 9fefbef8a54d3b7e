/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* What all parts of the recorder share. */
#include "record.h"

struct state hocket_state = {.lock = PTHREAD_MUTEX_INITIALIZER};
__thread struct thread hocket_thread = {.number = -1};
