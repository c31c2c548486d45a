/* SPDX-License-Identifier: Apache-2.0 */
/* A measure of an application as a handler of a run. */
#include "neko/stat/stat.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct neko_figures {
	const struct neko_measure *measure;
	struct statset set;
	struct err broken; /* the first property that did not hold */
	nsec_t worst_error; /* of a clock so far */
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
		rc = k->measure->init(f->state, s, e);
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
}

static bool measured_should_stop(void *arg)
{
	const struct neko_figures *f = arg;

	return f->broken.code || statset_is_done(&f->set);
}

static void measured_end(void *arg, nsec_t now)
{
	struct neko_figures *f = arg;

	f->set.now = now;
	if (f->measure->end)
		f->measure->end(f->state, f, now);
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
		.end = measured_end,
		.results = measured_results,
		.broken = measured_broken,
		.done = measured_done,
	};
}

void neko_figure(struct neko_figures *f, unsigned row, double value, nsec_t error)
{
	statset_add(&f->set, row, value, error);
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
