/* SPDX-License-Identifier: Apache-2.0 */
/* The time from which attached programs are watched: no value contains what they did before. */
#include "common/base/str.h"
#include "tools/libomis/tree_fields.h"
#include "tools/measure/measurement.h"

#include <inttypes.h>

#define ATTACHED_AGE (1 << 30) /* a flag of proc_get_info */

static bool is_measured(const struct measurement *m, const char *token)
{
	for (size_t i = 0; m->tree && i < m->tree->n; i++)
		if (str_eq(value_text(&m->tree->list[i], TREE_TOKEN), token))
			return measurement_is_running(m, i);
	return false;
}

static void note(struct measurement *m, const Omis_object_result *o, int64_t now)
{
	Omis_value *v = o->status < OMIS_FIRST_ERROR && o->result && is_measured(m, o->obj_list)
				? omis_value_parse(o->result, o->result_len)
				: NULL;
	double age = v ? value_float(v, 0) : -1;
	int64_t since = now - (int64_t)(age * 1e9);

	m->since.of += v != NULL;
	if (age >= 0 && ++m->since.attached && since > m->since.latest_ns)
		m->since.latest_ns = since;
	omis_value_free(v);
}

/* Without a reply that time is unknown, and no output has it. */
void measurement_note_since(struct measurement *m)
{
	struct buf objects = BUF_INIT(1 << 20);
	Omis_reply r = NULL;

	m->since = (struct measurement_since){ 0 };
	if (!m->is_of_processes ||
	    measurement_objects(m, m->options->objects, &objects) != CMD_OK ||
	    session_ask(&r, ":proc_get_info([%s],%d)", buf_str(&objects), ATTACHED_AGE) != CMD_OK)
		r = NULL;
	buf_done(&objects);
	for (const Omis_object_result *o = r ? r[1] : NULL; o && o->obj_list; o++)
		note(m, o, clock_wall());
	omis_reply_free(r);
}

void measurement_put_since(const struct measurement *m, struct buf *out)
{
	char when[CLOCK_TEXT_BYTES];

	if (m->since.attached)
		buf_printf(out,
			   "%" PRId64 " of %" PRId64 " processes: watched since %s (omig attach); "
			   "what they did before is unknown\n",
			   m->since.attached, m->since.of,
			   clock_format_rfc3339(when, m->since.latest_ns, 0));
}
