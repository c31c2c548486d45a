/* SPDX-License-Identifier: Apache-2.0 */
/* A summary of the whole monitor in a few lines: its health, and its activity. */
#ifndef TOOLS_VIEW_MONITOR_H
#define TOOLS_VIEW_MONITOR_H

#include "common/base/buf.h"
#include "tools/libomis/omis.h"
#include "tools/term/term.h"

#include <stdbool.h>
#include <stddef.h>

#define MONITOR_PROBLEMS_MAX 16 /* causes; further ones are a number */
#define MONITOR_NOTES_MAX 8 /* per daemon */

/* One cause, at one or more daemons or hosts. */
struct monitor_problem {
	char where[128]; /* the first of them: "lm of node1" */
	char text[160];
	const char *remedy; /* a literal; equal for equal causes */
	size_t places;
};

struct monitor {
	struct monitor_problem problem[MONITOR_PROBLEMS_MAX];
	size_t nproblem; /* number of causes, also beyond the array */
	size_t daemons, sites, hosts, processes;
	double measurements, csrs, subscriptions, tools, up_s, rss_bytes; /* NaN: not known */
	double certificates_s; /* wall time at which the first of them ends; NaN: not known */
	char version[40];
};

/*
 * tree: omig_tree(); r: the reply of omig_status() alone; now_s: wall time; version: this
 * program's. health_notes() finds the problems of a daemon.
 */
void monitor_read(struct monitor *m, const Omis_value *tree, Omis_reply r, double now_s,
		  const char *version);

/* Writes "lm of node1" for the token of a daemon's object, "" being mainsm's. Returns out. */
char *monitor_daemon(const Omis_value *tree, const char *program, const char *token, char *out,
		     size_t size);

/* Writes "all well: ..." or a line for each cause; then three lines about the monitor's objects. */
void monitor_show(const struct term *t, const struct monitor *m, struct buf *out);

#endif
