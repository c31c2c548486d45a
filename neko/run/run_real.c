/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The master of a real run: receives the reports of its processes, and passes their events to the
 * handler in the order of their times. A crew knows where the processes are.
 */
#include "common/base/str.h"
#include "neko/run/crew.h"
#include "neko/run/merge.h"
#include "neko/run/run_delays.h"
#include "neko/run/run_internal.h"

#include <arpa/inet.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* time until all processes are ready; a loaded host starts processes slowly */
#define READY_NS (30 * NSEC_PER_SEC)
#define END_NS (30 * NSEC_PER_SEC) /* time for processes to report their last events */
#define TURN_MS 20
/* time for a crashing process to send its log; then it is killed */
#define CRASH_NS (500 * NSEC_PER_MSEC)
#define NAMES_MAX 256 /* distinct descriptions of events */
/* how far an event may be ahead of our own clock: far more than the error of clocks */
#define AHEAD_MAX_NS (10 * NSEC_PER_SEC)
/* Events that wait for a late process: 192 MiB. */
#define PENDING_MAX (4u << 20)

struct slave {
	nsec_t heard; /* clock_mono() of its last message */
	nsec_t crash_at; /* time of its crash; NEKO_NEVER: none */
	/* time to kill a process that should have crashed and still runs; NEKO_NEVER: none */
	nsec_t kill_at;
	struct realwire_block last;
	struct realwire_ready ready;
	struct run_clock clock;
	char why[REALWIRE_WORDS_BYTES]; /* reason of its end */
	bool is_ready;
	bool is_gone; /* has ended, or has reported its last event */
	bool is_crashed; /* has crashed as configured */
	bool is_whole; /* its last block has arrived */
};

struct master {
	struct run *run;
	struct crew *crew; /* owned */
	struct slave *slave; /* owned, by process */
	struct merge *merge; /* owned */
	char *name[NAMES_MAX]; /* owned */
	unsigned nname;
	uint64_t key;
	nsec_t epoch; /* time 0 of the run; 0: not yet known */
	uint32_t current; /* process whose block is being read */
	uint64_t handled; /* number of handled events */
	struct run_delays delays;
	nsec_t stop_at; /* when the first layer ended the run; NEKO_NEVER: not yet */
	bool is_ruled; /* the stop rule of the handler was fulfilled */
	bool failed;
};

/* --- reports of processes */

/* Returns the stored string for a description of events. Returns NULL if there are too many. */
static const char *name_of(struct master *s, const char *what)
{
	for (unsigned i = 0; i < s->nname; i++)
		if (strcmp(s->name[i], what) == 0)
			return s->name[i];
	if (s->nname == NAMES_MAX)
		return NULL;
	s->name[s->nname] = strdup(what);
	return s->name[s->nname] ? s->name[s->nname++] : NULL;
}

static void merge_event(void *arg, const struct neko_event *e)
{
	struct master *s = arg;
	struct neko_event mine = *e;

	mine.process = s->current + 1;
	mine.what = name_of(s, e->what);
	if (!mine.what || mine.at > clock_mono() - s->epoch + AHEAD_MAX_NS ||
	    merge_add(s->merge, &mine))
		s->failed = true;
}

static void merge_delay(void *arg, const struct neko_delay *d)
{
	struct master *s = arg;
	struct neko_delay mine = *d;

	*(d->delay == NEKO_DELAY_LOST ? &mine.from : &mine.to) = s->current + 1;
	if (mine.from - 1 < s->run->m && mine.to - 1 < s->run->m && mine.net < s->run->nnet)
		run_delays_add(&s->delays, &mine);
}

/* Marks a process as ended: no further events of it are expected. */
static void leave(struct master *s, uint32_t id, const char *why)
{
	struct slave *v = &s->slave[id - 1];

	v->is_gone = true;
	merge_advance(s->merge, id, NEKO_NEVER);
	str_copy(v->why, sizeof(v->why), why);
}

static void blame(struct master *s, uint32_t id, const char *why)
{
	leave(s, id, why);
	/* a process that has crashed would have reported that */
	s->slave[id - 1].is_crashed = false;
	s->crew->ops->kill(s->crew, id);
}

static void note_clock(struct slave *v, const struct realwire_block *b)
{
	nsec_t worst = v->clock.worst_error > b->error ? v->clock.worst_error : b->error;

	v->clock = (struct run_clock){ b->offset, b->error, worst, b->drift, b->drift_error };
}

/* Stores the crash of the process whose block is being read. */
static void keep_crash(struct master *s, nsec_t at, nsec_t error)
{
	merge_event(s, &(struct neko_event){ .process = s->current + 1,
					     .at = at,
					     .what = NEKO_CRASHED,
					     .error = error });
}

