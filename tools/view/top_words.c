/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view/top_words.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "tools/term/ranges.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LINE_BYTES TOP_WAIT_LINE_BYTES
#define RANGES_MAX 6

struct report {
	void (*fn)(void *arg, const struct top_word *w);
	void *arg;
	size_t urgent;
};

static void say(struct report *to, enum top_word_kind kind, const char *of, const char *text)
{
	to->fn(to->arg, &(struct top_word){ kind, of, text });
	to->urgent += kind != TOP_WORD_PLAIN;
}

/* --- hangs */

static void on_wait(void *arg, const struct top_wait *w)
{
	char line[LINE_BYTES];

	say(arg, TOP_WORD_HANG, w->job, top_wait_line(line, sizeof(line), w));
}

/* --- jobs */

/* The ranks of a job that have rates, by computing time, the longest first. */
struct job {
	const char *name;
	const struct top_rank **rank; /* owned */
	size_t n;
};

static bool has_rates(const struct top_rank *r)
{
	return r->rank >= 0 && !isnan(r->mpi) && !top_rank_has_ended(r);
}

static double computes(const struct top_rank *r)
{
	return r->mpi < 100 ? 100 - r->mpi : 0;
}

static int longest_first(const void *pa, const void *pb)
{
	const struct top_rank *a = *(const struct top_rank *const *)pa;
	const struct top_rank *b = *(const struct top_rank *const *)pb;

	if (computes(a) != computes(b))
		return computes(a) > computes(b) ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static bool collect(const struct top_sample *s, const char *name, struct job *j)
{
	*j = (struct job){ .name = name, .rank = calloc(s->nrank + 1, sizeof(*j->rank)) };
	for (size_t i = 0; j->rank && i < s->nrank; i++)
		if (has_rates(&s->rank[i]) && str_eq(s->rank[i].job, name))
			j->rank[j->n++] = &s->rank[i];
	if (j->rank)
		qsort(j->rank, j->n, sizeof(*j->rank), longest_first);
	return j->rank != NULL;
}

static double mean_mpi(const struct job *j, size_t first)
{
	double sum = 0;

	for (size_t i = first; i < j->n; i++)
		sum += j->rank[i]->mpi;
	return j->n > first ? sum / (double)(j->n - first) : 0;
}

/* The class with the most time, over the ranks from `first` on. */
static const char *largest_class(const struct job *j, size_t first)
{
	size_t best = TOP_OTHER;
	double most = -1;

	for (size_t k = 0; k < TOP_CLASSES; k++) {
		double sum = 0;

		for (size_t i = first; i < j->n; i++)
			sum += isnan(j->rank[i]->share[k]) ? 0 : j->rank[i]->share[k];
		if (sum > most) {
			most = sum;
			best = k;
		}
	}
	return top_class_names[best];
}

/* Returns how many of the first ranks are separate from the rest, at most a quarter. 0: none. */
static size_t slow_ones(const struct job *j)
{
	size_t best = 0, most = j->n / 4 ? j->n / 4 : 1;
	double widest = TOP_SLOW_POINTS;

	for (size_t k = 1; k <= most && k < j->n; k++) {
		double gap = computes(j->rank[k - 1]) - computes(j->rank[k]);

		if (gap > widest) {
			widest = gap;
			best = k;
		}
	}
	return best && mean_mpi(j, best) >= TOP_SLOW_MPI ? best : 0;
}

static void name_ranks(const struct top_sample *s, const struct job *j, size_t n, struct buf *out)
{
	const struct top_node *node = top_node_find(s, j->rank[0]->node);
	int64_t *rank = calloc(n, sizeof(*rank));

	for (size_t i = 0; rank && i < n; i++)
		rank[i] = j->rank[i]->rank;
	buf_puts(out, n == 1 ? "rank " : "ranks ");
	if (rank) {
		qsort(rank, n, sizeof(*rank), array_order_int64);
		ranges_put(out, rank, n, RANGES_MAX);
	}
	if (n == 1 && node)
		buf_printf(out, " on %s", node->name);
	free(rank);
}

static void say_slow(struct report *to, const struct top_sample *s, const struct job *j, size_t n)
{
	struct buf line = BUF_INIT(LINE_BYTES);
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += computes(j->rank[i]);
	buf_printf(&line, "%s: ", j->name);
	name_ranks(s, j, n, &line);
	buf_printf(&line,
		   " compute%s %.0f %% of the time, the others %.0f %%: they wait, most in %s",
		   n == 1 ? "s" : "", sum / (double)n, 100 - mean_mpi(j, n), largest_class(j, n));
	say(to, TOP_WORD_SLOW, j->name, buf_str(&line));
	buf_done(&line);
}

static void say_plain(struct report *to, const struct job *j)
{
	char line[LINE_BYTES];
	double mpi = mean_mpi(j, 0);
	const char *class = largest_class(j, 0);

	snprintf(line, sizeof(line), "%s: %zu rank%s, %.0f %% of the time in MPI%s%s%s",
		 j->name[0] ? j->name : "job without a name", j->n, j->n == 1 ? "" : "s", mpi,
		 mpi >= 1 ? ", most in " : "", mpi >= 1 ? class : "",
		 j->n > 1 ? "; no rank stands out" : "");
	say(to, TOP_WORD_PLAIN, j->name, line);
}

/* True: rank `at` is the first of its job in the sample. */
static bool is_first_of_job(const struct top_sample *s, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (str_eq(s->rank[i].job, s->rank[at].job))
			return false;
	return true;
}

/*
 * Finds the job whose first rank is rank `at`. Returns false if it is not a first rank, or without
 * memory.
 */
static bool take_job(const struct top_sample *s, size_t at, struct job *j)
{
	if ((at && str_eq(s->rank[at].job, s->rank[at - 1].job)) || !is_first_of_job(s, at))
		return false;
	return collect(s, s->rank[at].job, j);
}

void top_mark_slow(struct top_sample *s)
{
	for (size_t i = 0; i < s->nrank; i++) {
		struct job j;

		if (!take_job(s, i, &j))
			continue;
		for (size_t n = slow_ones(&j); n > 0; n--)
			s->rank[j.rank[n - 1] - s->rank].is_slow = true;
		free(j.rank);
	}
}

static void each_job(struct report *to, const struct top_sample *s, bool is_plain)
{
	for (size_t i = 0; i < s->nrank; i++) {
		struct job j;
		size_t slow;

		if (!take_job(s, i, &j))
			continue;
		slow = slow_ones(&j);
		if (slow && !is_plain)
			say_slow(to, s, &j, slow);
		else if (j.n && !slow && is_plain)
			say_plain(to, &j);
		free(j.rank);
	}
}

/* --- hosts */

static bool is_starved(const struct top_node *n)
{
	return n->running > TOP_STARVED_TASKS * n->cpus && n->cpu_some > TOP_STARVED_PRESSURE;
}

bool top_node_is_full(const struct top_node *n)
{
	return is_starved(n) || n->memory_full > TOP_MEMORY_PRESSURE ||
	       n->io_full > TOP_IO_PRESSURE;
}

/* One line for all of them, with the worst. */
static void say_starved(struct report *to, const struct top_sample *s)
{
	const struct top_node *worst = NULL;
	char line[LINE_BYTES], others[48] = "";
	size_t n = 0;

	for (size_t i = 0; i < s->nnode; i++) {
		const struct top_node *at = &s->node[i];

		if (!is_starved(at))
			continue;
		n++;
		if (!worst || at->running / at->cpus > worst->running / worst->cpus)
			worst = at;
	}
	if (!worst)
		return;
	if (n > 1)
		snprintf(others, sizeof(others), " and %zu more host%s", n - 1, n == 2 ? "" : "s");
	snprintf(line, sizeof(line),
		 "%s%s: %.0f tasks want %.0f processor%s (CPU pressure %.0f %%)", worst->name,
		 others, worst->running, worst->cpus, worst->cpus == 1 ? "" : "s", worst->cpu_some);
	say(to, TOP_WORD_STARVED, worst->name, line);
}

static void judge_node(struct report *to, const struct top_node *n)
{
	char line[LINE_BYTES];

	if (n->memory_full > TOP_MEMORY_PRESSURE) {
		snprintf(line, sizeof(line), "%s: tasks wait for memory %.0f %% of the time",
			 n->name, n->memory_full);
		say(to, TOP_WORD_STARVED, n->name, line);
	}
	if (n->io_full > TOP_IO_PRESSURE) {
		snprintf(line, sizeof(line), "%s: tasks wait for disks %.0f %% of the time",
			 n->name, n->io_full);
		say(to, TOP_WORD_STARVED, n->name, line);
	}
}

static void say_ended(struct report *to, const struct top_sample *s)
{
	char line[LINE_BYTES];

	if (s->nrank)
		return;
	if (top_is_partial(s)) {
		say(to, TOP_WORD_PLAIN, "",
		    "not all hosts have answered: what runs there is not known");
		return;
	}
	if (s->nended)
		snprintf(line, sizeof(line),
			 "%zu process%s ended, none runs; --all shows their last values", s->nended,
			 s->nended == 1 ? " has" : "es have");
	else
		snprintf(line, sizeof(line),
			 "no process is watched: omig run -- mpirun -np 4 ./program starts one");
	say(to, TOP_WORD_ENDED, "", line);
}

void top_words(const struct top_sample *s, void (*fn)(void *arg, const struct top_word *w),
	       void *arg)
{
	struct report to = { fn, arg, 0 };

	say_ended(&to, s);
	top_waits(s, on_wait, &to);
	each_job(&to, s, false);
	say_starved(&to, s);
	for (size_t i = 0; i < s->nnode; i++)
		judge_node(&to, &s->node[i]);
	each_job(&to, s, true);
}

const char *top_word_name(enum top_word_kind kind)
{
	static const char *const names[] = { "plain", "hang", "slow", "starved", "ended" };

	return names[kind];
}
