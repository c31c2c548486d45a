/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/profile/profile.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/session/reply_each.h"
#include "tools/session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const profile_by_names[PROFILE_KINDS] = { "call",	 "rank", "node",
						      "partner", "site", "size" };

/* Positions in a reply of omig_calls_profile(): in the head of a node, and in each kind of row. */
enum {
	HEAD_TIME,
	HEAD_NODE,
	HEAD_RANKS,
	HEAD_ENDED,
	HEAD_UNTIMED,
	HEAD_UNREAD,
	HEAD_MARKED,
	HEAD_TIMED,
	HEAD_LONGEST,
	HEAD_WORD,
	HEAD_LEFT_OUT,
	HEAD_LOST,
	HEAD_SIZE
};
enum {
	CALL_NAME,
	CALL_CLASS,
	CALL_COUNT,
	CALL_DELAY,
	CALL_IN_CALL,
	CALL_OUT,
	CALL_IN,
	CALL_MOST_RANK,
	CALL_MOST,
	CALL_RANKS,
	CALL_SHORTEST,
	CALL_LONGEST
};
enum {
	RANK_RANK,
	RANK_TOKEN,
	RANK_ENDED,
	RANK_COUNT,
	RANK_DELAY,
	RANK_OUT,
	RANK_IN,
	RANK_TIMED,
	RANK_MOST_CALL,
	RANK_MOST
};
enum {
	SITE_NAME,
	SITE_PROCESS,
	SITE_COUNT,
	SITE_DELAY,
	SITE_LONGEST,
	SITE_OUT,
	SITE_IN,
	SITE_MOST_RANK,
	SITE_MOST,
	SITE_RANKS,
	SITE_FRAMES
};
enum { SIZE_NAME, SIZE_FROM, SIZE_TO, SIZE_COUNT, SIZE_DELAY, SIZE_BYTES };
enum { PAIR_RANK, PAIR_PARTNER, PAIR_COUNT, PAIR_DELAY, PAIR_OUT, PAIR_IN };

/* Bits of a hook word, as docs/services.md lists them. */
enum {
	WORD_TIME = 1 << 1,
	WORD_VOLUME = 1 << 2,
	WORD_PARTNER = 1 << 3,
	WORD_SITE = 1 << 14,
	WORD_SAMPLE_SHIFT = 8
};

struct reading {
	struct profile *p;
	const Omis_object_result *nodes;
	uint32_t words; /* bits common to the hook words of all ranks */
	bool ok;
};

/* A number from 0 up; NaN: it is missing or negative. */
static double amount(const Omis_value *v, size_t i)
{
	double d = value_float(v, i);

	return d >= 0 ? d : (double)NAN;
}

static double seconds(const Omis_value *v, size_t i)
{
	return amount(v, i) * 1e-9;
}

static size_t number(const Omis_value *v, size_t i)
{
	int64_t n = value_int(v, i);

	return n > 0 ? (size_t)n : 0;
}

/* --- rows */

static struct profile_row *add_row(struct reading *rd, const char *name)
{
	struct profile *p = rd->p;
	struct profile_row *r;

	if (array_grow(&p->row, &p->cap, p->n + 1, sizeof(*p->row), OMIS_OBJECTS_MAX) < 0) {
		rd->ok = false;
		return NULL;
	}
	r = &p->row[p->n++];
	*r = (struct profile_row){ .rank = -1, .partner = -1, .most_rank = -1 };
	r->calls = r->seconds = r->bytes_out = r->bytes_in = (double)NAN;
	r->wall_s = r->in_call = r->ranks = r->most_s = (double)NAN;
	r->shortest_s = r->longest_s = r->bytes = (double)NAN;
	str_copy(r->name, sizeof(r->name), name);
	return r;
}

/* A row sums a call over all hosts. The search is linear: a job uses some dozens of calls. */
static struct profile_row *find_row(struct reading *rd, const char *name)
{
	for (size_t i = 0; i < rd->p->n; i++)
		if (str_eq(rd->p->row[i].name, name))
			return &rd->p->row[i];
	return add_row(rd, name);
}

