/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/judge/judge.h"

#include "common/base/str.h"
#include "sim/tools/answers.h"
#include "sim/judge/clocks.h"
#include "sim/tools/asker.h"
#include "sim/judge/exam.h"
#include "sim/rogues/rogue.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CALLS 3 /* calls of each rank, which must all be reported */
#define CALLERS_MAX 400 /* ranks that call: a tool receives at most 1,000 events in a second */
#define TOKEN_ROOM 40
#define CREATE ":dfg_create([],\"\",\"Send_volume\",[\"every_ms\",0,\"mode\",\"start\"])"
#define CREATE_BY_NODE \
	":dfg_create([],\"\",\"Send_volume\",[\"every_ms\",0,\"mode\",\"start\",\"by\",\"node\"])"

struct judge {
	struct cluster *c;
	struct asker *asker;
	struct seen *seen; /* by rank */
	size_t reported; /* reported calls */
	char csr[TOKEN_ROOM], dfg[TOKEN_ROOM];
};

static bool is_over(const struct judge *j)
{
	return j->c->w->broken[0] != 0;
}

static void pass(struct judge *j, nsec_t time)
{
	if (!is_over(j))
		loop_advance(j->c->w->loop, time);
}

static void on_event(void *arg, const struct reply *r)
{
	struct judge *j = arg;

	if (r->kind == STATUS_CSR_DEFINED)
		str_copy(j->csr, sizeof(j->csr), r->csr);
	for (size_t i = 0; r->kind == STATUS_CSR_TRIGGERED && i < r->nentry; i++)
		if (!r->entry[i].status)
			j->reported +=
				answers_check_trigger(j->c, r->entry[i].value, true, j->seen);
}

/* --- conditions checked without requests */

static bool is_rogues(const struct judge *j, const struct simproc *p)
{
	return rogue_has_host(j->c->rogue, j->c->node[p->rank / CLUSTER_RANKS_MAX]);
}

static void judge_processes(struct judge *j, const struct ledger *l)
{
	const struct simproc *p;

	for (size_t i = 0; (p = cluster_each_rank(j->c, &i));) {
		uint32_t done = l->done[p->rank], unknown = l->unknown[p->rank];

		if (p->counted > l->asked[p->rank])
			world_break(j->c->w,
				    "INV-20: rank %d got %u signals, but permitted tools sent %u",
				    (int)p->rank, p->counted, (unsigned)l->asked[p->rank]);
		if (is_rogues(j, p))
			continue;
		if (p->is_stopped)
			world_break(j->c->w, "INV-26: rank %d is stopped, but all tools have left",
				    (int)p->rank);
		if (p->counted < done || p->counted > done + unknown)
			world_break(
				j->c->w,
				"INV-27: rank %d got %u signals, but %u were reported as done and %u are unknown",
				(int)p->rank, p->counted, (unsigned)done, (unsigned)unknown);
	}
}

static void judge_rest(struct judge *j)
{
	size_t queued = mem_net_queued(j->c->w->net);
	const struct simproc *p;

	if (queued)
		world_break(j->c->w, "INV-43: %zu bytes wait to be sent, but all peers read",
			    queued);
	for (size_t i = 0; (p = cluster_each_rank(j->c, &i));)
		if (p->is_alive && !is_rogues(j, p) && simrank_switched_on(p->mpi, p->was_left))
			world_break(
				j->c->w,
				"INV-41: rank %d has %zu calls switched on, but all tools have left",
				(int)p->rank, simrank_switched_on(p->mpi, p->was_left));
	for (unsigned i = 0; i < j->c->sms; i++) {
		struct sm_counts n;

		simsite_counts(j->c->site[i], &n);
		if ((n.csrs || n.requests) && !rogue_has_sm(j->c->rogue, j->c->site[i]))
			world_break(
				j->c->w,
				"INV-42: %s keeps %zu conditional requests and %zu requests, but all tools have left",
				simsite_host(j->c->site[i]), n.csrs, n.requests);
	}
}

/* --- replies to tools */

