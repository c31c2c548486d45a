/* SPDX-License-Identifier: Apache-2.0 */
/* The other library's events (common/ring/event_link.h), where the program has it. */
#ifndef LIBAPP_SETUP_EVENTS_H
#define LIBAPP_SETUP_EVENTS_H

#include "common/ring/event_link.h"
#include "libapp/hot/app_state.h"

#pragma GCC visibility push(hidden)

/* The segment is there: types that are known already are announced before the lm sees it. */
void events_ready(bool is_rank);

/* In a child process: a library that has joined joins again, or never. */
void events_forget(void);

#pragma GCC visibility pop

#endif
