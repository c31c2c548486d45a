/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/text/unit.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/str.h"

#include <stdio.h>
#include <string.h>

#define POWER_MAX 9

static const char *const known[] = { "s", "B", "calls", "%" };

/* Synonyms of the built-in bases. */
static const struct {
	const char *word, *base;
} also[] = {
	{ "seconds", "s" }, { "second", "s" },	 { "sec", "s" },     { "bytes", "B" },
	{ "byte", "B" },    { "call", "calls" }, { "percent", "%" },
};

void pmsl_units_init(struct pmsl_units *u)
{
	memset(u, 0, sizeof(*u));
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		str_copy(u->name[u->n++], PMSL_UNIT_NAME_BYTES, known[i]);
}

static int base_find(struct pmsl_units *u, const char *name)
{
	for (unsigned i = 0; i < ARRAY_LEN(also); i++)
		if (str_eq(name, also[i].word))
			name = also[i].base;
	for (unsigned i = 0; i < u->n; i++)
		if (str_eq(u->name[i], name))
			return (int)i;
	if (u->n == PMSL_UNIT_BASES)
		return -ERR_LIMIT;
	str_copy(u->name[u->n], PMSL_UNIT_NAME_BYTES, name);
	return (int)u->n++;
}

/* Parses one factor, "s" or "s^2"; advances *text. */
static int parse_factor(struct pmsl_units *u, const char **text, int sign, struct pmsl_unit *v)
{
	char name[PMSL_UNIT_NAME_BYTES];
	size_t n = strcspn(*text, "*/^");
	int base, power = 1;

	while (n && **text == ' ')
		n--, ++*text;
	if (n >= sizeof(name))
		return -ERR_LIMIT;
	memcpy(name, *text, n);
	*text += n;
	while (n && name[n - 1] == ' ')
		n--;
	name[n] = '\0';
	if (!n || !str_is_name(name, n))
		return -ERR_PARSE;
	if (**text == '^') {
		if ((*text)[1] < '1' || (*text)[1] > '0' + POWER_MAX)
			return -ERR_PARSE;
		power = (*text)[1] - '0';
		*text += 2;
	}
	if (str_eq(name, "1"))
		return 0;
	base = base_find(u, name);
	if (base < 0)
		return base;
	if (v->power[base] + sign * power > POWER_MAX || v->power[base] + sign * power < -POWER_MAX)
		return -ERR_LIMIT;
	v->power[base] = (int8_t)(v->power[base] + sign * power);
	return 0;
}

int pmsl_unit_parse(struct pmsl_units *u, const char *text, struct pmsl_unit *out)
{
	struct pmsl_unit v = PMSL_UNIT_ONE;
	int sign = 1, rc;

	for (;;) {
		rc = parse_factor(u, &text, sign, &v);
		if (rc)
			return rc;
		if (!*text)
			break;
		if (*text != '*' && *text != '/')
			return -ERR_PARSE;
		sign = *text++ == '*' ? 1 : -1;
	}
	*out = v;
	return 0;
}

static int put_factors(const struct pmsl_units *u, struct pmsl_unit v, int sign, char *out, int n)
{
	for (unsigned i = 0; i < u->n && n < PMSL_UNIT_TEXT_BYTES; i++) {
		int power = sign * v.power[i];

		if (power <= 0)
			continue;
		n += snprintf(out + n, PMSL_UNIT_TEXT_BYTES - (size_t)n, "%s%s",
			      sign < 0 ? "/"
			      : n      ? "*"
				       : "",
			      u->name[i]);
		if (power > 1 && n < PMSL_UNIT_TEXT_BYTES)
			n += snprintf(out + n, PMSL_UNIT_TEXT_BYTES - (size_t)n, "^%d", power);
	}
	return n;
}

const char *pmsl_unit_text(const struct pmsl_units *u, struct pmsl_unit v,
			   char out[PMSL_UNIT_TEXT_BYTES])
{
	int n;

	out[0] = '\0';
	n = put_factors(u, v, 1, out, 0);
	if (!n)
		n = snprintf(out, PMSL_UNIT_TEXT_BYTES, "1");
	put_factors(u, v, -1, out, n);
	return out;
}

bool pmsl_unit_is_one(struct pmsl_unit v)
{
	for (unsigned i = 0; i < PMSL_UNIT_BASES; i++)
		if (v.power[i])
			return false;
	return true;
}

bool pmsl_unit_fits(struct pmsl_unit a, struct pmsl_unit b)
{
	return a.is_any || b.is_any || !memcmp(a.power, b.power, sizeof(a.power));
}

struct pmsl_unit pmsl_unit_join(struct pmsl_unit a, struct pmsl_unit b)
{
	return a.is_any ? b : a;
}

struct pmsl_unit pmsl_unit_product(struct pmsl_unit a, struct pmsl_unit b, int sign)
{
	struct pmsl_unit v = { .is_any = a.is_any && b.is_any };

	for (unsigned i = 0; i < PMSL_UNIT_BASES; i++) {
		int power = a.power[i] + sign * b.power[i];

		v.power[i] = (int8_t)(power > POWER_MAX	   ? POWER_MAX
				      : power < -POWER_MAX ? -POWER_MAX
							   : power);
	}
	return v;
}
