/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/interaction/netwatch.h"

#include "common/container/map.h"
#include "common/json/json.h"
#include "common/omis/text/value.h"
#include "eventlog/lifeline/lifewords.h"
#include "interaction/online/netonline.h"
#include "interaction/online/netspec.h"
#include "tools/interaction/netset.h"
#include "tools/interaction/netshow.h"
#include "tools/session/session.h"
#include "tools/term/signals.h"
#include "tools/term/term.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FETCH_NS (500 * NSEC_PER_MSEC)
#define ATTACH_NS NSEC_PER_SEC /* interval of the search for new processes */
/* Late arcs of a whole interaction: hosts send theirs a second after its last event there. */
#define GRACE_NS (3 * NSEC_PER_SEC)
/* A host is silent for 6 s before it counts as such; its lm sends a part after 10 s at the latest
 */
#define TIMEOUT_NS (30 * NSEC_PER_SEC)
#define VERTICES_MAX (1u << 20) /* vertices of all open interactions, some 150 bytes each */
#define STEPS_MAX 32 /* steps of the slowest path that are shown */
#define SEEN_MAX (1u << 20) /* interactions that a verification compares */

/* One step of the slowest path. */
struct step {
	uint32_t node;
	int64_t at, ns; /* time since the source; length of the arc before */
	enum network_kind kind;
};

/* The result of one interaction, for a verification. */
struct seen {
	int64_t response, state[NETUSE_STATES_MAX];
	bool is_unique;
};

/* One of the two ways to the results: on line, or by all events. */
struct side {
	struct netwatch *of;
	struct event_tail tail;
	struct netonline *top;
	bool is_plain; /* all events */
};

struct netwatch {
	struct netwatch_options *options;
	struct netspec spec;
	struct side on, off; /* off: with --verify */
	struct step step[STEPS_MAX];
	size_t nstep;
	int64_t slowest;
	nsec_t begun, shown; /* shown: time of the last output */
	uint64_t shown_n; /* interactions at the last output */
	struct map seen[2]; /* by sub-task of the source -> struct seen */
	uint64_t differ, compared;
};

/* --- the request */

static void write_list(struct buf *b, const struct netspec_list *l)
{
	struct omis_writer out = OMIS_WRITER(b);

	omis_write_list(&out);
	for (size_t i = 0; i < l->n; i++)
		omis_write_string(&out, l->text[i]);
	omis_write_list_end(&out);
}

static void write_event(void *arg, struct buf *b)
{
	const struct side *s = arg;
	const struct netspec *spec = &s->of->spec;

	buf_puts(b, "thread_writes_arcs([],");
	write_list(b, &spec->inherit);
	buf_puts(b, ",");
	write_list(b, &spec->states);
	buf_puts(b, ",");
	write_list(b, &spec->members);
	buf_printf(b, ",%d)", s->is_plain);
}

static int on_block(void *arg, const char *p, size_t n)
{
	struct side *s = arg;
	struct err e = { 0 };

	/* an invalid batch is counted */
	return netonline_take(s->top, bytes_at(p, n), &e) == -ERR_NOMEM
		       ? cmd_fail(CMD_FAILURE, "out of memory")
		       : CMD_OK;
}

/* --- results */

static void keep_slowest(struct netwatch *x, const struct network *w, const struct netanalysis *a)
{
	const struct netpath *p = &a->path;
	size_t from = p->n > STEPS_MAX ? p->n - STEPS_MAX : 0;

	if (x->nstep && p->length <= x->slowest)
		return;
	x->slowest = p->length;
	x->nstep = 0;
	for (size_t i = from; i < p->n; i++) {
		const struct network_vertex *v = &w->v[p->step[i].v];
		int64_t before = i ? w->v[p->step[i - 1].v].t : v->t;

		x->step[x->nstep++] = (struct step){ .node = v->node,
						     .kind = (enum network_kind)v->kind,
						     .at = v->t - w->v[w->v0].t,
						     .ns = v->t - before };
	}
}

static bool is_same(const struct seen *a, const struct seen *b)
{
	return a->response == b->response && a->is_unique == b->is_unique &&
	       !memcmp(a->state, b->state, sizeof(a->state));
}

