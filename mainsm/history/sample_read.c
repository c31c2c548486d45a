/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/cur.h"
#include "common/base/str.h"
#include "mainsm/history/sample.h"
#include "mainsm/history/sample_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct history_reader {
	struct history_visit visit;
	struct evread *in;
	uint64_t stream; /* of the names */
	struct history_name name[HISTORY_CALLS_MAX]; /* by number */
	struct history_call call[HISTORY_CALLS_MAX]; /* functions of the sample that is read */
	struct history_rank *rank; /* owned */
	size_t cap;
	char job[256], program[256];
	char *nodes; /* owned */
	struct history_reader_report report;
};

struct history_reader *history_reader_new(const struct history_visit *visit)
{
	struct history_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->visit = *visit;
	r->in = evread_new();
	if (r->in)
		return r;
	free(r);
	return NULL;
}

static void forget_names(struct history_reader *r)
{
	for (size_t i = 0; i < HISTORY_CALLS_MAX; i++) {
		free(r->name[i].text);
		free(r->name[i].class);
		r->name[i] = (struct history_name){ 0 };
	}
}

void history_reader_free(struct history_reader *r)
{
	if (!r)
		return;
	forget_names(r);
	evread_free(r->in);
	free(r->rank);
	free(r->nodes);
	free(r);
}

/* --- records */

static bool copy_text(char *out, size_t size, const struct evvalue *v)
{
	if (v->n >= size || memchr(v->s, 0, v->n))
		return false;
	memcpy(out, v->s, v->n);
	out[v->n] = 0;
	return true;
}

static char *dup_text(const struct evvalue *v)
{
	char *s = memchr(v->s, 0, v->n) ? NULL : malloc((size_t)v->n + 1);

	if (s)
		copy_text(s, (size_t)v->n + 1, v);
	return s;
}

static bool read_call(struct history_reader *r, const struct event *e)
{
	const struct evvalue *v = e->value;
	struct history_name *at;

	if (v[0].i32 < 0 || v[0].i32 >= HISTORY_CALLS_MAX)
		return false;
	at = &r->name[v[0].i32];
	free(at->text);
	free(at->class);
	at->text = dup_text(&v[1]);
	at->class = dup_text(&v[2]);
	return at->text && at->class;
}

/* Reads a number, limited to a range without overflows. */
static int64_t number(struct cur *c)
{
	uint64_t v = cur_varint(c);

	if (v > (uint64_t)INT64_MAX / 4)
		c->failed = true;
	return c->failed ? 0 : (int64_t)v;
}

static bool read_calls(struct history_reader *r, struct cur *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t at = number(c);

		if (c->failed || at >= HISTORY_CALLS_MAX || !r->name[at].text || !r->name[at].class)
			return false;
		r->call[i].name = r->name[at].text;
		r->call[i].class = r->name[at].class;
		r->call[i].count = number(c);
		r->call[i].delay_ns = number(c);
		r->call[i].bytes_out = number(c);
		r->call[i].bytes_in = number(c);
	}
	return !c->failed;
}

static bool read_job(struct history_reader *r, const struct event *e)
{
	struct history_job j = { .wall = e->wall_ns, .job = r->job, .program = r->program };
	int64_t *const field[HISTORY_JOB_NUMBERS - 1] = {
		&j.span_ms,	&j.began_ms, &j.world_size, &j.processes, &j.alive,    &j.ranks,
		&j.nodes,	&j.missing,  &j.counted,    &j.volumes,	  &j.answered, &j.in_mpi,
		&j.exit_status, &j.flags,    &j.cpu_ms,	    &j.rss,	  &j.rss_max
	};
	struct cur c;
	int64_t n;

	cur_init(&c, e->value[2].s, e->value[2].n);
	if (cur_u8(&c) < HISTORY_VERSION || !copy_text(r->job, sizeof(r->job), &e->value[0]) ||
	    !copy_text(r->program, sizeof(r->program), &e->value[1]))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(field); i++)
		*field[i] = number(&c);
	n = number(&c);
	j.exit_status--;
	if (c.failed || n > HISTORY_CALLS_MAX || !read_calls(r, &c, (size_t)n))
		return false;
	j.call = r->call;
	j.ncall = (size_t)n;
	if (r->visit.on_job)
		r->visit.on_job(r->visit.arg, &j);
	return true;
}

