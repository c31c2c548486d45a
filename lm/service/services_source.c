/* SPDX-License-Identifier: Apache-2.0 */
/* Places in the source, and functions by name. Another lm-trace reads files: that may hang. */
#include "lm/service/families.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/ring/region.h"
#include "lm/proc/totals.h"
#include "lm/service/look.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX_BYTES (256 * 1024) /* as much as lm-trace writes */
#define FIELD_MAX_BYTES 2048 /* bytes of a name with its escapes */

/* --- the file: one of those that the process has loaded */

static bool find_live(const struct proc *p, const char *path, struct total_module *out)
{
	struct seg_module m;

	for (unsigned i = 0; p->seg && i < SEG_MODULES; i++) {
		if (!segview_module(p->seg, i, &m) || !str_eq(m.path, path))
			continue;
		out->build_id_bytes = m.build_id_bytes;
		memcpy(out->build_id, m.build_id, sizeof(out->build_id));
		return true;
	}
	return false;
}

static bool find_last(const struct proc *p, const char *path, struct total_module *out)
{
	for (size_t i = 0; p->last && i < p->last->nmodule; i++)
		if (str_eq(p->last->module[i].path, path)) {
			*out = p->last->module[i];
			return true;
		}
	return false;
}

static int find_module(struct service_call *c, struct total_module *out, struct err *e)
{
	const char *path = call_text(c, 1);
	struct reply *scratch = reply_new(); /* objects are counted by look_serve() */
	struct objects o = { 0 };
	bool found = false;
	int rc =
		scratch ? resolve(&(struct resolve_from){ c->procs, &c->call->param[0], c->action },
				  'p', &o, scratch)
			: -ERR_NOMEM;

	for (size_t i = 0; !rc && !found && i < o.n; i++)
		found = find_live(o.v[i].proc, path, out) || find_last(o.v[i].proc, path, out);
	objects_done(&o);
	reply_free(scratch);
	if (rc)
		return err_nomem(e);
	return found ? 0 : err_set(e, ERR_NOTFOUND, "the process has not loaded %.200s", path);
}

static int fill_addresses(struct service_call *c, struct tracer_msg *m, struct err *e)
{
	const struct omis_value *list = &c->call->param[2];

	if (!list->list.n || list->list.n > TRACER_VALUES_MAX)
		return err_set(e, ERR_INVALID, "1 to %d addresses", TRACER_VALUES_MAX);
	for (size_t i = 0; i < list->list.n; i++) {
		int64_t v;

		if (!omis_value_i64(&list->list.v[i], &v))
			return err_set(e, ERR_INVALID, "an address is a number");
		m->value[m->nvalue++] = (uint64_t)v;
	}
	return 0;
}

static int fill(struct service_call *c, struct tracer_msg *m, void **take, struct err *e)
{
	struct total_module *module = calloc(1, sizeof(*module));
	int rc = module ? find_module(c, module, e) : err_nomem(e);

	*take = module;
	if (!rc)
		rc = fill_addresses(c, m, e);
	if (rc)
		return rc;
	m->type = TRACER_SOURCE;
	m->text[m->ntext++] = call_text(c, 1);
	m->bytes = module->build_id;
	m->nbytes = module->build_id_bytes;
	return 0;
}

/* --- the answer: lines of address, function, source, line, with tabs between */

static void write_text(struct omis_writer *w, const char *s, size_t n)
{
	char clean[FIELD_MAX_BYTES];

	omis_write_string(w, str_escape(clean, sizeof(clean), s, n));
}

static const char *next_field(const char **at, const char *end, size_t *n)
{
	const char *s = *at, *tab = s < end ? memchr(s, '\t', (size_t)(end - s)) : NULL;

	*n = (size_t)((tab ? tab : end) - s);
	*at = tab ? tab + 1 : end;
	return s;
}

