/* SPDX-License-Identifier: Apache-2.0 */
#include "model/estimate/periods.h"

#include "common/base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX (2 * LEAST_COLUMNS_MAX + 8) /* counts begun and completed, times and names */
#define NUMBER_BYTES 64

enum kind { KIND_IGNORED, KIND_RESPONSE, KIND_ELAPSED, KIND_BEGUN, KIND_COMPLETED };

struct field {
	enum kind kind;
	size_t service; /* of a count */
	unsigned col;
	char name[PERIODS_NAME_BYTES];
};

struct reader {
	const char *at, *end, *line_at;
	unsigned line;
	struct field field[FIELDS_MAX];
	size_t nfield, nservice;
	bool has_response, has_completed, has_elapsed;
	char service[LEAST_COLUMNS_MAX][PERIODS_NAME_BYTES];
	bool is_begun[LEAST_COLUMNS_MAX], is_completed[LEAST_COLUMNS_MAX];
	struct err *e;
};

static unsigned column(const struct reader *r, const char *p)
{
	return (unsigned)(p - r->line_at) + 1;
}

static int fail(const struct reader *r, const char *p, int rc)
{
	err_at(r->e, r->line, column(r, p));
	return rc;
}

static bool is_line_end(const struct reader *r, const char *p)
{
	return p == r->end || *p == '\n' || (*p == '\r' && p + 1 < r->end && p[1] == '\n');
}

static void next_line(struct reader *r)
{
	while (r->at < r->end && *r->at != '\n')
		r->at++;
	if (r->at < r->end)
		r->at++;
	r->line_at = r->at;
	r->line++;
}

/* Goes to the next line that is neither empty nor a comment. Returns false at the end. */
static bool find_line(struct reader *r)
{
	while (r->at < r->end && (is_line_end(r, r->at) || *r->at == '#'))
		next_line(r);
	return r->at < r->end;
}

/* Takes a quoted field: two quotes stand for one. */
static int take_quoted(struct reader *r, char *out, size_t size)
{
	const char *from = r->at++;
	size_t n = 0;

	for (;; r->at++) {
		if (is_line_end(r, r->at))
			return fail(r, from, err_set(r->e, ERR_PARSE, "a quote has no end"));
		if (*r->at == '"' && (++r->at == r->end || *r->at != '"'))
			break;
		if (n + 1 < size)
			out[n++] = *r->at;
	}
	out[n] = 0;
	return 0;
}

/* Takes a field without its blanks; a longer one is cut, and is then no number. */
static int take(struct reader *r, char *out, size_t size)
{
	size_t n = 0;

	while (r->at < r->end && *r->at == ' ')
		r->at++;
	if (r->at < r->end && *r->at == '"')
		return take_quoted(r, out, size);
	for (; !is_line_end(r, r->at) && *r->at != ','; r->at++)
		if (n + 1 < size)
			out[n++] = *r->at;
	while (n && out[n - 1] == ' ')
		n--;
	out[n] = 0;
	return 0;
}

/* --- the line of names */

static int find_service(struct reader *r, const char *name, size_t *out)
{
	for (*out = 0; *out < r->nservice; ++*out)
		if (str_eq(r->service[*out], name))
			return 0;
	if (r->nservice == LEAST_COLUMNS_MAX)
		return err_set(r->e, ERR_LIMIT, "more than %d services", LEAST_COLUMNS_MAX);
	str_copy(r->service[r->nservice++], PERIODS_NAME_BYTES, name);
	return 0;
}

static int add_count(struct reader *r, struct field *f, const char *name)
{
	bool *is_known;
	int rc;

	if (!str_is_name(name, strlen(name)))
		return err_set(r->e, ERR_INVALID, "a service has no printable name here");
	rc = find_service(r, name, &f->service);
	if (rc)
		return rc;
	is_known = f->kind == KIND_BEGUN ? r->is_begun : r->is_completed;
	if (is_known[f->service])
		return err_set(r->e, ERR_INVALID, "the column of '%.60s' is there twice", name);
	is_known[f->service] = true;
	r->has_completed |= f->kind == KIND_COMPLETED;
	return 0;
}

static int set_kind(struct reader *r, struct field *f)
{
	const char *name = f->name;
	bool *is_known = NULL;

	if (str_eq(name, "busy") || str_eq(name, "response")) {
		f->kind = KIND_RESPONSE;
		is_known = &r->has_response;
	} else if (str_eq(name, "elapsed")) {
		f->kind = KIND_ELAPSED;
		is_known = &r->has_elapsed;
	} else if (str_eq(name, "period") || str_eq(name, "time"))
		f->kind = KIND_IGNORED;
	else if (str_has_prefix(name, "completed:")) {
		f->kind = KIND_COMPLETED;
		return add_count(r, f, name + strlen("completed:"));
	} else {
		f->kind = KIND_BEGUN;
		return add_count(r, f,
				 str_has_prefix(name, "begun:") ? name + strlen("begun:") : name);
	}
	if (is_known && *is_known)
		return err_set(r->e, ERR_INVALID, "a second column '%s'", name);
	if (is_known)
		*is_known = true;
	return 0;
}

