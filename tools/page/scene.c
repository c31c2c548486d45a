/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/page/scene.h"

#include "common/base/str.h"
#include "tools/session/session.h"
#include "tools/term/ranges.h"
#include "tools/view/top_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TREE_EVERY 5 /* samples between two lists of all objects */
#define MARK_NS (10 * NSEC_PER_SEC) /* efficiencies cover one to two of these */
#define RANGES_MAX 6

/* A request under way. It outlives nothing: there is one scene a process. */
struct asked {
	struct scene *scene;
	uint64_t round;
};

int scene_init(struct scene *b, const char *job, nsec_t every)
{
	*b = (struct scene){
		.job = job, .every = every, .strip = strip_new(), .version = 1, .computes = NAN
	};
	return b->strip ? 0 : -ERR_NOMEM;
}

static void drop_tree(struct scene *b)
{
	tree_done(&b->tree);
	omis_value_free(b->list);
	b->list = NULL;
}

void scene_done(struct scene *b)
{
	top_sample_done(&b->now);
	strip_free(b->strip);
	drop_tree(b);
	free(b->mark[0].v);
	free(b->mark[1].v);
}

/* --- efficiencies: totals now against totals some seconds ago */

static double mpi_seconds(const struct top_rank *r)
{
	double sum = 0;

	for (size_t i = 0; i < TOP_CLASSES; i++)
		sum += r->delay_ns[i];
	return sum / 1e9;
}

static void set_mark(struct scene *b)
{
	struct scene_mark *v = calloc(b->now.nrank + 1, sizeof(*v));

	if (!v)
		return;
	free(b->mark[0].v);
	b->mark[0] = b->mark[1];
	b->mark[1] = (struct scene_marks){ v, b->now.nrank, b->now.wall };
	for (size_t i = 0; i < b->now.nrank; i++) {
		const struct top_rank *r = &b->now.rank[i];

		str_copy(v[i].token, sizeof(v[i].token), r->token);
		v[i].time_s = r->time_ns ? (double)r->time_ns / 1e9 : NAN;
		v[i].mpi_s = mpi_seconds(r);
	}
}

/* Samples list ranks in the same order, so that the mark is found soon. */
static const struct scene_mark *find_mark(const struct scene_marks *m, const char *token, size_t at)
{
	for (size_t k = 0; k < m->n; k++)
		if (str_eq(m->v[(at + k) % m->n].token, token))
			return &m->v[(at + k) % m->n];
	return NULL;
}

/* Ranks are sorted by job. Finds the job with the most of them. */
static void find_largest(struct scene *b)
{
	size_t n = 0, most = 0;

	b->jobs = 0;
	b->largest[0] = '\0';
	for (size_t i = 0; i < b->now.nrank; i++) {
		const struct top_rank *r = &b->now.rank[i];
		bool is_first = !i || !str_eq(r->job, r[-1].job);

		n = is_first ? 0 : n;
		if (r->rank < 0)
			continue;
		b->jobs += !n;
		if (++n <= most)
			continue;
		most = n;
		str_copy(b->largest, sizeof(b->largest), r->job);
	}
}

/* Adds what a rank has done since the mark. */
static void add_rank(const struct scene *b, const struct scene_marks *then, size_t i,
		     struct efficiency_sum *sum)
{
	const struct top_rank *r = &b->now.rank[i];
	const struct scene_mark *m = find_mark(then, r->token, i);

	if (m && !isnan(m->time_s) && (double)r->time_ns / 1e9 > m->time_s)
		efficiency_add(sum, (double)r->time_ns / 1e9 - m->time_s,
			       mpi_seconds(r) - m->mpi_s);
}