/* Checks that each sm has its hosts and a parent, except where a daemon is rogue. */
static void rest_is_whole(struct judge *j)
{
	for (unsigned i = 0; i < j->c->sms; i++) {
		unsigned least = 0, most = 0;
		struct sm_counts n;

		simsite_counts(j->c->site[i], &n);
		if (rogue_has_sm(j->c->rogue, j->c->site[i]))
			continue;
		for (unsigned k = 0; k < j->c->conf.hosts; k++) {
			bool is_there =
				str_eq(simnode_site(j->c->node[k]), simsite_name(j->c->site[i]));

			most += is_there;
			least += is_there && !rogue_has_host(j->c->rogue, j->c->node[k]);
		}
		if (!n.is_up)
			world_break(j->c->w, "INV-29: no fault remains, but %s has no parent",
				    simsite_host(j->c->site[i]));
		if (i < j->c->conf.sites && (n.lms < least || n.lms > most))
			world_break(j->c->w,
				    "INV-30: no fault remains, but %s knows %zu of %u hosts",
				    simsite_host(j->c->site[i]), n.lms, most);
	}
}

/* Checks that each sm has a parent, and that each host is below one sm of its site. */
static void tree_is_whole(struct judge *j)
{
	const struct simsite *lost;
	size_t lms = cluster_hosts_below(j->c, &lost);

	if (lost)
		world_break(j->c->w, "INV-29: no fault remains, but %s has no parent",
			    simsite_host(lost));
	if (lms != j->c->conf.hosts)
		world_break(j->c->w, "INV-30: no fault remains, but of %u hosts the sms know %zu",
			    j->c->conf.hosts, lms);
}

static size_t alive_here(const struct judge *j)
{
	const struct simproc *p;
	size_t n = 0;

	for (size_t i = 0; (p = cluster_each_rank(j->c, &i));)
		n += p->is_alive && !is_rogues(j, p);
	return n;
}

static size_t hosts_here(const struct judge *j)
{
	size_t n = 0;

	for (unsigned i = 0; i < j->c->conf.hosts; i++)
		n += !rogue_has_host(j->c->rogue, j->c->node[i]);
	return n;
}

static void all_are_seen(struct judge *j)
{
	const struct reply *r = NULL;
	size_t seen = 0, alive = alive_here(j), hosts = 0;

	asker_be_ok(j->asker, ":site_attach([]) node_attach([]) proc_attach([])");
	r = asker_be_ok(j->asker, ":{node_get_info([],1)}");
	for (size_t i = 0; r && i < r->nentry; i++)
		hosts += !strncmp(r->entry[i].objects, "n_", 2) &&
			 rogue_spares(j->c->rogue, r->entry[i].objects);
	if (r && hosts != hosts_here(j))
		world_break(j->c->w, "INV-32: no fault remains, but only %zu of %zu hosts answer",
			    hosts, hosts_here(j));
	r = asker_ask(j->asker, ":proc_get_info([],513)");
	for (size_t i = 0; r && i < r->nentry; i++)
		if (!r->entry[i].status && r->entry[i].objects[0])
			seen += answers_check_proc(j->c, r->entry[i].objects, r->entry[i].value);
	if (r && seen < alive)
		world_break(j->c->w,
			    "INV-32: no fault remains, but only %zu of %zu processes are seen",
			    seen, alive);
}

static bool has_callers(const struct judge *j, struct simnode *n)
{
	struct simhost *h = simnode_host(n);

	for (size_t i = 0; i < simhost_nproc(h); i++)
		if (simhost_proc(h, i)->is_alive)
			return !rogue_has_host(j->c->rogue, n);
	return false;
}

/*
 * Adds up the measured values of all hosts except the rogue's. Each of these values must be
 * present.
 */
static double add_reads(const struct judge *j, const char *value)
{
	double sum = 0;

	for (unsigned i = 0; i < j->c->conf.hosts; i++)
		if (has_callers(j, j->c->node[i]))
			sum += answers_of(j->c, value, j->c->node[i]);
	return sum;
}

static double read_total(struct judge *j)
{
	char text[80];
	const struct reply *r;

	snprintf(text, sizeof(text), ":dfg_read([%s])", j->dfg);
	r = asker_ask(j->asker, text);
	if (!r || !r->nentry)
		return NAN;
	return rogue_counts(j->c->rogue) ? add_reads(j, r->entry[0].value)
					 : answers_total(r->entry[0].value);
}

