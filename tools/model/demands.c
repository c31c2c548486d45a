/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/model/demands.h"

#include "common/base/str.h"
#include "common/cli/endsignal.h"
#include "common/cli/nearest.h"
#include "common/cli/progress.h"
#include "tools/results/results.h"
#include "tools/term/say.h"
#include "tools/term/wholefile.h"

#include <math.h>
#include <stdio.h>

#define LEVEL_USUAL 0.9 /* of estimates */

int demands_option(void *into, const char *text, struct err *e)
{
	struct demands_options *w = into;

	if (w->nfile == DEMANDS_FILES_MAX)
		return err_set(e, ERR_LIMIT, "at most %d files", DEMANDS_FILES_MAX);
	w->file[w->nfile++] = text;
	return 0;
}

/* --- files of estimates */

struct source {
	const char *path;
	double scale, level;
	struct layered *m;
};

static struct layered_entry *find_entry(const struct source *s, const char *name)
{
	for (size_t i = 0; i < s->m->nentry; i++)
		if (str_eq(s->m->entry[i].name, name))
			return &s->m->entry[i];
	return NULL;
}

/* Sets a demand and its ends, which may be NaN. */
static void set_demand(struct layered_entry *v, const double demand[3], double level)
{
	double all = v->phase[0].demand + v->phase[1].demand;

	for (size_t k = 0; k < LAYERED_PHASES; k++) {
		struct layered_phase *p = &v->phase[k];
		double part = all > 0 ? p->demand / all : !k;

		if (!(part > 0))
			continue;
		p->demand = part * demand[0];
		p->low = part * demand[1];
		p->high = part * demand[2];
		p->level = level;
	}
}

static int no_entry(const struct source *s, const char *name)
{
	struct nearest near = nearest_to(name);

	for (size_t i = 0; i < s->m->nentry; i++)
		nearest_try(&near, s->m->entry[i].name);
	return cmd_fail(CMD_NOTFOUND, "%s: the model has no entry '%s'%s%s",
			wholefile_name(s->path), name, near.best ? "; did you mean " : "",
			near.best ? near.best : "");
}

static int apply_service(const struct source *s, struct json_object *item)
{
	const char *name = results_text(results_get(item, "service"), NULL);
	const char *state = results_text(results_get(item, "state"), "unknown");
	double v[3] = { results_member(item, "demand"), results_member(item, "low"),
			results_member(item, "high") };
	struct layered_entry *entry = name ? find_entry(s, name) : NULL;

	if (!name)
		return cmd_fail(CMD_USAGE, "%s: a service has no name", wholefile_name(s->path));
	if (!entry)
		return no_entry(s, name);
	for (size_t i = 0; i < 3; i++)
		v[i] *= s->scale;
	if (isnan(v[0]) || v[0] < 0 || v[0] > LAYERED_NUMBER_MAX)
		return cmd_fail(CMD_FAILURE,
				"%s: the demand of '%s' is unusable, %s: measure more periods",
				wholefile_name(s->path), name,
				isnan(v[0]) ? state
				: v[0] < 0  ? "below 0"
					    : "too large");
	if (v[1] > v[0] || v[2] < v[0])
		return cmd_fail(CMD_USAGE, "%s: the demand of '%s' is outside of its interval",
				wholefile_name(s->path), name);
	set_demand(entry, v, s->level);
	return CMD_OK;
}

static int apply_estimate(struct source *s, struct json_object *all)
{
	struct json_object *services = results_get(all, "services");
	int status = CMD_OK;

	s->level = results_number(results_get(all, "level"), LEVEL_USUAL);
	if (!results_count(services))
		return cmd_fail(CMD_USAGE, "%s: no \"services\" of omig model estimate --json",
				wholefile_name(s->path));
	if (!(s->level > 0 && s->level <= 1))
		return cmd_fail(CMD_USAGE, "%s: the level is above 0, up to 1",
				wholefile_name(s->path));
	for (size_t i = 0; status == CMD_OK && i < results_count(services); i++)
		status = apply_service(s, results_item(services, i));
	return status;
}