/* Each way reports each interaction once, at different times. */
static void compare(struct netwatch *x, bool is_plain, const struct network *w,
		    const struct netanalysis *a)
{
	uint64_t id = network_id(w, w->v[w->v0].task);
	struct seen *one = calloc(1, sizeof(*one)), *other = map_find(&x->seen[!is_plain], id);

	if (!one)
		return;
	one->response = a->path.length;
	one->is_unique = a->path.is_unique;
	memcpy(one->state, a->spent.state, sizeof(one->state));
	if (other) {
		x->compared++;
		x->differ += !is_same(one, other);
		map_del(&x->seen[!is_plain], id);
		free(other);
		free(one);
	} else if (x->seen[is_plain].n >= SEEN_MAX || map_put(&x->seen[is_plain], id, one, NULL)) {
		free(one);
	}
}

static void on_whole(void *arg, const char *name, const struct network *w,
		     const struct netanalysis *a)
{
	struct side *s = arg;

	(void)name;
	if (!s->is_plain)
		keep_slowest(s->of, w, a);
	if (s->of->options->is_verify)
		compare(s->of, s->is_plain, w, a);
}

/* --- text */

/* Ends per second since the last output; the last output has the rate of the whole time. */
static double rate_of(const struct netwatch *x, nsec_t now, bool is_last)
{
	uint64_t n = netonline_total(x->on.top)->response.n - (is_last ? 0 : x->shown_n);
	nsec_t span = now - (is_last ? x->begun : x->shown);

	return span > 0 ? (double)n / ((double)span / 1e9) : NAN;
}

static void put_rate(struct buf *out, const struct nettotal *t, double rate)
{
	double error = moments_deviation(&t->moments) / sqrt((double)t->response.n);
	char mean[LIFEWORDS_TIME_BYTES], bound[LIFEWORDS_TIME_BYTES];

	buf_printf(out, "%.*f interactions a second, mean %s", rate < 10 ? 1 : 0, rate,
		   lifewords_time(mean, t->response.sum / (int64_t)t->response.n));
	if (t->response.n > 1)
		buf_printf(out, " +- %s", lifewords_time(bound, (nsec_t)error));
}

static void put_words(struct buf *out, const struct netwatch *x, double rate)
{
	const struct nettotal *t = netonline_total(x->on.top);
	char most[LIFEWORDS_TIME_BYTES];

	if (!t->response.n) {
		buf_puts(out, "No interaction has ended yet.\n");
		return;
	}
	put_rate(out, t, rate);
	if (t->states.n && t->response.sum > 0)
		buf_printf(out, ", %.1f %% in state %s",
			   (double)t->states.part[0]->sum * 100 / (double)t->response.sum,
			   t->states.part[0]->name);
	buf_printf(out, "; slowest: %s%s%s.\n", t->slowest, *t->slowest ? " " : "",
		   lifewords_time(most, t->response.most));
}

static void put_count(struct buf *out, uint64_t n, const char *what)
{
	if (n)
		buf_printf(out, "%s: %" PRIu64 "\n", what, n);
}

/* Each kind of loss has a line: the results do not contain the lost events. */
static void put_losses(struct buf *out, const struct netonline_report *r)
{
	put_count(out, r->incomplete, "Incomplete interactions, in no sum");
	put_count(out, r->strays, "Parts without a source: lost, late, or begun before");
	put_count(out, r->wrong, "Interactions that contradict themselves, in no sum");
	put_count(out, r->torn,
		  "Torn interactions, in no sum: a sub-task left a host and returned");
	put_count(out, r->evicted, "Interactions without room, in no sum");
	put_count(out, r->events_lost, "Events lost on hosts");
	put_count(out, r->arcs_lost, "Arcs lost on the way");
	put_count(out, r->batches_bad, "Damaged batches");
}

static void put_path(struct buf *out, const struct netwatch *x)
{
	if (x->nstep < 2)
		return;
	buf_puts(out, "\nSlowest path:");
	for (size_t i = 0; i < x->nstep; i++) {
		const struct step *s = &x->step[i];
		char text[LIFEWORDS_TIME_BYTES];

		buf_printf(out, "%s %s", i ? " >" : "", network_kind_name(s->kind));
		if (s->node != NETWORK_NONE)
			buf_printf(out, " n_%" PRIu32, s->node);
		if (i)
			buf_printf(out, " (%s)", lifewords_time(text, s->ns));
	}
	buf_puts(out, "\n");
}

