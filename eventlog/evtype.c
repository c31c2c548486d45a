/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/evtype.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "eventlog/evbytes.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const kinds[] = { "?", "int32", "int64", "float", "double", "string" };
/* size of a value; for a string, of its length */
static const uint8_t kind_bytes[] = { 0, 4, 8, 4, 8, 2 };
static const char *const levels[EV_NLEVELS] = { "",	 "Fatal", "Error",  "Warn",  "Info",
						"Debug", "Trace", "Debug2", "Debug3" };

static bool is_kind(int kind)
{
	return kind >= EV_INT32 && kind <= EV_STRING;
}

const char *evkind_name(int kind)
{
	return kinds[is_kind(kind) ? kind : 0];
}

int evkind_from_name(const char *name, enum evkind *out)
{
	for (int i = EV_INT32; i <= EV_STRING; i++)
		if (str_eq(name, kinds[i])) {
			*out = (enum evkind)i;
			return 0;
		}
	return -ERR_INVALID;
}

const char *evlevel_name(unsigned level)
{
	return level < EV_NLEVELS ? levels[level] : "";
}

int evlevel_from_name(const char *s, size_t n, unsigned *out)
{
	for (unsigned i = 1; i < EV_NLEVELS; i++)
		if (strlen(levels[i]) == n && !strncasecmp(levels[i], s, n)) {
			*out = i;
			return 0;
		}
	return -ERR_INVALID;
}

bool evvalue_equal(const struct evvalue *a, const struct evvalue *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == EV_STRING)
		return a->n == b->n && !memcmp(a->s, b->s, a->n);
	return !memcmp(&a->i64, &b->i64, kind_bytes[a->kind]);
}

/* --- permitted names and values */

static int check_name(const char *what, const char *name, struct err *e)
{
	size_t n = name ? strnlen(name, NAME_MAX_BYTES + 1) : 0;

	if (!n || n > NAME_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "the name of %s has %s", what,
			       n ? "more than 255 bytes" : "no bytes");
	return 0;
}

static int check_field(const char *what, const char *name, enum evkind kind, struct err *e)
{
	if (!is_kind(kind))
		return err_set(e, ERR_INVALID, "%s has an unknown kind", what);
	return check_name(what, name, e);
}

int evtype_check(const struct evtype *t, bool is_stream, struct err *e)
{
	int rc = 0;

	if (t->nfield > EV_FIELDS_MAX || t->nconst > EV_FIELDS_MAX)
		return err_set(e, ERR_LIMIT, "an event type has more than %d fields",
			       EV_FIELDS_MAX);
	if (t->level >= EV_NLEVELS)
		return err_set(e, ERR_INVALID, "there is no level %u", t->level);
	if (is_stream && (t->nfield || t->name[0]))
		return err_set(e, ERR_INVALID, "a stream has neither name nor fields");
	if (!is_stream)
		rc = check_name("an event type", t->name, e);
	for (unsigned i = 0; !rc && i < t->nfield; i++)
		rc = check_field("a field", t->field[i].name, t->field[i].kind, e);
	for (unsigned i = 0; !rc && i < t->nconst; i++) {
		rc = check_field("a constant", t->constant[i].name, t->constant[i].value.kind, e);
		if (!rc && t->constant[i].value.kind == EV_STRING &&
		    t->constant[i].value.n > EV_RECORD_MAX_BYTES)
			rc = err_set(e, ERR_LIMIT, "a constant is too long");
	}
	return rc;
}

/* --- writing */

size_t evtype_record_bytes(const struct evtype *t, const struct evvalue *v, size_t n)
{
	size_t bytes = EV_RECORD_HEAD_BYTES;

	if (n != t->nfield)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (v[i].kind != t->field[i].kind)
			return 0;
		bytes += kind_bytes[v[i].kind] + (v[i].kind == EV_STRING ? v[i].n : 0);
	}
	return bytes > EV_RECORD_MAX_BYTES ? 0 : (bytes + 3) & ~(size_t)3;
}

