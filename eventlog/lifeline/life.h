/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lifelines: events that have the same key (a block, a request) form a line through its stages; two
 * consecutive events form a step. Events without a key are loads if they have numbers, otherwise
 * marks. Pure: converts events to a model.
 */
#ifndef EVENTLOG_LIFELINE_LIFE_H
#define EVENTLOG_LIFELINE_LIFE_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "eventlog/evread.h"

/*
 * An event needs 16 bytes here, 32 while it is sorted: some 2 GiB, the memory of a desktop. More
 * events need a shorter range.
 */
#define LIFE_EVENTS_MAX (64u << 20)
#define LIFE_STAGES_MAX 64 /* rows that fit on a screen; further stages are only counted */
#define LIFE_KEYS_MAX 8 /* fields that identify a line together */
#define LIFE_SERIES_MAX 64 /* load lines that fit on a screen */
/* Events farther than 73 years from 1970 are left out, so that differences fit. */
#define LIFE_WALL_MAX_NS (INT64_C(1) << 61)
#define LIFE_KEY_MAX_BYTES 1024 /* a name, not a text; longer keys are cut */

struct life_options {
	/* fields of the key; none: guid, id, ID or a name in .id, the first that an event has */
	const char *key[LIFE_KEYS_MAX];
	unsigned nkey;
	/* stages in this order; none: in the order in which lines pass them */
	const char *stage[LIFE_STAGES_MAX];
	unsigned nstage;
	/*
	 * Range of times; events outside are left out. Times since 1970, or since the first event
	 * (is_relative).
	 */
	nsec_t from, to;
	bool is_from_relative, is_to_relative;
	/*
	 * Selects lines that have an event which fulfils it. Loads and marks remain. NULL: all
	 * lines.
	 */
	bool (*where)(const void *arg, const struct event *ev);
	const void *where_arg;
};

struct life_stage {
	const char *name;
	uint64_t events;
	uint64_t missing; /* number of lines that lack it, if it is expected */
	bool is_expected; /* most lines of its kind have it */
	/* lines of its kind begin with it, so that its repetition begins the next line */
	bool is_head;
	unsigned kind; /* kind: stages that occur together in lines; a number below nstage */
};

struct life_point {
	nsec_t at; /* time since the model's start */
	uint32_t key;
	uint32_t stage;
};

/*
 * Points first .. first + n - 1, by time. A key has several lines if its first stage is repeated.
 */
struct life_line {
	nsec_t at; /* time of the first point */
	size_t first;
	uint32_t key, n;
};

/*
 * A step from one stage to another, over all lines. Times are in ns. Negative ones are due to
 * clocks that differ.
 */
struct life_step {
	unsigned a, b;
	char *name; /* X for X.start to X.end; otherwise "a > b", with an arrow */
	uint64_t n;
	nsec_t median, p95, max;
	double sum, share; /* share: fraction of the time of all lines */
};

struct life_sample {
	nsec_t at;
	double value;
};

/* A load line, or (is_marks) events without values. */
struct life_series {
	char *name;
	bool is_marks;
	struct life_sample *sample; /* by time; values are finite */
	size_t n, cap;
	double min, max;
};

struct life_model {
	nsec_t start, end; /* wall times of the first and the last selected event */
	struct life_stage *stage;
	unsigned nstage;
	struct life_point *point;
	size_t npoint;
	struct life_line *line; /* by the time of the first point */
	size_t nline;
	char **key; /* UTF-8 without control characters */
	size_t nkey;
	struct life_step *step; /* the largest share is first */
	size_t nstep;
	struct life_series *series; /* loads, then marks, by name */
	size_t nseries;
	uint64_t events; /* events that were passed in */
	uint64_t outside; /* events outside of the requested times, stages or lines */
	uint64_t unshown; /* events of stages or loads beyond the limits */
	uint64_t complete; /* lines that have all expected stages */
	/* lines with a step against the order of the stages, as their clocks differ */
	uint64_t backward;
};

struct life;

/* The strings of *w are borrowed until life_free(). Returns NULL without memory. */
struct life *life_new(const struct life_options *w);
void life_free(struct life *l);

/* Adds an event. Fails with ERR_LIMIT, ERR_NOMEM. */
int life_event(struct life *l, const struct event *ev, struct err *e);

/* Called once, after the last event. *out is valid until life_free(). Fails with ERR_NOMEM. */
int life_finish(struct life *l, const struct life_model **out, struct err *e);

#endif
