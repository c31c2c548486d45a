/* SPDX-License-Identifier: Apache-2.0 */
/* The families of services of a host, and the object of each; all borrowed. */
#ifndef LM_SERVICE_FAMILIES_H
#define LM_SERVICE_FAMILIES_H

#include "lm/service/look.h"
#include "lm/task/task.h"

struct pa;
struct rates;
struct tickbase;
struct helper;
struct tracebufs;

/* of: struct calls */
extern const struct service profile_services[];

/* of: struct tickbase */
extern const struct service calls_services[], current_services[], queue_services[];

struct omis_writer;
struct proc;

/*
 * Writes a list for each thread that is or was in a call; with is_under_way only the current calls.
 */
void call_write_calls_now(struct service_call *c, struct proc *p, bool is_under_way,
			  struct omis_writer *w);

/* of: struct control */
struct control {
	struct host *host;
	struct holds *holds;
};
extern const struct service control_services[];

/* of: struct creator */
struct creator {
	struct helper *trace;
	struct holds *holds;
};
extern const struct service create_services[];

/* of: struct enterer */
struct enterer {
	struct host *host;
	struct helper *trace;
	const char *memfd; /* name of segments: omig-<caid> */
	const char *socket; /* where processes register; NULL: nowhere */
};
extern const struct service enter_services[];

/* of: NULL */
extern const struct service events_services[];

/* of: struct functions */
extern const struct service function_services[];

/* of: struct file_reader */
struct file_reader {
	struct look_on on;
	const char *files; /* files that tools may read: filelist.h */
};
extern const struct service file_services[];

/* of: struct job_sampler */
struct job_sampler {
	struct host *host;
	struct tickbase *ticks;
};
extern const struct service job_services[];

/* of: struct node */
extern const struct service sample_services[];

/* of: struct look_on */
extern const struct service memory_services[], source_services[];

/* of: struct node */
struct node {
	struct host *host;
	struct rates *rates;
	const char *host_name;
};
extern const struct service node_services[];

/* of: struct tool_objects */
struct tool_objects {
	struct pa *pa;
	struct tracebufs *tracebufs;
};
extern const struct service pa_services[], tracebuf_services[];

/* of: struct host */
extern const struct service proc_services[];

/* of: struct helper */
extern const struct service trace_services[];

/* --- between them */

/* omig_pa_create of a trace buffer; of: struct tool_objects. */
int tracebuf_create(struct service_call *c);

#endif