static int64_t number_of(const char *s, size_t n)
{
	uint64_t v = 0;
	char text[24];

	if (n >= sizeof(text))
		return 0;
	memcpy(text, s, n);
	text[n] = 0;
	return str_to_u64(text, 0, INT64_MAX, &v) == 0 ? (int64_t)v : 0;
}

/* Lines of one address are one list. */
static void write_lines(struct omis_writer *w, const struct buf *b)
{
	const char *at = (const char *)b->p, *end = at + b->n;
	int64_t open = -1;

	while (b->n && at < end) {
		const char *nl = memchr(at, '\n', (size_t)(end - at)), *stop = nl ? nl : end, *s;
		size_t n;
		int64_t address;

		s = next_field(&at, stop, &n);
		address = number_of(s, n);
		if (address != open) {
			if (open >= 0)
				omis_write_list_end(w);
			omis_write_list(w);
			omis_write_int(w, address);
			open = address;
		}
		omis_write_list(w);
		s = next_field(&at, stop, &n);
		write_text(w, s, n);
		s = next_field(&at, stop, &n);
		write_text(w, s, n);
		s = next_field(&at, stop, &n);
		omis_write_int(w, number_of(s, n));
		omis_write_list_end(w);
		at = nl ? nl + 1 : end;
	}
	if (open >= 0)
		omis_write_list_end(w);
}

static int add(struct service_call *c, const struct looked *o)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);

	write_lines(&w, &o->bytes);
	return call_add_values(c, o->token.s, &b);
}

static int serve_source(struct service_call *c)
{
	static const struct look_spec spec = {
		.class = 'n', .max_bytes = TEXT_MAX_BYTES, .fill = fill, .add = add
	};

	return look_serve(c, c->of, &spec);
}

/* --- functions of a name: lines of name, file, address; the last one may count the others */

static int fill_name(struct service_call *c, struct tracer_msg *m, void **take, struct err *e)
{
	const char *name = call_text(c, 1);

	if (!*name || strlen(name) > REGION_FUNCTION_MAX_BYTES)
		return err_set(e, ERR_INVALID, "a name of a function has 1 to %d bytes",
			       REGION_FUNCTION_MAX_BYTES);
	m->type = TRACER_FUNCTION_FIND;
	m->text[m->ntext++] = name;
	return 0;
}

/* Returns what stands behind the line. Of functions without a line, *more is the number. */
static const char *write_found(struct omis_writer *w, const char *at, const char *end,
			       int64_t *more)
{
	const char *nl = memchr(at, '\n', (size_t)(end - at)), *stop = nl ? nl : end;
	const char *name, *file, *number;
	size_t nname, nfile, nnumber;

	name = next_field(&at, stop, &nname);
	file = next_field(&at, stop, &nfile);
	number = next_field(&at, stop, &nnumber);
	if (!nname) {
		*more = number_of(number, nnumber);
		return nl ? nl + 1 : end;
	}
	omis_write_list(w);
	omis_write_string_n(w, name, nname);
	omis_write_string_n(w, file, nfile);
	omis_write_int(w, number_of(number, nnumber));
	omis_write_list_end(w);
	return nl ? nl + 1 : end;
}

static int add_found(struct service_call *c, const struct looked *o)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2), list = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b), row = OMIS_WRITER(&list);
	const char *at = (const char *)o->bytes.p, *end = at + o->bytes.n;
	int64_t more = 0;
	int rc;

	while (o->bytes.n && at < end)
		at = write_found(&row, at, end, &more);
	omis_write_int(&w, more);
	if (list.n)
		buf_printf(&b, ",%s", buf_str(&list));
	rc = call_add_values(c, o->token.s, &b);
	buf_done(&list);
	return rc;
}

static int serve_function_find(struct service_call *c)
{
	static const struct look_spec spec = {
		.class = 'p', .max_bytes = TEXT_MAX_BYTES, .fill = fill_name, .add = add_found
	};

	return look_serve(c, c->of, &spec);
}

const struct service source_services[] = {
	{ "omig_function_find", serve_function_find },
	{ "omig_source", serve_source },
	{ NULL, NULL },
};