static int put_text(struct buf *out, struct netwatch *x, nsec_t now, bool is_last)
{
	struct netonline_report r = netonline_report(x->on.top);
	struct nettotal *t = netonline_total(x->on.top);
	int rc = 0;

	nettotal_sort(t);
	put_words(out, x, rate_of(x, now, is_last));
	if (t->response.n && is_last)
		rc = netshow_total(out, t);
	if (is_last)
		put_path(out, x);
	put_losses(out, &r);
	if (is_last && x->options->is_verify)
		buf_printf(out,
			   "%" PRIu64 " interactions compared with the analysis of all events: "
			   "%" PRIu64 " differ\n",
			   x->compared, x->differ);
	return rc;
}

/* --- JSON: an object for each interval */

static void put_json_losses(struct json *j, const struct netonline_report *r)
{
	json_key_u64(j, "incomplete", r->incomplete);
	json_key_u64(j, "strays", r->strays);
	json_key_u64(j, "wrong", r->wrong);
	json_key_u64(j, "torn", r->torn);
	json_key_u64(j, "evicted", r->evicted);
	json_key_u64(j, "lost_events", r->events_lost);
	json_key_u64(j, "lost_arcs", r->arcs_lost);
	json_key_u64(j, "damaged_batches", r->batches_bad);
}

static void put_json_path(struct json *j, const struct netwatch *x)
{
	json_key_array(j, "slowest_path");
	for (size_t i = 0; i < x->nstep; i++) {
		json_object(j);
		json_key_str(j, "ev", network_kind_name(x->step[i].kind));
		if (x->step[i].node != NETWORK_NONE)
			json_key_u64(j, "node", x->step[i].node);
		json_key_i64(j, "at", x->step[i].at);
		json_object_end(j);
	}
	json_array_end(j);
}

static int put_json(struct buf *out, struct netwatch *x, nsec_t now, bool is_last)
{
	struct netonline_report r = netonline_report(x->on.top);
	struct nettotal *t = netonline_total(x->on.top);
	struct json j;
	int rc;

	nettotal_sort(t);
	json_init(&j, out);
	json_object(&j);
	json_key_bool(&j, "last", is_last);
	json_key_u64(&j, "interactions", t->response.n);
	json_key_double(&j, "rate", rate_of(x, now, is_last));
	json_key_u64(&j, "discarded", t->discarded);
	put_json_losses(&j, &r);
	json_key_u64(&j, "arcs", r.arcs);
	netset_put_total(&j, t);
	put_json_path(&j, x);
	if (x->options->is_verify) {
		json_key_u64(&j, "compared", x->compared);
		json_key_u64(&j, "differ", x->differ);
	}
	json_object_end(&j);
	rc = json_end(&j);
	buf_puts(out, "\n");
	return rc;
}

static int show(struct netwatch *x, nsec_t now, bool is_last)
{
	struct buf out = BUF_INIT(1u << 24);
	int rc = x->options->tail.common.json ? put_json(&out, x, now, is_last)
					      : put_text(&out, x, now, is_last);

	if (rc || out.failed)
		rc = cmd_fail(CMD_FAILURE, "out of memory");
	else if (fwrite(out.p, 1, out.n, stdout) != out.n || fflush(stdout))
		rc = cmd_fail(CMD_FAILURE, "cannot write");
	buf_done(&out);
	x->shown = now;
	x->shown_n = netonline_total(x->on.top)->response.n;
	return rc;
}

/* --- the loop */

static int fetch(struct side *s, nsec_t now)
{
	struct err e = { 0 };
	bool more = true;
	int rc = CMD_OK;

	while (rc == CMD_OK && more && !s->tail.csr.gap.since)
		rc = event_tail_fetch(&s->tail, &more);
	if (rc == CMD_OK && netonline_tick(s->top, now, &e))
		rc = cmd_fail(CMD_FAILURE, "%s", e.text);
	return rc;
}

static int each_side(struct netwatch *x, int (*fn)(struct side *s, nsec_t now), nsec_t now)
{
	int rc = fn(&x->on, now);

	return rc == CMD_OK && x->options->is_verify ? fn(&x->off, now) : rc;
}

static int attach(struct side *s, nsec_t now)
{
	(void)now;
	return s->tail.csr.gap.since ? CMD_OK : event_tail_attach(&s->tail);
}

static int check(struct side *s, nsec_t now)
{
	(void)now;
	return event_tail_check(&s->tail);
}

