/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/studies/growth_run.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/json/json.h"
#include "sim/nodes/cluster.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_MAX_BYTES (1024 * 1024)

static_assert(GROWTH_LEVELS_MAX == CLUSTER_LEVELS_MAX, "the maximum");

static const unsigned rates[] = { 1, 10, 100, 1000 }; /* events of each process in a second */

int growth_parse_list(const char *text, const struct growth_list *to, unsigned *n, struct err *e)
{
	unsigned k = 0;

	for (const char *at = text; at; k++) {
		size_t length = strcspn(at, ",");
		char one[24];
		uint64_t v;

		snprintf(one, sizeof(one), "%.*s", (int)length, at);
		if (k == to->max || length >= sizeof(one) || str_to_u64(one, 1, to->most, &v))
			return err_set(e, ERR_INVALID,
				       "\"%.60s\": up to %u numbers from 1 to %u, with commas",
				       text, to->max, to->most);
		to->v[k] = (unsigned)v;
		at = at[length] ? at + length + 1 : NULL;
	}
	*n = k;
	return 0;
}

/* --- required memory */

#define GIB (1024.0 * 1024 * 1024)

int growth_fits(unsigned hosts, uint64_t bytes, struct err *e)
{
	uint64_t need = (uint64_t)hosts * GROWTH_HOST_BYTES;

	if (need <= bytes)
		return 0;
	return err_set(
		e, ERR_LIMIT,
		"%u hosts need about %.1f GiB of memory, but %.1f GiB are free: simulate fewer hosts, or use a larger machine",
		hosts, (double)need / GIB, (double)bytes / GIB);
}

/* Returns the memory that is free without swapping; UINT64_MAX if the system does not report it. */
static uint64_t free_bytes(void)
{
	static const char name[] = "MemAvailable:";
	uint64_t bytes = UINT64_MAX;
	FILE *f = fopen("/proc/meminfo", "re");
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, sizeof(name) - 1))
			bytes = strtoull(line + sizeof(name) - 1, NULL, 10) * 1024;
	if (f)
		fclose(f);
	return bytes;
}

static int all_fit(const struct growth_plan *p, struct err *e)
{
	unsigned most = 0;

	for (unsigned i = 0; i < p->nhosts; i++)
		most = p->hosts[i] > most ? p->hosts[i] : most;
	return growth_fits(most, free_bytes(), e);
}

/* --- reports */

/* Tables that grow row by row, or with --json the lines of their values. */
struct report {
	const struct growth_plan *plan;
	struct buf lines; /* lines of all values */
	size_t shown; /* bytes of lines that are already on the standard output */
};

static void put_cells(const struct report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void put_cells(const struct report *r, const char *fmt, ...)
{
	va_list ap;

	if (r->plan->json)
		return;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
}

static void end_row(struct report *r)
{
	put_cells(r, "\n");
	if (r->plan->json && r->lines.n > r->shown)
		fwrite(r->lines.p + r->shown, 1, r->lines.n - r->shown, stdout);
	r->shown = r->lines.n;
	fflush(stdout);
}

static void report_stage(const struct growth_conf *c, const char *what)
{
	fprintf(stderr, "omig: %u hosts, %u level%s of sms: %s\n", c->hosts, c->levels,
		c->levels > 1 ? "s" : "", what);
}

static void report_head(const struct report *r)
{
	put_cells(r, "| hosts | levels | shape |");
	for (int i = 0; i < GROWTH_NFIGURES; i++)
		put_cells(r, " %s |", growth_name[i].words);
	put_cells(r, "\n|---:|---:|---|");
	for (int i = 0; i < GROWTH_NFIGURES; i++)
		put_cells(r, "---:|");
	put_cells(r, "\n");
}

/* Writes the number of branches of mainsm and of sms on each level; the last number is a mean. */
static void put_shape(const struct growth_point *p, char out[48])
{
	unsigned last = p->sites;
	int n = snprintf(out, 48, "%u", p->sites);

	for (unsigned i = 1; i < p->levels; i++, last *= p->below)
		n += snprintf(out + n, 48 - (size_t)n, " x %u", p->below);
	snprintf(out + n, 48 - (size_t)n, " x %.3g", (double)p->hosts / last);
}

/* Writes one value per line, in the form of the benchmarks: "paper.request.2_levels.1000.ms". */
static void put_line(struct buf *out, const char *name, double v, const char *unit)
{
	struct json j;

	json_init(&j, out);
	json_object(&j);
	json_key_str(&j, "name", name);
	json_key_double(&j, "value", v);
	json_key_str(&j, "unit", unit);
	json_object_end(&j);
	buf_puts(out, "\n");
}

static void report_point(const struct growth_point *p, struct report *r)
{
	char shape[48], name[96];

	put_shape(p, shape);
	put_cells(r, "| %u | %u | %s |", p->hosts, p->levels, shape);
	for (int i = 0; i < GROWTH_NFIGURES; i++) {
		put_cells(r, " %.4g |", p->v[i]);
		snprintf(name, sizeof(name), "paper.%s.%u_level%s.%u.%s", growth_name[i].name,
			 p->levels, p->levels > 1 ? "s" : "", p->hosts, growth_name[i].last);
		put_line(&r->lines, name, p->v[i], growth_name[i].unit);
	}
	end_row(r);
}

static void report_front(const struct growth_front *f, struct report *r)
{
	const struct {
		const char *name, *unit;
		double v;
	} all[] = { { "frames", "1/s", f->frames },
		    { "bytes", "B/s", f->bytes },
		    { "busy", "%", 100 * f->busy },
		    { "events", "1/s", f->events } };
	char name[96];

	put_cells(r, "| %u | %u | %u | %s |", f->hosts, f->levels, f->rate,
		  f->is_central ? "at the top" : "where the data is born");
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		put_cells(r, " %.4g |", all[i].v);
		snprintf(name, sizeof(name), "front.%u_level%s.%s.%s.%u.rate", f->levels,
			 f->levels > 1 ? "s" : "", all[i].name,
			 f->is_central ? "at_the_top" : "where_it_is_born", f->rate);
		put_line(&r->lines, name, all[i].v, all[i].unit);
	}
	end_row(r);
}