/* --- ranks */

static float lengthen(uint16_t v)
{
	uint32_t bits = (uint32_t)v << 16;
	float f;

	memcpy(&f, &bits, sizeof(f));
	return isfinite(f) ? f : NAN;
}

static bool read_numbers(struct history_reader *r, struct cur *c, size_t n)
{
	int64_t next = 0;

	for (size_t i = 0; i < n;) {
		int64_t skip = number(c), run = number(c);

		if (c->failed || run < 1 || (uint64_t)run > n - i || skip > INT32_MAX ||
		    next + skip + run > INT32_MAX)
			return false;
		next += skip;
		for (; run > 0; run--, i++)
			r->rank[i].rank = next++;
	}
	return true;
}

/* Columns of a later version are skipped. */
static bool read_column(struct history_reader *r, struct cur *c, size_t n, unsigned column)
{
	bool is_same = cur_u8(c) != 0;
	uint16_t v = cur_u16le(c);

	for (size_t i = 0; i < n; i++) {
		if (i && !is_same)
			v = cur_u16le(c);
		if (column < HISTORY_COLUMNS)
			r->rank[i].value[column] = lengthen(v);
	}
	return !c->failed;
}

static void unknown_columns(struct history_reader *r, size_t n, unsigned from)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned k = from; k < HISTORY_COLUMNS; k++)
			r->rank[i].value[k] = NAN;
}

static bool read_ranks(struct history_reader *r, const struct event *e)
{
	struct history_ranks out = { .wall = e->wall_ns, .job = r->job };
	struct cur c;
	unsigned columns;
	int64_t n;

	cur_init(&c, e->value[2].s, e->value[2].n);
	if (cur_u8(&c) < HISTORY_VERSION || !copy_text(r->job, sizeof(r->job), &e->value[0]))
		return false;
	out.span_ms = number(&c);
	n = number(&c);
	columns = cur_u8(&c);
	if (c.failed || n > HISTORY_RANKS_EACH_MAX ||
	    array_grow(&r->rank, &r->cap, (size_t)n + 1, sizeof(*r->rank),
		       HISTORY_RANKS_EACH_MAX + 1))
		return false;
	if (!read_numbers(r, &c, (size_t)n))
		return false;
	unknown_columns(r, (size_t)n, columns);
	for (unsigned i = 0; i < columns; i++)
		if (!read_column(r, &c, (size_t)n, i))
			return false;
	free(r->nodes);
	r->nodes = dup_text(&e->value[1]);
	if (!r->nodes)
		return false;
	out.nodes = r->nodes;
	out.rank = r->rank;
	out.n = (size_t)n;
	if (r->visit.on_ranks)
		r->visit.on_ranks(r->visit.arg, &out);
	return true;
}

/* --- blocks */

static void read_event(struct history_reader *r, const struct event *e)
{
	static bool (*const takes[HISTORY_TYPES])(struct history_reader *, const struct event *) = {
		[HISTORY_TYPE_CALL] = read_call,
		[HISTORY_TYPE_JOB] = read_job,
		[HISTORY_TYPE_RANKS] = read_ranks,
	};

	if (e->stream != r->stream)
		forget_names(r);
	r->stream = e->stream;
	for (unsigned i = 0; i < HISTORY_TYPES; i++) {
		if (!str_eq(e->type->name, history_types[i].name))
			continue;
		if (!evtype_equal(e->type, &history_types[i]) || !takes[i](r, e))
			r->report.bad++;
		else if (i != HISTORY_TYPE_CALL)
			r->report.samples++;
	}
}

int history_read(struct history_reader *r, const uint8_t *p, size_t n)
{
	struct event e;
	size_t used;
	int got;

	for (size_t at = 0; at < n; at += used) {
		got = evread_push(r->in, p + at, n - at, false, &used);
		if (got < 0)
			return got;
		if (got != EVREAD_BLOCK)
			break;
		while (evread_next(r->in, &e))
			read_event(r, &e);
	}
	return 0;
}

void history_reader_report(const struct history_reader *r, struct history_reader_report *out)
{
	*out = r->report;
}
