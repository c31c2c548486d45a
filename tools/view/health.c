/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view/health.h"

#include "common/base/str.h"
#include "common/ring/seg.h"
#include "tools/session/session.h"
#include "tools/term/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct notes {
	struct health_note *out;
	size_t n, max;
	double now_s;
};

static void note(struct notes *s, const char *remedy, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void note(struct notes *s, const char *remedy, const char *fmt, ...)
{
	struct health_note *to = &s->out[s->n];
	va_list ap;

	if (s->n++ >= s->max)
		return;
	to->remedy = remedy;
	va_start(ap, fmt);
	vsnprintf(to->text, sizeof(to->text), fmt, ap);
	va_end(ap);
}

static bool ends_with(const char *s, const char *tail)
{
	size_t n = strlen(s), k = strlen(tail);

	return n >= k && !strcmp(s + n - k, tail);
}

/* For how long it still holds; NaN: this is about something else. */
static double certificate_left_s(const char *name, double v, double now_s)
{
	return str_eq(name, "certificate_expires_ns") ? v / 1e9 - now_s : (double)NAN;
}

/* life_s: 0 where the daemon does not report it. */
static void judge_certificate(struct notes *s, double left, double life_s)
{
	static const char remedy[] =
		"it is renewed by itself over the link to mainsm; if not, restart that daemon";
	double least = life_s / HEALTH_EXPIRY_WARN_SHARE;
	char text[TABLE_NUMBER_BYTES];

	if (life_s <= 0 || least > HEALTH_EXPIRY_WARN_S)
		least = HEALTH_EXPIRY_WARN_S;
	if (least < HEALTH_EXPIRY_WARN_LEAST_S)
		least = HEALTH_EXPIRY_WARN_LEAST_S;
	if (left <= 0)
		note(s, remedy, "the certificate has ended");
	else if (left < least)
		note(s, remedy, "the certificate ends in %s", table_duration(text, left));
}

static void judge_value(struct notes *s, const char *name, double v)
{
	char text[TABLE_NUMBER_BYTES];

	if (ends_with(name, "dropped") && v > 0)
		note(s, "ask for less at once: fewer events, longer intervals", "%s: %s were lost",
		     name, table_count(text, v));
	else if (str_eq(name, "lag_max_ns") && v > HEALTH_LAG_WARN_NS)
		note(s, "its host is overloaded, or its disk is slow",
		     "it answered up to %s late in the last minute", table_duration(text, v / 1e9));
	else if (strstr(name, "queue") && ends_with(name, "_bytes") && v > HEALTH_QUEUE_WARN_BYTES)
		note(s, "a peer reads too slowly; it is cut off before this hurts", "%s: %s wait",
		     name, table_bytes(text, v));
	else if (str_eq(name, "parent_up") && v == 0)
		note(s, "its site is served again when mainsm is reached",
		     "it has no connection to mainsm");
	else if (str_eq(name, "segment_version") && v != SEG_VERSION)
		note(s,
		     "programs that start with this libomig are not watched there: omig stop, then "
		     "start again, or restart the service of the lm",
		     "segment version %.0f, this omig has %d", v, SEG_VERSION);
	else if (str_eq(name, "segments_of_other_builds") && v > 0)
		note(s,
		     "start these programs again; install one version everywhere, then: omig stop",
		     "%s processes are not watched: their libomig is of another build",
		     table_count(text, v));
}

static void judge_descriptors(struct notes *s, double fds, double limit)
{
	if (limit > 0 && fds > 0.9 * limit)
		note(s, "raise its limit of open files (LimitNOFILE, ulimit -n)",
		     "%.0f of %.0f descriptors are in use", fds, limit);
}

size_t health_notes(const Omis_value *v, double now_s, const char *version, struct health_note *out,
		    size_t max)
{
	struct notes s = { .out = out, .max = max, .now_s = now_s };
	double fds = 0, limit = 0, left = (double)NAN, life = 0;
	const Omis_value *pair;

	if (!str_eq(value_text(v, 1), version))
		note(&s, "install one version everywhere, then: omig stop",
		     "version %.40s, this omig is %.40s", value_text(v, 1), version);
	for (size_t i = 3; (pair = value_at(v, i)); i++) {
		const char *name = value_text(pair, 0);
		double counter = value_float(pair, 1);

		judge_value(&s, name, counter);
		if (!isnan(certificate_left_s(name, counter, now_s)))
			left = certificate_left_s(name, counter, now_s);
		if (str_eq(name, "certificate_life_s"))
			life = counter;
		if (str_eq(name, "fds"))
			fds = counter;
		if (str_eq(name, "fd_limit"))
			limit = counter;
	}
	judge_certificate(&s, left, life);
	judge_descriptors(&s, fds, limit);
	return s.n;
}