size_t evtype_fixed_bytes(const struct evtype *t)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < t->nfield; i++) {
		if (t->field[i].kind == EV_STRING)
			return 0;
		bytes += kind_bytes[t->field[i].kind];
	}
	return bytes;
}

static void put_value(struct buf *out, const struct evvalue *v, bool swap)
{
	uint32_t word;
	uint64_t wide;

	switch (v->kind) {
	case EV_INT32:
	case EV_FLOAT:
		memcpy(&word, &v->i32, sizeof(word));
		ev_put32(out, word, swap);
		break;
	case EV_INT64:
	case EV_DOUBLE:
		memcpy(&wide, &v->i64, sizeof(wide));
		ev_put64(out, wide, swap);
		break;
	case EV_STRING:
		ev_put_string(out, v->s, v->n, swap);
		break;
	}
}

void evtype_put_values(struct buf *out, const struct evvalue *v, size_t n, bool swap)
{
	for (size_t i = 0; i < n; i++)
		put_value(out, &v[i], swap);
}

static void put_definition(struct buf *out, unsigned number, const struct evtype *t, bool swap)
{
	size_t from = out->n;

	ev_put16(out, EV_DEFINITION, swap);
	ev_put16(out, 0, swap);
	ev_put16(out, (uint16_t)number, swap);
	buf_putc(out, (uint8_t)t->level);
	buf_putc(out, (uint8_t)t->nfield);
	buf_putc(out, (uint8_t)t->nconst);
	buf_putc(out, 0);
	ev_put_string(out, t->name, strlen(t->name), swap);
	for (unsigned i = 0; i < t->nfield; i++) {
		buf_putc(out, (uint8_t)t->field[i].kind);
		ev_put_string(out, t->field[i].name, strlen(t->field[i].name), swap);
	}
	for (unsigned i = 0; i < t->nconst; i++) {
		buf_putc(out, (uint8_t)t->constant[i].value.kind);
		ev_put_string(out, t->constant[i].name, strlen(t->constant[i].name), swap);
		put_value(out, &t->constant[i].value, swap);
	}
	ev_pad(out, from);
}

int evtype_encode(struct buf *out, unsigned number, const struct evtype *t, bool swap,
		  struct err *e)
{
	size_t from = out->n;
	int rc = evtype_check(t, number == 0, e);

	if (rc)
		return rc;
	if (number > EV_TYPE_LAST)
		return err_set(e, ERR_LIMIT, "more than %d event types in a stream", EV_TYPE_LAST);
	put_definition(out, number, t, swap);
	if (!out->failed && out->n - from <= EV_RECORD_MAX_BYTES) {
		ev_set16(out->p + from + 2, (uint16_t)(out->n - from), swap);
		return 0;
	}
	rc = out->failed ? err_nomem(e)
			 : err_set(e, ERR_LIMIT, "a description has more than 64 KB");
	out->n = from;
	return rc;
}

/* --- reading */

/*
 * Copies a string of the record as a name to `to`, and moves `to` on. Returns NULL if it contains a
 * 0, is too long, or empty when that is not permitted.
 */
static const char *take_name(struct evcur *c, bool may_be_empty, char **to)
{
	size_t n = evcur_16(c);
	const uint8_t *p = evcur_bytes(c, n);
	char *name = *to;

	if (!p || n > NAME_MAX_BYTES || (!n && !may_be_empty) || memchr(p, 0, n)) {
		c->failed = true;
		return NULL;
	}
	memcpy(name, p, n);
	name[n] = '\0';
	*to += n + 1;
	return name;
}

static void take_value(struct evcur *c, struct evvalue *v, enum evkind kind)
{
	uint32_t word;
	uint64_t wide;

	v->kind = kind;
	v->n = 0;
	switch (kind) {
	case EV_INT32:
	case EV_FLOAT:
		word = evcur_32(c);
		memcpy(&v->i32, &word, sizeof(word));
		break;
	case EV_INT64:
	case EV_DOUBLE:
		wide = evcur_64(c);
		memcpy(&v->i64, &wide, sizeof(wide));
		break;
	case EV_STRING:
		v->n = evcur_16(c);
		v->s = (const char *)evcur_bytes(c, v->n);
		break;
	}
}

