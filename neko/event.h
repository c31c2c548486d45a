/* SPDX-License-Identifier: Apache-2.0 */
/* Events that an algorithm logs, and who makes quantities of them. */
#ifndef NEKO_EVENT_H
#define NEKO_EVENT_H

#include "common/base/clock.h"

#include <stdbool.h>
#include <stdint.h>

struct neko_event {
	uint32_t process;
	nsec_t at;
	const char *what;
	double content;
};

#define NEKO_CRASHED "crash" /* the world logs it: from now on the process is down */

/* Called in the order of the events' times. Ends with what may be NULL. */
struct neko_handler {
	void (*handle)(void *arg, const struct neko_event *v);
	bool (*should_stop)(void *arg); /* asked after each event; NULL: never */
	void *arg;
};

#endif
