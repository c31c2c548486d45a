/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/term/columns.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "tools/term/say.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_MAX 1024
#define SHOWN_MAX 5 /* bad lines; the others are counted */
#define SHOWN_BYTES 60
#define TIME_NS_MAX 4e18 /* the year 2096; a span may be added to it */

struct columns {
	const struct columns_options *options;
	const char *path;
	FILE *file;
	char line[COLUMNS_LINE_MAX + 1];
	char *cell[CELLS_MAX];
	unsigned ncell;
	char separator; /* 0: not known yet; ' ': any white space */
	bool has_begun; /* the columns are known */
	unsigned n, at[COLUMNS_MAX], time_at;
	char names[COLUMNS_MAX][COLUMNS_NAME_BYTES];
	const char *name[COLUMNS_MAX];
	bool has_time;
	double time_ns_each; /* of the unit of the time column */
	uint64_t lines, bad;
};

static void report_bad(struct columns *c, const char *what, const char *text)
{
	char safe[SHOWN_BYTES * 4];

	if (c->bad++ < SHOWN_MAX)
		cmd_warn("%s, line %" PRIu64 ": %s: '%s'", c->path, c->lines, what,
			 str_escape(safe, sizeof(safe), text, strnlen(text, SHOWN_BYTES)));
}

/* --- a line into cells */

/* Returns the separator found outside of quotes; a comma has priority. */
static char separator_of(const char *line)
{
	bool is_quoted = false;
	char found = ' ';

	for (; *line; line++) {
		is_quoted ^= *line == '"';
		if (!is_quoted && *line == ',')
			return ',';
		if (!is_quoted && found == ' ' && (*line == ';' || *line == '\t'))
			found = *line;
	}
	return found;
}

/* Unquotes one cell in place. Returns the text after it, NULL at the end. */
static char *take_cell(char *p, char separator, char **cell)
{
	char *to = p;
	bool is_quoted = *p == '"';

	*cell = p;
	p += is_quoted;
	while (*p && (is_quoted || *p != separator)) {
		if (is_quoted && *p == '"' && p[1] != '"') {
			is_quoted = false;
			p++;
			continue;
		}
		p += is_quoted && *p == '"';
		*to++ = *p++;
	}
	if (!*p) {
		*to = 0;
		return NULL;
	}
	*to = 0;
	return p + 1;
}

static char *trimmed(char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	for (size_t n = strlen(s); n && strchr(" \t\r\n", s[n - 1]); n--)
		s[n - 1] = 0;
	return s;
}

static void split_by_space(struct columns *c)
{
	char *at = c->line, *cell;

	while ((cell = strsep(&at, " \t\r")) && c->ncell < CELLS_MAX)
		if (*cell)
			c->cell[c->ncell++] = cell;
}

static void split(struct columns *c)
{
	char *at = c->line;

	c->ncell = 0;
	if (!c->separator)
		c->separator = separator_of(c->line);
	if (c->separator == ' ') {
		split_by_space(c);
		return;
	}
	while (at && c->ncell < CELLS_MAX) {
		at = take_cell(at, c->separator, &c->cell[c->ncell]);
		c->cell[c->ncell] = trimmed(c->cell[c->ncell]);
		c->ncell++;
	}
}

/* Returns 0 also for a cell that marks a missing number: it is NaN. */
static int number_of(const char *cell, double *out)
{
	static const char *const none[] = { "",	    "-",   "nan",  "NaN", "NA",
					    "null", "inf", "-inf", "+inf" };

	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		if (str_eq(cell, none[i])) {
			*out = NAN;
			return 0;
		}
	return str_to_double(cell, -INFINITY, INFINITY, out);
}

/* --- which columns */

static bool is_header(const struct columns *c)
{
	double v;

	for (unsigned i = 0; i < c->ncell; i++)
		if (number_of(c->cell[i], &v))
			return true;
	return false;
}

/* A header's cell, or a number from 1. */
static int find_column(const struct columns *c, bool has_header, const char *name, unsigned *out)
{
	uint64_t number;

	for (unsigned i = 0; has_header && i < c->ncell; i++)
		if (str_eq(c->cell[i], name)) {
			*out = i;
			return CMD_OK;
		}
	if (str_to_u64(name, 1, c->ncell, &number))
		return CMD_NOTFOUND;
	*out = (unsigned)number - 1;
	return CMD_OK;
}

static int add_column(struct columns *c, bool has_header, const char *name)
{
	if (c->n == COLUMNS_MAX)
		return cmd_fail(CMD_USAGE, "more than %d columns", COLUMNS_MAX);
	if (find_column(c, has_header, name, &c->at[c->n]))
		return cmd_fail(CMD_NOTFOUND, "%s has no column '%s'", c->path, name);
	str_copy(c->names[c->n], COLUMNS_NAME_BYTES, has_header ? c->cell[c->at[c->n]] : "");
	c->name[c->n] = c->names[c->n];
	c->n++;
	return CMD_OK;
}

