/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tools/answers.h"

#include "common/base/str.h"
#include "common/omis/text/token.h"
#include "sim/rogues/rogue.h"
#include "sim/world/values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * True if the token may name this process. If a rogue may send false tokens, the host in the token
 * must be the process's, too.
 */
static bool is_there(const struct cluster *c, const struct simproc *p, const char *token, size_t n)
{
	uint32_t number;

	return !rogue_counts(c->rogue) ||
	       (token_node(token, n, &number) &&
		rogue_node(c->rogue, number) == c->node[p->rank / CLUSTER_RANKS_MAX]);
}

static void know(struct cluster *c, struct simproc *p, const char *token, size_t n)
{
	if (!is_there(c, p, token, n))
		world_break(c->w, "INV-19: rank %d is reported as %.*s, a token of another host",
			    (int)p->rank, (int)n, token);
	if (!p->token[0])
		snprintf(p->token, sizeof(p->token), "%.*s", (int)n, token);
	else if (strlen(p->token) != n || strncmp(p->token, token, n) != 0)
		world_break(c->w, "INV-3: rank %d was %s and is %.*s now", (int)p->rank, p->token,
			    (int)n, token);
}

unsigned answers_check_proc(struct cluster *c, const char *token, const char *value)
{
	char *end;
	long rank = strtol(value, &end, 10);
	long pid = *end == ',' ? strtol(end + 1, &end, 10) : -1;
	struct simproc *p = cluster_rank(c, rank);

	if (!rogue_spares(c->rogue, token))
		return 0;
	if (!p || *end || pid != p->pid)
		world_break(c->w, "INV-2: %s is reported as \"%.100s\": no such process exists",
			    token, value);
	else
		know(c, p, token, strlen(token));
	return 1;
}

/*
 * Returns false if the call was reported before. The result is true for calls before the last 64,
 * which are unknown.
 */
static bool see(struct seen *s, uint64_t serial)
{
	uint64_t back = serial < s->last ? s->last - serial : 0, ahead = serial - s->last;

	if (back) {
		if (back <= 64 && s->before >> (back - 1) & 1)
			return false;
		s->before |= back <= 64 ? UINT64_C(1) << (back - 1) : 0;
		return true;
	}
	if (!ahead)
		return false;
	s->before = ahead < 64 ? s->before << ahead : 0;
	s->before |= s->last && ahead <= 64 ? UINT64_C(1) << (ahead - 1) : 0;
	s->last = serial;
	return true;
}

unsigned answers_check_trigger(struct cluster *c, const char *value, bool in_order,
			       struct seen *seen)
{
	const char *token = value[0] ? value + 2 : ""; /* a list is preceded by its length */
	const char *at = value[0] ? strchr(token, ',') : NULL;
	char *end = NULL;
	long rank = at ? strtol(at + 1, &end, 10) : -1;
	uint64_t serial = end && *end == ',' ? strtoull(end + 1, &end, 10) : 0;
	struct simproc *p = cluster_rank(c, rank);
	char process[TOKEN_BYTES];

	if (!value[0])
		return 0; /* another action of the list has this entry, which reports no call */
	snprintf(process, sizeof(process), "%.*s", at ? (int)(at - token) : 0, token);
	if (!rogue_spares(c->rogue, process))
		return 0;
	if (!p || !end || *end || !serial || serial > simrank_calls(p->mpi)) {
		world_break(c->w, "INV-4: an event \"%.100s\" is reported that never occurred",
			    value);
		return 1;
	}
	know(c, p, token, (size_t)(at - token));
	if (in_order && serial < seen[rank].last)
		world_break(c->w,
			    "INV-6: call %" PRIu64 " of rank %ld came after call %" PRIu64
			    ", out of order",
			    serial, rank, seen[rank].last);
	if (!see(&seen[rank], serial))
		world_break(c->w, "INV-5: call %" PRIu64 " of rank %ld is reported twice", serial,
			    rank);
	return 1;
}

double answers_of(const struct cluster *c, const char *value, const struct simnode *n)
{
	struct values vs;
	uint32_t number;
	double v = NAN;

	if (values_parse(value, &vs))
		return NAN;
	for (size_t i = 0; i < vs.n && isnan(v); i++)
		if (token_node(vs.v[i].object, strlen(vs.v[i].object), &number) &&
		    rogue_node(c->rogue, number) == n)
			v = vs.v[i].value;
	values_done(&vs);
	return v;
}

double answers_total(const char *value)
{
	struct values vs;
	double v = NAN;

	if (values_parse(value, &vs))
		return NAN;
	if (vs.n)
		v = vs.v[0].value;
	values_done(&vs);
	return v;
}

