/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the precision of the values, and whether it is sufficient. */
#include "tools/measure/measurement.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/container/map.h"
#include "stats/report.h"
#include "tools/session/show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS_MAX 4096 /* 8 KiB each */
#define REPORTED_MAX 32 /* lines at the end; JSON has all */
#define LABEL_BYTES 320

struct counted {
	struct quantity *quantity;
	int64_t read; /* the last read with this object */
	uint64_t partial; /* values without a contribution of some objects */
};

/* Owns its arrays. `object` is in order of arrival; `by_token` finds objects. */
struct until {
	struct counted **object;
	size_t n, cap;
	struct smap by_token;
	int64_t reads;
};

void until_free(struct until *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->n; i++) {
		quantity_free(u->object[i]->quantity);
		free(u->object[i]);
	}
	free(u->object);
	smap_done(&u->by_token);
	free(u);
}

static int no_memory(void)
{
	return cmd_fail(CMD_FAILURE, "out of memory");
}

static struct until *until_of(struct measurement *m)
{
	if (!m->until && (m->until = calloc(1, sizeof(*m->until))))
		smap_init(&m->until->by_token);
	return m->until;
}

static struct counted *counted_new(const struct measurement *m, const struct measured *v)
{
	char label[LABEL_BYTES];
	struct quantity_options w = { .name = label, .unit = m->unit, .stop = m->options->until };
	struct counted *c = calloc(1, sizeof(*c));

	measurement_label_of(m, v, label, sizeof(label));
	if (c && quantity_open(&w, &c->quantity, NULL)) {
		free(c);
		return NULL;
	}
	return c;
}

static int add_object(struct measurement *m, const char *key, const struct measured *v,
		      struct counted **out)
{
	struct until *u = m->until;
	int rc = array_grow(&u->object, &u->cap, u->n + 1, sizeof(*u->object), OBJECTS_MAX);
	struct counted *c = rc ? NULL : counted_new(m, v);

	if (rc == -ERR_LIMIT)
		return cmd_fail(CMD_FAILURE, "--until of more than %d objects", OBJECTS_MAX);
	if (!c || smap_put(&u->by_token, key, c, NULL)) {
		quantity_free(c ? c->quantity : NULL);
		free(c);
		return no_memory();
	}
	u->object[u->n++] = *out = c;
	return CMD_OK;
}

static int count_value(struct measurement *m, const struct measured *v)
{
	char key[LABEL_BYTES];
	struct counted *c;
	int rc = CMD_OK;

	if (v->buckets)
		return cmd_fail(CMD_USAGE, "--until needs numbers, and %s is a histogram",
				m->options->metric);
	snprintf(key, sizeof(key), "%s %s %s", v->object, v->with, v->in);
	c = smap_find(&m->until->by_token, key);
	if (!c)
		rc = add_object(m, key, v, &c);
	if (rc != CMD_OK)
		return rc;
	c->read = m->until->reads;
	if (!quantity_add(c->quantity, v->value))
		c->partial += v->k < v->n;
	return CMD_OK;
}

int measurement_count(struct measurement *m, const struct reading *r)
{
	int rc = CMD_OK;

	m->has_enough |= r->is_enough;
	if (!m->options->until.n || m->by_mainsm)
		return CMD_OK;
	if (!until_of(m))
		return no_memory();
	m->until->reads++;
	for (size_t p = 0; p < r->npart; p++)
		for (size_t i = READ_VALUES; i < r->part[p]->n && rc == CMD_OK; i++) {
			struct measured v = measured_at(r, p, i);

			rc = count_value(m, &v);
		}
	return rc;
}

/* Objects that have ended or were removed do not delay the end. */
static size_t count_of_last_read(const struct until *u, size_t *done)
{
	size_t n = 0;

	*done = 0;
	for (size_t i = 0; i < u->n; i++) {
		bool is_there = u->object[i]->read == u->reads;

		n += is_there;
		*done += is_there && quantity_is_done(u->object[i]->quantity);
	}
	return n;
}

bool measurement_is_reached(const struct measurement *m)
{
	size_t done;

	if (m->by_mainsm)
		return m->has_enough;
	return m->until && count_of_last_read(m->until, &done) == done && done > 0;
}

