/* SPDX-License-Identifier: Apache-2.0 */
/* Who hears the events that an algorithm logs. */
#ifndef NEKO_EVENT_H
#define NEKO_EVENT_H

#include "neko/neko.h"

/* Called in the order of the events' times. Ends with what may be NULL. */
struct neko_handler {
	void (*handle)(void *arg, const struct neko_event *v);
	bool (*should_stop)(void *arg); /* asked after each event; NULL: never */
	void *arg;
};

#endif
