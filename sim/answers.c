/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/answers.h"

#include "common/base/str.h"
#include "common/omis/token.h"
#include "sim/rogue.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a rogue may lie, the host inside of a token must be the process's too. */
static bool is_there(const struct cluster *c, const struct simproc *p, const char *token, size_t n)
{
	uint32_t number;

	return !rogue_counts(c->rogue) ||
	       (token_node(token, n, &number) && rogue_node(c->rogue, number) == c->node[p->rank / CLUSTER_RANKS_MAX]);
}

static void know(struct cluster *c, struct simproc *p, const char *token, size_t n)
{
	if (!is_there(c, p, token, n))
		world_break(c->w, "rank %d is told as %.*s, which is of another host", (int)p->rank, (int)n, token);
	if (!p->token[0])
		snprintf(p->token, sizeof(p->token), "%.*s", (int)n, token);
	else if (strlen(p->token) != n || strncmp(p->token, token, n) != 0)
		world_break(c->w, "rank %d was %s and is %.*s now", (int)p->rank, p->token, (int)n, token);
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
		world_break(c->w, "%s is told as \"%.100s\": there is no such process", token, value);
	else
		know(c, p, token, strlen(token));
	return 1;
}

/* False: it was told before. More than 64 back nobody knows. */
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

unsigned answers_check_trigger(struct cluster *c, const char *value, bool in_order, struct seen *seen)
{
	const char *token = value[0] ? value + 2 : ""; /* of a list that length stands first */
	const char *at = value[0] ? strchr(token, ',') : NULL;
	char *end = NULL;
	long rank = at ? strtol(at + 1, &end, 10) : -1;
	uint64_t serial = end && *end == ',' ? strtoull(end + 1, &end, 10) : 0;
	struct simproc *p = cluster_rank(c, rank);
	char process[TOKEN_BYTES];

	if (!value[0])
		return 0; /* of another action of the list, which tells nothing */
	snprintf(process, sizeof(process), "%.*s", at ? (int)(at - token) : 0, token);
	if (!rogue_spares(c->rogue, process))
		return 0;
	if (!p || !end || *end || !serial || serial > simrank_calls(p->mpi)) {
		world_break(c->w, "an event \"%.100s\" that never was", value);
		return 1;
	}
	know(c, p, token, (size_t)(at - token));
	if (in_order && serial < seen[rank].last)
		world_break(c->w, "call %" PRIu64 " of rank %ld came after call %" PRIu64 ", not in its place", serial, rank,
			    seen[rank].last);
	if (!see(&seen[rank], serial))
		world_break(c->w, "call %" PRIu64 " of rank %ld is told twice", serial, rank);
	return 1;
}

/* One value of a read is [object,number of the read,value,...]. NULL: that was all. */
static const char *next_value(const char *at, char *object, size_t room, double *value)
{
	const char *comma = at && *at == '[' ? strchr(at, ',') : NULL;
	const char *second = comma ? strchr(comma + 1, ',') : NULL;

	if (!second)
		return NULL;
	snprintf(object, room, "%.*s", (int)(comma - at - 1), at + 1);
	*value = strtod(second + 1, NULL);
	at = strchr(second, ']');
	return at ? at + 1 : second + strlen(second);
}

static const char *first_value(const char *value)
{
	const char *at = strstr(value, ",[");

	return at ? at + 2 : NULL;
}

double answers_of(const struct cluster *c, const char *value, const struct simnode *n)
{
	char object[40];
	uint32_t number;
	double v = NAN;

	for (const char *at = first_value(value); (at = next_value(at, object, sizeof(object), &v)); at += *at == ',')
		if (token_node(object, strlen(object), &number) && rogue_node(c->rogue, number) == n)
			return v;
	return NAN;
}

double answers_total(const char *value)
{
	char object[40];
	double v = NAN;

	return next_value(first_value(value), object, sizeof(object), &v) ? v : NAN;
}

/* Of the one of that token; where hosts are known by their numbers, of those of one; else of all ranks. */
static double sent_by(const struct cluster *c, const char *token)
{
	const struct simproc *p;
	const struct simnode *n = NULL;
	uint32_t number;
	double sum = 0;

	if (!strncmp(token, "n_", 2) && rogue_counts(c->rogue) && token_node(token, strlen(token), &number))
		n = rogue_node(c->rogue, number);
	for (size_t i = 0; (p = cluster_each_rank(c, &i));)
		if ((strncmp(token, "p_", 2) != 0 || str_eq(p->token, token)) &&
		    (!n || n == c->node[p->rank / CLUSTER_RANKS_MAX]))
			sum += (double)simrank_bytes(p->mpi);
	return sum;
}

static bool is_known(const struct cluster *c, const char *token)
{
	const struct simproc *p;

	for (size_t i = 0; (p = cluster_each_rank(c, &i));)
		if (str_eq(p->token, token))
			return true;
	return false;
}

unsigned answers_check_read(struct cluster *c, const char *value)
{
	char object[40];
	double v = 0;

	for (const char *at = first_value(value); (at = next_value(at, object, sizeof(object), &v));) {
		at += *at == ',';
		if ((!strncmp(object, "p_", 2) && !is_known(c, object)) || !rogue_spares(c->rogue, object))
			continue;
		if (v < 0 || v > sent_by(c, object)) /* NaN: nothing is known */
			world_break(c->w, "%s is measured to have sent %g bytes of %g", object, v, sent_by(c, object));
	}
	return 1;
}
