/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/history/sample.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "mainsm/history/sample_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct evfield call_fields[] = { { "number", EV_INT32 },
					      { "name", EV_STRING },
					      { "class", EV_STRING } };
static const struct evfield job_fields[] = { { "job", EV_STRING },
					     { "program", EV_STRING },
					     { "packed", EV_STRING } };
static const struct evfield ranks_fields[] = { { "job", EV_STRING },
					       { "nodes", EV_STRING },
					       { "packed", EV_STRING } };

#define TYPE(n, f)                                                       \
	{                                                                \
		.name = (n), .level = EV_INFO, .nfield = 3, .field = (f) \
	}
const struct evtype history_types[HISTORY_TYPES] = {
	[HISTORY_TYPE_CALL] = TYPE("omig.history.call", call_fields),
	[HISTORY_TYPE_JOB] = TYPE("omig.history.job", job_fields),
	[HISTORY_TYPE_RANKS] = TYPE("omig.history.ranks", ranks_fields),
};

void history_writer_init(struct history_writer *w, uint64_t stream)
{
	*w = (struct history_writer){ 0 };
	evwrite_init(&w->out, stream, false, HISTORY_BLOCK_BYTES);
}

void history_writer_done(struct history_writer *w)
{
	evwrite_done(&w->out);
	for (size_t i = 0; i < w->nname; i++)
		free(w->name[i].text);
	free(w->name);
	*w = (struct history_writer){ 0 };
}

int history_writer_cut(struct history_writer *w, struct err *e)
{
	return evwrite_cut(&w->out, false, e);
}

/* --- blocks that describe themselves */

static void forget_names(struct history_writer *w)
{
	for (size_t i = 0; i < w->nname; i++)
		free(w->name[i].text);
	w->nname = 0;
	w->is_described = false;
}

static int describe(struct history_writer *w, struct err *e)
{
	int rc = 0;

	if (w->block != w->out.head.seq)
		forget_names(w);
	w->block = w->out.head.seq;
	for (unsigned i = 0; !rc && !w->is_described && i < HISTORY_TYPES; i++)
		rc = evwrite_define(&w->out, EV_TYPE_FIRST + i, &history_types[i], e);
	w->is_described = !rc;
	return rc;
}

static struct evvalue text_value(const char *s, size_t n)
{
	return (struct evvalue){ .kind = EV_STRING, .n = (uint32_t)n, .s = s };
}

static int put(struct history_writer *w, enum history_type type, nsec_t wall,
	       const struct evvalue v[3], struct err *e)
{
	return evwrite_event(&w->out, EV_TYPE_FIRST + type,
			     &(struct event){ .type = &history_types[type],
					      .ticks = (uint64_t)wall,
					      .value = v },
			     e);
}

static int name_call(struct history_writer *w, nsec_t wall, const struct history_call *c,
		     uint64_t *number, struct err *e)
{
	struct evvalue v[3] = { { .kind = EV_INT32, .i32 = (int32_t)w->nname },
				text_value(c->name, strlen(c->name)),
				text_value(c->class, strlen(c->class)) };
	char *text;
	int rc;

	for (size_t i = 0; i < w->nname; i++)
		if (str_eq(w->name[i].text, c->name)) {
			*number = i;
			return 0;
		}
	if (array_grow(&w->name, &w->cap, w->nname + 1, sizeof(*w->name), HISTORY_CALLS_MAX))
		return err_nomem(e);
	text = str_dup(c->name);
	if (!text)
		return err_nomem(e);
	rc = put(w, HISTORY_TYPE_CALL, wall, v, e);
	if (rc) {
		free(text);
		return rc;
	}
	*number = w->nname;
	w->name[w->nname++].text = text;
	return 0;
}

/* A sample must be in one block, after the names that it uses. */
static int make_room(struct history_writer *w, size_t bytes, struct err *e)
{
	return w->out.body.n && w->out.body.n + bytes > HISTORY_BLOCK_BYTES
		       ? history_writer_cut(w, e)
		       : 0;
}

/* --- a job */

static void put_number(struct buf *b, int64_t v)
{
	buf_put_varint(b, v > 0 ? (uint64_t)v : 0);
}

static void pack_job(struct buf *b, const struct history_job *j)
{
	const int64_t v[HISTORY_JOB_NUMBERS] = {
		j->span_ms,  j->began_ms, j->world_size,      j->processes, j->alive,
		j->ranks,    j->nodes,	  j->missing,	      j->counted,   j->volumes,
		j->answered, j->in_mpi,	  j->exit_status + 1, j->flags,	    j->cpu_ms,
		j->rss,	     j->rss_max,  (int64_t)j->ncall
	};

	buf_putc(b, HISTORY_VERSION);
	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		put_number(b, v[i]);
}

