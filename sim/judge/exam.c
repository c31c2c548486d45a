/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/judge/exam.h"

#include "common/base/str.h"
#include "sim/judge/series.h"
#include "sim/tools/answers.h"
#include "sim/tools/asker.h"
#include "sim/tools/echo.h"
#include "sim/world/values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TOKEN_ROOM 40
#define CALLERS_MAX 64 /* of all ranks, so that each kind of host has some */
#define BIRTHS 2 /* processes that begin while others call */
#define BIRTH_CALLS 12 /* calls on its host before, and after, each of them begins */
/* time between calls: some are in the rings whenever rings are read (CSRS_POLL_NS) */
#define BIRTH_CALL_NS (4 * NSEC_PER_MSEC)
#define SERIES_CALL_NS (60 * NSEC_PER_MSEC)
#define WHOLE_NS (1500 * NSEC_PER_MSEC) /* time of reads before the link is slow */
/* time for which the link is slow, so that late data arrive meanwhile */
#define SLOW_NS (2800 * NSEC_PER_MSEC)
/* longer than any daemon waits for the data of a read (MEASURE_GRACE_NS) */
#define SLOW_DELAY_NS (1600 * NSEC_PER_MSEC)
#define DRAIN_NS (SLOW_DELAY_NS + NSEC_PER_SEC) /* until all data in transit have arrived */
#define SIZE_TEXT                                                                        \
	"Mean_size(Process[] all, TimeInterval t) { Process p; Value[] size; size[p] = " \
	"Send_volume(p, t) / Send_count(p, t); RETURN MEAN(size[p] WHERE p IN all); }"

struct exam {
	struct cluster *c;
	struct asker *asker;
	struct seen *seen; /* by rank */
	size_t received, calls; /* received events, and calls made by the exam */
	struct simproc *caller[CALLERS_MAX];
	size_t n;
	char defined[TOKEN_ROOM]; /* the conditional request that was defined last */
	char watch[TOKEN_ROOM]; /* the csr on reads */
	struct series series;
};

static bool is_over(const struct exam *x)
{
	return x->c->w->broken[0] != 0;
}

static void pass(struct exam *x, nsec_t time)
{
	if (!is_over(x))
		loop_advance(x->c->w->loop, time);
}

static void on_event(void *arg, const struct reply *r)
{
	struct exam *x = arg;

	if (r->kind == STATUS_CSR_DEFINED)
		str_copy(x->defined, sizeof(x->defined), r->csr);
	if (r->kind != STATUS_CSR_TRIGGERED)
		return;
	for (size_t i = 0; i < r->nentry; i++) {
		if (r->entry[i].status || !r->entry[i].value[0])
			continue;
		if (str_eq(r->csr, x->watch))
			series_take(&x->series, r->entry[i].value);
		else
			x->received +=
				answers_check_trigger(x->c, r->entry[i].value, true, x->seen);
	}
}

/* Requests a token. A reply without a token breaks the world. */
static void ask_for(struct exam *x, const char *text, char token[TOKEN_ROOM])
{
	const struct reply *r = asker_be_ok(x->asker, text);

	str_copy(token, TOKEN_ROOM, r && r->nentry ? r->entry[0].value : "");
}

static void define(struct exam *x, const char *text, char token[TOKEN_ROOM])
{
	asker_ask(x->asker, text);
	str_copy(token, TOKEN_ROOM, x->defined);
}

static const struct reply *ask_of(struct exam *x, const char *service, const char *token)
{
	char text[80];

	snprintf(text, sizeof(text), ":%s([%s])", service, token);
	return asker_be_ok(x->asker, text);
}

/* --- processes that call */

/* Chooses processes evenly, so that each kind of host has some. */
static void choose_callers(struct exam *x)
{
	size_t step = 1 + cluster_alive(x->c) / CALLERS_MAX, k = 0;
	struct simproc *p;

	x->n = 0;
	for (size_t i = 0; x->n < CALLERS_MAX && (p = cluster_each_rank(x->c, &i));)
		if (p->is_alive && k++ % step == 0)
			x->caller[x->n++] = p;
}

static void call(struct exam *x, struct simproc *p)
{
	simrank_send(p->mpi, (int64_t)simrank_calls(p->mpi) + 1, 1000);
	x->calls++;
}

static unsigned host_of(const struct simproc *p)
{
	return (unsigned)p->rank / CLUSTER_RANKS_MAX;
}

/* --- each call is reported once */

static void call_on(struct exam *x, unsigned host)
{
	for (size_t i = 0, k = 0; k < BIRTH_CALLS; i = (i + 1) % x->n) {
		if (host_of(x->caller[i]) != host)
			continue;
		call(x, x->caller[i]);
		pass(x, BIRTH_CALL_NS);
		k++;
	}
}

/*
 * A process begins and a tool attaches to it. Its host then watches more processes, so that the csr
 * gets another version while it is active.
 */
static void births(struct exam *x)
{
	char csr[TOKEN_ROOM];

	define(x, "thread_has_started_lib_call([],\"MPI_Send\"): print([$proc,$par1,$par8])", csr);
	ask_of(x, "csr_enable", csr);
	for (size_t i = 0; i < BIRTHS && !is_over(x); i++) {
		unsigned host = host_of(x->caller[i * (x->n - 1) / BIRTHS]);

		cluster_begin_rank(x->c, host);
		call_on(x, host);
		asker_report(x->asker, ":proc_attach([])");
		call_on(x, host);
	}
	pass(x, NSEC_PER_SEC);
	if (!is_over(x) && x->received != x->calls)
		world_break(x->c->w,
			    "INV-35: while processes began, %zu calls were made and %zu reported",
			    x->calls, x->received);
	ask_of(x, "csr_delete", csr);
}

