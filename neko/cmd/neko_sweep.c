/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/cmd/neko_sweep.h"

#include "common/base/str.h"
#include "common/cli/opt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_BYTES 64 /* a number with its unit */
#define LEVEL 0.95
#define ROUNDING 1e-9 /* fraction of a step: 0.1 + 0.1 + 0.1 still reaches 0.3 */

/* --- settings */

int neko_sweep_set(void *into, const char *text, struct err *e)
{
	struct neko_sweep *s = into;
	struct neko_setting *to = &s->set[s->nset];
	char *equals;

	if (s->nset == NEKO_SETS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d settings: write them into a file",
			       NEKO_SETS_MAX);
	to->key = strdup(text);
	if (!to->key)
		return err_nomem(e);
	equals = strchr(to->key, '=');
	if (!equals || equals == to->key || !equals[1]) {
		free(to->key);
		to->key = NULL;
		return err_set(e, ERR_INVALID, "KEY=VALUE is expected, not '%.80s'", text);
	}
	*equals = '\0';
	to->value = equals + 1;
	s->nset++;
	return 0;
}

/* --- values of a key */

static int add_value(struct neko_sweep_key *k, const char *text, size_t n, struct err *e)
{
	char **more = k->n < NEKO_SWEEP_POINTS_MAX
			      ? realloc(k->value, (k->n + 1) * sizeof(*k->value))
			      : NULL;

	if (k->n == NEKO_SWEEP_POINTS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d values", NEKO_SWEEP_POINTS_MAX);
	if (!more)
		return err_nomem(e);
	k->value = more;
	k->value[k->n] = strndup(text, n);
	return k->value[k->n++] ? 0 : err_nomem(e);
}

static int add_list(struct neko_sweep_key *k, const char *text, struct err *e)
{
	for (;;) {
		size_t depth = 0, n = 0;

		/* Commas within brackets do not separate values, as in uniform(1ms, 2ms). */
		for (; text[n] && (depth || text[n] != ','); n++) {
			depth += text[n] == '(';
			depth -= text[n] == ')' && depth;
		}
		if (!n)
			return err_set(e, ERR_INVALID, "an empty value in the list of %s", k->key);
		if (add_value(k, text, n, e))
			return -(int)e->code;
		if (!text[n])
			return 0;
		text += n + 1;
	}
}

/* Ends and step of a range, as plain numbers or in nanoseconds. */
struct range {
	double from, to, step;
	bool is_time;
};

static bool read_number(const char *text, bool is_time, double *out)
{
	int64_t ns;

	if (!is_time)
		return !str_to_double(text, -1e300, 1e300, out);
	if (opt_to_nsec_unit(text, 0, INT64_MAX / 4, &ns))
		return false;
	*out = (double)ns;
	return true;
}

/* Reads "A..B" or "A..B:STEP". */
static int read_range(const char *text, struct range *out, struct err *e)
{
	char from[VALUE_BYTES] = "", to[VALUE_BYTES] = "", step[VALUE_BYTES] = "1";
	const char *dots = strstr(text, ".."), *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - dots) - 2 : strlen(dots + 2);

	if ((size_t)(dots - text) >= VALUE_BYTES || n >= VALUE_BYTES ||
	    (colon && strlen(colon + 1) >= VALUE_BYTES))
		return err_set(e, ERR_INVALID, "A..B:STEP is expected, not '%.80s'", text);
	memcpy(from, text, (size_t)(dots - text));
	memcpy(to, dots + 2, n);
	if (colon)
		str_copy(step, sizeof(step), colon + 1);
	for (int i = 0; i < 2; i++) {
		out->is_time = i;
		if (read_number(from, i, &out->from) && read_number(to, i, &out->to) &&
		    read_number(step, i, &out->step) && out->step > 0 && out->from <= out->to)
			return 0;
	}
	return err_set(e, ERR_INVALID,
		       "A..B:STEP needs numbers or times with units, A <= B and a step above 0, "
		       "not '%.80s'",
		       text);
}

static int add_range(struct neko_sweep_key *k, const char *text, struct err *e)
{
	char value[VALUE_BYTES], time[OPT_NSEC_BYTES];
	struct range r;
	double count;
	int rc = read_range(text, &r, e);

	if (rc)
		return rc;
	count = floor((r.to - r.from) / r.step + ROUNDING) + 1;
	if (count > NEKO_SWEEP_POINTS_MAX)
		return err_set(e, ERR_LIMIT, "%.0f values of %s, at most %d", count, k->key,
			       NEKO_SWEEP_POINTS_MAX);
	for (double i = 0; i < count && !rc; i++) {
		double v = r.from + i * r.step;

		if (r.is_time)
			str_copy(value, sizeof(value), opt_from_nsec(time, (int64_t)llround(v)));
		else
			snprintf(value, sizeof(value), "%.12g", v);
		rc = add_value(k, value, strlen(value), e);
	}
	return rc;
}