static void measure_efficiency(struct scene *b)
{
	const struct scene_marks *then = b->mark[0].v ? &b->mark[0] : &b->mark[1];
	struct efficiency_sum all = { 0 }, largest = { 0 };

	find_largest(b);
	b->efficiency = (struct efficiency){ 0 };
	for (size_t i = 0; i < b->now.nrank; i++) {
		bool is_of_largest = str_eq(b->now.rank[i].job, b->largest);

		if (b->now.rank[i].rank < 0)
			continue;
		add_rank(b, then, i, &all);
		b->efficiency.ranks += is_of_largest;
		if (is_of_largest)
			add_rank(b, then, i, &largest);
	}
	efficiency_close(&b->efficiency, &largest);
	b->computes = all.time > 0 ? all.computed / all.time : (double)NAN;
	b->span_s = largest.seconds;
	if (!b->mark[1].v || b->now.wall - b->mark[1].at >= MARK_NS)
		set_mark(b);
}

/* --- samples */

/* The place of a rank's host among all objects: rows are grouped by site and host. */
static size_t place_of(const struct scene *b, const char *node, size_t guess)
{
	if (guess < b->tree.n && str_eq(value_text(b->tree.object[guess], 0), node))
		return guess;
	for (size_t i = 0; i < b->tree.n; i++)
		if (str_eq(value_text(b->tree.object[i], 0), node))
			return i;
	return b->tree.n;
}

struct placed {
	const struct top_rank *rank;
	size_t place, at;
};

