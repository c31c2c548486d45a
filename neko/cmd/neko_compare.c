/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/cmd/neko_compare.h"

#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/json/json.h"
#include "tools/results/results.h"
#include "stats/student.h"
#include "stats/welch.h"
#include "tools/term/say.h"
#include "tools/term/table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.95 /* level for all quantities together */
#define QUANTITIES_MAX 64
#define NAME_BYTES 64
#define TEXT_MAX_BYTES (1024 * 1024)

/* A quantity of one run. */
struct side {
	char name[NAME_BYTES], unit[NAME_BYTES];
	double n, mean, half; /* half width of the 95 % interval */
	double error, df; /* standard error of the mean */
	double clock; /* error bound due to clocks */
	/* values depend on each other, so that the interval is from batch means */
	bool is_dependent;
};

struct side_list {
	struct side side[QUANTITIES_MAX];
	size_t n;
	char world[NAME_BYTES];
	bool is_part;
};

struct row {
	const struct side *a, *b;
	double difference, half, p, at_most; /* at_most: relative to the first mean */
	bool agrees;
};

struct comparison {
	struct row row[QUANTITIES_MAX];
	size_t n, differing;
	double level; /* level of each interval */
};

/* --- reading */

/* Returns false if the name is too long, or if a terminal cannot show it. */
static bool copy_name(char out[NAME_BYTES], struct json_object *o, const char *key)
{
	const char *s = results_text(results_get(o, key), "");

	for (size_t i = 0; s[i]; i++)
		if (!isprint((unsigned char)s[i]))
			return false;
	return str_copy(out, NAME_BYTES, s);
}

/* Uses the interval of batch means if values depend on each other, and if it is wider. */
static void choose_interval(struct side *s, struct json_object *o)
{
	struct json_object *batches = results_get(o, "batches");
	struct json_object *warnings = results_get(o, "warnings");
	double half = results_member(batches, "half"), n = results_member(batches, "n");

	s->df = s->n - 1;
	s->is_dependent = results_count(warnings) > 0 && n >= 2 && half > s->half;
	if (s->is_dependent) {
		s->half = half;
		s->df = n - 1;
	}
	s->error = s->half / student_two_sided(LEVEL, s->df);
}

static bool read_quantity(struct json_object *o, struct side *s)
{
	*s = (struct side){ .n = results_member(o, "n"),
			    .mean = results_member(o, "mean"),
			    .half = results_member(o, "half") };
	if (!copy_name(s->name, o, "name") || !s->name[0] || !copy_name(s->unit, o, "unit") ||
	    !(s->n >= 0 && s->n < 1e18))
		return false;
	if (s->n >= 2)
		choose_interval(s, o);
	return s->n < 2 || (isfinite(s->mean) && s->half >= 0);
}

static void read_clocks(struct json_object *root, struct side_list *l)
{
	struct json_object *errors = results_get(root, "clock_errors");

	for (size_t i = 0; i < l->n; i++) {
		double v = results_member(results_get(errors, l->side[i].name), "mean");

		l->side[i].clock = v > 0 ? v : 0;
	}
}

static bool read_list(struct json_object *root, struct side_list *l)
{
	struct json_object *all = results_get(root, "quantities");

	if (!results_is_array(all) || !copy_name(l->world, root, "world"))
		return false;
	for (size_t i = 0; i < results_count(all); i++)
		if (l->n == QUANTITIES_MAX ||
		    !read_quantity(results_item(all, i), &l->side[l->n++]))
			return false;
	l->is_part = results_member(root, "missing") > 0 ||
		     results_truth(results_get(root, "cut"), false);
	read_clocks(root, l);
	return true;
}

static int read_text(const char *path, const struct buf *b, struct side_list *l)
{
	struct json_object *root = NULL;
	struct err e = { 0 };
	int status = CMD_OK;

	if (results_parse(buf_str(b), b->n, &root, &e))
		return cmd_fail(CMD_USAGE, "%s: %s; results are written by omig neko run -o", path,
				e.text);
	if (!read_list(root, l))
		status = cmd_fail(CMD_USAGE,
				  "%s has no quantities of a run; write it with omig neko run -o",
				  path);
	results_free(root);
	return status;
}

static int read_run(const char *path, struct side_list *l)
{
	struct buf b = BUF_INIT(NEKO_COMPARE_MAX_BYTES);
	struct err e = { 0 };
	int status;

	if (file_read(path, NEKO_COMPARE_MAX_BYTES, 0, &b, &e))
		status =
			cmd_fail(e.code == ERR_NOTFOUND ? CMD_NOTFOUND : CMD_FAILURE, "%s", e.text);
	else
		status = read_text(path, &b, l);
	buf_done(&b);
	return status;
}

/* --- judging */

/* Compares the means. Possible clock errors widen the interval. */
static void judge(struct row *r, double level)
{
	const struct welch_mean a = { r->a->mean, r->a->error, r->a->df },
				b = { r->b->mean, r->b->error, r->b->df };
	struct welch_difference d = welch_compare(&a, &b, r->a->clock + r->b->clock, level);

	r->difference = d.value;
	r->half = d.half;
	r->p = d.p;
	r->agrees = !d.is_sure;
	r->at_most = (fabs(r->difference) + r->half) / fabs(r->a->mean);
}

static const struct side *find(const struct side_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->side[i].name, name))
			return &l->side[i];
	return NULL;
}

