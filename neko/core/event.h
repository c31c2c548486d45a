/* SPDX-License-Identifier: Apache-2.0 */
/* Receivers of the events that an algorithm logs. */
#ifndef NEKO_CORE_EVENT_H
#define NEKO_CORE_EVENT_H

#include "neko/core/neko.h"

#include <stdbool.h>
#include <stdint.h>

/* A content that is a number of something: doubles hold whole numbers up to here. */
#define NEKO_NUMBER_MAX (1ull << 53)

/* False: the bytes are no event. The sender may be on another host, and broken. */
static inline bool neko_number(const struct neko_event *v, uint64_t *out)
{
	if (!(v->content >= 0 && v->content <= (double)NEKO_NUMBER_MAX))
		return false;
	*out = (uint64_t)v->content;
	return true;
}

#define NEKO_DELAY_LOST (-1)

/* A message of a real run. */
struct neko_delay {
	nsec_t sent_at; /* by the sender's clock */
	nsec_t delay; /* >= 0, or LOST */
	uint32_t from, to;
	uint32_t number; /* of it among those of the sender to that process over the network, from 0
			  */
	uint32_t net; /* 0 is the first one */
};

/* Called in the order of the events' times. Ends with what may be NULL. */
struct neko_handler {
	void (*handle)(void *arg, const struct neko_event *v);
	bool (*should_stop)(void *arg); /* asked after each event; NULL: never */
	void *arg;
};

#endif
