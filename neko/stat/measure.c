/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a handler of a run from a measure of an application. */
#include "neko/stat/stat.h"

#include "common/base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct neko_figures {
	const struct neko_measure *measure;
	struct statset set;
	struct err broken; /* the first violated property */
	nsec_t worst_error; /* largest clock error so far */
	max_align_t state[];
};

static void measured_done(void *arg)
{
	struct neko_figures *f = arg;

	if (!f)
		return;
	if (f->measure->done)
		f->measure->done(f->state);
	statset_done(&f->set);
	free(f);
}

static int measured_init(const struct stat_kind *k, struct setup *s, uint32_t m, void **out,
			 struct err *e)
{
	struct neko_figures *f = calloc(1, sizeof(*f) + k->measure->bytes);
	int rc;

	if (!f)
		return err_nomem(e);
	f->measure = k->measure;
	rc = statset_open(&f->set, k->measure->rows, s, e);
	if (!rc && k->measure->init)
		rc = k->measure->init(f->state, f, s, e);
	if (rc)
		measured_done(f);
	else
		*out = f;
	return rc;
}

static int measured_begin(void *arg, uint32_t m)
{
	struct neko_figures *f = arg;

	statset_begin(&f->set);
	f->worst_error = 0;
	return f->measure->begin && f->measure->begin(f->state, m) ? -ERR_NOMEM : 0;
}

static void measured_handle(void *arg, const struct neko_event *v)
{
	struct neko_figures *f = arg;

	f->set.now = v->at;
	if (v->error > f->worst_error)
		f->worst_error = v->error;
	f->measure->handle(f->state, f, v);
	statset_note_own(&f->set);
}

static bool measured_should_stop(void *arg)
{
	struct neko_figures *f = arg;

	if (f->broken.code || statset_is_done(&f->set))
		return true;
	return f->measure->should_stop && f->measure->should_stop(f->state, f);
}

static bool measured_has_rule(const void *arg)
{
	const struct neko_figures *f = arg;

	return f->measure->should_stop || statset_has_rule(&f->set);
}

static int measured_write_results(void *arg, struct err *e)
{
	struct neko_figures *f = arg;

	return f->measure->write_results ? f->measure->write_results(f->state, f, e) : 0;
}

static void measured_end(void *arg, nsec_t now)
{
	struct neko_figures *f = arg;

	f->set.now = now;
	if (f->measure->end)
		f->measure->end(f->state, f, now);
	statset_end(&f->set);
}

static size_t measured_results(void *arg, struct stat_result *out)
{
	return statset_results(&((struct neko_figures *)arg)->set, out);
}

static const char *measured_broken(const void *arg)
{
	const struct neko_figures *f = arg;

	return f->broken.code ? f->broken.text : NULL;
}

struct stat_kind stat_measured(const struct neko_measure *m)
{
	return (struct stat_kind){
		.name = m->name,
		.measure = m,
		.init = measured_init,
		.begin = measured_begin,
		.handle = measured_handle,
		.should_stop = measured_should_stop,
		.has_rule = measured_has_rule,
		.end = measured_end,
		.results = measured_results,
		.broken = measured_broken,
		.write_results = measured_write_results,
		.done = measured_done,
	};
}

void neko_figure(struct neko_figures *f, unsigned row, double value, nsec_t error)
{
	statset_add(&f->set, row, value, error);
}

struct quantity *neko_quantity(struct neko_figures *f, int kind, const char *name, const char *unit,
			       struct err *e)
{
	const struct neko_row row = { name, unit, true };

	if (!name || !str_is_name(name, strlen(name)) || strchr(name, '/')) {
		neko_fail(e, "a quantity needs a name that may be the name of a file");
		return NULL;
	}
	if (kind < QUANTITY_STATISTICS || kind > QUANTITY_VALUES) {
		neko_fail(e, "quantity %s: %d is not a kind; see <omig/stats.h>", name, kind);
		return NULL;
	}
	if (statset_add_own(&f->set, &row, (enum quantity_kind)kind, e))
		return NULL;
	return f->set.line[f->set.n - 1].quantity;
}

struct quantity *neko_row_quantity(struct neko_figures *f, unsigned row)
{
	return row < f->set.n ? f->set.line[row].quantity : NULL;
}

void neko_figure_time(struct neko_figures *f, unsigned row, nsec_t time)
{
	neko_figure(f, row, (double)time / NSEC_PER_SEC, 2 * f->worst_error);
}

void neko_broken(struct neko_figures *f, const char *fmt, ...)
{
	char text[ERR_TEXT_BYTES];
	va_list ap;

	if (f->broken.code)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(&f->broken, ERR_INVALID, "%s", text);
}