static void hear_block(struct master *s, uint32_t id, const struct frame *f)
{
	const struct realwire_hearer h = { merge_event, merge_delay, s };
	struct slave *v = &s->slave[id - 1];
	struct realwire_block b;

	s->current = id - 1;
	if (!s->epoch || realwire_read(f->p, f->n, &b, &h) ||
	    merge_advance(s->merge, id, b.until)) {
		blame(s, id, "its report was not a valid block of events");
		return;
	}
	v->last = b;
	v->heard = clock_mono();
	note_clock(v, &b);
	if (b.stop_at < s->stop_at)
		s->stop_at = b.stop_at;
	v->is_whole |= b.is_last;
	if (b.is_last && b.is_crashed && v->is_crashed)
		keep_crash(s, b.until, b.error);
	if (b.is_last)
		leave(s, id, "");
}

static void on_frame(void *arg, uint32_t id, const struct frame *f)
{
	struct master *s = arg;
	struct slave *v = &s->slave[id - 1];
	char words[REALWIRE_WORDS_BYTES];

	if (v->is_gone)
		return;
	switch (f->type) {
	case REALWIRE_READY:
		v->is_ready =
			!realwire_get_ready(f->p, f->n, &v->ready) && v->ready.n == s->run->nnet;
		if (!v->is_ready)
			blame(s, id, "it has different networks");
		break;
	case REALWIRE_FAILED:
		realwire_get_words(f->p, f->n, words);
		blame(s, id, words);
		break;
	case REALWIRE_BLOCK:
		hear_block(s, id, f);
		break;
	default:
		blame(s, id, "it sent an invalid message");
	}
}

/*
 * Adds the crash event of a process that was killed because it did not send its log. Its time is
 * that of the kill; if that is unknown, a time between the last report and now.
 */
static void note_crash(struct master *s, uint32_t id, const struct realwire_gone *how)
{
	bool is_known = how->at > 0;
	nsec_t at = (is_known ? how->at : clock_mono()) - s->epoch,
	       merged = merge_time(s->merge, id);
	nsec_t when = at > merged ? at : merged;

	s->current = id - 1;
	keep_crash(s, when, is_known ? how->error : when - merged);
}

static void on_gone(void *arg, uint32_t id, const struct realwire_gone *how)
{
	struct master *s = arg;
	struct slave *v = &s->slave[id - 1];

	if (v->is_gone)
		return;
	if (v->is_crashed)
		note_crash(s, id, how);
	leave(s, id, how->why);
}

/* --- start */

static int start_slaves(struct master *s, struct err *e)
{
	uint32_t m = s->run->m;
	int rc = 0;

	s->slave = calloc(m, sizeof(*s->slave));
	s->merge = merge_new(m, PENDING_MAX);
	if (!s->slave || !s->merge)
		return err_nomem(e);
	for (uint32_t i = 0; i < m; i++) {
		s->slave[i].crash_at = s->run->crash_at[i];
		s->slave[i].kill_at = NEKO_NEVER;
	}
	for (uint32_t i = 1; i <= m && !rc; i++)
		rc = s->crew->ops->start(s->crew, i, e);
	return rc;
}

static bool all_ready(const struct master *s)
{
	for (uint32_t i = 0; i < s->run->m; i++)
		if (!s->slave[i].is_ready && !s->slave[i].is_gone)
			return false;
	return true;
}

static int await_ready(struct master *s, struct err *e)
{
	nsec_t end = clock_mono() + READY_NS;

	while (!all_ready(s) && clock_mono() < end)
		s->crew->ops->turn(s->crew, TURN_MS);
	for (uint32_t i = 0; i < s->run->m; i++) {
		const struct slave *v = &s->slave[i];

		if (!v->is_ready || v->is_gone)
			return err_set(e, ERR_TIMEOUT, "process %u on %s did not start: %s", i + 1,
				       s->crew->ops->place(s->crew, i + 1),
				       v->is_gone ? v->why : "it sent no message");
	}
	return 0;
}

static void say(struct master *s, const struct buf *b)
{
	for (uint32_t i = 1; i <= s->run->m; i++)
		if (!s->slave[i - 1].is_gone)
			s->crew->ops->send(s->crew, i, b);
}

