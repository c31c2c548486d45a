/* SPDX-License-Identifier: Apache-2.0 */
/* A chart as a viewer gets it. */
#include "tools/page/chart.h"

#include "tools/session/session.h"

static void put_names(const struct chart *c, size_t n, struct json *j)
{
	json_key_array(j, "names");
	for (size_t i = 0; i < n; i++)
		json_str(j, history_name(c->history, i));
	json_array_end(j);
}

/* [time, bound, value...] */
static void put_curves(const struct chart *c, size_t read, size_t n, struct json *j)
{
	double bound = 0;

	for (size_t i = 0; i < n; i++) {
		double of = history_bound(c->history, i, read);

		bound = of > bound ? of : bound;
	}
	json_double(j, bound);
	for (size_t i = 0; i < n; i++)
		json_double(j, history_value(c->history, i, read));
}

/* [time, bound, known, highest, quantile...] */
static void put_band(const struct chart *c, const struct chart_band *b, struct json *j)
{
	json_double(j, b->bound);
	json_u64(j, b->known);
	json_str(j, b->known ? history_name(c->history, b->highest) : "");
	for (size_t i = 0; i < CHART_BANDS; i++)
		json_double(j, b->q[i]);
}

static void put_reads(const struct chart *c, struct chart_seen *seen, struct json *j)
{
	size_t n = history_objects(c->history), kept = history_reads(c->history);
	uint64_t first = c->reads - kept;

	json_key_array(j, "reads");
	for (; seen->next < c->reads; seen->next++) {
		size_t read = (size_t)(seen->next - first);

		json_array(j);
		json_i64(j, history_time(c->history, read) / NSEC_PER_MSEC);
		if (seen->is_banded)
			put_band(c, &c->band[seen->next % CHART_READS], j);
		else
			put_curves(c, read, n, j);
		json_array_end(j);
	}
	json_array_end(j);
}

void chart_say(struct chart *c)
{
	const struct charts_view view = { .history = c->history,
					  .end = history_reads(c->history),
					  .kind = CHARTS_LINE,
					  .metric = c->metric,
					  .unit = c->m.unit };

	buf_clear(&c->words);
	charts_words(&view, &c->words);
	if (c->words.n && c->words.p[c->words.n - 1] == '\n')
		c->words.p[--c->words.n] = '\0';
}

void chart_put(const struct chart *c, struct chart_seen *seen, struct json *j)
{
	size_t n = history_objects(c->history);
	uint64_t first = c->reads - history_reads(c->history);
	bool is_banded = n > CHART_CURVES_MAX;

	if (is_banded != seen->is_banded)
		seen->next = 0;
	if (seen->next < first)
		seen->next = first;
	seen->is_banded = is_banded;
	json_object(j);
	json_key_str(j, "t", "chart");
	json_key_u64(j, "id", c->id);
	json_key_str(j, "metric", c->metric);
	json_key_str(j, "unit", c->m.unit);
	json_key_str(j, "kind", is_banded ? "bands" : "lines");
	json_key_u64(j, "objects", n);
	json_key_u64(j, "left_out", history_left_out(c->history));
	json_key_str(j, "ended", c->why);
	json_key_str(j, "words", buf_str(&c->words));
	put_names(c, is_banded ? 0 : n, j);
	json_key_u64(j, "from", seen->next);
	put_reads(c, seen, j);
	json_object_end(j);
}
