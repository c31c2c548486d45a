/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of a meter to links. */
#ifndef COMMON_LINK_METER_INTERNAL_H
#define COMMON_LINK_METER_INTERNAL_H

#include "common/container/list.h"
#include "common/link/meter.h"

/*
 * Called when a link is up: it is paused with the others. at is in the link, and list_del() removes
 * it.
 */
void meter_join(struct meter *m, struct list *at);

/* Counts a frame of so many bytes that was read. */
void meter_count(struct meter *m, size_t bytes);

#endif
