/* SPDX-License-Identifier: Apache-2.0 */
/* The set of charts: begun, shared, read and ended. */
#include "common/base/str.h"
#include "pmsl/check/builtin.h"
#include "tools/page/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNUSED_NS (10 * NSEC_PER_SEC) /* a page that is loaded again is back by then */

/* --- one measurement */

static void begin(struct chart *c, const struct charts_all *all)
{
	struct pmsl_builtin b;
	int id = c->text[0] ? -1 : pmsl_builtin_find(c->metric);
	bool is_level = id >= 0 && pmsl_builtin_get((unsigned)id, &b) && !b.is_total;
	char words[sizeof(c->why)] = "";

	c->options = (struct measurement_options){ .common = CMD_COMMON_INIT,
						   .file = c->text[0] ? "-" : NULL,
						   .metric = c->metric,
						   .objects = "all",
						   .by = c->by[0] ? c->by : NULL,
						   .job = all->job,
						   .every_ns = all->every,
						   .since_last = !is_level,
						   .rate = c->rate && !is_level };
	c->m = (struct measurement){ .options = &c->options,
				     .text = BUF_INIT(PMSL_SOURCE_MAX_BYTES + 1) };
	buf_puts(&c->m.text, c->text);
	cmd_hush(words, sizeof(words));
	if (measurement_begin(&c->m) != CMD_OK)
		str_copy(c->why, sizeof(c->why), words[0] ? words : "mainsm refuses it");
	cmd_hush(NULL, 0);
	c->is_on = true;
}

static void end(struct chart *c)
{
	char words[256] = "";

	if (!c->is_on)
		return;
	cmd_hush(words, sizeof(words));
	measurement_delete(&c->m);
	cmd_hush(NULL, 0);
	measurement_end(&c->m);
	c->is_on = false;
}

static void chart_free(struct chart *c)
{
	if (!c)
		return;
	history_free(c->history);
	buf_done(&c->words);
	free(c->metric);
	free(c->text);
	free(c->by);
	free(c);
}

static struct chart *chart_new(const struct chart_wanted *w)
{
	struct chart *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->metric = str_dup(w->metric);
	c->text = str_dup(w->text);
	c->by = str_dup(w->by);
	c->rate = w->rate;
	c->words = BUF_INIT(2048);
	c->history = history_new(CHART_READS);
	if (c->metric && c->text && c->by && c->history)
		return c;
	chart_free(c);
	return NULL;
}

/* --- the set */

/* A metric without a text is built in, or mainsm has its text. */
static bool is_known(const char *metric, char *why, size_t size)
{
	Omis_value *v = NULL;
	int rc;

	if (pmsl_builtin_find(metric) >= 0)
		return true;
	if (!session_is_plain(metric)) {
		str_copy(why, size, "no metric has such a name");
		return false;
	}
	cmd_hush(why, size);
	rc = session_ask_value(&v, ":omig_metrics_get(\"%s\")", metric);
	cmd_hush(NULL, 0);
	omis_value_free(v);
	return rc == CMD_OK;
}

static bool is_same(const struct chart *c, const struct chart_wanted *w)
{
	return !c->why[0] && str_eq(c->metric, w->metric) && str_eq(c->text, w->text) &&
	       str_eq(c->by, w->by) && c->rate == w->rate;
}

static void drop(struct charts_all *all, size_t i)
{
	end(all->chart[i]);
	chart_free(all->chart[i]);
	all->chart[i] = NULL;
}

static struct chart **free_place(struct charts_all *all)
{
	for (size_t i = 0; i < PAGE_CHARTS_MAX; i++) {
		if (all->chart[i] && !all->chart[i]->viewers)
			drop(all, i);
		if (!all->chart[i])
			return &all->chart[i];
	}
	return NULL;
}

static struct chart *open_new(struct charts_all *all, const struct chart_wanted *w, char *why,
			      size_t size)
{
	struct chart **place = free_place(all), *c;

	if (!w->text[0] && !is_known(w->metric, why, size))
		return NULL;
	if (!place) {
		snprintf(why, size, "there are %d charts already: close one", PAGE_CHARTS_MAX);
		return NULL;
	}
	c = chart_new(w);
	if (!c) {
		str_copy(why, size, "out of memory");
		return NULL;
	}
	begin(c, all);
	if (c->why[0]) {
		str_copy(why, size, c->why);
		end(c);
		chart_free(c);
		return NULL;
	}
	c->id = ++all->last_id;
	c->viewers = 1;
	*place = c;
	return c;
}