static int check_names(struct reader *r)
{
	if (!r->has_response)
		return err_set(
			r->e, ERR_INVALID,
			"no column 'busy': it has the CPU time, or another response, of each "
			"period");
	if (!r->nservice)
		return err_set(r->e, ERR_INVALID, "no column counts a service");
	for (size_t i = 0; i < r->nservice; i++) {
		if (!r->is_begun[i])
			return err_set(r->e, ERR_INVALID,
				       "no column counts how often '%.60s' began", r->service[i]);
		if (r->has_completed && !r->is_completed[i])
			return err_set(r->e, ERR_INVALID,
				       "no column 'completed:%.60s', but others have one",
				       r->service[i]);
	}
	return 0;
}

static int read_names(struct reader *r)
{
	if (!find_line(r))
		return fail(r, r->at, err_set(r->e, ERR_PARSE, "no line of names"));
	for (;;) {
		struct field *f = &r->field[r->nfield];
		const char *from = r->at;
		int rc;

		if (r->nfield == FIELDS_MAX)
			return fail(r, from,
				    err_set(r->e, ERR_LIMIT, "more than %d columns", FIELDS_MAX));
		rc = take(r, f->name, sizeof(f->name));
		if (rc)
			return rc;
		rc = set_kind(r, f);
		if (rc)
			return fail(r, from, rc);
		r->nfield++;
		if (is_line_end(r, r->at))
			break;
		if (*r->at++ != ',')
			return fail(r, r->at - 1, err_set(r->e, ERR_PARSE, "a comma is expected"));
	}
	return check_names(r) ? fail(r, r->line_at, -(int)r->e->code) : 0;
}

/* --- a line of numbers */

static int blame_number(const struct reader *r, const struct field *f, const char *text)
{
	double v;

	if (str_to_double(text, -1e308, 1e308, &v))
		return err_set(r->e, ERR_PARSE, "'%.30s' of '%.50s' is not a number", text,
			       f->name);
	if (v < 0)
		return err_set(r->e, ERR_INVALID,
			       "'%.50s' is negative: a counter wrapped, a clock jumped or the "
			       "process restarted; remove this line",
			       f->name);
	return err_set(r->e, ERR_INVALID, "'%.50s' is above %g", f->name, PERIODS_VALUE_MAX);
}

static void store(struct periods *p, size_t at, const struct field *f, double v)
{
	switch (f->kind) {
	case KIND_IGNORED:
		break;
	case KIND_RESPONSE:
		p->response[at] = v;
		break;
	case KIND_ELAPSED:
		p->elapsed[at] = v;
		break;
	case KIND_BEGUN:
		p->begun[at * p->k + f->service] = v;
		break;
	case KIND_COMPLETED:
		p->completed[at * p->k + f->service] = v;
		break;
	}
}

static int read_field(struct reader *r, struct periods *p, size_t at, const struct field *f)
{
	const char *from = r->at;
	char text[NUMBER_BYTES];
	double v = 0;
	int rc = take(r, text, sizeof(text));

	if (rc)
		return rc;
	if (f->kind != KIND_IGNORED && str_to_double(text, 0, PERIODS_VALUE_MAX, &v))
		return fail(r, from, blame_number(r, f, text));
	store(p, at, f, v);
	return 0;
}

static int read_line(struct reader *r, struct periods *p)
{
	size_t at;
	int rc = periods_add(p, &at);

	if (rc)
		return fail(r, r->at, err_set(r->e, (enum err_code) - rc, "too many periods"));
	for (size_t i = 0; i < r->nfield; i++) {
		if (i && (is_line_end(r, r->at) || *r->at++ != ','))
			return fail(r, r->at,
				    err_set(r->e, ERR_PARSE, "the line has %zu fields, not %zu", i,
					    r->nfield));
		rc = read_field(r, p, at, &r->field[i]);
		if (rc)
			return rc;
	}
	if (!is_line_end(r, r->at))
		return fail(
			r, r->at,
			err_set(r->e, ERR_PARSE, "the line has more than %zu fields", r->nfield));
	return 0;
}

static int read_all(struct reader *r, struct periods **out)
{
	struct periods *p = NULL;
	int rc = read_names(r);

	if (!rc && periods_new(r->nservice, r->has_completed, r->has_elapsed, &p))
		return err_nomem(r->e);
	for (size_t i = 0; !rc && i < r->nservice; i++)
		str_copy(p->name[i], PERIODS_NAME_BYTES, r->service[i]);
	for (next_line(r); !rc && find_line(r); next_line(r))
		rc = read_line(r, p);
	if (rc) {
		periods_free(p);
		return rc;
	}
	*out = p;
	return 0;
}

int periods_read(const char *text, size_t n, struct periods **out, struct err *e)
{
	struct err own = { 0 };
	struct reader *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return err_nomem(e);
	r->at = r->line_at = text;
	r->end = text + n;
	r->line = 1;
	r->e = e ? e : &own;
	rc = read_all(r, out);
	free(r);
	return rc;
}
