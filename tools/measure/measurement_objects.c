/* SPDX-License-Identifier: Apache-2.0 */
/* Prints values with their objects: the results of WHO_MAX, WHO_MIN and TOP. */
#include "common/json/json.h"
#include "stats/report.h"
#include "tools/measure/measurement.h"
#include "tools/term/table.h"

#include <math.h>

#define OBJECTS_MAX_BYTES (64 * 1024)

enum { OBJECT_TOKEN, OBJECT_VALUE, OBJECT_ERROR };

static void label_at(const struct measurement *m, const Omis_value *list, size_t i, char *out)
{
	measurement_label(m, value_text(&list->list[i], OBJECT_TOKEN), out, MEASURED_LABEL_BYTES);
}

void measurement_put_objects(const struct measurement *m, const Omis_value *list, struct buf *out)
{
	char label[MEASURED_LABEL_BYTES], value[TABLE_QUANTITY_BYTES];

	for (size_t i = 0; i < list->n; i++) {
		label_at(m, list, i, label);
		buf_printf(out, "%s%s %s", i ? ", " : "", label,
			   table_quantity(value, value_float(&list->list[i], OBJECT_VALUE), 4,
					  m->unit));
	}
}

void measurement_put_csv_objects(const struct measurement *m, const Omis_value *list,
				 struct buf *out)
{
	struct buf text = BUF_INIT(OBJECTS_MAX_BYTES);
	char label[MEASURED_LABEL_BYTES];

	for (size_t i = 0; i < list->n; i++) {
		label_at(m, list, i, label);
		buf_printf(&text, "%s%s=%.17g", i ? "; " : "", label,
			   value_float(&list->list[i], OBJECT_VALUE));
	}
	report_csv_text(buf_str(&text), out);
	buf_putc(out, ',');
	buf_done(&text);
}

void measurement_put_object_rows(const struct measurement *m, const Omis_value *list,
				 struct table *t)
{
	char label[MEASURED_LABEL_BYTES], value[TABLE_QUANTITY_BYTES];

	for (size_t i = 0; i < list->n; i++) {
		double error = value_float(&list->list[i], OBJECT_ERROR);

		label_at(m, list, i, label);
		table_cell(t, "  %zu. %s", i + 1, label);
		if (m->each_vt)
			table_cell(t, "%s", "");
		table_cell(t, "%s",
			   table_quantity(value, value_float(&list->list[i], OBJECT_VALUE), 4,
					  m->unit));
		table_cell(t, "%s", error > 0 ? table_quantity(value, error, 2, m->unit) : "");
		table_cell(t, "%s", "");
		table_cell(t, "%s", "");
	}
}

static void json_number(struct json *j, const char *key, double v)
{
	json_key(j, key);
	if (isfinite(v))
		json_double(j, v);
	else
		json_null(j);
}

void measurement_objects_json(const struct measurement *m, const Omis_value *list, struct json *j)
{
	char label[MEASURED_LABEL_BYTES];

	json_key_array(j, "objects");
	for (size_t i = 0; i < list->n; i++) {
		label_at(m, list, i, label);
		json_object(j);
		json_key_str(j, "object", value_text(&list->list[i], OBJECT_TOKEN));
		json_key_str(j, "label", label);
		json_number(j, "value", value_float(&list->list[i], OBJECT_VALUE));
		json_number(j, "error", value_float(&list->list[i], OBJECT_ERROR));
		json_object_end(j);
	}
	json_array_end(j);
}
