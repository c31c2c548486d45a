/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/simulated/simcut.h"

#include "common/base/str.h"
#include "common/cli/opt.h"

#include <string.h>

#define TEXT_MAX 1024
#define EXAMPLE "10s..20s: 1-3 | 4-6"

static char *skip_space(char *s)
{
	return s + strspn(s, " \t");
}

static void cut_space(char *s)
{
	size_t n = strlen(s);

	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		s[--n] = 0;
}

static int parse_time(char *s, nsec_t *out, struct err *e)
{
	s = skip_space(s);
	cut_space(s);
	if (opt_to_nsec_unit(s, 0, INT64_MAX / 2, out))
		return err_set(e, ERR_INVALID,
			       "'%s' is not a time of a run; write a partition as " EXAMPLE, s);
	return 0;
}

static int parse_times(char *s, struct simcut *c, struct err *e)
{
	char *dots = strstr(s, "..");
	int rc;

	if (!dots)
		return err_set(e, ERR_PARSE, "a partition begins with its times: " EXAMPLE);
	*dots = 0;
	rc = parse_time(s, &c->from, e);
	if (!rc)
		rc = parse_time(dots + 2, &c->until, e);
	if (!rc && c->until <= c->from)
		rc = err_set(e, ERR_INVALID, "a partition must end after its begin");
	return rc;
}

static bool overlaps(const struct simcut *c, const struct simcut_range *r)
{
	for (unsigned i = 0; i < c->n; i++)
		if (r->first <= c->range[i].last && c->range[i].first <= r->last)
			return true;
	return false;
}

static int parse_range(char *s, uint32_t group, uint32_t nprocess, struct simcut *c, struct err *e)
{
	char *dash = strchr(s, '-');
	uint64_t first, last;
	struct simcut_range r;

	if (dash)
		*dash++ = 0;
	s = skip_space(s);
	cut_space(s);
	dash = dash ? skip_space(dash) : s;
	cut_space(dash);
	if (str_to_u64(s, 1, nprocess, &first) || str_to_u64(dash, first, nprocess, &last))
		return err_set(e, ERR_INVALID, "'%s' in a partition is not a process of 1..%u", s,
			       nprocess);
	r = (struct simcut_range){ (uint32_t)first, (uint32_t)last, group };
	if (overlaps(c, &r))
		return err_set(e, ERR_INVALID, "process %u is in a partition twice", r.first);
	if (c->n == SIMCUT_RANGES_MAX)
		return err_set(e, ERR_LIMIT, "a partition has at most %d ranges",
			       SIMCUT_RANGES_MAX);
	c->range[c->n++] = r;
	return 0;
}

static int parse_groups(char *s, uint32_t nprocess, struct simcut *c, struct err *e)
{
	char *rest = NULL, *inner;
	uint32_t number = 0;
	int rc = 0;

	for (char *group = strtok_r(s, "|", &rest); group && !rc;
	     group = strtok_r(NULL, "|", &rest)) {
		number++;
		for (char *range = strtok_r(group, ",", &inner); range && !rc;
		     range = strtok_r(NULL, ",", &inner))
			rc = parse_range(range, number, nprocess, c, e);
	}
	if (!rc && !c->n)
		rc = err_set(e, ERR_PARSE, "a partition needs processes: " EXAMPLE);
	return rc;
}

int simcut_parse(const char *text, uint32_t nprocess, struct simcut *out, struct err *e)
{
	char copy[TEXT_MAX], *colon;
	struct simcut c = { 0 };
	int rc;

	if (!str_copy(copy, sizeof(copy), text))
		return err_set(e, ERR_LIMIT, "a partition has fewer than %d letters", TEXT_MAX);
	colon = strchr(copy, ':');
	if (!colon)
		return err_set(e, ERR_PARSE, "a partition has times and groups: " EXAMPLE);
	*colon = 0;
	rc = parse_times(copy, &c, e);
	if (!rc)
		rc = parse_groups(colon + 1, nprocess, &c, e);
	if (!rc)
		*out = c;
	return rc;
}

static uint32_t group_of(const struct simcut *c, uint32_t id)
{
	for (unsigned i = 0; i < c->n; i++)
		if (id >= c->range[i].first && id <= c->range[i].last)
			return c->range[i].group;
	return 0;
}

bool simcut_parts(const struct simcut *c, nsec_t now, uint32_t a, uint32_t b)
{
	return now >= c->from && now < c->until && group_of(c, a) != group_of(c, b);
}
