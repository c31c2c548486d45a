/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layered queueing models: tasks with threads run on processors. An entry of a task needs time of
 * its processor. It calls entries of other tasks, for which its thread waits. Reference tasks are
 * the clients: each thread thinks, then calls. Source: Rolia and Sevcik, IEEE TSE 21(8), 1995.
 *
 * An invocation has two phases: its caller continues after the first one. The time of a phase on
 * the processor is divided into slices, one more than calls. Numbers of calls are geometric, unless
 * a phase is fixed.
 */
#ifndef MODEL_LAYERED_LAYERED_H
#define MODEL_LAYERED_LAYERED_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "model/queue/network.h"

#include <stdbool.h>
#include <stddef.h>

#define LAYERED_PROCESSORS_MAX 1000
#define LAYERED_TASKS_MAX 1000 /* a class each: NETWORK_CLASSES_MAX */
#define LAYERED_ENTRIES_MAX 5000
#define LAYERED_CALLS_MAX 50000
/* of all layers, and steps between them: some 5 s. A small model that swings reaches it, too */
#define LAYERED_WORK_MAX 3e8
#define LAYERED_NAME_BYTES 64
#define LAYERED_NUMBER_MAX 1e12 /* of a time or a number of calls */
#define LAYERED_CV2_MAX 1e4 /* means of more spread are unusable: LAW_CV_MAX squared */

struct layered_processor {
	char name[LAYERED_NAME_BYTES];
	enum station_kind kind; /* STATION_SHARED for PS, STATION_FCFS, STATION_DELAY if infinite */
	unsigned servers;
	double speed; /* demands are divided by it */
};

struct layered_task {
	char name[LAYERED_NAME_BYTES];
	size_t processor;
	bool is_reference;
	bool is_infinite; /* a thread for each request */
	unsigned threads; /* or clients, of a reference task */
	double think; /* reference task: before each cycle */
	size_t layer; /* 0 for reference tasks; set by layered_check() */
};

#define LAYERED_PHASES 2

struct layered_phase {
	double demand; /* time of the processor, of an invocation */
	/* of the demand; NaN: that end is unknown. level 0: the demand is exact; 1: sure bounds */
	double low, high, level;
	double think; /* a delay besides */
	double cv2; /* squared coefficient of variation of a slice; 1: exponential */
	bool is_fixed; /* calls have exactly their numbers, in the order of the calls */
};

struct layered_entry {
	char name[LAYERED_NAME_BYTES];
	size_t task;
	struct layered_phase phase[LAYERED_PHASES];
	double arrivals; /* of open requests, in a unit of time */
};

enum layered_call_kind {
	LAYERED_WAIT, /* the caller waits for the first phase */
	LAYERED_SEND, /* without a reply */
	LAYERED_FORWARD, /* at the end of the first phase; the called entry replies */
};

struct layered_call {
	size_t from, to; /* entries */
	enum layered_call_kind kind;
	double count[LAYERED_PHASES]; /* mean number in an invocation; to forward: probability */
};

struct layered {
	struct layered_processor *processor; /* owned, as the next ones */
	size_t nprocessor, processor_cap;
	struct layered_task *task;
	size_t ntask, task_cap;
	struct layered_entry *entry;
	size_t nentry, entry_cap;
	struct layered_call *call;
	size_t ncall, call_cap;
};

void layered_done(struct layered *m);

/*
 * Checks that tasks call no circle of tasks, that something starts work, and that numbers of calls
 * are possible. Sets the layers. ERR_INVALID with names in the text.
 */
int layered_check(struct layered *m, struct err *e);

/*
 * Reads the text form of LQNS models (.lqn) and checks the model. The sections are G, P, T and E:
 *
 *	p   disciplines f, p and i
 *	t   kinds r, n, f and i
 *	s   times of phases
 *	c   squared coefficients of variation of slices
 *	f   1 for phases with a fixed number of calls
 *	y   calls that wait
 *	z   calls without a reply
 *	F   probability to forward
 *	a   rate of open arrivals
 *	Z   delays
 *
 * A comment "#interval ENTRY PHASE LOW HIGH LEVEL" at the begin of a line is read, too: an interval
 * of a demand, with "-" for an unknown end. LQNS skips it.
 *
 * ERR_PARSE: another word. ERR_UNSUPPORTED: one of LQNS that is not served here. Both have line and
 * column. ERR_INVALID, ERR_LIMIT, ERR_NOMEM.
 */
int layered_read_lqn(const char *text, size_t n, struct layered *out, struct err *e);

/*
 * The same for the XML form of LQNS (.lqnx): entries with phases, no activities of tasks. Elements
 * of results, of parameters of the solver, and comments are skipped. A comment may have an interval
 * of a demand: "interval ENTRY PHASE LOW HIGH LEVEL".
 *
 * It is a strict reader of the part of XML that such files use: no DTD, no CDATA, no text between
 * elements, the five named entities, at most XML_DEPTH_MAX levels.
 */
int layered_read_lqnx(const char *text, size_t n, struct layered *out, struct err *e);

/* One of both: XML begins with "<". */
int layered_read(const char *text, size_t n, struct layered *out, struct err *e);

/*
 * Write texts that read back as m. In XML, tasks stand below their processors, and calls below
 * their entries, in their order. ERR_UNSUPPORTED: a name has a blank and a quote, which .lqn has no
 * way to write. A failure of `out` is for the caller.
 */
int layered_write_lqn(const struct layered *m, struct buf *out, struct err *e);
void layered_write_lqnx(const struct layered *m, struct buf *out);

struct layered_result {
	double *task_throughput; /* owned; cycles or requests */
	double *task_busy; /* owned; mean number of threads in use */
	double *task_response; /* owned; of reference tasks a cycle without its think time */
	double *entry_service; /* owned; how long a thread is held by an invocation */
	double *entry_throughput; /* owned */
	double *entry_response; /* owned; of open arrivals, to the reply */
	double *processor_busy; /* owned; mean number of servers in use */
	unsigned steps;
};

/*
 * Solves by layers: each layer is a network whose classes are the calling tasks and open requests.
 * The think time of a task is what it does elsewhere. Layers are repeated until no throughput
 * changes. ERR_LIMIT: they do not converge, or not within LAYERED_WORK_MAX. ERR_INVALID: a cycle
 * takes no time. ERR_NOMEM.
 */
int layered_solve(const struct layered *m, struct layered_result *out, struct err *e);
void layered_result_done(struct layered_result *r);

/*
 * Asymptotic bound of the throughput of a reference task: from the time of a cycle without waiting,
 * and from each processor. Other reference tasks are taken as idle. NaN without memory.
 */
double layered_bound(const struct layered *m, size_t task);

#endif