struct chart *charts_open(struct charts_all *all, const struct chart_wanted *w, char *why,
			  size_t size)
{
	for (size_t i = 0; i < PAGE_CHARTS_MAX; i++)
		if (all->chart[i] && is_same(all->chart[i], w)) {
			all->chart[i]->viewers++;
			return all->chart[i];
		}
	return open_new(all, w, why, size);
}

struct chart *charts_find(const struct charts_all *all, unsigned id)
{
	for (size_t i = 0; i < PAGE_CHARTS_MAX; i++)
		if (all->chart[i] && all->chart[i]->id == id)
			return all->chart[i];
	return NULL;
}

void charts_leave(struct charts_all *all, unsigned id)
{
	struct chart *c = charts_find(all, id);

	if (!c || !c->viewers)
		return;
	c->viewers--;
	c->unused_at = clock_mono();
}

/* --- reads */

static void add_value(void *arg, const struct measured *v)
{
	struct chart *c = arg;
	char label[MEASURED_LABEL_BYTES];

	measurement_label_of(&c->m, v, label, sizeof(label));
	/* more objects than fit are counted by the history */
	history_set(c->history, label[0] ? label : "all", v->k && !v->buckets ? v->value : NAN,
		    v->error);
}

static int ascending(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

static void set_quantiles(struct chart_band *band, const double *sorted)
{
	static const double at[CHART_BANDS] = { 0, 0.1, 0.5, 0.9, 1 };

	for (size_t i = 0; i < CHART_BANDS; i++)
		band->q[i] = band->known ? sorted[(size_t)lround(at[i] * (double)(band->known - 1))]
					 : NAN;
}

static void take_band(struct chart *c)
{
	size_t n = history_objects(c->history), read = history_reads(c->history) - 1;
	struct chart_band *band = &c->band[c->reads % CHART_READS];
	double *v = calloc(n + 1, sizeof(*v)), highest = -INFINITY;

	*band = (struct chart_band){ .known = 0 };
	for (size_t i = 0; v && i < n; i++) {
		double value = history_value(c->history, i, read);

		if (isnan(value))
			continue;
		v[band->known++] = value;
		band->bound = fmax(band->bound, history_bound(c->history, i, read));
		if (value <= highest)
			continue;
		highest = value;
		band->highest = (uint32_t)i;
	}
	if (v)
		qsort(v, band->known, sizeof(*v), ascending);
	set_quantiles(band, v);
	free(v);
}

static void take_reads(struct charts_all *all, struct chart *c)
{
	struct reading *r;

	while ((r = measurement_next(&c->m))) {
		history_begin(c->history, value_int(r->part[0], READ_UNTIL));
		measurement_each(&c->m, r, add_value, c);
		take_band(c);
		chart_say(c);
		c->reads++;
		all->version++;
		reading_free(r);
	}
	if (c->m.csr.ended && !c->why[0]) {
		str_copy(c->why, sizeof(c->why), c->m.csr.why[0] ? c->m.csr.why : "it has ended");
		all->version++;
	}
}

void charts_turn(struct charts_all *all)
{
	nsec_t now = clock_mono();

	for (size_t i = 0; i < PAGE_CHARTS_MAX; i++) {
		if (!all->chart[i])
			continue;
		if (!all->chart[i]->viewers && now - all->chart[i]->unused_at > UNUSED_NS)
			drop(all, i);
		else
			take_reads(all, all->chart[i]);
	}
}

void charts_restart(struct charts_all *all)
{
	for (size_t i = 0; i < PAGE_CHARTS_MAX; i++) {
		struct chart *c = all->chart[i];

		if (!c || !c->is_on)
			continue;
		measurement_end(&c->m);
		c->why[0] = '\0';
		begin(c, all);
		all->version++;
	}
}

void charts_done(struct charts_all *all)
{
	for (size_t i = 0; i < PAGE_CHARTS_MAX; i++)
		if (all->chart[i]) {
			if (all->chart[i]->is_on)
				measurement_end(&all->chart[i]->m);
			chart_free(all->chart[i]);
		}
}
