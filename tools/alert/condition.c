/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/alert/condition.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "common/cli/opt.h"
#include "pmsl/check/builtin.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	enum condition_kind kind;
	bool has_value;
} words[] = {
	{ "imbalance", CONDITION_IMBALANCE, true },
	{ "mpi", CONDITION_MPI, true },
	{ "rss", CONDITION_RSS, true },
	{ "silent", CONDITION_SILENT, false },
	{ "hang", CONDITION_HANG, false },
};

static const struct {
	const char *name;
	double scale;
} units[] = {
	{ "%", 1 },    { "B", 1 },     { "kB", 1e3 },	   { "KB", 1e3 },      { "MB", 1e6 },
	{ "GB", 1e9 }, { "TB", 1e12 }, { "KiB", 1 << 10 }, { "MiB", 1 << 20 }, { "GiB", 1 << 30 },
	{ "s", 1 },    { "ms", 1e-3 }, { "us", 1e-6 },
};

struct reading {
	const char *text; /* the whole condition */
	const char *p;
	struct condition *out;
};

static int wrong(const struct reading *r, const char *at, struct err *e)
{
	if (e)
		e->col = (unsigned)(at - r->text) + 1;
	return -ERR_PARSE;
}

static void skip_blanks(struct reading *r)
{
	r->p += strspn(r->p, " \t");
}

/* --- names */

static int unknown_name(const struct reading *r, const char *at, size_t n, struct err *e)
{
	char name[128], best[PMSL_BUILTIN_NAME_BYTES];
	struct nearest near;

	snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : sizeof(name) - 1), at);
	near = nearest_to(name);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		nearest_try(&near, words[i].name);
	pmsl_builtin_try(&near, best);
	if (near.best)
		err_set(e, ERR_PARSE, "there is no condition or metric '%s'; did you mean '%s'?",
			name, near.best);
	else
		err_set(e, ERR_PARSE,
			"there is no condition or metric '%s': imbalance, mpi, rss, hang, silent, "
			"or one of omig metrics",
			name);
	return wrong(r, at, e);
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Checks the names of metrics in an expression. A name before '(' is a function or aggregate. */
static int check_names(const struct reading *r, const char *from, const char *to, struct err *e)
{
	char name[128];

	for (const char *p = from; p < to;) {
		size_t n = 0;

		while (p + n < to && is_name(p[n]))
			n++;
		if (!n) {
			p++;
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : 127), p);
		if (!isdigit((unsigned char)*p) && p[n] != '(' && pmsl_builtin_find(name) < 0)
			return unknown_name(r, p, n, e);
		p += n;
	}
	return 0;
}

/* --- the parts of a condition */

static int read_for(struct reading *r, struct err *e)
{
	char time[32];

	skip_blanks(r);
	if (!*r->p)
		return 0;
	if (strncmp(r->p, "for", 3) || is_name(r->p[3])) {
		err_set(e, ERR_PARSE, "'for TIME' or the end is expected, not '%.40s'", r->p);
		return wrong(r, r->p, e);
	}
	r->p += 3;
	skip_blanks(r);
	if (!str_copy(time, sizeof(time), r->p) ||
	    opt_to_nsec(time, 0, CONDITION_FOR_MAX_NS, &r->out->for_ns)) {
		err_set(e, ERR_PARSE, "'%.40s' is not a time from 0 to 7d, such as 90s or 5m",
			r->p);
		return wrong(r, r->p, e);
	}
	return 0;
}

