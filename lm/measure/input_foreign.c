/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processors of the host that were busy with anything but watched processes since the last sample:
 * the busy time of all processors, less that of each watched process.
 */
#include "common/base/array.h"
#include "lm/measure/input_internal.h"

#include <math.h>
#include <stdlib.h>

/* A watched process at the last sample. */
struct used {
	int32_t pid;
	uint64_t start;
	double seconds;
	bool has_ended;
};

/* Processes are in the order of their registration, as in procs_all(). */
struct foreign {
	struct used *proc;
	size_t n, cap;
	double busy; /* seconds of all processors */
	nsec_t at;
};

/* Busy seconds of watched processes between two samples. */
struct ours {
	double seconds, error;
};

void foreign_free(struct foreign *f)
{
	if (f)
		free(f->proc);
	free(f);
}

static bool busy_seconds(const struct input_moment *m, double *out)
{
	const struct host_counts *c = sampler_counts(m->sampler);

	if (!c || c->v[HOST_CPU_USER] < 0 || c->v[HOST_CPU_SYSTEM] < 0)
		return false;
	*out = (double)(c->v[HOST_CPU_USER] + c->v[HOST_CPU_SYSTEM]) * CPU_STEP_S;
	return true;
}

/* Processes that have ended keep what they had used as far as it was seen. */
static bool look(const struct input_moment *m, const struct proc *p, struct host_figures *out)
{
	if (!p->held)
		*out = p->figures;
	else if (host_figures(m->host, p->pid, HOST_FIGURES_STAT, out, NULL))
		return false;
	return out->user_s >= 0 && out->system_s >= 0;
}

static int keep(struct foreign *to, const struct proc *p, double seconds)
{
	int rc = array_grow(&to->proc, &to->cap, to->n + 1, sizeof(*to->proc),
			    PROCS_MAX + PROCS_ENDED_MAX);

	if (!rc)
		to->proc[to->n++] = (struct used){
			.pid = p->pid,
			.start = p->start,
			.seconds = seconds,
			.has_ended = !p->held,
		};
	return rc;
}

/* *at: behind the one found last. */
static const struct used *find_last(const struct foreign *last, size_t *at, const struct proc *p)
{
	for (size_t i = *at; i < last->n; i++) {
		if (last->proc[i].pid != p->pid || last->proc[i].start != p->start)
			continue;
		*at = i + 1;
		return &last->proc[i];
	}
	return NULL;
}

/* Seconds that the process may have used in that time, in which it was not seen. */
static double unseen(const struct host_figures *f, double span)
{
	return span * (f->threads > 1 ? (double)f->threads : 1);
}

/* Adds what p used since the last sample, `span` seconds ago. */
static void add(struct ours *sum, const struct proc *p, const struct used *before,
		const struct host_figures *f, double span)
{
	double now = f->user_s + f->system_s;
	bool is_new = f->age_s >= 0 && f->age_s < span;

	if (before && before->has_ended)
		return;
	if (!p->held && p->figures_at < p->ended_at)
		sum->error += unseen(f, span);
	if (!before && !is_new) { /* used partly before the last sample */
		sum->error += fmin(now, unseen(f, span));
		return;
	}
	sum->seconds += fdim(now, before ? before->seconds : 0);
	sum->error += 2 * CPU_STEP_S;
}

static int take(struct foreign *now, const struct foreign *last, const struct input_moment *m,
		struct ours *sum)
{
	double span = (double)(now->at - last->at) * 1e-9;
	size_t at = 0;

	list_each (i, procs_all(m->procs)) {
		const struct proc *p = list_entry(i, struct proc, link);
		struct host_figures f;
		int rc;

		if (!look(m, p, &f))
			continue;
		add(sum, p, find_last(last, &at, p), &f, span);
		rc = keep(now, p, f.user_s + f.system_s);
		if (rc)
			return rc;
	}
	return 0;
}

bool foreign_sample(struct input *in, const struct input_moment *m, struct measurement_value *v)
{
	struct foreign *last = in->foreign, *next = calloc(1, sizeof(*next));
	const struct foreign none = { .at = m->now };
	struct ours sum = { 0 };
	double span;

	if (!next || !m->procs || !busy_seconds(m, &next->busy)) {
		free(next);
		return false;
	}
	next->at = m->now;
	if (take(next, last ? last : &none, m, &sum)) {
		foreign_free(next);
		return false;
	}
	in->foreign = next;
	span = last ? (double)(next->at - last->at) * 1e-9 : 0;
	if (span > 0) {
		v->value = fdim(next->busy - last->busy, sum.seconds) / span;
		v->error = (2 * CPU_STEP_S + sum.error) / span;
	}
	foreign_free(last);
	return span > 0;
}
