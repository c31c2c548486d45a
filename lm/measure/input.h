/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An input of a measurement's graph: the source of its values on this host. Counted and timed
 * metrics are sums of cells that the rank writes, minus their baselines. Sampled metrics are
 * counters of the system.
 */
#ifndef LM_MEASURE_INPUT_H
#define LM_MEASURE_INPUT_H

#include "common/flow/engine/flow.h"
#include "lm/proc/proc.h"
#include "lm/host/sampler.h"
#include "pmsl/check/builtin.h"

struct foreign;
struct plugged;
struct plugins;
struct tickbase;

#define INPUT_PARTNERS_MAX 65536 /* ranks that one metric can name as partners */

/* Error of a tick scale measured for 2 ms; after a second it is a hundred times smaller. */
#define INPUT_SCALE_ERROR 3e-5

enum input_from {
	INPUT_TIME,
	INPUT_CALLS,
	INPUT_PROC,
	INPUT_NODE,
	INPUT_EVENT, /* a probe: its parameters, or that it was executed */
};

struct watch;

/* Totals that the bound of a value by partners consists of. Differences of them have their own. */
struct input_parts {
	/* seconds of these partners, and of all others: shared out to them, possible for them, and
	 * of no known partner */
	struct input_shares {
		double shared, possible, unknown;
	} of_these, of_others;
	double unmatched; /* seconds of waits for requests whose partner is unknown */
	double lost; /* calls whose partner found no room */
	double open; /* seconds of calls under way, of any partner */
	double scale; /* error of the tick scale */
	double fixed; /* error independent of the time */
};

/* The kind that reads the same of calls with some partners. */
#define SEG_OF_PARTNERS(kind) ((enum seg_read_kind)((kind)-SEG_READ_CALLS + SEG_READ_PARTNER_CALLS))

struct input {
	const struct flow_source *source; /* borrowed from the graph */
	uint32_t place; /* number of its node in the engine */
	struct watch *watch; /* belongs to measurements_probe.c */
	enum input_from from;
	struct pmsl_builtin metric;
	int figure; /* of INPUT_PROC and INPUT_NODE: its row in input_figure.c */
	int32_t *partner; /* owned, ascending world ranks; none: all */
	size_t npartner;
	struct foreign *foreign; /* owned; the last sample of input_foreign.c; NULL: none yet */
	struct plugged *plugged; /* owned; of a plug-in (input_plugin.c); NULL: of none */
	unsigned *meter; /* owned: numbers in the segment; NULL: not by region */
	size_t nmeter;
	int meter_rc; /* why there are no meters */
	struct proc *proc; /* NULL: not on this host, or ended */
	uint32_t hooks; /* bits that it needs of the calls that it counts */
	/*
	 * owned, SEG_THREADS_MAX: numbers of calls in progress that move bytes; NULL if not needed
	 */
	uint64_t *under_way;
	bool has_base, is_closed;
	nsec_t closed_at; /* system time */
	bool is_lost; /* closed while the process runs: later values are unknown */
	bool is_cut; /* an lm before this one had begun to count; its baseline is lost */
	double base; /* sum of the cells at the beginning */
	/* totals of the process when the input began: value, and time in open calls */
	double before, before_open;
	bool is_new; /* the process began after the measurement: `before` counts */
	bool is_given; /* a read has used a value */
	bool is_late; /* the next value contains a part of an earlier read */
	/* time in calls that were open at the start: added to the cells when the calls end */
	double base_open;
	double seen; /* the last value; the final one when is_closed */
	double seen_error; /* error of that value, since the start */
	struct input_parts seen_parts;
	bool has_seen;
	/* start of the bound's count, as `base`; and the bound of an earlier segment */
	struct input_parts base_parts;
	double base_error;
	struct input_parts begun; /* when the input began, as `before` */
	struct input_parts last; /* parts at the last value, for a difference between reads */
	bool is_over; /* that was the final one */
	/* for a share: processor seconds at the last sample, and its time */
	double used;
	nsec_t used_at;
	bool has_used;
	double sample, sample_error; /* for input_sample(): the value at sampled_at */
	nsec_t sampled_at;
	bool has_sample, knows_sample;
};

