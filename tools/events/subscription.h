/* SPDX-License-Identifier: Apache-2.0 */
/* `omig events on`: stores events of running programs until their destination has them. */
#ifndef TOOLS_EVENTS_SUBSCRIPTION_H
#define TOOLS_EVENTS_SUBSCRIPTION_H

#include "tools/term/say.h"

#include <signal.h>

/* Options of the command line. Texts are argv's. */
struct subscription_options {
	struct cmd_common common;
	char **names;
	const char *where, *job, *to;
	const char *name; /* of the subscription; NULL: derived from the requested events */
	const char *when_full; /* oldest, newest, stop */
	int64_t for_ns, count, lease_ns, room_mib; /* 0: none, none, mainsm's defaults */
	void (*on_ready)(void); /* mainsm has the request, at any time again; NULL: not reported */
	/* number of signals: the first ends it in order, the second at once */
	const volatile sig_atomic_t *signals;
};

#define SUBSCRIPTION_WHEN_FULL "oldest"

/* Some events were lost; the stored ones are counted. */
#define CMD_LOST CMD_PARTIAL

/* True if it is a valid name of a subscription. */
bool subscription_is_name(const char *name);

/* Connects, subscribes, ends. Returns an exit status. */
int subscription_run(const struct subscription_options *w);

#endif
