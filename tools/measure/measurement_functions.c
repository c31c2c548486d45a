/* SPDX-License-Identifier: Apache-2.0 */
/* Functions as regions: their entry and exit are switched on before the measurement begins. */
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/omis/text/value.h"
#include "common/ring/region.h"
#include "tools/measure/measurement.h"

#include <inttypes.h>
#include <string.h>

#define NAME_QUOTED_BYTES (4 * REGION_FUNCTION_MAX_BYTES)

struct switched {
	size_t on, refused;
	int64_t copies, clones; /* other forms of the function, whose calls are not counted */
	const Omis_object_result *first; /* refusal */
};

/* Stores the largest numbers of all processes, from "address, entry, copies, clones". */
static void note_others(struct switched *s, const Omis_object_result *o)
{
	Omis_value *v = o->result ? omis_value_parse(o->result, o->result_len) : NULL;

	if (v && omis_list_int(v, 2) > s->copies)
		s->copies = omis_list_int(v, 2);
	if (v && omis_list_int(v, 3) > s->clones)
		s->clones = omis_list_int(v, 3);
	omis_value_free(v);
}

static void count(struct switched *s, Omis_reply r)
{
	for (const Omis_object_result *o = r[0] ? r[1] : NULL; o && o->obj_list; o++) {
		s->on += o->status < OMIS_FIRST_ERROR && o->obj_list[0];
		if (o->status < OMIS_FIRST_ERROR) {
			note_others(s, o);
			continue;
		}
		if (!s->refused++)
			s->first = o;
	}
}

/* Lists what --region may mean, each function by the name that means it alone. */
static void list_found(const Omis_value *v)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);

	if (!v || v->n < 3)
		return;
	for (size_t i = 1; i < v->n; i++)
		buf_printf(&b, "  --region 'function:%s' in %s\n", value_text(value_at(v, i), 0),
			   value_text(value_at(v, i), 1));
	if (value_int(v, 0) > 0)
		buf_printf(&b, "  and %" PRId64 " more\n", value_int(v, 0));
	term_put_lines(stderr, buf_str(&b), b.n);
	buf_done(&b);
}

/* The name was refused, which is reported. One process is asked what it may mean. */
static void list_meant(const char *objects, const char *quoted)
{
	char hushed[ERR_TEXT_BYTES] = "";
	Omis_reply r = NULL;
	Omis_value *v;
	int rc;

	cmd_hush(hushed, sizeof(hushed));
	rc = session_ask(&r, ":omig_function_find([%.*s],%s)", (int)strcspn(objects, ","), objects,
			 quoted);
	cmd_hush(NULL, 0);
	if (rc == CMD_OK && r[0] && r[1] && r[1]->obj_list && r[1]->result) {
		v = omis_value_parse(r[1]->result, r[1]->result_len);
		list_found(v);
		omis_value_free(v);
	}
	omis_reply_free(r);
}

/* Some processes may lack the function: a program of a job, a shell between ranks. */
static int judge(const struct switched *s, const char *name)
{
	int length = s->first && s->first->result_len < INT32_MAX ? (int)s->first->result_len : 0;
	const char *why = length ? s->first->result : "no process runs";

	if (!s->on)
		return cmd_fail(s->first ? session_status_of(s->first->status) : CMD_NOTFOUND,
				"function:%s: %.*s", name, length ? length : (int)strlen(why), why);
	if (s->refused)
		cmd_warn("function:%s is not on in %zu of %zu processes: %.*s", name, s->refused,
			 s->on + s->refused, length, why);
	if (s->copies || s->clones)
		cmd_warn("function:%s: some calls are not seen: the compiler has inlined %" PRId64
			 " copies of it and made %" PRId64 " clones",
			 name, s->copies, s->clones);
	return CMD_OK;
}

/* Only the processes that are measured are stopped and changed. */
static int switch_on(const struct measurement *m, const char *name)
{
	struct buf b = BUF_INIT(NAME_QUOTED_BYTES), objects = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	struct switched s = { 0 };
	Omis_reply r = NULL;
	bool is_asked;
	int rc = measurement_objects(m, m->options->objects, &objects);

	omis_write_string(&w, name);
	if (rc == CMD_OK && b.failed)
		rc = cmd_fail(CMD_USAGE, "the name of a function has %d bytes at most",
			      REGION_FUNCTION_MAX_BYTES);
	is_asked = rc == CMD_OK;
	if (is_asked)
		rc = session_ask(&r, ":omig_function_on([%s],%s)", buf_str(&objects), buf_str(&b));
	if (rc == CMD_OK) {
		count(&s, r);
		rc = judge(&s, name);
	} else if (is_asked && rc == CMD_USAGE) {
		list_meant(buf_str(&objects), buf_str(&b));
	}
	omis_reply_free(r);
	buf_done(&objects);
	buf_done(&b);
	return rc;
}

int measurement_functions(const struct measurement *m)
{
	int rc = CMD_OK;

	for (unsigned i = 0; i < m->options->nregion && rc == CMD_OK; i++) {
		const char *name = region_function(m->options->region[i]);

		if (name)
			rc = switch_on(m, name);
	}
	return rc;
}
