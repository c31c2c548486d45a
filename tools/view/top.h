/* SPDX-License-Identifier: Apache-2.0 */
/* A sample for `omig top`: ranks and nodes, and rates between two samples. */
#ifndef TOOLS_VIEW_TOP_H
#define TOOLS_VIEW_TOP_H

#include "common/base/clock.h"
#include "tools/libomis/omis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The classes of calls, in the order of omig_calls_read and the built-in metrics. */
enum top_class {
	TOP_SEND,
	TOP_RECEIVE,
	TOP_MESSAGE_PROBE,
	TOP_WAIT,
	TOP_COLLECTIVE,
	TOP_BARRIER,
	TOP_ONESIDED,
	TOP_ONESIDED_SYNC,
	TOP_IO,
	TOP_COMMUNICATOR,
	TOP_OTHER,
	TOP_CLASSES
};
extern const char *const top_class_names[TOP_CLASSES];
enum top_class top_class_of(const char *name);

enum top_state { TOP_RUN, TOP_BLOCKED, TOP_READY, TOP_ZOMBIE, TOP_STOPPED, TOP_ENDED, TOP_SILENT };

#define TOP_TOKEN_BYTES 64
#define TOP_NAME_BYTES 64

/* The current call of a rank: of its main thread, or of the first one that is known. */
enum top_call_state { TOP_CALL_IN, TOP_CALL_ASKS, TOP_CALL_OUT, TOP_CALL_UNKNOWN };
enum top_call_kind { TOP_CALL_OTHER, TOP_CALL_SENDS, TOP_CALL_RECEIVES, TOP_CALL_TOGETHER };

#define TOP_PARTNER_UNKNOWN (-1) /* any, or unknown to the monitor */

struct top_call {
	char name[TOP_NAME_BYTES];
	enum top_call_state state;
	enum top_call_kind kind;
	double seconds; /* time in that state; a lower bound unless is_exact */
	bool is_exact;
	int64_t partner, tag; /* world rank; or TOP_PARTNER_UNKNOWN, or less: none */
	int64_t source, source_tag; /* receiving part of a Sendrecv; partner: the destination */
	bool is_of_world; /* its communicator is MPI_COMM_WORLD */
};

struct top_rank {
	char token[TOP_TOKEN_BYTES];
	char node[TOP_TOKEN_BYTES];
	char program[TOP_NAME_BYTES];
	int64_t rank, pid; /* rank -1: not in MPI (yet) */
	int64_t state; /* enum top_state, or what a later monitor adds */
	double cpu_s, rss_bytes; /* NaN: not known */
	struct top_call call;
	/* lower bound of the time for which all its threads wait; 0: they do not, or unknown */
	double stuck_s;
	char job[TOP_NAME_BYTES]; /* "": not known, as world_size 0 */
	int64_t world_size;
	/* totals since counting began; time_ns 0: nothing counted yet */
	int64_t time_ns;
	double calls, delay_ns[TOP_CLASSES], bytes_out, bytes_in;
	double class_calls[TOP_CLASSES], class_out[TOP_CLASSES], class_in[TOP_CLASSES];
	/* between two samples; NaN without an earlier one */
	double share[TOP_CLASSES], mpi, calls_s, messages_s, out_s, in_s, cpu;
	bool is_slow; /* top_mark_slow() */
};

struct top_node {
	char token[TOP_TOKEN_BYTES];
	char name[TOP_NAME_BYTES];
	double load, running, cpus, mem_bytes, mem_used_bytes;
	/* pressure, % of 10 s; NaN: the host does not report it */
	double cpu_some, memory_some, io_some, memory_full, io_full;
};

struct top_sample {
	struct top_rank *rank; /* owned, as are the nodes */
	size_t nrank, rank_cap;
	size_t nended; /* removed by top_drop_ended() */
	struct top_node *node;
	size_t nnode, node_cap;
	size_t cursor; /* expected place of the next rank while a reply is read */
	bool is_indexed; /* ranks are in the order of their tokens */
	nsec_t wall; /* time of the sample */
	Omis_reply reply; /* owned; with the coverage. NULL: no reply */
};

void top_sample_done(struct top_sample *s);

/*
 * Attaches new objects, switches counting on for new processes, reads everything. Returns an exit
 * status and reports failures. before (may be NULL) is used for rates.
 */
int top_sample_take(struct top_sample *s, const struct top_sample *before, const char *job);

/* The same without switching counting on, and without rates. job: NULL is all. */
int top_sample_read(struct top_sample *s, const char *job);

/*
 * Switches counting on (what: as for omig_calls_enable) for processes in s and not in before (may
 * be NULL).
 */
int top_sample_enable(const struct top_sample *s, const struct top_sample *before,
		      const char *what);

/*
 * The same in two steps, for a program that serves others meanwhile: fn gets the reply, which may
 * be an error, and owns it. job (NULL: all) is the name that mainsm knows.
 */
void top_sample_ask(const char *job, void (*fn)(Omis_reply r, void *arg), void *arg);

/*
 * Makes the sample of that reply, switches counting on for new processes, and consumes r. Their
 * rates begin with the next sample but one. False: r is an error, and *s is empty.
 */
bool top_sample_make(struct top_sample *s, Omis_reply r, const struct top_sample *before);

/*
 * Called before its use as `before`: indexes thousands of ranks by their tokens. Changes their
 * order.
 */
void top_index(struct top_sample *s);

/* Switches this tool's counting off again. */
void top_sample_stop(void);

enum top_sort {
	TOP_BY_RANK,
	TOP_BY_MPI,
	TOP_BY_FOR, /* how long it has been in its call */
	TOP_BY_CALLS,
	TOP_BY_BYTES,
	TOP_BY_CPU,
	TOP_BY_RSS,
	TOP_SORTS
};
extern const char *const top_sort_names[TOP_SORTS];
void top_sort(struct top_sample *s, enum top_sort by);

const struct top_node *top_node_find(const struct top_sample *s, const char *token);
const struct top_rank *top_rank_find(const struct top_sample *s, const char *token);

/* True if the rank has ended; its last counters may still be read. */
bool top_rank_has_ended(const struct top_rank *r);
/* Hosts were silent: what is not in the sample may run all the same. */
bool top_is_partial(const struct top_sample *s);

/* Removes ranks that have ended from the sample. */
void top_drop_ended(struct top_sample *s);

/* Returns total, or NaN for a process without counted calls, which is not 0. */
double top_counted(const struct top_rank *r, double total);

/* "run", "wait", ... for a state. */
const char *top_state_name(int64_t state);

#endif
