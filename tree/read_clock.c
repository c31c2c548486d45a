/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/read_clock.h"

#include "common/base/err.h"
#include "common/flow/graph/graph_limits.h"
#include "common/loop/loop.h"

static nsec_t now_of(const struct read_clock *r)
{
	return r->conf.now(r->conf.arg);
}

static nsec_t grace_of(const struct read_clock *r)
{
	return r->conf.grace(r->conf.arg);
}

static void on_timer(void *arg)
{
	read_clock_tick(arg);
}

int read_clock_init(struct read_clock *r, const struct read_clock_conf *conf)
{
	*r = (struct read_clock){ .conf = *conf };
	r->timer = loop_timer_new(conf->loop, on_timer, r);
	return r->timer ? 0 : -ERR_NOMEM;
}

void read_clock_done(struct read_clock *r)
{
	loop_timer_free(r->timer);
	r->timer = NULL;
}

void read_clock_start(struct read_clock *r, nsec_t start, nsec_t every, int64_t read)
{
	r->start = r->read_at = start;
	r->every = every;
	r->read = read;
	r->asked = 0;
	r->is_running = true;
}

void read_clock_stop(struct read_clock *r)
{
	r->is_running = false;
	loop_timer_cancel(r->timer);
}

/*
 * Finds the next due read and the end of its interval. Returns false if there is none.
 *
 * After a long sleep, reads that no branch stores any longer are skipped. The next read to close is
 * one whose grace period is over: values of later reads may still arrive.
 */
static bool find_next(const struct read_clock *r, nsec_t now, int64_t *read, nsec_t *t)
{
	nsec_t past = now - r->start - grace_of(r);

	if (!r->every) {
		*read = r->asked;
		*t = r->asked_from;
		return r->asked;
	}
	*read = r->read + 1;
	if (past / r->every > r->read + FLOW_READS_OPEN)
		*read = past / r->every;
	*t = r->start + *read * r->every;
	return true;
}

static nsec_t early_by(const struct read_clock *r)
{
	return r->conf.is_early ? grace_of(r) + r->every : 0;
}

static bool close_read(struct read_clock *r, int64_t read, nsec_t t, bool is_late)
{
	r->read = read;
	r->read_at = r->every ? t : r->asked_at;
	r->asked = 0;
	return r->conf.close(r->conf.arg, is_late);
}

void read_clock_tick(struct read_clock *r)
{
	nsec_t now = now_of(r), t;
	int64_t read;

	while (r->is_running && find_next(r, now, &read, &t)) {
		nsec_t from = t - early_by(r), to = t + grace_of(r);
		bool whole = from <= now && r->conf.is_whole(r->conf.arg, read);

		if (!whole && now < to) {
			loop_timer_arm(r->timer, (from > now ? from : to) - now);
			return;
		}
		if (!close_read(r, read, t, !whole))
			return;
	}
}

/*
 * Closes the read after this function has returned, so that the caller can note the request first.
 */
void read_clock_ask(struct read_clock *r, int64_t read, nsec_t t)
{
	if (r->asked && !close_read(r, r->asked, r->asked_at, true))
		return;
	r->asked = read;
	r->asked_at = t;
	r->asked_from = t < now_of(r) ? t : now_of(r);
	loop_timer_arm(r->timer, 0);
}

int64_t read_clock_newest(const struct read_clock *r)
{
	return (now_of(r) + grace_of(r) - r->start) / r->every + 1;
}