static int turn(struct netwatch *x, nsec_t now, nsec_t *attach_at)
{
	int rc = each_side(x, fetch, now);

	if (rc == CMD_OK && now >= *attach_at) {
		rc = each_side(x, attach, now);
		*attach_at = now + ATTACH_NS;
	}
	if (rc == CMD_OK && now - x->shown >= x->options->every_ns)
		rc = show(x, now, false);
	return rc;
}

static int watch(struct netwatch *x)
{
	const struct event_tail_options *w = &x->options->tail;
	nsec_t now = clock_mono(), end = w->for_ns ? now + w->for_ns : INT64_MAX, next = now;
	nsec_t attach_at = now + ATTACH_NS;
	int rc = CMD_OK;

	x->begun = x->shown = now;
	while (rc == CMD_OK && !signals_last && !x->on.tail.is_over && now < end) {
		if (now >= next) {
			rc = turn(x, now, &attach_at);
			next = now + FETCH_NS;
		}
		session_turn((next < end ? next : end) - now, false);
		if (rc == CMD_OK || session_link() != SESSION_UP)
			rc = each_side(x, check, now);
		now = clock_mono();
	}
	return x->on.tail.status ? x->on.tail.status : rc;
}

/* --- begin and end */

static int begin_side(struct netwatch *x, struct side *s, bool is_plain)
{
	struct netonline_plan plan = { .most = VERTICES_MAX,
				       .grace_ns = GRACE_NS,
				       .timeout_ns = TIMEOUT_NS,
				       .whole = on_whole,
				       .arg = s };
	struct netuse *use = NULL;
	struct err e = { 0 };
	int rc = netspec_declare(&x->spec, &use, &e);

	s->of = x;
	s->is_plain = is_plain;
	rc = rc ? rc : netonline_new(&use, &plan, &s->top, &e);
	netuse_free(use);
	return rc ? cmd_fail(rc == -ERR_NOMEM ? CMD_FAILURE : CMD_USAGE, "%s", e.text) : CMD_OK;
}

static int begin_tail(struct netwatch *x, struct side *s, struct event_tail_options *w)
{
	*w = x->options->tail;
	w->write_event = write_event;
	w->on_block = on_block;
	w->arg = s;
	s->tail.options = w;
	return event_tail_begin(&s->tail);
}

/* Fetches and closes the remaining interactions. */
static int end_side(struct side *s)
{
	struct err e = { 0 };
	int rc = s->tail.options ? event_tail_end(&s->tail) : CMD_OK;

	if (s->top && netonline_end(s->top, &e) && rc == CMD_OK)
		rc = cmd_fail(CMD_FAILURE, "%s", e.text);
	return rc;
}

static void forget(struct map *m)
{
	struct map_iter i = { 0 };

	while (map_next(m, &i))
		free(i.value);
	map_done(m);
}

static void copy_terms(struct netspec_list *to, const struct netread_terms *from)
{
	to->text = (const char **)from->text;
	to->n = from->n;
}

static int run_sides(struct netwatch *x)
{
	struct event_tail_options on, off;
	int rc = begin_tail(x, &x->on, &on), end;

	if (rc == CMD_OK && x->options->is_verify)
		rc = begin_tail(x, &x->off, &off);
	if (rc == CMD_OK)
		rc = watch(x);
	end = end_side(&x->on);
	rc = rc == CMD_OK ? end : rc;
	end = end_side(&x->off);
	rc = rc == CMD_OK ? end : rc;
	end = show(x, clock_mono(), true);
	rc = rc == CMD_OK ? end : rc;
	return rc == CMD_OK && x->differ ? CMD_FAILURE : rc;
}

int netwatch_run(struct netwatch_options *w)
{
	struct netwatch *x = calloc(1, sizeof(*x));
	int rc;

	if (!x)
		return cmd_fail(CMD_FAILURE, "out of memory");
	x->options = w;
	copy_terms(&x->spec.inherit, w->inherit);
	copy_terms(&x->spec.states, w->state);
	copy_terms(&x->spec.members, w->member);
	map_init(&x->seen[0]);
	map_init(&x->seen[1]);
	rc = begin_side(x, &x->on, false);
	if (rc == CMD_OK && w->is_verify)
		rc = begin_side(x, &x->off, true);
	if (rc == CMD_OK)
		rc = run_sides(x);
	netonline_free(x->on.top);
	netonline_free(x->off.top);
	forget(&x->seen[0]);
	forget(&x->seen[1]);
	free(x);
	return rc;
}