static int introduce(struct master *s, struct buf *b, struct err *e)
{
	uint32_t m = s->run->m;
	struct sockaddr_in *a = calloc((size_t)m * s->run->nnet, sizeof(*a));

	if (!a)
		return err_nomem(e);
	for (uint32_t i = 0; i < m; i++)
		for (unsigned k = 0; k < s->run->nnet; k++) {
			uint32_t host = s->crew->ops->address(s->crew, i + 1);

			a[k * m + i].sin_addr.s_addr = htonl(host);
			a[k * m + i].sin_port = htons(s->slave[i].ready.port[k]);
		}
	if (!realwire_put_peers(b, s->key, a, m * s->run->nnet))
		say(s, b);
	free(a);
	return b->failed ? err_nomem(e) : 0;
}

static int say_go(struct master *s, struct err *e)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	int rc = introduce(s, &b, e);

	s->epoch = clock_mono() + s->crew->lead;
	for (uint32_t i = 0; i < s->run->m; i++)
		s->slave[i].heard = s->epoch;
	buf_clear(&b);
	if (!rc && realwire_put_times(&b, REALWIRE_GO, &s->epoch, 1))
		rc = err_nomem(e);
	if (!rc)
		say(s, &b);
	buf_done(&b);
	return rc;
}

/* --- during the run */

static void handle(struct master *s, const struct neko_event *v)
{
	struct run *r = s->run;

	if (s->is_ruled || v->at > s->stop_at)
		return;
	s->handled++;
	if (r->options->on_event)
		r->options->on_event(r->options->arg, v);
	r->stat.handle(r->handler, v);
	s->is_ruled = r->stat.should_stop(r->handler);
}

/* Handles events that all processes have reported completely, in the order of their times. */
static void handle_merged(struct master *s)
{
	const struct neko_event *v;

	while ((v = merge_next(s->merge)) != NULL)
		handle(s, v);
}

static void order_crash(struct master *s, uint32_t id, nsec_t now)
{
	struct slave *v = &s->slave[id - 1];
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);

	v->crash_at = NEKO_NEVER;
	v->kill_at = now + CRASH_NS;
	v->is_crashed = true;
	if (!realwire_put_times(&b, REALWIRE_CRASH, NULL, 0))
		s->crew->ops->send(s->crew, id, &b);
	buf_done(&b);
}

static void crash_due(struct master *s, nsec_t now)
{
	for (uint32_t i = 0; i < s->run->m; i++) {
		struct slave *v = &s->slave[i];

		if (!v->is_gone && v->crash_at <= now)
			order_crash(s, i + 1, now);
		if (v->is_gone || v->kill_at > now)
			continue;
		v->kill_at = NEKO_NEVER;
		s->crew->ops->kill(s->crew, i + 1);
	}
}

static void drop_silent(struct master *s)
{
	nsec_t now = clock_mono();
	char why[64];

	for (uint32_t i = 0; i < s->run->m; i++) {
		const struct slave *v = &s->slave[i];

		if (v->is_gone || now - v->heard <= s->run->silence)
			continue;
		snprintf(why, sizeof(why), "it was silent for %.3g s",
			 (double)s->run->silence / 1e9);
		blame(s, i + 1, why);
	}
}

static bool turn(struct master *s)
{
	uint32_t alive = 0;

	for (uint32_t i = 0; i < s->run->m; i++)
		alive += !s->slave[i].is_gone;
	if (alive) {
		s->crew->ops->turn(s->crew, TURN_MS);
		drop_silent(s);
	}
	handle_merged(s);
	return alive;
}

static bool is_over(const struct master *s, nsec_t now)
{
	const struct run *r = s->run;

	return s->is_ruled || s->stop_at != NEKO_NEVER || s->failed || now >= r->until ||
	       run_is_late(r);
}

static void say_stop(struct master *s)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);

	if (!realwire_put_times(&b, REALWIRE_STOP, NULL, 0))
		say(s, &b);
	buf_done(&b);
}

/* Returns the time at which the run was over. */
static nsec_t conduct(struct master *s)
{
	nsec_t now;

	do {
		now = clock_mono() - s->epoch;
		crash_due(s, now);
		run_report_turn(s->run, 0, (double)now / 1e9);
	} while (!is_over(s, now) && turn(s));
	say_stop(s);
	for (nsec_t end = clock_mono() + END_NS; clock_mono() < end && turn(s);)
		crash_due(s, clock_mono() - s->epoch);
	for (uint32_t i = 1; i <= s->run->m; i++)
		if (!s->slave[i - 1].is_gone)
			blame(s, i, "it did not report its last events in time");
	handle_merged(s);
	return now;
}

/* --- end */

static void end_master(struct master *s)
{
	s->crew->ops->end(s->crew);
	for (unsigned i = 0; i < s->nname; i++)
		free(s->name[i]);
	free(s->slave);
	merge_free(s->merge);
	run_delays_done(&s->delays);
}

