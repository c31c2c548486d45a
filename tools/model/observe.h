/* SPDX-License-Identifier: Apache-2.0 */
/*
 * omig model observe: services of running processes and their demands, live. A service is a region
 * of the program: between two probes, or a function. Three measurements count in the processes:
 * how often it began and completed, how long threads were in it, and the CPU time. Their intervals
 * begin together.
 */
#ifndef TOOLS_MODEL_OBSERVE_H
#define TOOLS_MODEL_OBSERVE_H

#include "common/ring/region.h"
#include "tools/measure/measurement.h"
#include "tools/model/estimate_show.h"

/* begun, completed and time of each: three of the 32 regions that a rank distinguishes */
#define OBSERVE_SERVICES_MAX 10
#define OBSERVE_PROCESSES_MAX 256 /* each has a table of its own */

struct observe_options {
	struct cmd_common common;
	struct estimate_options estimate;
	const char *job, *objects, *output;
	const char *region[OBSERVE_SERVICES_MAX];
	size_t nregion;
	int64_t every_ns, for_ns;
};

#define OBSERVE_OPTIONS(w)                                                                        \
	OPTION("job", 0, "NAME", "observe: the processes of this job only", OPT_STR, &(w)->job),  \
		OPTION("objects", 0, "LIST",                                                      \
		       "observe: all (the default), or ranks, hosts and tokens, by commas",       \
		       OPT_STR, &(w)->objects),                                                   \
		OPTION_CALL("region", 0, "NAME",                                                  \
			    "observe: a service: NAME or BEGIN..END of probes, or function:NAME " \
			    "(may be repeated; default: all regions between probes)",             \
			    w, observe_region),                                                   \
		OPTION_RANGE("every", 'e', "TIME", "observe: length of a period (default 1s)",    \
			     OPT_NSEC, &(w)->every_ns, NSEC_PER_SEC / 10, NSEC_PER_SEC * 86400),  \
		OPTION_RANGE("for", 0, "TIME", "observe: end after this time", OPT_NSEC,          \
			     &(w)->for_ns, NSEC_PER_MSEC, INT64_MAX / 4)

/* Adds a region as an option; into is a struct observe_options. ERR_LIMIT, ERR_INVALID. */
int observe_region(void *into, const char *text, struct err *e);

/* Observes until the processes end, --for is over, or a signal. Returns an exit status. */
int observe_show(struct observe_options *w);

/* --- for its files */

struct observed_service {
	struct region region; /* without `end` for a function */
	char reverse[2 * SEG_PROBE_NAME_BYTES + 2]; /* from the end to the begin; "": unknown */
};

/* NaN: unknown in this period. */
struct observed_counts {
	double begun, completed, time;
};

struct observed_process {
	char object[SESSION_TOKEN_BYTES];
	char label[MEASURED_LABEL_BYTES];
	struct periods *periods; /* owned */
	struct observed_counts now[OBSERVE_SERVICES_MAX];
	double busy; /* NaN: unknown in this period */
	bool has_begun; /* its first period, in which the counts were switched on, is over */
	size_t skipped; /* periods without all counts */
	struct estimate_shown shown;
	struct err unknown; /* why there is no estimate; code 0: there is one */
};

struct observation {
	const struct observe_options *options;
	struct observed_service service[OBSERVE_SERVICES_MAX];
	size_t nservice;
	bool has_completed; /* of all services */
	struct observed_process *process; /* owned */
	size_t nprocess, process_cap;
	size_t npast; /* periods that are over, beside the first one */
};

/* Shows the present state, as text or as a line of JSON. Returns an exit status. */
int observe_put(const struct observation *o, int64_t until_ns);

/* Writes a file for each process, for omig model estimate. Returns an exit status. */
int observe_write(const struct observation *o);

#endif