/* Copies names and constant strings to `to`, for which the size of the record is sufficient. */
static bool take_fields(struct evcur *c, struct evtype *t, struct evfield *field,
			struct evconst *constant, char *to)
{
	t->name = take_name(c, true, &to);
	for (unsigned i = 0; !c->failed && i < t->nfield; i++) {
		field[i].kind = (enum evkind)evcur_8(c);
		field[i].name = take_name(c, false, &to);
	}
	for (unsigned i = 0; !c->failed && i < t->nconst; i++) {
		int kind = evcur_8(c);

		constant[i].name = take_name(c, false, &to);
		if (!is_kind(kind))
			return false;
		take_value(c, &constant[i].value, (enum evkind)kind);
		if (kind == EV_STRING && !c->failed) {
			memcpy(to, constant[i].value.s, constant[i].value.n);
			constant[i].value.s = to;
			to += constant[i].value.n;
		}
	}
	return !c->failed;
}

/* True if only padding follows: fewer than four zeros. */
static bool ends_well(const struct evcur *c)
{
	bool ok = !c->failed && c->n - c->at < 4;

	for (size_t i = c->at; ok && i < c->n; i++)
		ok = c->p[i] == 0;
	return ok;
}

int evtype_decode(struct bytes text, bool swap, unsigned *number, struct evtype **out,
		  struct err *e)
{
	struct evcur c = { .p = text.p, .n = text.n, .at = 4, .swap = swap, .failed = text.n < 10 };
	unsigned as = evcur_16(&c), level = evcur_8(&c), nfield = evcur_8(&c), nconst = evcur_8(&c);
	size_t head = sizeof(struct evtype) + nfield * sizeof(struct evfield) +
		      nconst * sizeof(struct evconst);
	struct evtype *t;

	evcur_8(&c);
	if (c.failed || as > EV_TYPE_LAST)
		return err_set(e, ERR_PROTO, "a definition is too short or has an invalid number");
	t = calloc(1, head + text.n + nfield + nconst + 1);
	if (!t)
		return err_nomem(e);
	*t = (struct evtype){ .level = level, .nfield = nfield, .nconst = nconst };
	t->constant = (const struct evconst *)(t + 1);
	t->field = (const struct evfield *)(t->constant + nconst);
	if (!take_fields(&c, t, (struct evfield *)t->field, (struct evconst *)t->constant,
			 (char *)t + head) ||
	    !ends_well(&c) || evtype_check(t, as == 0, NULL)) {
		free(t);
		return err_set(e, ERR_PROTO, "a definition is malformed");
	}
	*number = as;
	*out = t;
	return 0;
}

static bool get_values(const struct evtype *t, struct evcur *c, struct evvalue *v)
{
	for (unsigned i = 0; i < t->nfield && !c->failed; i++)
		take_value(c, &v[i], t->field[i].kind);
	return ends_well(c);
}

bool evtype_get_values(const struct evtype *t, const uint8_t *p, size_t n, bool swap,
		       struct evvalue *v)
{
	struct evcur c = { .p = p, .n = n, .at = EV_RECORD_HEAD_BYTES, .swap = swap };

	return get_values(t, &c, v);
}

bool evtype_get_fields(const struct evtype *t, const uint8_t *p, size_t n, struct evvalue *v)
{
	struct evcur c = { .p = p, .n = n };

	return get_values(t, &c, v);
}

bool evtype_equal(const struct evtype *a, const struct evtype *b)
{
	bool same = str_eq(a->name, b->name) && a->level == b->level && a->nfield == b->nfield &&
		    a->nconst == b->nconst;

	for (unsigned i = 0; same && i < a->nfield; i++)
		same = a->field[i].kind == b->field[i].kind &&
		       str_eq(a->field[i].name, b->field[i].name);
	for (unsigned i = 0; same && i < a->nconst; i++)
		same = str_eq(a->constant[i].name, b->constant[i].name) &&
		       evvalue_equal(&a->constant[i].value, &b->constant[i].value);
	return same;
}