static void compare(const struct side_list *a, const struct side_list *b, struct comparison *c)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct side *other = find(b, a->side[i].name);

		if (other && a->side[i].n >= 2 && other->n >= 2)
			c->row[c->n++] = (struct row){ .a = &a->side[i], .b = other };
	}
	c->level = c->n ? 1 - (1 - LEVEL) / (double)c->n : LEVEL;
	for (size_t i = 0; i < c->n; i++) {
		judge(&c->row[i], c->level);
		c->differing += !c->row[i].agrees;
	}
}

/* --- reports */

static void cell(struct table *t, double v)
{
	if (isfinite(v))
		table_cell(t, "%.4g", v);
	else
		table_cell(t, "-");
}

static void add_row(struct table *t, const struct row *r)
{
	const struct side *const side[] = { r->a, r->b };

	table_cell(t, "%s%s%s%s", r->a->name, *r->a->unit ? " (" : "", r->a->unit,
		   *r->a->unit ? ")" : "");
	for (size_t i = 0; i < 2; i++) {
		table_cell(t, "%.0f", side[i]->n);
		cell(t, side[i]->mean);
		cell(t, side[i]->half);
	}
	cell(t, r->difference);
	cell(t, r->half);
	cell(t, r->p);
	if (isfinite(r->at_most))
		table_cell(t, "%.2g %%", r->at_most * 100);
	else
		table_cell(t, "-");
	table_cell(t, r->agrees ? "yes" : "no");
}

/* Lists the quantities of only one run, which cannot be compared. */
static void print_alone(struct buf *b, const char *which, const struct side_list *of,
			const struct side_list *other)
{
	const char *between = "";

	for (size_t i = 0; i < of->n; i++) {
		const struct side *o = find(other, of->side[i].name);

		if (of->side[i].n < 2 || (o && o->n >= 2))
			continue;
		buf_printf(b, "%s%s", *between ? between : "Not compared: ", of->side[i].name);
		between = ", ";
	}
	if (*between)
		buf_printf(b, " (only the %s has two values of it)\n", which);
}

static void print_text(struct buf *b, const struct side_list *first, const struct side_list *second,
		       const struct comparison *c)
{
	static const char *const heads[] = { "QUANTITY", "N",	 "MEAN",    "+-95%",
					     "N",	 "MEAN", "+-95%",   "DIFFERENCE",
					     "+-",	 "P",	 "LARGEST", "AGREE" };
	struct table *t = table_new(ARRAY_LEN(heads), heads, "lrrrrrrrrrrl");

	buf_printf(b, "%s%s, then %s%s\n", first->world, first->is_part ? " (a part)" : "",
		   second->world, second->is_part ? " (a part)" : "");
	for (size_t i = 0; t && i < c->n; i++)
		add_row(t, &c->row[i]);
	if (table_end(t, 0, b))
		b->failed = true;
	print_alone(b, "first", first, second);
	print_alone(b, "second", second, first);
	buf_printf(b, "%zu of %zu quantities differ significantly (%.0f %% for all together)\n",
		   c->differing, c->n, LEVEL * 100);
}

static void print_side(struct json *j, const char *key, const struct side *s)
{
	json_key_object(j, key);
	json_key_u64(j, "n", (uint64_t)s->n);
	json_key_double(j, "mean", s->mean);
	json_key_double(j, "half", s->half);
	json_key_double(j, "clock_error", s->clock);
	json_key_bool(j, "batches", s->is_dependent);
	json_object_end(j);
}

static void print_json(struct buf *b, const struct side_list *first, const struct side_list *second,
		       const struct comparison *c)
{
	struct json j;

	json_init(&j, b);
	json_object(&j);
	json_key_bool(&j, "agree", c->n && !c->differing);
	json_key_bool(&j, "part", first->is_part || second->is_part);
	json_key_double(&j, "level", LEVEL);
	json_key_double(&j, "level_of_each", c->level);
	json_key_array(&j, "quantities");
	for (size_t i = 0; i < c->n; i++) {
		const struct row *r = &c->row[i];

		json_object(&j);
		json_key_str(&j, "name", r->a->name);
		print_side(&j, "first", r->a);
		print_side(&j, "second", r->b);
		json_key_double(&j, "difference", r->difference);
		json_key_double(&j, "half", r->half);
		json_key_double(&j, "p", r->p);
		json_key_double(&j, "at_most", r->at_most);
		json_key_bool(&j, "agrees", r->agrees);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	if (json_end(&j))
		b->failed = true;
	buf_putc(b, '\n');
}

static int report(const struct side_list *a, const struct side_list *b, bool json)
{
	struct buf out = BUF_INIT(TEXT_MAX_BYTES);
	struct comparison c = { 0 };
	int status;

	compare(a, b, &c);
	if (!c.n)
		return cmd_fail(CMD_FAILURE, "no quantity has two values in both runs");
	(json ? print_json : print_text)(&out, a, b, &c);
	status = out.failed ? cmd_fail(CMD_FAILURE, "out of memory") : CMD_OK;
	if (status == CMD_OK)
		fputs(buf_str(&out), stdout);
	buf_done(&out);
	if (status == CMD_OK && (a->is_part || b->is_part))
		status = CMD_PARTIAL;
	return status == CMD_OK && c.differing ? CMD_FAILURE : status;
}

int neko_compare(const char *first, const char *second, bool json)
{
	struct side_list *l = calloc(2, sizeof(*l));
	int status;

	if (!l)
		return cmd_fail(CMD_FAILURE, "out of memory");
	status = read_run(first, &l[0]);
	if (status == CMD_OK)
		status = read_run(second, &l[1]);
	if (status == CMD_OK)
		status = report(&l[0], &l[1], json);
	free(l);
	return status;
}
