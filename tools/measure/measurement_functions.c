/* SPDX-License-Identifier: Apache-2.0 */
/* Functions as regions: their entry and exit are switched on before the measurement begins. */
#include "common/base/buf.h"
#include "common/base/limits.h"
#include "common/omis/text/value.h"
#include "common/ring/region.h"
#include "tools/measure/measurement.h"

#include <inttypes.h>
#include <string.h>

#define NAME_QUOTED_BYTES (4 * REGION_FUNCTION_MAX_BYTES)

struct switched {
	size_t on, refused;
	int64_t copies, clones; /* other forms of the function, whose calls are not seen */
	const Omis_object_result *first; /* refusal */
};

/* Notes the most of any process: "address, entry, copies, clones". */
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
	int rc = measurement_objects(m, m->options->objects, &objects);

	omis_write_string(&w, name);
	if (rc == CMD_OK && b.failed)
		rc = cmd_fail(CMD_USAGE, "the name of a function has %d bytes at most",
			      REGION_FUNCTION_MAX_BYTES);
	if (rc == CMD_OK)
		rc = session_ask(&r, ":omig_function_on([%s],%s)", buf_str(&objects), buf_str(&b));
	if (rc == CMD_OK) {
		count(&s, r);
		rc = judge(&s, name);
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
