/* SPDX-License-Identifier: Apache-2.0 */
/* omig log load, query, compare: event logs in SQL. */
#ifndef TOOLS_EVENTS_LOGARCHIVE_H
#define TOOLS_EVENTS_LOGARCHIVE_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "tools/events/logread.h"

struct logarchive_options {
	const char *archive; /* a path, or postgresql://... */
	bool json;
	uint64_t batch; /* load: events of a transaction */
	const char *sql; /* query: instead of a sentence */
	int64_t timeout_ns; /* of a query */
	double least, sure; /* compare: percent */
	const char *color;
};

/* Returns an exit status: CMD_DAMAGED if the archive does not contain all of the logs. */
int logarchive_load(const struct logarchive_options *w, const struct logread_options *read,
		    char **files);

/* words: the sentence (eventlog/archive/arquery.h). CMD_USAGE: it is invalid. CMD_TIMEOUT. */
int logarchive_query(const struct logarchive_options *w, char **words);

/* Compares w->archive with a baseline. CMD_OK: no significant change. CMD_CHANGED. */
int logarchive_compare(const struct logarchive_options *w, const char *base);

#endif