static double plus(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

/* The four sums have the same distance from one another in each kind of row. */
static void add_sums(struct profile_row *r, const Omis_value *v, size_t count, size_t out)
{
	r->calls = plus(r->calls, amount(v, count));
	r->seconds = plus(r->seconds, seconds(v, count + 1));
	r->bytes_out = plus(r->bytes_out, amount(v, out));
	r->bytes_in = plus(r->bytes_in, amount(v, out + 1));
}

static void add_to_all(struct profile *p, const Omis_value *v, size_t count, size_t out)
{
	p->calls = plus(p->calls, amount(v, count));
	p->seconds = plus(p->seconds, seconds(v, count + 1));
	p->bytes_out = plus(p->bytes_out, amount(v, out));
	p->bytes_in = plus(p->bytes_in, amount(v, out + 1));
}

/* rank: the position of the rank in v; its time follows. */
static void add_most(struct profile_row *r, const Omis_value *v, size_t rank)
{
	double most = seconds(v, rank + 1);

	if (isnan(most) || (!isnan(r->most_s) && most <= r->most_s))
		return;
	r->most_s = most;
	r->most_rank = value_int(v, rank);
}

/*
 * v 0: the host has no time of such a call. If one host does not know its value, the total stays
 * unknown.
 */
static void add_extent(double *to, double v, bool is_longest)
{
	if (v == 0 || *to < 0)
		return;
	if (isnan(v))
		*to = -1;
	else
		*to = isnan(*to) || (v > *to) == is_longest ? v : *to;
}

static void hide_unknown_extents(struct profile *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct profile_row *r = &p->row[i];

		r->shortest_s = r->shortest_s < 0 ? (double)NAN : r->shortest_s;
		r->longest_s = r->longest_s < 0 ? (double)NAN : r->longest_s;
	}
}

static void add_call(struct reading *rd, const Omis_value *v)
{
	struct profile_row *r = find_row(rd, value_text(v, CALL_NAME));

	if (!r)
		return;
	str_copy(r->class, sizeof(r->class), value_text(v, CALL_CLASS));
	add_sums(r, v, CALL_COUNT, CALL_OUT);
	r->in_call = plus(r->in_call, amount(v, CALL_IN_CALL));
	r->ranks = plus(r->ranks, amount(v, CALL_RANKS));
	add_most(r, v, CALL_MOST_RANK);
	add_extent(&r->shortest_s, seconds(v, CALL_SHORTEST), false);
	add_extent(&r->longest_s, seconds(v, CALL_LONGEST), true);
}

static struct profile_row *find_size(struct reading *rd, const char *name, int64_t from)
{
	for (size_t i = 0; i < rd->p->n; i++)
		if (rd->p->row[i].size_from == from && str_eq(rd->p->row[i].name, name))
			return &rd->p->row[i];
	return add_row(rd, name);
}

static void add_size(struct reading *rd, const Omis_value *v)
{
	int64_t from = value_int(v, SIZE_FROM);
	struct profile_row *r = from < 0 ? NULL : find_size(rd, value_text(v, SIZE_NAME), from);

	if (!r)
		return;
	r->size_from = from;
	r->size_to = value_int(v, SIZE_TO);
	r->calls = plus(r->calls, amount(v, SIZE_COUNT));
	r->seconds = plus(r->seconds, seconds(v, SIZE_DELAY));
	r->bytes = plus(r->bytes, amount(v, SIZE_BYTES));
}

static void add_rank(struct reading *rd, const Omis_value *v)
{
	struct profile_row *r = add_row(rd, value_text(v, RANK_TOKEN));

	if (!r)
		return;
	r->rank = value_int(v, RANK_RANK);
	r->has_ended = value_int(v, RANK_ENDED) != 0;
	add_sums(r, v, RANK_COUNT, RANK_OUT);
	r->wall_s = seconds(v, RANK_TIMED);
	str_copy(r->most_call, sizeof(r->most_call), value_text(v, RANK_MOST_CALL));
	r->most_s = seconds(v, RANK_MOST);
}

static void add_pair(struct reading *rd, const Omis_value *v)
{
	struct profile_row *r = add_row(rd, "");

	if (!r)
		return;
	r->rank = value_int(v, PAIR_RANK);
	r->partner = value_int(v, PAIR_PARTNER);
	add_sums(r, v, PAIR_COUNT, PAIR_OUT);
}

/* --- call sites: the same place in files of the same name is one */

static size_t frames_of(const Omis_value *v)
{
	size_t n = 0;

	while (n < PROFILE_FRAMES && value_at(v, SITE_FRAMES + n))
		n++;
	return n;
}

static bool has_frames(const struct profile_row *r, const Omis_value *v, size_t n)
{
	if (r->nframe != n || !str_eq(r->name, value_text(v, SITE_NAME)))
		return false;
	for (size_t i = 0; i < n; i++) {
		const Omis_value *f = value_at(v, SITE_FRAMES + i);

		if (r->frame[i].address != value_int(f, 1) ||
		    !str_eq(r->frame[i].path, value_text(f, 0)))
			return false;
	}
	return true;
}

static struct profile_row *add_site_row(struct reading *rd, const Omis_value *v, size_t n)
{
	struct profile_row *r = add_row(rd, value_text(v, SITE_NAME));