void measurement_progress(const struct measurement *m, struct buf *out)
{
	size_t n, done;

	if (!m->until && !m->by_mainsm)
		return;
	buf_puts(out, "until ");
	stop_print(&m->options->until, out);
	if (m->by_mainsm) {
		buf_puts(out, m->has_enough ? ": reached\n\n" : "\n\n");
		return;
	}
	n = count_of_last_read(m->until, &done);
	buf_printf(out, ": %zu of %zu have it\n\n", done, n);
}

/* --- the end */

static double level_of(const struct stop *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->term[i].kind == STOP_ON_INTERVAL)
			return s->term[i].level;
	return report_usual.level;
}

static void put_interval(const char *what, struct interval i, struct buf *out)
{
	if (isnan(i.half))
		return;
	buf_printf(out, ", %s%.9g +- %.4g", what, i.mean, i.half);
	if (i.mean != 0)
		buf_printf(out, " (%.3g %%)", 100 * i.half / fabs(i.mean));
}

static void put_counted(const struct measurement *m, const struct counted *c, struct buf *out)
{
	const struct quantity *q = c->quantity;
	const char *warning = dependence_words(quantity_dependence(q));
	double level = level_of(&m->options->until);
	char name[LABEL_BYTES];

	str_show(name, sizeof(name), quantity_name(q));
	buf_printf(out, "  %s: %" PRIu64 " values", name, quantity_moments(q)->n);
	if (c->partial)
		buf_printf(out, " (%" PRIu64 " partial)", c->partial);
	put_interval("mean ", quantity_interval(q, level), out);
	put_interval("by batches ", quantity_interval_of_batches(q, level), out);
	buf_printf(out, " %s at %g %%\n", m->unit[0] ? m->unit : "1", 100 * level);
	if (warning)
		buf_printf(out, "  warning: %s: %s\n", name, warning);
}

static void report_until_text(const struct measurement *m)
{
	struct buf out = BUF_INIT(1 << 20);
	const struct until *u = m->until;

	buf_puts(&out, "until ");
	stop_print(&m->options->until, &out);
	buf_printf(&out, ": %s after %" PRId64 " reads\n",
		   measurement_is_reached(m) ? "reached" : "not reached", u->reads);
	for (size_t i = 0; i < u->n && i < REPORTED_MAX; i++)
		put_counted(m, u->object[i], &out);
	if (u->n > REPORTED_MAX)
		buf_printf(&out, "  and %zu more; --json has all\n", u->n - REPORTED_MAX);
	fwrite(out.p, 1, out.n, stderr);
	buf_done(&out);
}

static void report_until_json(const struct measurement *m)
{
	struct buf b = BUF_INIT(SHOW_MAX_BYTES), rule = BUF_INIT(4096);
	struct report_options w = report_usual;
	struct json j;

	stop_print(&m->options->until, &rule);
	w.level = level_of(&m->options->until);
	json_init(&j, &b);
	json_object(&j);
	json_key_str(&j, "metric", m->options->metric);
	json_key_str(&j, "until", buf_str(&rule));
	json_key_bool(&j, "reached", measurement_is_reached(m));
	json_key_i64(&j, "reads", m->until->reads);
	json_key_array(&j, "quantities");
	for (size_t i = 0; i < m->until->n; i++)
		report_json(m->until->object[i]->quantity, &w, &j);
	json_array_end(&j);
	json_object_end(&j);
	show_json_next(&j, &b);
	buf_done(&rule);
	buf_done(&b);
}

/*
 * --- the final counts of mainsm: rule, ended, [object, with, n, mean, variance, holds, depends]...
 */

bool measurement_may_stop_there(const struct measurement_options *w)
{
	return w->until.n && w->file && !w->since_last && !w->rate && !stop_has_batches(&w->until);
}

#define COUNTED_FIRST 2

struct summary {
	char label[LABEL_BYTES];
	struct moments moments;
	bool holds;
	enum dependence dependence;
};