static int check_key(const struct neko_sweep *s, const struct neko_sweep_key *k, struct err *e)
{
	for (unsigned i = 0; i < s->n; i++)
		if (str_eq(s->key[i].key, k->key))
			return err_set(e, ERR_INVALID, "%s is given twice", k->key);
	if (neko_sweep_points(s) * k->n > NEKO_SWEEP_POINTS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d runs", NEKO_SWEEP_POINTS_MAX);
	return 0;
}

static void done_key(struct neko_sweep_key *k)
{
	for (size_t i = 0; i < k->n; i++)
		free(k->value[i]);
	free(k->value);
	free(k->key);
	*k = (struct neko_sweep_key){ 0 };
}

int neko_sweep_add(void *into, const char *text, struct err *e)
{
	const char *equals = strchr(text, '=');
	struct neko_sweep *s = into;
	struct neko_sweep_key k = { 0 };
	int rc;

	if (s->n == NEKO_SWEEP_KEYS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d keys", NEKO_SWEEP_KEYS_MAX);
	if (!equals || equals == text || !equals[1])
		return err_set(e, ERR_INVALID,
			       "KEY=A..B:STEP or KEY=VALUE,VALUE is expected, not '%.80s'", text);
	k.key = strndup(text, (size_t)(equals - text));
	if (!k.key)
		return err_nomem(e);
	rc = strstr(equals + 1, "..") ? add_range(&k, equals + 1, e) : add_list(&k, equals + 1, e);
	if (!rc)
		rc = check_key(s, &k, e);
	if (rc)
		done_key(&k);
	else
		s->key[s->n++] = k;
	return rc;
}

/* --- points */

size_t neko_sweep_points(const struct neko_sweep *s)
{
	size_t n = 1;

	for (unsigned i = 0; i < s->n; i++)
		n *= s->key[i].n;
	return n;
}

const char *neko_sweep_value(const struct neko_sweep *s, size_t point, unsigned key)
{
	for (unsigned i = s->n; --i > key;)
		point /= s->key[i].n;
	return s->key[key].value[point % s->key[key].n];
}

int neko_sweep_apply(const struct neko_sweep *s, size_t point, struct setup *to, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; i < s->nset && !rc; i++)
		rc = setup_set(to, s->set[i].key, s->set[i].value, e);
	for (unsigned i = 0; i < s->n && !rc; i++)
		rc = setup_set(to, s->key[i].key, neko_sweep_value(s, point, i), e);
	return rc;
}

static int note_cell(struct neko_sweep_cell *c, const struct quantity *q)
{
	const struct moments *m = quantity_moments(q);
	bool depends = dependence_words(quantity_dependence(q)) != NULL;

	*c = (struct neko_sweep_cell){
		.name = strdup(quantity_name(q)),
		.unit = strdup(quantity_unit(q)),
		.n = m->n,
		.mean = moments_mean(m),
		.half = (depends ? quantity_interval_of_batches(q, LEVEL)
				 : quantity_interval(q, LEVEL))
				.half,
		.deviation = moments_deviation(m),
		.min = m->n ? m->min : NAN,
		.max = m->n ? m->max : NAN,
	};
	return c->name && c->unit ? 0 : -ERR_NOMEM;
}

int neko_sweep_note(struct neko_sweep *s, size_t point, const struct run *r,
		    const struct run_counts *f, struct err *e)
{
	struct stat_result v[STAT_QUANTITIES_MAX];
	size_t n = run_results(r, v);
	struct neko_sweep_row *row;

	if (!s->row)
		s->row = calloc(neko_sweep_points(s), sizeof(*s->row));
	if (!s->row)
		return err_nomem(e);
	row = &s->row[point];
	row->counts = *f;
	row->counts.broken = NULL; /* the run owns it */
	row->is_done = true;
	row->cell = calloc(n ? n : 1, sizeof(*row->cell));
	if (!row->cell)
		return err_nomem(e);
	for (; row->n < n; row->n++)
		if (note_cell(&row->cell[row->n], v[row->n].quantity)) {
			row->n++;
			return err_nomem(e);
		}
	return 0;
}

static void done_row(struct neko_sweep_row *row)
{
	for (size_t i = 0; i < row->n; i++) {
		free(row->cell[i].name);
		free(row->cell[i].unit);
	}
	free(row->cell);
}

void neko_sweep_done(struct neko_sweep *s)
{
	for (size_t i = 0, n = neko_sweep_points(s); s->row && i < n; i++)
		done_row(&s->row[i]);
	free(s->row);
	for (unsigned i = 0; i < s->n; i++)
		done_key(&s->key[i]);
	for (unsigned i = 0; i < s->nset; i++)
		free(s->set[i].key);
	*s = (struct neko_sweep){ 0 };
}
