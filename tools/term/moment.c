/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/term/moment.h"

#include "common/base/str.h"
#include "common/cli/opt.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BEFORE_MAX_NS (INT64_C(366) * 86400 * NSEC_PER_SEC)

/* --- digits */

/* Reads n digits at *p, which moves after them. */
static bool digits(const char **p, int n, int *out)
{
	*out = 0;
	for (; n; n--, (*p)++) {
		if (!isdigit((unsigned char)**p))
			return false;
		*out = *out * 10 + (**p - '0');
	}
	return true;
}

static bool letter(const char **p, const char *any)
{
	if (!**p || !strchr(any, **p))
		return false;
	(*p)++;
	return true;
}

/* HH:MM[:SS] */
static bool clock_text(const char **p, struct tm *t)
{
	if (!digits(p, 2, &t->tm_hour) || !letter(p, ":") || !digits(p, 2, &t->tm_min))
		return false;
	return !letter(p, ":") || digits(p, 2, &t->tm_sec);
}

static bool date_text(const char **p, struct tm *t)
{
	if (!digits(p, 4, &t->tm_year) || !letter(p, "-") || !digits(p, 2, &t->tm_mon) ||
	    !letter(p, "-") || !digits(p, 2, &t->tm_mday))
		return false;
	t->tm_year -= 1900;
	t->tm_mon--;
	return !letter(p, "T ") || clock_text(p, t);
}

/* Z or +HH:MM at the end: *east becomes seconds. */
static bool zone_text(const char **p, int *east, bool *has)
{
	int hours, minutes, sign = **p == '-' ? -1 : 1;

	*has = **p;
	*east = 0;
	if (!**p || letter(p, "Z"))
		return !**p;
	if (!letter(p, "+-") || !digits(p, 2, &hours) || !letter(p, ":") || !digits(p, 2, &minutes))
		return false;
	*east = sign * (hours * 3600 + minutes * 60);
	return !**p && hours < 24 && minutes < 60;
}

/* --- kinds */

/* In a day of the calendar the parts stay as they are; an hour that summer time skips may not. */
static bool is_real(const struct tm *asked, const struct tm *got)
{
	return asked->tm_mday == got->tm_mday && asked->tm_mon == got->tm_mon &&
	       asked->tm_hour < 24 && asked->tm_min < 60 && asked->tm_sec < 60;
}

static int from_date(const char *p, nsec_t *out)
{
	struct tm t = { .tm_isdst = -1 }, asked;
	bool has_zone;
	time_t at;
	int east;

	if (!date_text(&p, &t) || !zone_text(&p, &east, &has_zone))
		return -ERR_PARSE;
	asked = t;
	at = has_zone ? timegm(&t) - east : mktime(&t);
	if (at < 0 || !is_real(&asked, &t))
		return -ERR_INVALID;
	*out = (nsec_t)at * NSEC_PER_SEC;
	return 0;
}

static int from_clock(const char *p, nsec_t now, nsec_t *out)
{
	time_t today = (time_t)(now / NSEC_PER_SEC), at;
	struct tm t, asked;

	localtime_r(&today, &t);
	t.tm_sec = 0;
	t.tm_isdst = -1;
	if (!clock_text(&p, &t) || *p)
		return -ERR_PARSE;
	asked = t;
	at = mktime(&t);
	if (!is_real(&asked, &t))
		return -ERR_INVALID;
	if ((nsec_t)at * NSEC_PER_SEC > now) {
		t = asked;
		t.tm_mday--;
		at = mktime(&t);
	}
	*out = (nsec_t)at * NSEC_PER_SEC;
	return 0;
}

static int from_seconds(const char *p, nsec_t *out)
{
	char *end;
	long long s = strtoll(p, &end, 10);

	if (!isdigit((unsigned char)*p) || *end)
		return -ERR_PARSE;
	if (s > INT64_MAX / NSEC_PER_SEC)
		return -ERR_INVALID;
	*out = (nsec_t)s * NSEC_PER_SEC;
	return 0;
}

static int from_before(const char *p, nsec_t now, nsec_t *out)
{
	int64_t before;

	if (opt_to_nsec(p, 0, BEFORE_MAX_NS, &before))
		return -ERR_PARSE;
	*out = now - before;
	return 0;
}

int moment_parse(const char *text, nsec_t now, nsec_t *out, struct err *e)
{
	nsec_t at = now;
	char safe[64];
	int rc = 0;

	str_show(safe, sizeof(safe), text);
	if (*text == '-')
		rc = from_before(text + 1, now, &at);
	else if (*text == '@')
		rc = from_seconds(text + 1, &at);
	else if (strlen(text) > 4 && text[4] == '-')
		rc = from_date(text, &at);
	else if (!str_eq(text, "now"))
		rc = from_clock(text, now, &at);
	if (rc == -ERR_PARSE)
		return err_set(e, ERR_PARSE, "'%s' is not a time; give " MOMENT_HELP, safe);
	if (rc)
		return err_set(e, ERR_INVALID, "there is no such day or time as '%s'", safe);
	if (at > now)
		return err_set(e, ERR_INVALID, "%s is still to come", safe);
	*out = at;
	return 0;
}

int moment_option(void *into, const char *text, struct err *e)
{
	return moment_parse(text, clock_wall(), into, e);
}