	if (!r)
		return NULL;
	r->frame = calloc(n + 1, sizeof(*r->frame));
	if (!r->frame) {
		rd->ok = false;
		return NULL;
	}
	for (r->nframe = 0; r->nframe < n; r->nframe++) {
		const Omis_value *f = value_at(v, SITE_FRAMES + r->nframe);

		str_copy(r->frame[r->nframe].path, PROFILE_PLACE_BYTES, value_text(f, 0));
		r->frame[r->nframe].address = value_int(f, 1);
	}
	str_copy(r->process, sizeof(r->process), value_text(v, SITE_PROCESS));
	return r;
}

static void add_site(struct reading *rd, const Omis_value *v)
{
	size_t n = frames_of(v), i = 0;
	struct profile_row *r;

	while (i < rd->p->n && !has_frames(&rd->p->row[i], v, n))
		i++;
	r = i < rd->p->n ? &rd->p->row[i] : add_site_row(rd, v, n);
	if (!r)
		return;
	r->calls = plus(r->calls, amount(v, SITE_COUNT));
	r->seconds = plus(r->seconds, seconds(v, SITE_DELAY));
	r->bytes_out = plus(r->bytes_out, amount(v, SITE_OUT));
	r->bytes_in = plus(r->bytes_in, amount(v, SITE_IN));
	r->ranks = plus(r->ranks, amount(v, SITE_RANKS));
	r->longest_s = fmax(r->longest_s, seconds(v, SITE_LONGEST)); /* fmax() ignores NaN */
	add_most(r, v, SITE_MOST_RANK);
}

/* --- nodes */

struct search {
	const char *token;
	char *out;
};

static void on_node(void *arg, const char *token, const Omis_value *v)
{
	const struct search *s = arg;

	if (str_eq(token, s->token) && value_text(v, 0)[0])
		str_copy(s->out, PROFILE_NAME_BYTES, value_text(v, 0));
}

static struct profile_row *add_node(struct reading *rd, const Omis_value *v)
{
	char name[PROFILE_NAME_BYTES];
	struct profile_row *r;

	str_copy(name, sizeof(name), value_text(v, HEAD_NODE));
	reply_each(rd->nodes, on_node, &(struct search){ value_text(v, HEAD_NODE), name });
	r = add_row(rd, name);
	if (!r)
		return NULL;
	r->wall_s = seconds(v, HEAD_TIMED);
	r->ranks = (double)number(v, HEAD_RANKS);
	return r;
}

static void add_head(struct reading *rd, const Omis_value *v)
{
	struct profile *p = rd->p;
	uint32_t word = (uint32_t)value_int(v, HEAD_WORD);
	double longest = seconds(v, HEAD_LONGEST);

	p->nodes++;
	p->ranks += number(v, HEAD_RANKS);
	p->ended += number(v, HEAD_ENDED);
	p->untimed += number(v, HEAD_UNTIMED);
	p->unread += number(v, HEAD_UNREAD);
	p->marked += number(v, HEAD_MARKED);
	p->left_out += number(v, HEAD_LEFT_OUT);
	p->lost = plus(p->lost, amount(v, HEAD_LOST));
	p->wall_s = plus(p->wall_s, seconds(v, HEAD_TIMED));
	if (longest > p->longest_s)
		p->longest_s = longest;
	if (!p->time_ns || value_int(v, HEAD_TIME) < p->time_ns)
		p->time_ns = value_int(v, HEAD_TIME);
	if (!number(v, HEAD_RANKS))
		return;
	rd->words &= word;
	if ((word >> WORD_SAMPLE_SHIFT & 31) > p->sampled)
		p->sampled = word >> WORD_SAMPLE_SHIFT & 31;
}

/* Calls that move no bytes are not in any row: only their totals are known. */
static void add_to_all_sizes(struct profile *p, const Omis_value *v)
{
	p->calls = plus(p->calls, amount(v, SIZE_COUNT));
	p->seconds = plus(p->seconds, seconds(v, SIZE_DELAY));
}

static void add_to_all_sites(struct profile *p, const Omis_value *v)
{
	p->calls = plus(p->calls, amount(v, SITE_COUNT));
	p->seconds = plus(p->seconds, seconds(v, SITE_DELAY));
	p->bytes_out = plus(p->bytes_out, amount(v, SITE_OUT));
	p->bytes_in = plus(p->bytes_in, amount(v, SITE_IN));
}