static int add_listed(struct columns *c, bool has_header)
{
	char *list = str_dup(c->options->list), *at = list, *name;
	int rc = list ? CMD_OK : cmd_fail(CMD_FAILURE, "out of memory");

	while (rc == CMD_OK && (name = strsep(&at, ",")))
		rc = add_column(c, has_header, name);
	free(list);
	return rc;
}

static int find_time(struct columns *c, bool has_header)
{
	const char *name = c->options->time ? c->options->time : "time_ns";
	size_t n;

	c->has_time = find_column(c, has_header, name, &c->time_at) == CMD_OK;
	if (!c->has_time)
		return c->options->time
			       ? cmd_fail(CMD_NOTFOUND, "%s has no column '%s'", c->path, name)
			       : CMD_OK;
	name = has_header ? c->cell[c->time_at] : name;
	n = strlen(name);
	c->time_ns_each = n > 3 && str_eq(name + n - 3, "_ns") ? 1 : 1e9;
	return CMD_OK;
}

static int begin(struct columns *c, bool has_header)
{
	unsigned at;
	int rc;

	c->has_begun = true;
	if (c->options->list)
		rc = add_listed(c, has_header);
	else
		rc = add_column(c, has_header,
				has_header && !find_column(c, true, "value", &at) ? "value" : "1");
	return rc == CMD_OK ? find_time(c, has_header) : rc;
}

/* --- rows */

static int read_time(const struct columns *c, struct columns_row *row)
{
	double t;

	row->has_time = c->has_time;
	if (!c->has_time)
		return 0;
	if (c->time_at >= c->ncell ||
	    str_to_double(c->cell[c->time_at], -TIME_NS_MAX, TIME_NS_MAX, &t) ||
	    fabs(t * c->time_ns_each) > TIME_NS_MAX)
		return -1;
	row->time_ns = (int64_t)(t * c->time_ns_each);
	return 0;
}

/* Returns other than 0 if the callback asks to stop. */
static int read_row(struct columns *c, columns_fn fn, void *arg)
{
	double value[COLUMNS_MAX];
	struct columns_row row = { .n = c->n, .name = c->name, .value = value };

	for (unsigned i = 0; i < c->n; i++)
		if (c->at[i] >= c->ncell || number_of(c->cell[c->at[i]], &value[i])) {
			report_bad(c, "no number where one is due",
				   c->at[i] < c->ncell ? c->cell[c->at[i]] : "");
			return 0;
		}
	if (read_time(c, &row)) {
		report_bad(c, "no time where one is due",
			   c->time_at < c->ncell ? c->cell[c->time_at] : "");
		return 0;
	}
	return fn(arg, &row);
}

/*
 * Reads one line into c->line. Returns false at the end of the input. *is_text: it fits, and has no
 * zero byte.
 */
static bool take_line(struct columns *c, bool *is_text)
{
	size_t n = 0;
	int ch;

	*is_text = true;
	while ((ch = getc_unlocked(c->file)) != EOF && ch != '\n') {
		*is_text = *is_text && ch && n < COLUMNS_LINE_MAX;
		if (*is_text)
			c->line[n++] = (char)ch;
	}
	c->line[n] = 0;
	c->lines++;
	return ch != EOF || n || !*is_text;
}

static bool next_line(struct columns *c)
{
	bool is_text;

	while (take_line(c, &is_text)) {
		if (is_text)
			return true;
		report_bad(c, "no text, or a line longer than 64 KiB", c->line);
	}
	return false;
}

/* The first ones were shown. */
static int say_bad(const struct columns *c)
{
	char text[FILENAME_MAX + 64];

	snprintf(text, sizeof(text), "%s: %" PRIu64 " line%s could not be read", c->path, c->bad,
		 c->bad == 1 ? "" : "s");
	if (c->bad > SHOWN_MAX)
		cmd_warn("%s", text);
	return cmd_note(CMD_FAILURE, text);
}

static int read_all(struct columns *c, columns_fn fn, void *arg)
{
	int rc;

	while (next_line(c)) {
		if (!c->line[strspn(c->line, " \t\r")] || c->line[0] == '#')
			continue;
		split(c);
		if (!c->has_begun) {
			bool has_header = is_header(c);

			rc = begin(c, has_header);
			if (rc != CMD_OK)
				return rc;
			if (has_header)
				continue;
		}
		if (read_row(c, fn, arg))
			break;
	}
	if (ferror(c->file))
		return cmd_fail(CMD_FAILURE, "%s cannot be read", c->path);
	return c->bad ? say_bad(c) : CMD_OK;
}

int columns_read(const char *path, const struct columns_options *w, columns_fn fn, void *arg)
{
	bool is_stdin = str_eq(path, "-");
	struct columns *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return cmd_fail(CMD_FAILURE, "out of memory");
	c->options = w;
	c->path = is_stdin ? "stdin" : path;
	c->file = is_stdin ? stdin : fopen(path, "re");
	if (c->file)
		rc = read_all(c, fn, arg);
	else
		rc = cmd_fail(CMD_NOTFOUND, "%s: %s", path, strerror(errno));
	if (c->file && !is_stdin)
		fclose(c->file);
	free(c);
	return rc;
}
