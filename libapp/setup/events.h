/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connects the libraries of events (common/ring/event_link.h) and of reads and writes
 * (common/ring/segmount.h), if the program has them.
 */
#ifndef LIBAPP_SETUP_EVENTS_H
#define LIBAPP_SETUP_EVENTS_H

#include "common/ring/event_link.h"
#include "libapp/hot/app_state.h"

#pragma GCC visibility push(hidden)

/* As struct event_link. */
int events_announce(const void *definition, size_t n);

/* Called when the segment exists. Announces the known types before the lm sees the segment. */
void events_ready(bool is_rank);

/* Called in a child process. A library that has joined joins again, or never. */
void events_forget(void);

/* The same for reads and writes. */
void mounts_ready(void);
void mounts_forget(void);

#pragma GCC visibility pop

#endif
