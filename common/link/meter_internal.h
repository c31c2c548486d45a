/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of a meter to links. */
#ifndef COMMON_LINK_METER_INTERNAL_H
#define COMMON_LINK_METER_INTERNAL_H

#include "common/container/list.h"
#include "common/link/meter.h"

/* The link is up: it is paused with the others. at is in the link, and removed by list_del(). */
void meter_join(struct meter *m, struct list *at);

/* A frame of this many bytes was read. */
void meter_count(struct meter *m, size_t bytes);

#endif
