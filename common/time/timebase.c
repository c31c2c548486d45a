/* SPDX-License-Identifier: Apache-2.0 */
#include "common/time/timebase.h"

#include "common/base/err.h"

/* A time further from the epoch is an error. Sums of two valid times do not overflow. */
#define TIME_MAX_NS (INT64_MAX / 4)

static bool is_time(nsec_t t)
{
	return t >= 0 && t <= TIME_MAX_NS;
}

void timebase_init(struct timebase *t, nsec_t local_now, nsec_t wall_now)
{
	*t = (struct timebase){ .offset = wall_now - local_now,
				.error = TIMEBASE_UNKNOWN_NS,
				.at = local_now };
}

void timebase_init_root(struct timebase *t, nsec_t local_now, nsec_t wall_now)
{
	timebase_init(t, local_now, wall_now);
	t->error = 0;
	t->is_root = true;
}

nsec_t timebase_error(const struct timebase *t, nsec_t local_now)
{
	nsec_t age = local_now > t->at ? local_now - t->at : 0, drift;

	if (t->is_root)
		return 0;
	drift = age / 1000000 * TIMEBASE_DRIFT_PPM + age % 1000000 * TIMEBASE_DRIFT_PPM / 1000000;
	return t->error > TIME_MAX_NS || drift > TIME_MAX_NS ? TIMEBASE_UNKNOWN_NS
							     : t->error + drift;
}

/* Computes the drift from two samples far apart, with the errors of both. */
static void learn_drift(struct timebase *t, const struct timebase_mark *m)
{
	nsec_t span = m->at - t->begin.at;
	double error;

	if (!t->begin.at || (span < NSEC_PER_SEC && m->error < t->begin.error)) {
		t->begin = *m;
		return;
	}
	if (span < NSEC_PER_SEC)
		return;
	error = (double)(m->error + t->begin.error) / (double)span * 1e6;
	if (!t->drift_at || error <= t->drift_error_ppm ||
	    m->at - t->drift_at > TIMEBASE_DRIFT_WINDOW_NS / 4) {
		t->drift_ppm = (double)(m->offset - t->begin.offset) / (double)span * 1e6;
		t->drift_error_ppm = error;
		t->drift_at = m->at;
	}
	if (!t->middle.at && span > TIMEBASE_DRIFT_WINDOW_NS / 2)
		t->middle = *m;
	if (span <= TIMEBASE_DRIFT_WINDOW_NS)
		return;
	t->begin = t->middle;
	t->middle = (struct timebase_mark){ 0 };
}

bool timebase_drift(const struct timebase *t, double *ppm, double *error_ppm)
{
	*ppm = t->is_root ? 0 : t->drift_ppm;
	*error_ppm = t->is_root ? 0 : t->drift_error_ppm;
	return t->is_root || t->drift_at;
}

/* True if the sample contradicts the state: it is of another root, or the root's clock was set. */
static bool is_of_another_root(const struct timebase *t, const struct timebase_mark *m)
{
	nsec_t error = timebase_error(t, m->at), apart = m->offset - t->offset;

	return error != TIMEBASE_UNKNOWN_NS &&
	       (apart > m->error + error || -apart > m->error + error);
}

static void forget_root(struct timebase *t)
{
	t->roots++;
	t->error = TIMEBASE_UNKNOWN_NS;
	t->begin = t->middle = (struct timebase_mark){ 0 };
	t->drift_at = 0;
}

int timebase_update(struct timebase *t, const struct timebase_sample *s)
{
	struct timebase_mark m;

	if (!is_time(s->sent) || !is_time(s->received) || s->received < s->sent ||
	    !is_time(s->remote) || !is_time(s->remote_error))
		return -ERR_INVALID;
	/* The peer answered at an unknown time in between: the error is half of the round trip. */
	m.error = (s->received - s->sent + 1) / 2 + s->remote_error;
	m.offset = s->remote - (s->sent + (s->received - s->sent) / 2);
	m.at = s->received;
	if (t->is_root)
		return 0;
	if (is_of_another_root(t, &m))
		forget_root(t);
	learn_drift(t, &m);
	if (m.error > timebase_error(t, s->received))
		return 0;
	t->offset = m.offset;
	t->error = m.error;
	t->at = m.at;
	return 0;
}

nsec_t timebase_at(const struct timebase *t, nsec_t local)
{
	return local + t->offset;
}

nsec_t timebase_now(struct timebase *t, nsec_t local_now)
{
	nsec_t now = timebase_at(t, local_now);

	if (now < t->newest)
		now = t->newest;
	t->newest = now;
	return now;
}
