/* SPDX-License-Identifier: Apache-2.0 */
/* Receivers of the events that an algorithm logs. */
#ifndef NEKO_CORE_EVENT_H
#define NEKO_CORE_EVENT_H

#include "neko/core/neko.h"

#include <stdbool.h>
#include <stdint.h>

/* Largest count in a content: doubles represent whole numbers exactly up to this one. */
#define NEKO_NUMBER_MAX (1ull << 53)

/* Returns false if the content is not a count: the sender may be on another host, and faulty. */
static inline bool neko_number(const struct neko_event *v, uint64_t *out)
{
	if (!(v->content >= 0 && v->content <= (double)NEKO_NUMBER_MAX))
		return false;
	*out = (uint64_t)v->content;
	return true;
}

#define NEKO_DELAY_LOST (-1) /* report of the sender: the message was sent */
/* at the end of the run the message was lost or still in transit */
#define NEKO_DELAY_UNKNOWN (-2)

/* A message of a real run, reported by its sender, and by its receiver. */
struct neko_delay {
	nsec_t sent_at; /* by the sender's clock */
	nsec_t delay; /* >= 0, LOST or UNKNOWN */
	uint32_t from, to;
	/* index among the messages of the sender to that process over this network, from 0 */
	uint32_t number;
	uint32_t bytes; /* bytes of the content */
	uint32_t error; /* ns: bound of the delay's clock error; 0: one clock */
	uint16_t net; /* number of the network, from 0 */
	uint16_t type; /* NEKO_TYPES_MAX if only the message's number is known */
};

/* Called in the order of the events' times. The last members may be NULL. */
struct neko_handler {
	void (*handle)(void *arg, const struct neko_event *v);
	bool (*should_stop)(void *arg); /* called after each event; NULL: never */
	void *arg;
};

#endif
