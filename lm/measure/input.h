/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An input of a measurement's graph: where its values come from on this
 * host. Counted and timed metrics are sums of cells that the rank writes, less
 * what they were when the measurement began; sampled ones are figures of
 * the system.
 */
#ifndef LM_MEASURE_INPUT_H
#define LM_MEASURE_INPUT_H

#include "common/flow/engine/flow.h"
#include "lm/proc/proc.h"
#include "lm/host/sampler.h"
#include "pmsl/check/builtin.h"

struct tickbase;

#define INPUT_PARTNERS_MAX 65536 /* as many as a world may have ranks for one metric to name */

/* A scale that two milliseconds of two clocks have given; after a second it is a hundred times
 * better. */
#define INPUT_SCALE_ERROR 3e-5

enum input_from {
	INPUT_TIME,
	INPUT_CALLS,
	INPUT_PROC,
	INPUT_NODE,
	INPUT_EVENT, /* what comes with a probe: its parameters, or that it was met */
};

struct watch;

struct input {
	const struct flow_source *source; /* borrowed from the graph */
	uint32_t place; /* in the engine */
	struct watch *watch; /* measurements_probe.c's */
	enum input_from from;
	struct pmsl_builtin metric;
	int figure; /* of INPUT_PROC and INPUT_NODE: input_figure.c's */
	int32_t *partner; /* owned, ascending world ranks; none: all */
	size_t npartner;
	unsigned *meter; /* owned: numbers in the process' segment; NULL: it is of no regions */
	size_t nmeter;
	int meter_rc; /* why there are none */
	struct proc *proc; /* NULL: not there, or gone */
	uint32_t hooks; /* bits that it wants of the calls that it counts */
	/* owned, SEG_THREADS_MAX: numbers of calls that move bytes; NULL where that does not
	 * matter */
	uint64_t *under_way;
	bool has_base, is_closed;
	nsec_t closed_at; /* system time */
	bool is_lost; /* closed, but its process runs on: what it does is unknown from here on */
	bool is_cut; /* an lm before us had begun to count, and took with it where that was */
	double base; /* the cells at the beginning */
	/* what the process had done when the input began, if it began by itself */
	double before, before_open;
	bool is_new; /* that counts */
	bool is_given; /* a read has had a value */
	bool is_late; /* the next value has what belongs to a read before */
	/* of calls that were under way then: when they end, time from before is in the value */
	double base_open;
	double seen; /* the last value; the final one when is_closed */
	bool has_seen;
	/* of a share: seconds of processor, and when; has_used: there was one before */
	double used;
	nsec_t used_at;
	bool has_used;
	double sample, sample_error; /* input_sample()'s: what was seen at sampled_at */
	nsec_t sampled_at;
	bool has_sample, knows_sample;
};

/* Now, for the calls below. */
struct input_moment {
	struct tickbase *ticks;
	struct sampler *sampler;
	struct host *host;
	double clock_error; /* of the system time, in seconds */
	nsec_t now; /* system time, */
	nsec_t start; /* as that of the measurement's */
};

/*
 * *in gets what the source means. ERR_UNSUPPORTED: this host does not have it, with the reason;
 * ERR_NOTFOUND: there is no such metric; ERR_LIMIT, ERR_NOMEM.
 */
int input_open(struct input *in, const struct flow_source *s, struct err *e);
void input_done(struct input *in);

/* Its values come with the events of a probe, and not for each read. */
static inline bool input_is_vt(const struct input *in)
{
	return in->source->probe[0];
}

/* A source of the same words: *in goes on where `from` was. */
bool input_is_same(const struct input *a, const struct input *b);
void input_continue(struct input *in, struct input *from);

/* Its process may be here, with a segment: asks the rank for what it is to count separately. */
void input_attach(struct input *in, struct tickbase *ticks);

/* Why its process does not have it; NULL: it has, or is not here. */
const char *input_fault(const struct input *in);

/* Adds what the input wants of the calls of its process to bits[call_count]. */
void input_add_hooks(const struct input *in, uint32_t *bits);

/* What comes together is counted from a base, that a next lm can go on from. Since the last read:
 * where all that a process ever did counts, the next lm has to know that it was counted. */
bool input_has_base(const struct input *in);

/* Which base that is: of the process (with its segment) or the node `object`. False: too long for a
 * key. */
bool input_base_key(const struct input *in, const char *object, char *out, size_t size);

/* From now on. is_new: the process has begun after the measurement: all that it ever did counts. */
void input_begin(struct input *in, const struct input_moment *m, bool is_new);

/*
 * It turns out that the process has begun after the measurement, or before it: what it had done
 * when the input began counts, or does not. A difference that a read has had stays in that read.
 * True: the base is another one.
 */
bool input_judge_again(struct input *in, bool is_new);

/* An lm before us had counted for reads of differences: what is before now is theirs. */
void input_go_on(struct input *in);

/* The process got another segment, whose cells begin at 0. */
void input_renew(struct input *in);

/*
 * Nothing more comes of the process. When it has ended the last value stays, if it is one that
 * comes together. When it is only no longer watched there is none.
 */
void input_close(struct input *in, const struct input_moment *m, bool has_ended);

/*
 * What is sampled, for an event at a probe at time `at`: what it is now, when the event comes to be
 * known. `error` covers what came since, where it has a limit. False: unknown.
 */
bool input_sample(struct input *in, const struct input_moment *m, nsec_t at, double *value,
		  double *error);

/*
 * The token for a read, without a value when there is none. FLOW_NONE_YET: a call goes on that
 * began before the last read and has its bytes at its end only; then their rate is that over all
 * its time.
 */
struct flow_token input_read(struct input *in, const struct input_moment *m, int64_t read);

#endif