/* --- the whole run */

static int run_points(const struct growth_plan *p, struct report *r, struct err *e)
{
	int rc = 0;

	report_head(r);
	for (unsigned h = 0; h < p->nhosts; h++)
		for (unsigned l = 0; !rc && l < p->nlevels && !p->must_end(); l++) {
			const struct growth_conf c = { p->seed, p->hosts[h], p->levels[l],
						       p->is_watched ? report_stage : NULL };
			struct growth_point point;

			rc = growth_measure(&c, &point, e);
			if (!rc)
				report_point(&point, r);
		}
	return rc;
}

static unsigned front_hosts(const struct growth_plan *p)
{
	unsigned most = 0;

	for (unsigned i = 0; i < p->nhosts; i++)
		most = p->hosts[i] > most ? p->hosts[i] : most;
	return most < GROWTH_FRONT_HOSTS_MAX ? most : GROWTH_FRONT_HOSTS_MAX;
}

static int run_front(const struct growth_plan *p, unsigned levels, struct report *r, struct err *e)
{
	const struct growth_conf c = { p->seed, front_hosts(p), levels, NULL };
	int rc = 0;

	for (size_t i = 0; i < 2 * ARRAY_LEN(rates) && !rc && !p->must_end(); i++) {
		struct growth_front f = { .rate = rates[i / 2], .is_central = i % 2 };

		rc = growth_measure_front(&c, &f, e);
		if (!rc)
			report_front(&f, r);
	}
	return rc;
}

static int run_fronts(const struct growth_plan *p, struct report *r, struct err *e)
{
	int rc = 0;

	put_cells(
		r,
		"\n| hosts | levels | events/s of each process | evaluated | frames/s at mainsm | bytes/s at mainsm |"
		" its time: %% | events/s counted |\n|---:|---:|---:|---|---:|---:|---:|---:|\n");
	for (unsigned l = 0; !rc && l < p->nlevels; l++)
		rc = run_front(p, p->levels[l], r, e);
	return rc;
}

static int write_lines(const char *path, const struct buf *lines, struct err *e)
{
	FILE *f = fopen(path, "we");
	int rc = 0;

	if (lines->failed)
		rc = err_nomem(e);
	else if (!f || fwrite(lines->p, 1, lines->n, f) != lines->n)
		rc = err_sys(e, "%s", path);
	if (f && fclose(f) && !rc)
		rc = err_sys(e, "%s", path);
	return rc;
}

/* Writes the results so far, also after a failed step. */
static int finish(struct report *r, int rc, struct err *e)
{
	const char *to = r->plan->output;

	if (to && r->lines.n && rc)
		write_lines(to, &r->lines, NULL);
	else if (to && r->lines.n)
		rc = write_lines(to, &r->lines, e);
	if (!rc && r->plan->json && ferror(stdout))
		rc = err_sys(e, "standard output");
	buf_done(&r->lines);
	return rc;
}

int growth_run(const struct growth_plan *p, struct err *e)
{
	struct report r = { .plan = p, .lines = BUF_INIT(JSON_MAX_BYTES) };
	int rc = all_fit(p, e);

	rc = rc ? rc : run_points(p, &r, e);
	rc = rc ? rc : run_fronts(p, &r, e);
	return finish(&r, rc, e);
}

static void report_speed(const struct growth_conf *c, const struct growth_speed *s,
			 struct report *r)
{
	char name[96];

	put_cells(r, "| %u | %u | %.3g | %.4g |", c->hosts, c->levels, s->speedup, s->mib);
	snprintf(name, sizeof(name), "speed.%u_level%s.%u.times", c->levels,
		 c->levels > 1 ? "s" : "", c->hosts);
	put_line(&r->lines, name, s->speedup, "");
	snprintf(name, sizeof(name), "speed.%u_level%s.%u.mib", c->levels, c->levels > 1 ? "s" : "",
		 c->hosts);
	put_line(&r->lines, name, s->mib, "MiB");
	end_row(r);
}

int growth_run_speed(const struct growth_plan *p, nsec_t time, struct err *e)
{
	struct report r = { .plan = p, .lines = BUF_INIT(JSON_MAX_BYTES) };
	int rc = all_fit(p, e);

	if (!rc)
		put_cells(&r,
			  "| hosts | levels | times real time | MiB |\n|---:|---:|---:|---:|\n");
	for (unsigned h = 0; h < p->nhosts; h++)
		for (unsigned l = 0; !rc && l < p->nlevels && !p->must_end(); l++) {
			const struct growth_conf c = { p->seed, p->hosts[h], p->levels[l],
						       p->is_watched ? report_stage : NULL };
			struct growth_speed s;

			rc = growth_measure_speed(&c, time, &s, e);
			if (!rc)
				report_speed(&c, &s, &r);
		}
	return finish(&r, rc, e);
}
