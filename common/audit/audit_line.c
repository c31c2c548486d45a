/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an entry as a line. */
#include "common/audit/audit_internal.h"
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/json/json.h"

#include <string.h>

struct audit_outcome audit_outcome_of(const struct audit_entry *x)
{
	struct audit_outcome o = { STATUS_OK, "", 0, 0 };

	if (!x->reply)
		return (struct audit_outcome){ STATUS_NO_PERMISSION, "", 0, 1 };
	for (size_t i = x->first; i < x->reply->nentry; i++) {
		const struct reply_entry *e = &x->reply->entry[i];

		if (e->action != x->action)
			continue;
		if (!status_is_error(e->status)) {
			o.done++;
			continue;
		}
		if (!o.failed++) {
			o.status = e->status;
			o.why = e->value;
		}
	}
	return o;
}

/* --- the call */

/*
 * True for data written into a program, and for possible passwords: memory, registers,
 * environments.
 */
static bool is_secret(const struct omis_param *p, const struct omis_value *v)
{
	if (v->kind == OMIS_BINARY || p->type == OMIS_T_BINARY || str_eq(p->name, "envp") ||
	    str_eq(p->name, "connection_string"))
		return true;
	return p->list && (p->type == OMIS_T_INT || p->type == OMIS_T_FLOAT);
}

/* Writes <12 values 0123456789abcdef>. */
static void put_digest(struct buf *b, const struct audit *a, const struct omis_value *v)
{
	struct buf all = BUF_INIT(FRAME_MAX_BYTES);
	size_t n = 1;

	omis_print_value(&all, v);
	if (v->kind == OMIS_LIST)
		n = v->list.n;
	else if (v->kind == OMIS_BINARY)
		n = v->s.n;
	buf_printf(b, "<%zu %s %016llx>", n, v->kind == OMIS_BINARY ? "bytes" : "values",
		   (unsigned long long)hash_sip24(&a->digest, all.p, all.n));
	if (all.p)
		str_wipe(all.p, all.n);
	buf_done(&all);
}

static void put_call(struct buf *b, const struct audit *a, const struct omis_call *c)
{
	const struct omis_service *s = c->service;
	size_t n = omis_service_nparam(s);

	buf_printf(b, "%s(", c->name);
	for (size_t i = 0; i < c->nparam && i < n; i++) {
		if (i)
			buf_putc(b, ',');
		if (is_secret(&s->param[i], &c->param[i]))
			put_digest(b, a, &c->param[i]);
		else
			omis_print_value(b, &c->param[i]);
	}
	buf_putc(b, ')');
}

static void put_cut(struct json *j, const char *key, const struct buf *b)
{
	struct buf whole = BUF_INIT(2 * AUDIT_CALL_MAX_BYTES);

	buf_put(&whole, b->p, b->n);
	if (b->failed)
		buf_puts(&whole, "...");
	json_key_str(j, key, buf_str(&whole));
	buf_done(&whole);
}

/* --- the objects */

static void put_objects(struct json *j, const char *key, const struct audit_entry *x, bool failed)
{
	struct buf b = BUF_INIT(AUDIT_OBJECTS_MAX_BYTES);

	for (size_t i = x->first; x->reply && i < x->reply->nentry && !b.failed; i++) {
		const struct reply_entry *e = &x->reply->entry[i];

		if (e->action == x->action && e->objects[0] && status_is_error(e->status) == failed)
			buf_printf(&b, "%s%s", b.n ? "," : "", e->objects);
	}
	put_cut(j, key, &b);
	buf_done(&b);
}

static void put_what(struct json *j, const struct audit *a, const struct audit_entry *x)
{
	struct buf call = BUF_INIT(AUDIT_CALL_MAX_BYTES);
	struct audit_outcome how = audit_outcome_of(x);
	char why[ERR_TEXT_BYTES];

	put_call(&call, a, x->call);
	json_key_str(j, "who", x->identity);
	json_key_u64(j, "session", x->session);
	json_key_str(j, "csr", x->csr ? x->csr : "");
	put_cut(j, "call", &call);
	put_objects(j, "objects", x, false);
	put_objects(j, "failed", x, true);
	json_key_str(j, "status", status_name(how.status));
	str_copy(why, sizeof(why), how.why);
	json_key_str(j, "why", why);
	buf_done(&call);
}

static void put_nothing(struct json *j)
{
	static const char *const keys[] = { "csr", "call", "objects", "failed", "status", "why" };

	json_key_str(j, "who", "");
	json_key_u64(j, "session", 0);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		json_key_str(j, keys[i], "");
}

void audit_put_line(struct buf *b, const struct audit *a, const struct audit_entry *x,
		    int64_t number, nsec_t wall)
{
	char time[CLOCK_TEXT_BYTES];
	struct json j;

	json_init(&j, b);
	json_object(&j);
	json_key_i64(&j, "number", number);
	json_key_str(&j, "time", clock_format_rfc3339(time, wall, 6));
	json_key_str(&j, "daemon", a->daemon);
	json_key_str(&j, "host", a->host);
	if (x)
		put_what(&j, a, x);
	else
		put_nothing(&j);
	json_key_u64(&j, "left_out", a->left_out);
	json_object_end(&j);
	json_end(&j);
	buf_putc(b, '\n');
}
