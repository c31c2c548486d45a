/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements: metrics in PMSL on objects of a tool. Each is compiled here, cut into pieces and
 * sent to the branches. Their values are merged here. A closed read is the event dfg_has_read.
 *
 * Interval r ends at start + r * every, or when the tool requests a read. A read is closed when all
 * expected values have arrived, or when its grace is over. A silent host never delays a result,
 * which names the missing hosts.
 *
 * A measurement of all objects, or of a site or node, follows new and ended objects. Parts that are
 * in both the old and the new graph keep their state. If no graph can be made, the old one
 * continues.
 *
 * Memory and the time for following are bounded: MEASURES_PER_TOOL_MAX, and all measurements
 * together use at most a MEASURE_REST-th of the time to follow. One turn of the loop plans one of
 * them, so that 64 displays do not delay all other work.
 */
#ifndef MAINSM_MEASURE_MEASURE_H
#define MAINSM_MEASURE_MEASURE_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/omis/text/value.h"
#include "proto/msg.h"

#include <stdbool.h>

/* some screens of displays; each measurement has a graph at all daemons */
#define MEASURES_PER_TOOL_MAX 64
/* values of one read: four virtual times of BIND_OUTPUTS_MAX objects */
#define MEASURE_RESULTS_MAX 16384
#define MEASURE_VALUES_PER_EVENT 500 /* as many as fit in a frame, with some histograms */
/*
 * time for a read: longer than the grace of the site's sm, which is longer than that of lower sms
 */
#define MEASURE_GRACE_NS (INT64_C(1000000000))
/* the same in intervals: no branch may be FLOW_READS_OPEN reads ahead */
#define MEASURE_GRACE_READS 6
/*
 * time after which dfg_start replies without the confirmation of all branches, before the request
 * expires
 */
#define MEASURE_LOADED_MAX_NS (1500 * INT64_C(1000000))
/* delay after a change of objects: processes of a program start one by one */
#define MEASURE_FOLLOW_NS (100 * INT64_C(1000000))
#define MEASURE_REST 10

struct branches;
struct tool_csrs;
struct directory;
struct loop;
struct measure;
struct measures;
struct numbers;
struct registry;
struct session;
struct states;
struct timebase;

/* All borrowed. */
struct measures_conf {
	struct loop *loop;
	struct timebase *timebase;
	const struct branches *branches;
	const struct directory *directory;
	struct tool_csrs *csrs;
	struct numbers *numbers;
	struct registry *registry; /* NULL: no text uses another one */
};

struct measures *measures_new(const struct measures_conf *conf);

/* All measurements must have been deleted. */
void measures_free(struct measures *ms);

/* Parameters of the services with the same names; all borrowed. */
struct measure_request {
	const struct omis_value *objects; /* a list of tokens; an empty one: all */
	const char *text, *metric; /* text "": a built-in metric */
	const struct omis_value *options, *parameters; /* lists of name, value */
};

/*
 * *token is valid while it exists. ERR_INVALID, ERR_LIMIT, ERR_NOTFOUND (an object): why has a
 * message, of several lines for a text with errors. ERR_NOMEM.
 */
int measure_create(struct measures *ms, struct session *s, const struct measure_request *wanted,
		   const char **token, struct buf *why);

struct measure *measure_find(const struct session *s, const char *token);

/*
 * Starts it from the beginning. on_loaded is called once, from the loop, when all branches have
 * loaded it or are lost, or after MEASURE_LOADED_MAX_NS. ERR_INVALID: it runs already; ERR_NOMEM.
 * No call then.
 */
int measure_start(struct measure *m, void (*on_loaded)(void *arg), void *arg);

/* Unloads its graphs everywhere; it can be started again. */
void measure_stop(struct measure *m);
void measure_delete(struct measure *m);

/* Adds objects, or removes them. As measure_create(). */
int measure_change(struct measure *m, const struct omis_value *objects, bool add, struct buf *why);

/*
 * Requests a read; joins a pending read. The loop calls on_read when it is closed, with the values
 * of dfg_read(). NULL: the measurement ended before. A measurement with an interval reports its
 * next read. ERR_INVALID: it does not run.
 */
int measure_read(struct measure *m, void (*on_read)(void *arg, const char *values), void *arg);

/* Removes the waiters with this arg for that measurement, which may have ended. */
void measures_forget_waiter(struct measures *ms, const char *token, void *arg);

/* Finds a measurement of any tool. */
struct measure *measures_find(const struct measures *ms, const char *token);

/* Values of dfg_list(). */
void measures_list(const struct measures *ms, struct omis_writer *w);

/* Values of dfg_get_info(). */
void measure_info(const struct measure *m, int64_t flags, struct omis_writer *w);

/* --- events */

/* Drops all measurements of the tool, which leaves: the branches get tool_gone. */
void measures_drop(struct measures *ms, struct session *s);

/* The directory, or the set of attached objects, has changed. */
void measures_follow_soon(struct measures *ms);

void measures_branch_lost(struct measures *ms, uint32_t branch);

/* From branches. ERR_NOTFOUND: there is no such measurement; ERR_PROTO, ERR_DENIED. */
int measures_loaded(struct measures *ms, uint32_t branch, const struct msg_flow_ack *a,
		    struct err *e);
int measures_batch(struct measures *ms, uint32_t branch, const struct msg_flow_batch *b,
		   struct err *e);

struct measures_stats {
	size_t defined, running;
	uint64_t reads, late_reads; /* late: closed by the end of the grace */
	/* routes: how often the branches of a graph were determined */
	uint64_t plans, refused_plans, routes;
	uint64_t strays; /* batches of unknown links, or of earlier ones */
	uint64_t frames, bytes; /* of received batches */
};

void measures_stats(const struct measures *ms, struct measures_stats *out);

extern const struct states measure_states;

#endif
