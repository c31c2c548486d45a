/* SPDX-License-Identifier: Apache-2.0 */
/* What a link does with its meter. */
#ifndef COMMON_LINK_METER_INTERNAL_H
#define COMMON_LINK_METER_INTERNAL_H

#include "common/container/list.h"
#include "common/link/meter.h"

/* The link is up: it is left unread with the others. at is in the link, and taken out by
 * list_del(). */
void meter_join(struct meter *m, struct list *at);

/* A frame of this many bytes was read. */
void meter_count(struct meter *m, size_t bytes);

#endif
