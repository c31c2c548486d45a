/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/archive/arvalue.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "eventlog/text/evwords.h"

#include <math.h>
#include <stdlib.h>

struct arvalue arvalue_of(const struct evvalue *v)
{
	switch (v->kind) {
	case EV_INT32:
		return AR_I(v->i32);
	case EV_INT64:
		return AR_I(v->i64);
	case EV_FLOAT:
		return isnan(v->f32) ? AR_S("nan", 3) : AR_R((double)v->f32);
	case EV_DOUBLE:
		return isnan(v->f64) ? AR_S("nan", 3) : AR_R(v->f64);
	default:
		return str_is_utf8(v->s, v->n) && !memchr(v->s, 0, v->n) ? AR_S(v->s, v->n)
									 : AR_B(v->s, v->n);
	}
}

enum arclass arvalue_class(enum evkind kind)
{
	return kind == EV_STRING		       ? AR_TEXT
	       : kind == EV_FLOAT || kind == EV_DOUBLE ? AR_REAL
						       : AR_INT;
}

static struct arvalue as_text(const struct evvalue *v, char *scratch, size_t size,
			      struct buf *number)
{
	if (v->kind == EV_STRING)
		return arsql_shown(v->s, v->n, scratch, size);
	buf_clear(number);
	evwords_put_number(number, v);
	return AR_S(buf_str(number), number->n);
}

int arvalue_constants(const struct arsql *s, const char *sql, int64_t of, const struct evtype *t,
		      struct err *e)
{
	size_t size = 4 * EV_RECORD_MAX_BYTES + 1;
	struct buf number = BUF_INIT(STR_DOUBLE_BYTES);
	char *scratch = t->nconst ? malloc(size) : NULL, name[4 * NAME_MAX_BYTES + 1];
	int rc = t->nconst && !scratch ? err_nomem(e) : 0;

	for (unsigned i = 0; !rc && i < t->nconst; i++) {
		const struct evconst *c = &t->constant[i];
		struct arvalue v[] = { AR_I(of), AR_I(i),
				       arsql_shown(c->name, strlen(c->name), name, sizeof(name)),
				       as_text(&c->value, scratch, size, &number) };

		rc = number.failed ? err_nomem(e) : arsql_run(s, sql, v, ARRAY_LEN(v), e);
	}
	buf_done(&number);
	free(scratch);
	return rc;
}

unsigned arvalue_nth(const struct evtype *t, unsigned i)
{
	unsigned n = 0;

	for (unsigned k = 0; k < i; k++)
		n += str_eq(t->field[k].name, t->field[i].name);
	return n;
}

struct arfield arvalue_field(const struct evtype *t, unsigned i, enum arclass class)
{
	return (struct arfield){ .name = (char *)t->field[i].name,
				 .nth = arvalue_nth(t, i),
				 .class = class,
				 .kind = t->field[i].kind };
}