#define NAME_BYTES 256 /* a function's name and the rest of its record; the longest name has 40 */

int history_write_job(struct history_writer *w, const struct history_job *j, struct err *e)
{
	struct buf b = BUF_INIT(EV_RECORD_MAX_BYTES);
	uint64_t number = 0;
	int rc = j->ncall > HISTORY_CALLS_MAX ? err_set(e, ERR_LIMIT, "too many functions")
					      : make_room(w, 8192 + j->ncall * NAME_BYTES, e);

	if (!rc)
		rc = describe(w, e);
	pack_job(&b, j);
	for (size_t i = 0; !rc && i < j->ncall; i++) {
		rc = name_call(w, j->wall, &j->call[i], &number, e);
		buf_put_varint(&b, number);
		put_number(&b, j->call[i].count);
		put_number(&b, j->call[i].delay_ns);
		put_number(&b, j->call[i].bytes_out);
		put_number(&b, j->call[i].bytes_in);
	}
	if (!rc && b.failed)
		rc = err_set(e, ERR_LIMIT, "the sample is too long");
	if (!rc)
		rc = put(w, HISTORY_TYPE_JOB, j->wall,
			 (struct evvalue[3]){ text_value(j->job, strlen(j->job)),
					      text_value(j->program, strlen(j->program)),
					      text_value((const char *)b.p, b.n) },
			 e);
	buf_done(&b);
	return rc;
}

/* --- ranks: a column after another, 16 bits a value; a column of one value is that value alone */

static uint16_t shorten(float v)
{
	uint32_t bits;

	if (isnan(v))
		return 0x7fc0;
	memcpy(&bits, &v, sizeof(bits));
	if ((bits >> 16 & 0x7f80) != 0x7f80)
		bits += 0x7fff + (bits >> 16 & 1); /* rounds to nearest, ties to even */
	return (uint16_t)(bits >> 16);
}

static void pack_column(struct buf *b, const struct history_ranks *r, unsigned column)
{
	uint16_t first = r->n ? shorten(r->rank[0].value[column]) : 0;
	bool is_same = true;

	for (size_t i = 1; is_same && i < r->n; i++)
		is_same = shorten(r->rank[i].value[column]) == first;
	buf_putc(b, is_same);
	buf_put_u16le(b, first);
	for (size_t i = 1; !is_same && i < r->n; i++)
		buf_put_u16le(b, shorten(r->rank[i].value[column]));
}

/* Ranks ascend; runs of successive ones, each as the distance to the last and a length. */
static void pack_numbers(struct buf *b, const struct history_ranks *r)
{
	int64_t last = -1;
	size_t n;

	for (size_t i = 0; i < r->n; i += n) {
		for (n = 1; i + n < r->n && r->rank[i + n].rank == r->rank[i].rank + (int64_t)n;)
			n++;
		put_number(b, r->rank[i].rank - last - 1);
		put_number(b, (int64_t)n);
		last = r->rank[i + n - 1].rank;
	}
}

int history_write_ranks(struct history_writer *w, const struct history_ranks *r, struct err *e)
{
	struct buf b = BUF_INIT(EV_RECORD_MAX_BYTES);
	int rc = 0;

	buf_putc(&b, HISTORY_VERSION);
	put_number(&b, r->span_ms);
	put_number(&b, (int64_t)r->n);
	buf_putc(&b, HISTORY_COLUMNS);
	pack_numbers(&b, r);
	for (unsigned i = 0; i < HISTORY_COLUMNS; i++)
		pack_column(&b, r, i);
	if (r->n > HISTORY_RANKS_EACH_MAX || b.failed ||
	    b.n + strlen(r->nodes) > EV_RECORD_MAX_BYTES - 512)
		rc = err_set(e, ERR_LIMIT, "a sample of %zu ranks is too long", r->n);
	if (!rc)
		rc = make_room(w, b.n + strlen(r->nodes) + 8192, e);
	if (!rc)
		rc = describe(w, e);
	if (!rc)
		rc = put(w, HISTORY_TYPE_RANKS, r->wall,
			 (struct evvalue[3]){ text_value(r->job, strlen(r->job)),
					      text_value(r->nodes, strlen(r->nodes)),
					      text_value((const char *)b.p, b.n) },
			 e);
	buf_done(&b);
	return rc;
}