static int read_unit(struct reading *r, struct err *e)
{
	struct condition *c = r->out;
	const char *at;
	size_t n = 0;

	skip_blanks(r);
	at = r->p;
	c->scale = 1;
	while (at[n] && at[n] != ' ' && at[n] != '\t')
		n++;
	if (!n || (n == 3 && !strncmp(at, "for", 3)))
		return 0;
	r->p += n;
	if (n >= sizeof(c->unit) || memchr(at, '/', n) == at) {
		c->per_second = n == 2 && at[1] == 's';
		if (!c->per_second) {
			err_set(e, ERR_PARSE, "'%.40s' is not a unit", at);
			return wrong(r, at, e);
		}
		str_copy(c->unit, sizeof(c->unit), "/s");
		return 0;
	}
	memcpy(c->unit, at, n);
	c->unit[n] = 0;
	if (n > 2 && !strcmp(c->unit + n - 2, "/s")) {
		c->per_second = true;
		n -= 2;
	}
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (strlen(units[i].name) == n && !strncmp(units[i].name, c->unit, n)) {
			c->scale = units[i].scale;
			return 0;
		}
	err_set(e, ERR_PARSE, "'%.15s' is not a unit: %%, B, KB, MB, GB, s, ms, and each with /s",
		c->unit);
	return wrong(r, at, e);
}

static int read_threshold(struct reading *r, struct err *e)
{
	char *end;

	skip_blanks(r);
	r->out->threshold = strtod(r->p, &end);
	if (end == r->p || !isfinite(r->out->threshold)) {
		err_set(e, ERR_PARSE, "a number is expected behind '%s'", r->out->op);
		return wrong(r, r->p, e);
	}
	r->p = end;
	return read_unit(r, e);
}

/* The comparison that is not in parentheses. */
static const char *find_op(const char *p, const char **op)
{
	static const char *const ops[] = { ">=", "<=", ">", "<" };
	int depth = 0;

	for (; *p; p++) {
		depth += (*p == '(') - (*p == ')');
		for (size_t i = 0; !depth && i < ARRAY_LEN(ops); i++)
			if (!strncmp(p, ops[i], strlen(ops[i]))) {
				*op = ops[i];
				return p;
			}
	}
	return NULL;
}

static size_t word_length(const char *p)
{
	size_t n = 0;

	while (is_name(p[n]))
		n++;
	return n;
}

/* The conditions `silent` and `hang` have no threshold. */
static int read_state(struct reading *r, enum condition_kind kind, struct err *e)
{
	r->out->kind = kind;
	r->out->op = kind == CONDITION_HANG ? "<=" : ">";
	r->out->scale = 1;
	r->p += word_length(r->p);
	return read_for(r, e);
}

static enum condition_kind kind_of(const char *text, size_t n)
{
	char name[128];

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strlen(words[i].name) == n && !strncmp(words[i].name, text, n))
			return words[i].kind;
	snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : 127), text);
	return pmsl_builtin_find(name) >= 0 ? CONDITION_METRIC : CONDITION_EXPRESSION;
}

static bool is_word(enum condition_kind k)
{
	return k != CONDITION_METRIC && k != CONDITION_EXPRESSION;
}