/*
 * Returns the next process that calls, from the i-th on; NULL at the end. Processes of the rogue do
 * not call. A tool must be able to receive all events of a second.
 */
static struct simproc *caller(const struct judge *j, size_t *i)
{
	size_t ranks = (size_t)j->c->conf.hosts * CLUSTER_RANKS_MAX;
	size_t step = 1 + cluster_alive(j->c) / CALLERS_MAX;
	struct simproc *p = NULL;

	for (; *i < ranks && !(p && p->is_alive && !is_rogues(j, p)); (*i)++)
		p = *i / CLUSTER_RANKS_MAX % step ? NULL : cluster_rank(j->c, (int64_t)*i);
	return p && p->is_alive && !is_rogues(j, p) ? p : NULL;
}

/* Makes all processes call. Returns the sum of their bytes, and in *calls the number of calls. */
static double call_all(struct judge *j, size_t *calls)
{
	double bytes = 0;
	struct simproc *p;

	for (int k = 0; k < CALLS; k++) {
		for (size_t i = 0; (p = caller(j, &i)); (*calls)++) {
			bytes += (double)simrank_calls(p->mpi) + 1;
			simrank_send(p->mpi, (int64_t)simrank_calls(p->mpi) + 1, 1000);
		}
		pass(j, NSEC_PER_SEC);
	}
	pass(j, NSEC_PER_SEC);
	return bytes;
}

static void measure_and_watch(struct judge *j)
{
	char text[80];
	double before, after, sent;
	size_t calls = 0;
	const struct reply *r;

	asker_ask(j->asker,
		  "thread_has_started_lib_call([],\"MPI_Send\"): print([$proc,$par1,$par8])");
	snprintf(text, sizeof(text), ":csr_enable([%s])", j->csr);
	asker_be_ok(j->asker, text);
	r = asker_ask(j->asker, rogue_counts(j->c->rogue) ? CREATE_BY_NODE : CREATE);
	str_copy(j->dfg, sizeof(j->dfg), r && r->nentry ? r->entry[0].value : "");
	snprintf(text, sizeof(text), ":dfg_start([%s])", j->dfg);
	asker_be_ok(j->asker, text);
	pass(j, 2 * NSEC_PER_SEC);
	before = read_total(j);
	sent = call_all(j, &calls);
	after = read_total(j);
	if (!is_over(j) && j->reported != calls)
		world_break(j->c->w, "INV-33: no fault remains, but of %zu calls %zu are reported",
			    calls, j->reported);
	if (!is_over(j) && !(after - before == sent))
		world_break(
			j->c->w,
			"INV-34: no fault remains and %g bytes were sent, but %g are measured (%g - %g)",
			sent, after - before, after, before);
}

static int open_asker(struct judge *j)
{
	j->seen = calloc((size_t)j->c->conf.hosts * CLUSTER_RANKS_MAX, sizeof(*j->seen));
	return j->seen ? asker_new(j->c->w, "judge", on_event, j, &j->asker) : -ERR_NOMEM;
}

void judge(struct cluster *c, struct ledger *l, bool with_faults)
{
	struct judge j = { .c = c };

	pass(&j, with_faults ? JUDGE_HEAL_NS : JUDGE_LEAVE_NS);
	if (!is_over(&j))
		clocks_judge(c);
	judge_processes(&j, l);
	if (open_asker(&j))
		world_break(c->w, "no memory");
	else
		asker_excuse(j.asker, c->rogue);
	if (!is_over(&j) && rogue_counts(c->rogue))
		rest_is_whole(&j);
	else if (!is_over(&j))
		tree_is_whole(&j);
	if (!is_over(&j) && !rogue_counts(c->rogue))
		/* this runs while no other tool watches calls, because processes begin meanwhile */
		exam(c);
	if (!is_over(&j))
		all_are_seen(&j);
	if (!is_over(&j) && alive_here(&j))
		measure_and_watch(&j);
	asker_free(j.asker);
	rogue_stop(c->rogue);
	pass(&j, with_faults ? JUDGE_FORGET_NS : JUDGE_LEAVE_NS);
	if (!is_over(&j))
		judge_rest(&j);
	free(j.seen);
}
