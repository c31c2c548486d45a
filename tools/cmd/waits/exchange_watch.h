/* SPDX-License-Identifier: Apache-2.0 */
/* Watches the exchange of a job, interval by interval, for a command. */
#ifndef TOOLS_CMD_WAITS_EXCHANGE_WATCH_H
#define TOOLS_CMD_WAITS_EXCHANGE_WATCH_H

#include "common/base/clock.h"
#include "common/cli/opt.h"
#include "tools/term/say.h"
#include "tools/waits/exchange.h"

struct exchange_watch {
	struct cmd_common common;
	const char *job; /* NULL: the one that runs */
	nsec_t every_ns;
	bool is_quiet; /* no progress line: the output is for programs */
	int64_t count; /* intervals; 0: until a signal, or the end of the job */
	/*
	 * Called for each interval; the reply has the coverage. Returns an exit status: any but
	 * CMD_OK ends the watch.
	 */
	int (*show)(void *arg, const struct exchange *x, Omis_reply reply);
	void *arg;
};

#define EXCHANGE_WATCH_INIT       \
	((struct exchange_watch){ \
		.common = CMD_COMMON_INIT, .every_ns = 5 * NSEC_PER_SEC, .count = 1 })
#define EXCHANGE_WATCH_OPTIONS(w)                                                                  \
	CMD_OPTIONS(&(w)->common), OPTION("job", 0, "NAME", "of this job", OPT_STR, &(w)->job),    \
		OPTION_RANGE("every", 'e', "TIME", "length of an interval (default 5s)", OPT_NSEC, \
			     &(w)->every_ns, 100 * NSEC_PER_MSEC, 86400 * NSEC_PER_SEC),           \
		OPTION_RANGE("count", 'n', "N", "so many intervals (default 1; 0: until ^C)",      \
			     OPT_I64, &(w)->count, 0, INT64_MAX)

/*
 * Counting by partner is on while it runs. Blocks until the last interval has ended. ^C ends the
 * interval, which is shown, and then the watch. Returns an exit status and reports failures.
 */
int exchange_watch_run(struct exchange_watch *w);

#endif