static struct summary summary_from(const struct measurement *m, const Omis_value *v)
{
	const struct measured about = { .object = value_text(v, 0),
					.with = value_text(v, 1),
					.in = value_text(v, 2) };
	uint64_t n = (uint64_t)value_int(v, 2);
	double squares = n > 1 ? value_float(v, 4) * (double)(n - 1) : 0;
	struct summary s = { .moments = moments_known(n, value_float(v, 3), squares, NAN, NAN),
			     .holds = value_int(v, 5) };

	measurement_label_of(m, &about, s.label, sizeof(s.label));
	s.dependence = value_int(v, 6) ? DEPENDENCE_NEIGHBOURS : DEPENDENCE_NONE;
	return s;
}

static void put_summary(const struct measurement *m, const struct summary *s, struct buf *out)
{
	double level = level_of(&m->options->until);
	char name[LABEL_BYTES];

	str_show(name, sizeof(name), s->label);
	buf_printf(out, "  %s: %" PRIu64 " values", name, s->moments.n);
	put_interval("mean ", interval_of_mean(&s->moments, level), out);
	buf_printf(out, " at %g %%%s\n", 100 * level, s->holds ? "" : ", not enough");
	if (s->dependence != DEPENDENCE_NONE)
		buf_printf(out, "  warning: %s: %s\n", name, dependence_words(s->dependence));
}

static void summary_json(const struct measurement *m, const struct summary *s, struct json *j)
{
	double level = level_of(&m->options->until);

	json_object(j);
	json_key_str(j, "name", s->label);
	json_key_u64(j, "n", s->moments.n);
	json_key_double(j, "mean", moments_mean(&s->moments));
	json_key_double(j, "level", level);
	json_key_double(j, "half", interval_of_mean(&s->moments, level).half);
	json_key_double(j, "variance", moments_variance(&s->moments));
	json_key_bool(j, "reached", s->holds);
	json_key_array(j, "warnings");
	if (s->dependence != DEPENDENCE_NONE)
		json_str(j, dependence_words(s->dependence));
	json_array_end(j);
	json_object_end(j);
}

static void report_summaries(const struct measurement *m, const Omis_value *all)
{
	struct buf out = BUF_INIT(1 << 20);

	buf_printf(&out, "until %s: %s after %" PRId64 " reads\n", value_text(all, 0),
		   m->has_enough ? "reached" : "not reached", m->shown);
	for (size_t i = COUNTED_FIRST; i < all->n && i < COUNTED_FIRST + REPORTED_MAX; i++) {
		struct summary s = summary_from(m, &all->list[i]);

		put_summary(m, &s, &out);
	}
	if (all->n > COUNTED_FIRST + REPORTED_MAX)
		buf_printf(&out, "  and %zu more; --json has all\n",
			   all->n - COUNTED_FIRST - REPORTED_MAX);
	term_put_lines(stderr, buf_str(&out), out.n);
	buf_done(&out);
}

static void report_summaries_json(const struct measurement *m, const Omis_value *all)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	json_key_str(j, "metric", m->options->metric);
	json_key_str(j, "until", value_text(all, 0));
	json_key_bool(j, "reached", m->has_enough);
	json_key_i64(j, "reads", m->shown);
	json_key_array(j, "quantities");
	for (size_t i = COUNTED_FIRST; i < all->n; i++) {
		struct summary s = summary_from(m, &all->list[i]);

		summary_json(m, &s, j);
	}
	json_array_end(j);
	json_object_end(j);
	show_doc_next(&d);
}

static void report_mainsm_counts(const struct measurement *m)
{
	Omis_value *v;
	const Omis_value *all;

	if (m->status != CMD_OK ||
	    session_ask_value(&v, ":dfg_get_info([%s],256)", m->dfg) != CMD_OK)
		return;
	all = value_at(v, 0);
	if (all && all->n >= COUNTED_FIRST)
		(m->options->common.json ? report_summaries_json : report_summaries)(m, all);
	omis_value_free(v);
}

void measurement_report_until(const struct measurement *m)
{
	if (m->by_mainsm)
		return report_mainsm_counts(m);
	if (!m->until)
		return;
	if (m->options->common.json)
		report_until_json(m);
	else
		report_until_text(m);
}
