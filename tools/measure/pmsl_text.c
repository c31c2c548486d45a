/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/measure/pmsl_text.h"

#include "common/base/str.h"
#include "tools/term/say.h"
#include "tools/term/wholefile.h"

/* More than a text may have, so that the compiler reports where it is too long. */
#define READ_MAX_BYTES (16 << 20)

int pmsl_text_compile(const char *path, struct pmsl_diags *d, struct pmsl **out)
{
	struct buf text = BUF_INIT(READ_MAX_BYTES);
	struct err e = { 0 };
	int rc = wholefile_read(path, READ_MAX_BYTES, &text, &e);

	*d = PMSL_DIAGS_INIT;
	if (rc == -ERR_LIMIT)
		rc = cmd_fail(CMD_FAILURE, "%s is longer than %d MiB", path, READ_MAX_BYTES >> 20);
	else if (rc)
		rc = cmd_fail(rc == -ERR_NOTFOUND ? CMD_NOTFOUND : CMD_FAILURE, "%s", e.text);
	else if (pmsl_compile(wholefile_name(path), buf_str(&text), text.n, d, out))
		rc = cmd_fail(CMD_FAILURE, "out of memory");
	buf_done(&text);
	return rc;
}

void pmsl_text_report(const struct term *t, FILE *to, const struct pmsl *p,
		      const struct pmsl_diags *d)
{
	const struct pmsl_colors colors = { term_paint(t, TERM_BOLD), term_paint(t, TERM_RED),
					    term_paint(t, TERM_YELLOW), term_paint(t, TERM_GREEN),
					    term_paint(t, TERM_PLAIN) };
	struct buf b = BUF_INIT(1 << 20);

	for (size_t i = 0; i < d->n; i++)
		pmsl_diag_print(&b, pmsl_source(p), &d->v[i], &colors);
	if (d->is_full)
		buf_puts(&b, "and more: these come first\n");
	fputs(buf_str(&b), to);
	buf_done(&b);
}

static void report_json(struct json *j, const struct pmsl *p, const struct pmsl_diag *d)
{
	struct pmsl_place at = pmsl_source_place(pmsl_source(p), d->at);

	json_object(j);
	json_key_str(j, "kind", d->is_warning ? "warning" : "error");
	if (d->at != PMSL_NOWHERE) {
		json_key_u64(j, "line", at.line);
		json_key_u64(j, "column", at.col);
	}
	json_key_str(j, "text", d->text);
	if (d->hint[0]) {
		json_key_str(j, "hint", d->hint);
	}
	json_object_end(j);
}

void pmsl_text_report_json(struct json *j, const struct pmsl *p, const struct pmsl_diags *d)
{
	json_key_array(j, "diagnostics");
	for (size_t i = 0; i < d->n; i++)
		report_json(j, p, &d->v[i]);
	json_array_end(j);
}

void pmsl_text_params(struct buf *b, const struct pmsl_metric *m)
{
	char type[PMSL_TYPE_BYTES];

	for (const struct pmsl_decl *d = m->param; d; d = d->next)
		buf_printf(b, "%s%s %s", d == m->param ? "" : ", ", pmsl_type_name(d->type, type),
			   d->name);
}

void pmsl_text_metric_json(struct json *j, const struct pmsl *p, const struct pmsl_metric *m)
{
	char unit[PMSL_UNIT_TEXT_BYTES], type[PMSL_TYPE_BYTES];

	json_object(j);
	json_key_str(j, "name", m->name);
	json_key_str(j, "unit", pmsl_unit_text(pmsl_units(p), m->unit, unit));
	json_key_array(j, "parameters");
	for (const struct pmsl_decl *d = m->param; d; d = d->next) {
		json_object(j);
		json_key_str(j, "name", d->name);
		json_key_str(j, "type", pmsl_type_name(d->type, type));
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}