/* --- objects without a value do not contribute */

/* Makes every second process call. Returns the mean of their values. */
static double call_some(struct exam *x, size_t *callers)
{
	double sum = 0;

	*callers = 0;
	for (size_t i = 0; i < x->n; i += 2, ++*callers) {
		sum += (double)simrank_calls(x->caller[i]->mpi) + 1;
		call(x, x->caller[i]);
	}
	return sum / (double)*callers;
}

static void check_mean(struct exam *x, const struct reply *r, double mean, size_t callers)
{
	size_t n = cluster_alive(x->c);
	const struct value *v;
	struct values vs;

	if (!r || !r->nentry || values_parse(r->entry[0].value, &vs) || !vs.n)
		return world_break(
			x->c->w, "INV-36: no fault remains, but a mean over processes has no read");
	v = &vs.v[0];
	if (value_fault(&vs, v) || !value_is_within(v, mean - 1e-9 * mean, mean + 1e-9 * mean))
		world_break(
			x->c->w,
			"INV-36: %zu processes sent %g bytes a call, but the measured mean is %g (%s)",
			callers, mean, v->value, v->flags);
	if ((size_t)v->k != callers || (size_t)v->n != n)
		world_break(
			x->c->w,
			"INV-36: %zu of %zu processes have a mean, but the reply counts %" PRId64
			" of %" PRId64 " in it",
			callers, n, v->k, v->n);
	values_done(&vs);
}

static void means(struct exam *x)
{
	char dfg[TOKEN_ROOM];
	size_t callers;
	double mean;

	ask_for(x,
		":dfg_create([],\"" SIZE_TEXT
		"\",\"Mean_size\",[\"every_ms\",0,\"mode\",\"start\"])",
		dfg);
	ask_of(x, "dfg_start", dfg);
	mean = call_some(x, &callers);
	check_mean(x, ask_of(x, "dfg_read", dfg), mean, callers);
	ask_of(x, "dfg_delete", dfg);
}

/* --- the parts of all reads have the right values */

static void set_line(struct exam *x, unsigned host, nsec_t delay)
{
	const struct mem_link how = { .delay = x->c->conf.delay + delay,
				      .jitter = x->c->conf.jitter };
	const char *name = simnode_name(x->c->node[host]);

	mem_net_set_link(x->c->w->net, name, WORLD_TOP, &how);
	for (unsigned i = 0; i < x->c->sms; i++)
		mem_net_set_link(x->c->w->net, name, simsite_host(x->c->site[i]), &how);
}

static void call_for(struct exam *x, nsec_t time)
{
	for (nsec_t t = 0; t < time && !is_over(x); t += SERIES_CALL_NS) {
		call(x, x->caller[x->calls % x->n]);
		pass(x, SERIES_CALL_NS);
	}
}

static void watch_reads(struct exam *x, const char *dfg)
{
	char text[120];

	snprintf(text, sizeof(text), "dfg_has_read([%s]): print([$read,$until,$values])", dfg);
	define(x, text, x->watch);
	ask_of(x, "csr_enable", x->watch);
	ask_of(x, "dfg_start", dfg);
}

/* Makes one link slow for a while: data of its host arrive after the end of their reads. */
static void parts(struct exam *x, struct echo *echo)
{
	struct series *s = &x->series;
	char dfg[TOKEN_ROOM];

	series_begin(s, x->c, host_of(x->caller[0]));
	ask_for(x, ":dfg_create([],\"\",\"Send_volume\",[\"every_ms\",400,\"mode\",\"last\"])",
		dfg);
	watch_reads(x, dfg);
	series_go(s);
	call_for(x, WHOLE_NS);
	set_line(x, s->slow_host, SLOW_DELAY_NS);
	s->slow_from = loop_now(x->c->w->loop);
	call_for(x, SLOW_NS);
	s->slow_to = loop_now(x->c->w->loop);
	set_line(x, s->slow_host, 0);
	echo_stop(echo);
	pass(x, DRAIN_NS);
	if (!is_over(x))
		series_judge(s);
	ask_of(x, "dfg_delete", dfg);
	series_done(s);
}

static int open_exam(struct exam *x)
{
	x->seen = calloc((size_t)x->c->conf.hosts * CLUSTER_RANKS_MAX, sizeof(*x->seen));
	return x->seen ? asker_new(x->c->w, "exam", on_event, x, &x->asker) : -ERR_NOMEM;
}

void exam(struct cluster *c)
{
	struct exam x = { .c = c };
	struct echo *echo = NULL;

	if (open_exam(&x) || echo_new(c, &echo))
		world_break(c->w, "no memory");
	choose_callers(&x);
	if (!is_over(&x) && x.n > 1) {
		asker_be_ok(x.asker, ":site_attach([]) node_attach([]) proc_attach([])");
		births(&x);
		means(&x);
		parts(&x, echo);
	}
	echo_free(echo);
	asker_free(x.asker);
	free(x.seen);
}