/*
 * True if a value of the object includes the process p: a known process, or any host, site or sum.
 */
static bool is_of(const struct cluster *c, const char *object, const struct simnode *n,
		  const struct simproc *p)
{
	return (strncmp(object, "p_", 2) != 0 || str_eq(p->token, object)) &&
	       (!n || n == c->node[p->rank / CLUSTER_RANKS_MAX]);
}

/* Returns the host that a value by host belongs to; NULL: all ranks count. */
static const struct simnode *node_of(const struct cluster *c, const char *object)
{
	uint32_t number;

	return !strncmp(object, "n_", 2) && rogue_counts(c->rogue) &&
			       token_node(object, strlen(object), &number)
		       ? rogue_node(c->rogue, number)
		       : NULL;
}

struct answers_truth answers_sent(const struct cluster *c, const char *object, nsec_t from,
				  nsec_t to)
{
	const struct simnode *n = node_of(c, object);
	struct answers_truth t = { 0 };
	const struct simproc *p;

	to = to > from ? to : from;
	for (size_t i = 0; (p = cluster_each_rank(c, &i));)
		if (is_of(c, object, n, p)) {
			t.bytes += (double)(simrank_sent_by(p->mpi, to).bytes -
					    simrank_sent_by(p->mpi, from).bytes);
			t.ranks++;
		}
	return t;
}

static bool is_known(const struct cluster *c, const char *token)
{
	const struct simproc *p;

	for (size_t i = 0; (p = cluster_each_rank(c, &i));)
		if (str_eq(p->token, token))
			return true;
	return false;
}

/*
 * Returns the start of the interval. If a host may not know mainsm's time, it may take a process
 * for a new one. Then the whole life of the process counts.
 */
static nsec_t since(const struct cluster *c, const struct answers_measured *m)
{
	return cluster_keeps_time(c) ? m->from : 0;
}

static void check_value(struct cluster *c, const struct values *vs, const struct value *v,
			nsec_t from)
{
	const struct answers_truth most = answers_sent(c, v->object, from, loop_now(c->w->loop));
	const char *fault = value_fault(vs, v);

	if (fault)
		world_break(c->w,
			    "INV-10: read %" PRId64 ": the value %g of \"%s\" (%" PRId64
			    " of %" PRId64 ", %s) %s",
			    v->read, v->value, v->object, v->k, v->n, v->flags, fault);
	if ((size_t)v->n > most.ranks)
		world_break(c->w,
			    "INV-10: \"%s\" has %" PRId64
			    " contributors, but there were never more than %zu",
			    v->object, v->n, most.ranks);
	if (v->value < 0 || v->value - v->bound > most.bytes) /* NaN: there is no value */
		world_break(
			c->w,
			"INV-7: \"%s\" has sent %g bytes by the measurement, but only %g in fact",
			v->object, v->value, most.bytes);
}

/*
 * Only values of processes, and of all together, are checked: tokens of hosts and sites do not
 * reveal their ranks.
 */
static void check_least(struct cluster *c, const struct value *v, const struct answers_measured *m)
{
	struct answers_truth least;

	if (!m->begun || m->asked < m->begun || m->is_last || v->k < v->n ||
	    (v->object[0] && strncmp(v->object, "p_", 2) != 0))
		return;
	least = answers_sent(c, v->object, m->begun, m->asked);
	if (!(v->value + v->bound >= least.bytes))
		world_break(
			c->w,
			"INV-9: \"%s\" has sent %g bytes by the measurement (%s), but %g in fact",
			v->object, v->value, v->flags, least.bytes);
}

unsigned answers_check_read(struct cluster *c, const char *value, struct answers_measured *m)
{
	struct values vs;
	double most;

	if (values_parse(value, &vs)) {
		world_break(c->w, "INV-10: this is not a list of values of a read: %.100s", value);
		return 1;
	}
	for (size_t i = 0; i < vs.n; i++) {
		const struct value *v = &vs.v[i];

		if ((!strncmp(v->object, "p_", 2) && !is_known(c, v->object)) ||
		    !rogue_spares(c->rogue, v->object))
			continue;
		check_value(c, &vs, v, since(c, m));
		check_least(c, v, m);
		m->sum += isnan(v->value) || vs.read <= m->read ? 0 : v->value - v->bound;
	}
	m->read = vs.read > m->read ? vs.read : m->read;
	most = answers_sent(c, "", since(c, m), loop_now(c->w->loop)).bytes;
	if (m->is_last && m->sum > most)
		world_break(c->w, "INV-8: all reads together have %g bytes, but only %g were sent",
			    m->sum, most);
	values_done(&vs);
	return 1;
}
