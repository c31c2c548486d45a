/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/page/viewer.h"

#include "common/base/str.h"

#include <stdlib.h>
#include <string.h>

struct viewer *viewer_new(unsigned id, const struct keys_entry *key)
{
	struct viewer *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->id = id;
	v->key = key;
	v->rows = VIEWER_ROWS_DEFAULT;
	v->count = 40;
	return v;
}

void viewer_free(struct viewer *v)
{
	free(v);
}

/* Tokens by commas. What is not a token of an object is never found, and does no harm. */
static void take_open(struct viewer *v, const char *text)
{
	v->nopen = 0;
	while (*text && v->nopen < VIEWER_OPEN_MAX) {
		size_t n = strcspn(text, ",");

		if (n && n < TOP_TOKEN_BYTES) {
			memcpy(v->open[v->nopen], text, n);
			v->open[v->nopen++][n] = '\0';
		}
		text += n + (text[n] == ',');
	}
}

static void take_sort(struct viewer *v, const char *name)
{
	for (size_t i = 0; i < TOP_SORTS; i++)
		if (str_eq(top_sort_names[i], name))
			v->order.sort = (enum top_sort)i;
}

void viewer_look(struct viewer *v, const struct form *f)
{
	const char *sort = form_text(f, "sort"), *filter = form_text(f, "filter");
	const char *chosen = form_text(f, "chosen"), *open = form_text(f, "open");
	size_t rows = (size_t)form_number(f, "rows", 1, STRIP_ROWS_MAX, (int64_t)v->rows);

	if (rows != v->rows)
		v->generation = v->column = 0; /* all of the strip again, in these lines */
	v->rows = rows;
	v->first = (size_t)form_number(f, "first", 0, INT32_MAX, (int64_t)v->first);
	v->count = (size_t)form_number(f, "count", 1, PAGE_TABLE_ROWS_MAX, (int64_t)v->count);
	v->order.is_reverse = form_number(f, "reverse", 0, 1, v->order.is_reverse) != 0;
	if (sort)
		take_sort(v, sort);
	if (filter)
		str_copy(v->order.filter, sizeof(v->order.filter), filter);
	if (chosen)
		str_copy(v->chosen, sizeof(v->chosen), chosen);
	if (open)
		take_open(v, open);
	v->is_changed = true;
}

bool viewer_has_chart(const struct viewer *v, unsigned id)
{
	for (size_t i = 0; i < VIEWER_CHARTS_MAX; i++)
		if (id && v->chart[i].id == id)
			return true;
	return false;
}

bool viewer_add_chart(struct viewer *v, unsigned id)
{
	for (size_t i = 0; i < VIEWER_CHARTS_MAX; i++)
		if (!v->chart[i].id) {
			v->chart[i] = (struct viewer_chart){ .id = id, .is_new = true };
			return true;
		}
	return false;
}

bool viewer_drop_chart(struct viewer *v, unsigned id)
{
	for (size_t i = 0; i < VIEWER_CHARTS_MAX; i++)
		if (id && v->chart[i].id == id) {
			v->chart[i].id = 0;
			return true;
		}
	return false;
}
