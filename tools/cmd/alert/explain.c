/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cmd/alert/explain.h"

#include "common/base/str.h"
#include "tools/session/session.h"
#include "tools/libomis/tree_fields.h"
#include "tools/view/top.h"
#include "tools/view/top_waits.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#define LOOK_NS NSEC_PER_SEC

/* --- ranks, between two samples */

struct most {
	double value, sum;
	size_t n;
	int64_t rank;
};

static double value_of(enum condition_kind kind, const struct top_rank *r)
{
	if (kind == CONDITION_IMBALANCE)
		return 1 - r->mpi / 100;
	return kind == CONDITION_MPI ? r->mpi : r->rss_bytes;
}

static struct most find_most(enum condition_kind kind, const struct top_sample *s)
{
	struct most m = { .value = (double)NAN, .rank = -1 };

	for (size_t i = 0; i < s->nrank; i++) {
		double v = value_of(kind, &s->rank[i]);

		if (isnan(v) || s->rank[i].rank < 0 || top_rank_has_ended(&s->rank[i]))
			continue;
		m.sum += v;
		m.n++;
		if (!isnan(m.value) && v <= m.value)
			continue;
		m.value = v;
		m.rank = s->rank[i].rank;
	}
	return m;
}

static bool look(const char *job, struct top_sample *before, struct top_sample *now)
{
	if (top_sample_take(before, NULL, job) != CMD_OK)
		return false;
	nanosleep(&(struct timespec){ LOOK_NS / NSEC_PER_SEC, 0 }, NULL);
	top_index(before);
	return top_sample_take(now, before, job) == CMD_OK;
}

static void say_most(enum condition_kind kind, const struct most *m, char *out)
{
	double mean = m->n ? m->sum / (double)m->n : (double)NAN;

	if (m->rank < 0)
		return;
	if (kind == CONDITION_IMBALANCE)
		snprintf(out, EXPLAIN_BYTES, "(rank %lld computes %.2f, mean %.2f)",
			 (long long)m->rank, m->value, mean);
	else if (kind == CONDITION_MPI)
		snprintf(out, EXPLAIN_BYTES, "(rank %lld %.0f %%)", (long long)m->rank, m->value);
	else
		snprintf(out, EXPLAIN_BYTES, "(rank %lld)", (long long)m->rank);
}

static void explain_ranks(enum condition_kind kind, const char *job, char *out, int64_t *rank)
{
	struct top_sample before = { 0 }, now = { 0 };
	char words[256] = "";

	cmd_hush(words, sizeof(words));
	if (look(job, &before, &now)) {
		struct most m = find_most(kind, &now);

		say_most(kind, &m, out);
		*rank = m.rank;
	}
	top_sample_stop();
	cmd_hush(NULL, 0);
	top_sample_done(&before);
	top_sample_done(&now);
}

/* --- waits without progress */

struct hang {
	nsec_t for_ns;
	char *out;
	bool is_one;
};

static void on_wait(void *arg, const struct top_wait *w)
{
	struct hang *h = arg;
	char line[TOP_WAIT_LINE_BYTES];

	if (h->is_one || w->seconds * 1e9 < (double)h->for_ns)
		return;
	h->is_one = true;
	snprintf(h->out, EXPLAIN_BYTES, "%s", top_wait_line(line, EXPLAIN_BYTES, w));
}

static bool explain_hang(const char *job, nsec_t for_ns, char *out)
{
	struct hang h = { for_ns, out, false };
	struct top_sample s = { 0 };

	if (top_sample_read(&s, job) == CMD_OK)
		top_waits(&s, on_wait, &h);
	top_sample_done(&s);
	return h.is_one;
}

bool explain(enum condition_kind kind, const char *job, nsec_t for_ns, char out[EXPLAIN_BYTES],
	     int64_t *rank)
{
	switch (kind) {
	case CONDITION_IMBALANCE:
	case CONDITION_MPI:
	case CONDITION_RSS:
		explain_ranks(kind, job, out, rank);
		return true;
	case CONDITION_HANG:
		return explain_hang(job, for_ns, out);
	case CONDITION_SILENT:
		snprintf(out, EXPLAIN_BYTES, "some processes or hosts give no value: omig status");
		return true;
	default:
		return true;
	}
}

bool explain_runs(const char *job)
{
	const Omis_value *o;
	Omis_value *tree;
	bool runs = false, is_known = session_ask_value(&tree, ":omig_tree()") == CMD_OK;

	for (size_t i = 0; is_known && (o = value_at(tree, i)); i++) {
		const char *state = value_text(o, TREE_STATE);

		runs |= (!job || str_eq(value_text(o, TREE_JOB), job)) &&
			value_int(o, TREE_PID) > 0 && !str_eq(state, "ended") &&
			!str_eq(state, "zombie");
	}
	if (is_known)
		omis_value_free(tree);
	return runs || !is_known;
}