/* The present moment, for the calls below. */
struct input_moment {
	struct tickbase *ticks;
	struct sampler *sampler;
	struct host *host;
	const struct procs *procs;
	double clock_error; /* error of the system time, in seconds */
	nsec_t now; /* system time */
	nsec_t start; /* start of the measurement, in system time */
};

/*
 * Fills *in from the source. ERR_UNSUPPORTED: this host lacks the metric, with the reason;
 * ERR_NOTFOUND: there is no such metric; ERR_LIMIT, ERR_NOMEM.
 */
int input_open(struct input *in, const struct flow_source *s, struct err *e);
void input_done(struct input *in);

/* True if its values arrive with the events of a probe, not at each read. */
static inline bool input_is_vt(const struct input *in)
{
	return in->source->probe[0];
}

/* True if the sources are equal. input_continue() moves the state of `from` to *in. */
bool input_is_same(const struct input *a, const struct input *b);
void input_continue(struct input *in, struct input *from);

/* Finds the process and its segment. The rank then counts separately what the input needs. */
void input_attach(struct input *in, struct tickbase *ticks);

/* Returns why the process lacks the metric; NULL: it has the metric, or is not on this host. */
const char *input_fault(const struct input *in);

/* Sets in bits[call_count] the hook bits that the input needs of each call. */
void input_add_hooks(const struct input *in, uint32_t *bits);

/*
 * True if the value accumulates from a baseline, from which the next lm can continue. This includes
 * values since the last read if the past of a process counts: the next lm must not count it again.
 */
bool input_has_base(const struct input *in);

/*
 * Writes the key of that baseline: of the process with its segment, or of the node `object`.
 * Returns false if it is too long.
 */
bool input_base_key(const struct input *in, const char *object, char *out, size_t size);

/* The plug-ins of this host; all is borrowed. plugins NULL: there are none. */
struct plugged_from {
	struct plugins *plugins;
	nsec_t (*now)(void *arg); /* system time */
	void *arg;
};

/* Requests the value of a plug-in for the next read. Other inputs need no request. */
void plugged_ask(struct input *in, const struct plugged_from *from);

/* True if a value has come that no read has used. */
bool plugged_is_new(const struct input *in);

/* Begins to count. is_new: the process began after the measurement, so all of its past counts. */
void input_begin(struct input *in, const struct input_moment *m, bool is_new);

/*
 * Corrects is_new when the clocks show that the process began after the measurement, or before.
 * Then its values before the input began count, or do not. A difference in an earlier read stays in
 * that read. Returns true if the baseline changed.
 */
bool input_judge_again(struct input *in, bool is_new);

/* For differences between reads: the previous lm has counted everything up to now. */
void input_go_on(struct input *in);

/* The process has another segment, whose cells begin at 0. */
void input_renew(struct input *in);

/*
 * Closes the input. If the process has ended, an accumulated value stays as the final one. If it is
 * only no longer watched, there is no value.
 */
void input_close(struct input *in, const struct input_moment *m, bool has_ended);

/*
 * Samples the value for an event of a probe at time `at`. The sample is taken now, when the event
 * arrives. *error covers the change since `at`, if it has a limit. Returns false if unknown.
 */
bool input_sample(struct input *in, const struct input_moment *m, nsec_t at, double *value,
		  double *error);

/*
 * Returns the token for a read, possibly without a value. FLOW_NONE_YET: an open call began before
 * the last read, and its bytes are known only at its end. Their rate is then that over the whole
 * call.
 */
struct flow_token input_read(struct input *in, const struct input_moment *m, int64_t read);

#endif