static int read_value(struct reading *r, struct err *e)
{
	struct condition *c = r->out;
	const char *op = find_op(r->p, &c->op), *end = op;
	int rc;

	if (!op) {
		size_t n = word_length(r->p);

		if (!is_word(kind_of(r->p, n)) && check_names(r, r->p, r->p + strlen(r->p), e))
			return -ERR_PARSE;
		err_set(e, ERR_PARSE, "a comparison is expected, such as > 30 %%");
		return wrong(r, r->p + strlen(r->p), e);
	}
	while (end > r->p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	if (end == r->p || (size_t)(end - r->p) >= sizeof(c->text) / 2) {
		err_set(e, ERR_PARSE, "%s",
			end == r->p ? "a metric is expected" : "the condition is too long");
		return wrong(r, r->p, e);
	}
	memcpy(c->text, r->p, (size_t)(end - r->p));
	c->kind = kind_of(c->text, strlen(c->text));
	rc = is_word(c->kind) ? 0 : check_names(r, r->p, end, e);
	if (rc)
		return rc;
	r->p = op + strlen(c->op);
	rc = read_threshold(r, e);
	return rc ? rc : read_for(r, e);
}

int condition_parse(const char *text, struct condition *out, struct err *e)
{
	struct reading r = { text, text, out };
	enum condition_kind kind;
	int rc;

	*out = (struct condition){ .scale = 1 };
	skip_blanks(&r);
	kind = kind_of(r.p, word_length(r.p));
	if (kind == CONDITION_SILENT || kind == CONDITION_HANG) {
		str_copy(out->text, sizeof(out->text), kind == CONDITION_HANG ? "hang" : "silent");
		return read_state(&r, kind, e);
	}
	rc = read_value(&r, e);
	/* a value in s/s is a share of the time, compared in percent */
	if (!rc && out->kind == CONDITION_METRIC && str_eq(out->unit, "%") &&
	    strstr(out->text, "_delay")) {
		out->scale = 0.01;
		out->per_second = true;
	}
	out->threshold *= out->scale;
	return rc;
}

bool condition_is_above(const struct condition *c)
{
	return *c->op == '>';
}

/* --- the metric of a condition */

/* Prints an expression and adds the parameters of each metric: a process and a time. */
static void put_expression(struct buf *out, const char *text)
{
	struct pmsl_builtin b;
	char name[128];

	for (const char *p = text; *p;) {
		size_t n = word_length(p);
		int id;

		if (!n) {
			buf_putc(out, (uint8_t)*p++);
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : 127), p);
		id = pmsl_builtin_find(name);
		buf_put(out, p, n);
		p += n;
		if (id >= 0 && *p != '(' && pmsl_builtin_get((unsigned)id, &b))
			buf_puts(out, b.is_total ? "(p, t)" : "(p, NOW)");
	}
}

void condition_metric(const struct condition *c, nsec_t every_ns, struct buf *out,
		      const char **name)
{
	double s = (double)every_ns / 1e9;

	*name = c->text;
	switch (c->kind) {
	case CONDITION_IMBALANCE:
		buf_printf(out,
			   "Imbalance(Process[] ps, TimeInterval t) {\n\tProcess p;\n\tValue[] c;\n"
			   "\tc[p] = %.17g - Communication_delay(p, t);\n"
			   "\tRETURN 100 * (MAX(c[p] WHERE p IN ps) - MEAN(c[p] WHERE p IN ps)) / "
			   "MAX(c[p] WHERE p IN ps);\n}\n",
			   s);
		*name = "Imbalance";
		break;
	case CONDITION_MPI:
		buf_printf(out,
			   "Mpi(Process[] ps, TimeInterval t) {\n\tProcess p;\n"
			   "\tRETURN MEAN((100 / %.17g * Communication_delay(p, t)) WHERE p IN ps);"
			   "\n}\n",
			   s);
		*name = "Mpi";
		break;
	case CONDITION_RSS:
		buf_puts(out, "Rss(Process[] ps) {\n\tProcess p;\n"
			      "\tRETURN MAX(Memory_size(p, NOW) WHERE p IN ps);\n}\n");
		*name = "Rss";
		break;
	case CONDITION_EXPRESSION:
		buf_printf(out,
			   "Alert(Process[] ps, TimeInterval t) {\n\tProcess p;\n\tRETURN %s((",
			   condition_is_above(c) ? "MAX" : "MIN");
		put_expression(out, c->text);
		buf_puts(out, ") WHERE p IN ps);\n}\n");
		*name = "Alert";
		break;
	case CONDITION_SILENT:
		*name = "Memory_size";
		break;
	case CONDITION_HANG:
		*name = "Communication_count";
		break;
	default:
		break;
	}
}

/* --- text */

char *condition_value(const struct condition *c, double v, char out[CONDITION_VALUE_BYTES])
{
	if (isnan(v))
		snprintf(out, CONDITION_VALUE_BYTES, "unknown");
	else
		snprintf(out, CONDITION_VALUE_BYTES, "%.3g%s%s", v / c->scale,
			 c->unit[0] && c->unit[0] != '/' ? " " : "", c->unit);
	return out;
}

const char *condition_name(const struct condition *c)
{
	return c->text;
}