static int apply_file(struct source *s)
{
	struct buf text = BUF_INIT(RESULTS_MAX_BYTES);
	struct json_object *all = NULL;
	struct err e = { 0 };
	int status;

	if (wholefile_read(s->path, RESULTS_MAX_BYTES, &text, &e))
		status =
			cmd_fail(e.code == ERR_NOTFOUND ? CMD_NOTFOUND : CMD_FAILURE, "%s", e.text);
	else if (results_parse(buf_str(&text), text.n, &all, &e))
		status = wholefile_fail(s->path, &e);
	else
		status = apply_estimate(s, all);
	results_free(all);
	buf_done(&text);
	return status;
}

int demands_apply(const struct demands_options *w, struct layered *m)
{
	struct source s = { .scale = w->scale > 0 ? w->scale : 1, .m = m };
	int status = CMD_OK;

	for (size_t i = 0; status == CMD_OK && i < w->nfile; i++) {
		s.path = w->file[i];
		status = apply_file(&s);
	}
	return status;
}

/* --- intervals of results */

static bool on_turn(void *arg, size_t done, size_t all)
{
	struct progress *p = arg;

	if (progress_is_due(p))
		progress_show(p, "solved at the ends of %zu of %zu demands", done, all);
	return end_signal != 0;
}

int demands_propagate(const struct layered *m, const struct layered_result *r, double level,
		      bool is_quiet, struct propagate_result *out)
{
	struct progress progress;
	const struct propagate_options o = { .level = level, .on_turn = on_turn, .arg = &progress };
	struct err e = { 0 };
	int rc;

	end_signal_catch();
	progress_begin(&progress, is_quiet);
	rc = propagate(m, r, &o, out, &e);
	progress_end(&progress);
	if (end_signal)
		return CMD_SIGNAL + end_signal;
	return rc ? cmd_fail(CMD_FAILURE, "%s", e.text) : CMD_OK;
}

static void put_end(double v, struct buf *out)
{
	if (isnan(v))
		buf_putc(out, '-');
	else
		buf_printf(out, "%.4g", v);
}

void demands_put_range(const struct propagate_result *p, const struct range *v, struct buf *out)
{
	if (!p->uncertain)
		return;
	buf_puts(out, " (");
	put_end(v->low, out);
	buf_puts(out, " to ");
	put_end(v->high, out);
	buf_putc(out, ')');
}

void demands_put_words(const struct layered *m, const struct propagate_result *p, double level,
		       struct buf *out)
{
	if (!p->uncertain)
		return;
	if (p->reason.code)
		buf_printf(out, "! ends of intervals are unknown: %s\n", p->reason.text);
	buf_printf(out,
		   "Intervals of %g %% follow from those of the demands of %zu of %zu entries; the "
		   "others are taken as exact.\n",
		   100 * level, p->uncertain, m->nentry);
}

void demands_json(const struct propagate_result *p, const struct range *v, const char *name,
		  struct json *j)
{
	char key[64];

	if (!p->uncertain)
		return;
	snprintf(key, sizeof(key), "%s_low", name);
	json_key_double(j, key, v->low);
	snprintf(key, sizeof(key), "%s_high", name);
	json_key_double(j, key, v->high);
}

static void csv_end(double v, struct buf *out)
{
	if (isnan(v))
		buf_putc(out, ',');
	else
		buf_printf(out, ",%.10g", v);
}

void demands_csv(const struct range *v, struct buf *out)
{
	csv_end(v->low, out);
	csv_end(v->high, out);
}

void demands_json_level(const struct propagate_result *p, double level, struct json *j)
{
	if (!p->uncertain)
		return;
	json_key_double(j, "level", level);
	json_key_u64(j, "uncertain_demands", p->uncertain);
	if (p->reason.code)
		json_key_str(j, "reason", p->reason.text);
}
