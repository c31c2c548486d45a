/* SPDX-License-Identifier: Apache-2.0 */
/* `omig events on`: events of running programs are kept until they are safe at their
 * destination. */
#ifndef TOOLS_EVENTS_SUBSCRIPTION_H
#define TOOLS_EVENTS_SUBSCRIPTION_H

#include "tools/term/say.h"

#include <signal.h>

/* What the command line says. Texts are argv's. */
struct subscription_options {
	struct cmd_common common;
	char **names;
	const char *where, *job, *to;
	const char *name; /* of the subscription; NULL: made of what is requested */
	const char *when_full; /* oldest, newest, stop */
	int64_t for_ns, count, lease_ns, room_mib; /* 0: none, none, as mainsm has them */
	/* how many have come: with the first it ends, with the second at once */
	const volatile sig_atomic_t *signals;
};

#define SUBSCRIPTION_WHEN_FULL "oldest"

/* Some events were lost; those stored are counted. */
#define CMD_LOST CMD_PARTIAL

/* Whether a subscription may be named so. */
bool subscription_is_name(const char *name);

/* Connects, keeps, ends. An exit status. */
int subscription_run(const struct subscription_options *w);

#endif