static void add_missing(struct master *s, uint32_t id)
{
	const struct slave *v = &s->slave[id - 1];
	struct run_missing *m = &s->run->missing[s->run->nmissing++];
	const char *why =
		v->is_whole ? "some of its events are lost: the master did not read" : v->why;

	m->id = id;
	snprintf(m->why, sizeof(m->why), "on %s: %s", s->crew->ops->place(s->crew, id), why);
}

static int count(struct master *s, nsec_t now, struct run_counts *f, struct err *e)
{
	struct run *r = s->run;

	r->missing = calloc(r->m, sizeof(*r->missing));
	r->clock = calloc(r->m, sizeof(*r->clock));
	if (!r->missing || !r->clock)
		return err_nomem(e);
	*f = (struct run_counts){ .runs = 1,
				  .runs_requested = 1,
				  .is_real = true,
				  .seed = r->seed,
				  .seed_of_last = r->seed,
				  .events = s->handled,
				  .seconds = (double)(now > 0 ? now : 0) / 1e9,
				  .is_stopped = s->is_ruled,
				  .is_left = !s->is_ruled && s->stop_at != NEKO_NEVER };
	f->is_cut = !f->is_stopped && !f->is_left && run_is_late(r);
	f->is_interrupted = f->is_cut && run_is_interrupted(r);
	f->whole_runs = !f->is_cut;
	for (uint32_t i = 0; i < r->m; i++) {
		const struct slave *v = &s->slave[i];

		f->sent += v->last.sent;
		f->delivered += v->last.delivered;
		f->stuck += v->last.stuck;
		r->clock[i] = v->clock;
		if ((!v->is_whole && !v->is_crashed) || v->last.has_lost)
			add_missing(s, i + 1);
	}
	f->missing = (unsigned)r->nmissing;
	f->broken = f->missing ? NULL : run_broken(r);
	return 0;
}

static int finish(struct master *s, nsec_t now, struct run_counts *out, struct err *e)
{
	struct run *r = s->run;
	int rc;

	if (s->failed)
		return err_set(e, ERR_LIMIT,
			       "more events than there is room for, or events out of order");
	r->stat.end(r->handler, now);
	rc = count(s, now, out, e);
	if (!rc && r->options->on_delay)
		rc = run_delays_report(&s->delays, r->options->on_delay, r->options->arg, e);
	out->has_lost_delays = s->delays.has_lost;
	return rc;
}

int run_conduct(struct run *r, struct crew *take, struct run_counts *out, struct err *e)
{
	struct master s = { .run = r, .crew = take, .stop_at = NEKO_NEVER };
	int rc = rng_fill_random(&s.key, sizeof(s.key), e);

	take->hearer = (struct crew_hearer){ on_frame, on_gone, &s };
	if (!rc)
		rc = start_slaves(&s, e);
	if (!rc)
		rc = await_ready(&s, e);
	if (!rc)
		rc = say_go(&s, e);
	if (!rc) {
		rc = r->stat.begin(r->handler, r->m) ? err_nomem(e)
						     : finish(&s, conduct(&s), out, e);
	}
	end_master(&s);
	r->options = NULL;
	return rc;
}

int run_prepare_real(struct run *r, const struct run_options *w, struct err *e)
{
	int rc;

	if (r->m > REAL_PROCESSES_MAX)
		return err_set(e, ERR_LIMIT, "a real run has at most %d processes",
			       REAL_PROCESSES_MAX);
	r->options = w;
	r->begun = clock_mono();
	r->is_real = true;
	rc = run_check(r, e);
	run_draw_crashes(r, r->seed);
	return rc;
}

int run_real(struct run *r, const struct run_options *w, struct run_counts *out, struct err *e)
{
	int rc = run_prepare_real(r, w, e);
	struct crew *c;

	if (rc)
		return rc;
	/* If SIGCHLD were ignored, the pid of a child could be reused before it is reaped. */
	sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	c = crew_local_new(r);
	return c ? run_conduct(r, c, out, e) : err_nomem(e);
}

const struct run_missing *run_missing(const struct run *r, size_t *n)
{
	*n = r->nmissing;
	return r->missing;
}

const struct run_clock *run_clocks(const struct run *r, uint32_t *m)
{
	*m = r->m;
	return r->clock;
}

const char *run_hosts(const struct run *r)
{
	return r->hosts;
}

const char *run_net_name(const struct run *r, unsigned k)
{
	return k < r->nnet ? r->net[k].name : "";
}

const char *run_type_name(const struct run *r, unsigned type)
{
	return type < NEKO_TYPES_MAX && r->type_name[type] ? r->type_name[type] : "?";
}
