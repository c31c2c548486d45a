/* SPDX-License-Identifier: Apache-2.0 */
/* The notification socket of systemd, for daemons and for commands that serve. */
#ifndef COMMON_DAEMON_NOTIFY_H
#define COMMON_DAEMON_NOTIFY_H

#include "common/base/clock.h"

struct notify {
	char path[108]; /* path of the socket; "" = none */
	nsec_t watchdog; /* requested period; 0 = none */
};

/*
 * Reads the settings from the environment, and removes them there, so that children do not inherit
 * them.
 */
void notify_init(struct notify *n);
void notify_send(const struct notify *n, const char *text);

#endif