static int by_place(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static void add_to_strip(struct scene *b)
{
	struct placed *p = calloc(b->now.nrank + 1, sizeof(*p));
	const struct top_rank **rank = calloc(b->now.nrank + 1, sizeof(*rank));
	size_t n = b->now.nrank, guess = 0;

	for (size_t i = 0; p && rank && i < n; i++) {
		guess = place_of(b, b->now.rank[i].node, guess);
		p[i] = (struct placed){ &b->now.rank[i], guess, i };
	}
	if (p && rank && n) {
		qsort(p, n, sizeof(*p), by_place);
		for (size_t i = 0; i < n; i++)
			rank[i] = p[i].rank;
		strip_add(b->strip, rank, n, b->now.wall); /* without memory: a gap */
	}
	free(p);
	free(rank);
}

static bool is_of_now(struct asked *a, Omis_reply r)
{
	bool is_it = a->round == a->scene->round;

	if (!is_it)
		omis_reply_free(r);
	return is_it;
}

/* Once a sample, not for each viewer: it compares each host with the ranks. */
static void count(struct scene *b)
{
	b->ranks = b->hosts = 0;
	for (size_t i = 0; i < b->now.nrank; i++)
		b->ranks += b->now.rank[i].rank >= 0;
	for (size_t i = 0; i < b->now.nnode; i++)
		for (size_t k = 0; k < b->now.nrank; k++)
			if (str_eq(b->now.rank[k].node, b->now.node[i].token)) {
				b->hosts++;
				break;
			}
}

static void on_sample(Omis_reply r, void *arg)
{
	struct asked *a = arg;
	struct scene *b = a->scene;
	struct top_sample made;
	bool is_mine = is_of_now(a, r), is_first;

	free(a);
	if (!is_mine)
		return;
	b->is_asked = false;
	is_first = !b->now.reply;
	top_index(&b->now);
	if (!top_sample_make(&made, r, b->now.reply ? &b->now : NULL))
		return;
	top_sample_done(&b->now);
	b->now = made;
	top_drop_ended(&b->now);
	top_sort(&b->now, TOP_BY_RANK);
	top_mark_slow(&b->now);
	count(b);
	measure_efficiency(b);
	add_to_strip(b);
	b->samples++;
	b->version++;
	b->tree_version += is_first; /* the processes of each host are known now */
}

static void on_tree(Omis_reply r, void *arg)
{
	struct asked *a = arg;
	struct scene *b = a->scene;
	bool is_mine = is_of_now(a, r);
	Omis_value *list;

	free(a);
	if (!is_mine)
		return;
	list = omis_reply_status(r) == OMIS_OK ? session_values(r) : NULL;
	omis_reply_free(r);
	if (!list)
		return;
	drop_tree(b);
	b->list = list;
	if (!tree_sort(&b->tree, list))
		b->tree = (struct tree){ 0 };
	b->tree_version++;
	b->version++;
}

static struct asked *asked_new(struct scene *b)
{
	struct asked *a = calloc(1, sizeof(*a));

	if (a)
		*a = (struct asked){ b, b->round };
	return a;
}

static void ask_tree(struct scene *b)
{
	static const char request[] = ":omig_tree()";
	struct asked *a = asked_new(b);
	Omis_reply r = a ? omis_request_n(request, sizeof(request) - 1, on_tree, a, 0) : NULL;

	if (r)
		on_tree(r, a);
}

static void ask_sample(struct scene *b)
{
	struct asked *a = asked_new(b);

	if (!a)
		return;
	b->is_asked = true;
	top_sample_ask(b->job, on_sample, a);
}

void scene_turn(struct scene *b)
{
	nsec_t now = clock_mono();

	if (b->lost_at || b->is_asked || now < b->next)
		return;
	b->next = b->next && b->next + b->every > now ? b->next + b->every : now + b->every;
	if (b->samples % TREE_EVERY == 0 || !b->list)
		ask_tree(b);
	ask_sample(b);
}

void scene_restart(struct scene *b)
{
	b->round++;
	b->is_asked = false;
	b->next = 0;
	top_sample_done(&b->now);
	for (size_t i = 0; i < 2; i++) {
		free(b->mark[i].v);
		b->mark[i] = (struct scene_marks){ 0 };
	}
	b->span_s = 0;
	b->computes = (double)NAN;
	b->version++;
}

void scene_set_lost(struct scene *b, bool is_lost)
{
	if (is_lost == (b->lost_at != 0))
		return;
	b->lost_at = is_lost ? clock_wall() : 0;
	b->version++;
}

/* --- the first sentence */

static void note_kind(void *arg, const struct top_word *w)
{
	*(bool *)arg |= w->kind == TOP_WORD_HANG;
}

static void put_slow(const struct scene *b, struct buf *out)
{
	int64_t *rank = calloc(b->now.nrank + 1, sizeof(*rank));
	const char *job = NULL;
	bool is_stopped = false;
	size_t n = 0;

	/* those of the first job that has any: the words below name all */
	for (size_t i = 0; rank && i < b->now.nrank; i++)
		if (b->now.rank[i].is_slow && (!job || str_eq(job, b->now.rank[i].job))) {
			job = b->now.rank[i].job;
			rank[n++] = b->now.rank[i].rank;
		}
	top_words(&b->now, note_kind, &is_stopped);
	if (is_stopped) {
		buf_puts(out, "; a job has stopped");
	} else if (n) {
		buf_puts(out, n == 1 ? "; rank " : "; ranks ");
		ranges_put(out, rank, n, RANGES_MAX);
		if (b->jobs > 1)
			buf_printf(out, " of %s", job);
		buf_puts(out, n == 1 ? " is waited for" : " are waited for");
	} else {
		buf_puts(out, "; no rank stands out");
	}
	free(rank);
}

void scene_answer(const struct scene *b, struct buf *out)
{
	size_t ranks = b->ranks, hosts = b->hosts;

	if (!b->now.reply) {
		buf_puts(out, "the first sample is under way");
	} else if (!b->now.nrank && top_is_partial(&b->now)) {
		buf_puts(out, "the hosts do not answer: what the ranks do is not known");
	} else if (!b->now.nrank) {
		buf_puts(out,
			 b->now.nended ? "all processes have ended" : "no process is watched yet");
	} else if (!ranks) {
		buf_printf(out, "%zu process%s on %zu host%s, none of MPI", b->now.nrank,
			   b->now.nrank == 1 ? "" : "es", hosts, hosts == 1 ? "" : "s");
	} else {
		buf_printf(out, "%zu rank%s on %zu host%s", ranks, ranks == 1 ? "" : "s", hosts,
			   hosts == 1 ? "" : "s");
		if (b->jobs > 1)
			buf_printf(out, " in %zu jobs", b->jobs);
		if (!isnan(b->computes))
			buf_printf(out, " compute%s %.0f %% of the time", ranks == 1 ? "s" : "",
				   100 * fmax(b->computes, 0));
		else
			buf_puts(out, ", counted from now on");
		put_slow(b, out);
	}
}
