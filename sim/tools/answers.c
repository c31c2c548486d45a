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

/* If a rogue may send false tokens, the host in a token must be the process's, too. */
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

/* False: it was reported before. Of calls before the last 64 that is unknown: returns true. */
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
		return 0; /* of another action of the list, which reports no call */
	snprintf(process, sizeof(process), "%.*s", at ? (int)(at - token) : 0, token);
	if (!rogue_spares(c->rogue, process))
		return 0;
	if (!p || !end || *end || !serial || serial > simrank_calls(p->mpi)) {
		world_break(c->w, "INV-4: an event \"%.100s\" that never was", value);
		return 1;
	}
	know(c, p, token, (size_t)(at - token));
	if (in_order && serial < seen[rank].last)
		world_break(c->w,
			    "INV-6: call %" PRIu64 " of rank %ld came after call %" PRIu64
			    ", not in its place",
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

/* The token of a process that is known, or of a host or a site, or of all. */
static bool is_of(const struct cluster *c, const char *object, const struct simnode *n,
		  const struct simproc *p)
{
	return (strncmp(object, "p_", 2) != 0 || str_eq(p->token, object)) &&
	       (!n || n == c->node[p->rank / CLUSTER_RANKS_MAX]);
}

/* If values are by host, the ranks of one; else all ranks. */
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
 * If a host may not know the time, a process may seem to have begun after the measurement: then its
 * whole life is included.
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
			    " contributors, and there were never more than %zu",
			    v->object, v->n, most.ranks);
	if (v->value < 0 || v->value - v->bound > most.bytes) /* NaN: nothing is known */
		world_break(c->w, "INV-7: \"%s\" is measured to have sent %g bytes of %g",
			    v->object, v->value, most.bytes);
}

/* Tokens of hosts and sites do not show their ranks: only processes, and all together, are checked.
 */
static void check_least(struct cluster *c, const struct value *v, const struct answers_measured *m)
{
	struct answers_truth least;

	if (!m->begun || m->asked < m->begun || m->is_last || v->k < v->n ||
	    (v->object[0] && strncmp(v->object, "p_", 2) != 0))
		return;
	least = answers_sent(c, v->object, m->begun, m->asked);
	if (!(v->value + v->bound >= least.bytes))
		world_break(c->w,
			    "INV-9: \"%s\" is measured to have sent %g bytes (%s), and it was %g",
			    v->object, v->value, v->flags, least.bytes);
}

unsigned answers_check_read(struct cluster *c, const char *value, struct answers_measured *m)
{
	struct values vs;
	double most;

	if (values_parse(value, &vs)) {
		world_break(c->w, "INV-10: these are no values of a read: %.100s", value);
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
		world_break(c->w, "INV-8: all reads together have %g bytes of %g that were sent",
			    m->sum, most);
	values_done(&vs);
	return 1;
}
