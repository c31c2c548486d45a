/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/archive/arsame.h"

#include "common/base/buf.h"
#include "common/base/hash.h"
#include "eventlog/archive/arvalue.h"

#include <stdlib.h>
#include <string.h>

#define HEAD 2 /* id, ts */

static const struct hash_key of_rows;

void arsame_init(struct arsame *s)
{
	*s = (struct arsame){ 0 };
	buf_init(&s->text, 16u << 20);
}

void arsame_done(struct arsame *s)
{
	free(s->row);
	buf_done(&s->text);
}

void arsame_clear(struct arsame *s)
{
	s->n = s->found = 0;
	s->differs = false;
}

/* --- rows of events */

/* Writes a value. SQLite stores -0.0 as 0.0. */
static void put_cell(struct buf *b, unsigned place, const struct arvalue *v)
{
	double r = v->class == AR_REAL ? v->r + 0.0 : 0;
	uint64_t number;

	if (v->class == AR_REAL)
		memcpy(&number, &r, sizeof(number));
	else
		number = v->class == AR_INT ? (uint64_t)v->i : v->n;
	buf_put_u32le(b, place << 3 | (unsigned)v->class);
	buf_put_u64le(b, number);
	if (v->class >= AR_TEXT)
		buf_put(b, v->s, v->n);
}

/*
 * Writes the cells in the order of the archive's columns. Returns false if the archive cannot have
 * this event.
 */
static bool put_cells(struct buf *b, const struct artype *t, const struct event *ev)
{
	struct arvalue cell[AR_COLUMNS_MAX] = { 0 };

	for (unsigned i = 0; i < ev->type->nfield; i++) {
		struct arvalue v = arvalue_of(&ev->value[i]);
		const struct arfield *f =
			arcat_column(t, ev->type->field[i].name, arvalue_nth(ev->type, i), v.class);

		if (f)
			cell[f->place] = v;
		else if (t->nfield < AR_COLUMNS_MAX)
			return false;
	}
	for (unsigned i = 0; i < t->nfield; i++)
		if (cell[i].class)
			put_cell(b, i, &cell[i]);
	return true;
}

int arsame_add(struct arsame *s, const struct arcat *c, int64_t id, const struct event *ev,
	       struct err *e)
{
	const struct artype *t = arcat_find(c, ev->type->name);

	if (!s->row)
		s->row = malloc(ARSAME_ROWS * sizeof(*s->row));
	if (!s->row)
		return err_nomem(e);
	if (!t) {
		s->differs |= c->n < AR_TYPES_MAX;
		return 0;
	}
	buf_clear(&s->text);
	buf_put_u64le(&s->text, (uint64_t)ev->wall_ns);
	if (!put_cells(&s->text, t, ev))
		s->differs = true;
	else if (s->text.failed)
		return err_nomem(e);
	else
		s->row[s->n++] =
			(struct arsame_row){ t, id, hash_sip13(&of_rows, s->text.p, s->text.n) };
	return 0;
}

/* --- rows of the archive */

static int compare_rows(const void *a, const void *b)
{
	const struct arsame_row *x = a, *y = b;

	if (x->t != y->t)
		return x->t->number < y->t->number ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* The rows of one type, which are read by one query. */
struct asking {
	struct arsame *s;
	size_t from, to;
};

static int take_row(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		    struct err *e)
{
	struct asking *a = arg;
	struct arsame_row key = { a->s->row[a->from].t, v[0].class == AR_INT ? v[0].i : 0, 0 };
	const struct arsame_row *r =
		bsearch(&key, a->s->row + a->from, a->to - a->from, sizeof(key), compare_rows);
	struct buf *b = &a->s->text;

	if (!r)
		return 0;
	buf_clear(b);
	buf_put_u64le(b, v[1].class == AR_INT ? (uint64_t)v[1].i : 0);
	for (unsigned i = HEAD; i < n; i++)
		if (v[i].class)
			put_cell(b, i - HEAD, &v[i]);
	if (b->failed)
		return err_nomem(e);
	a->s->found += hash_sip13(&of_rows, b->p, b->n) == r->hash;
	return 0;
}

static int ask_type(struct asking *a, const struct arsql *sql, struct err *e)
{
	const struct artype *t = a->s->row[a->from].t;
	struct arvalue between[] = { AR_I(a->s->row[a->from].id), AR_I(a->s->row[a->to - 1].id) };
	struct buf b = BUF_INIT(1 << 20);
	int rc;

	buf_puts(&b, "SELECT id, ts");
	for (size_t i = 0; i < t->nfield && t->field[i]->is_made; i++)
		buf_printf(&b, ", %s", t->field[i]->col);
	buf_printf(&b, " FROM %s WHERE id >= $1 AND id <= $2", t->tab);
	rc = b.failed ? err_nomem(e)
		      : sql->ops->run(sql->db,
				      &(struct arsql_statement){
					      .text = buf_str(&b), .v = between, .n = 2 },
				      take_row, a, e);
	buf_done(&b);
	return rc;
}

int arsame_ask(struct arsame *s, const struct arsql *sql, bool *is_same, struct err *e)
{
	struct asking a = { .s = s };
	int rc = 0;

	if (s->n)
		qsort(s->row, s->n, sizeof(*s->row), compare_rows);
	for (; !rc && a.from < s->n; a.from = a.to) {
		for (a.to = a.from + 1; a.to < s->n && s->row[a.to].t == s->row[a.from].t;)
			a.to++;
		rc = s->row[a.from].t->is_made ? ask_type(&a, sql, e) : 0;
	}
	*is_same = s->found == s->n && !s->differs;
	arsame_clear(s);
	return rc;
}