static void add_value(struct reading *rd, struct profile_row *node, const Omis_value *v)
{
	switch (rd->p->by) {
	case PROFILE_RANK:
		add_to_all(rd->p, v, RANK_COUNT, RANK_OUT);
		add_rank(rd, v);
		break;
	case PROFILE_PARTNER:
		add_to_all(rd->p, v, PAIR_COUNT, PAIR_OUT);
		add_pair(rd, v);
		break;
	case PROFILE_SITE:
		add_to_all_sites(rd->p, v);
		add_site(rd, v);
		break;
	case PROFILE_SIZE:
		add_to_all_sizes(rd->p, v);
		add_size(rd, v);
		break;
	case PROFILE_NODE:
		add_to_all(rd->p, v, CALL_COUNT, CALL_OUT);
		add_sums(node, v, CALL_COUNT, CALL_OUT);
		if (seconds(v, CALL_DELAY) > node->most_s || isnan(node->most_s)) {
			node->most_s = seconds(v, CALL_DELAY);
			str_copy(node->most_call, sizeof(node->most_call),
				 value_text(v, CALL_NAME));
		}
		break;
	default:
		add_to_all(rd->p, v, CALL_COUNT, CALL_OUT);
		add_call(rd, v);
	}
}

static void read_entry(struct reading *rd, const Omis_value *v)
{
	struct profile_row *node = NULL;
	const Omis_value *row;

	if (!v || !value_at(v, HEAD_LOST))
		return;
	add_head(rd, v);
	if (rd->p->by == PROFILE_NODE && number(v, HEAD_RANKS))
		node = add_node(rd, v);
	for (size_t i = HEAD_SIZE; rd->ok && (row = value_at(v, i)); i++)
		if (row->kind == OMIS_VALUE_LIST && (node || rd->p->by != PROFILE_NODE))
			add_value(rd, node, row);
}

bool profile_read(struct profile *p, enum profile_by by, const Omis_object_result *entries,
		  const Omis_object_result *nodes)
{
	struct reading rd = { p, nodes, UINT32_MAX, true };

	*p = (struct profile){ .by = by };
	for (const Omis_object_result *o = entries; rd.ok && o && o->obj_list; o++) {
		Omis_value *v = o->status == OMIS_OK && o->result
					? omis_value_parse(o->result, o->result_len)
					: NULL;

		read_entry(&rd, v);
		omis_value_free(v);
	}
	hide_unknown_extents(p);
	p->is_timed = p->ranks && rd.words & WORD_TIME;
	p->has_bytes = p->ranks && (rd.words & WORD_VOLUME || p->bytes_out + p->bytes_in > 0);
	if (by == PROFILE_SIZE)
		p->bytes_out = p->bytes_in = (double)NAN; /* rows have only the larger of both */
	p->has_partners = p->ranks && rd.words & WORD_PARTNER;
	p->has_sites = p->ranks && rd.words & WORD_SITE;
	if (!rd.ok)
		profile_done(p);
	return rd.ok;
}

void profile_done(struct profile *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->row[i].frame);
	free(p->row);
	*p = (struct profile){ 0 };
}

/* --- order and shares */

double profile_of_mpi(const struct profile *p, const struct profile_row *r)
{
	return p->seconds > 0 ? 100 * r->seconds / p->seconds : (double)NAN;
}

double profile_of_wall(const struct profile *p, const struct profile_row *r)
{
	double wall = p->by == PROFILE_RANK || p->by == PROFILE_NODE ? r->wall_s : p->wall_s;

	return wall > 0 ? 100 * r->seconds / wall : (double)NAN;
}

double profile_mean(const struct profile_row *r)
{
	return r->calls > 0 ? r->seconds / r->calls : (double)NAN;
}

static double key(const struct profile_row *r, enum profile_sort by)
{
	switch (by) {
	case PROFILE_BY_TIME:
		return r->seconds;
	case PROFILE_BY_CALLS:
		return r->calls;
	case PROFILE_BY_BYTES:
		return isnan(r->bytes) ? r->bytes_out + r->bytes_in : r->bytes;
	case PROFILE_BY_MEAN:
		return profile_mean(r);
	default:
		return 0;
	}
}

static int compare(const void *pa, const void *pb, void *arg)
{
	const struct profile_row *a = pa, *b = pb;
	enum profile_sort by = *(const enum profile_sort *)arg;
	double ka = key(a, by), kb = key(b, by);

	ka = isnan(ka) ? -1 : ka;
	kb = isnan(kb) ? -1 : kb;
	if (ka != kb)
		return ka < kb ? 1 : -1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->partner != b->partner)
		return a->partner < b->partner ? -1 : 1;
	if (strverscmp(a->name, b->name))
		return strverscmp(a->name, b->name);
	return (a->size_from > b->size_from) - (a->size_from < b->size_from);
}

void profile_sort(struct profile *p, enum profile_sort by)
{
	if (p->n > 1)
		qsort_r(p->row, p->n, sizeof(*p->row), compare, &by);
}
