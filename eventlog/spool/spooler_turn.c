/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker, which owns the spool. It takes requests, does due work, and delivers blocks to
 * consumers that have requested them. Only the worker waits for the disk.
 */
#include "common/base/str.h"
#include "eventlog/spool/spooler_internal.h"

#include <stdlib.h>
#include <string.h>

#define NOMEM_WAIT_NS (50 * NSEC_PER_MSEC)

struct turn {
	struct spooler *s;
	struct disk disk;
	struct spool *spool; /* NULL: it is not open */
	nsec_t open_at; /* earliest time of the next attempt to open */
	struct buf taken; /* requests that were taken */
	size_t at; /* offset behind the last block that was appended */
	struct buf answer;
	struct {
		struct consumer *c;
		bool wants;
		/*
		 * number of appended blocks at the last report of no blocks, + 1; 0 = none since
		 * the request
		 */
		uint64_t empty_at;
		unsigned era;
		nsec_t not_before; /* time of the next attempt after a failed read */
	} of[LEDGER_CONSUMERS_MAX];
};

static void on_word(void *arg, const char *text)
{
	struct spooler *s = arg;

	pthread_mutex_lock(&s->lock);
	if (s->words.n + strlen(text) + 1 < s->words.max)
		buf_printf(&s->words, "%s\n", text);
	pthread_mutex_unlock(&s->lock);
	s->way->report(s);
}

static int open_spool(struct turn *t, struct err *e)
{
	struct spool_conf c = t->s->conf;
	int rc = disk_enter(c.disk, t->s->path, &t->disk, e);

	c.disk = &t->disk;
	c.on_word = on_word;
	c.arg = t->s;
	if (!rc)
		rc = spool_open(&c, &t->spool, e);
	if (rc)
		disk_leave(&t->disk);
	return rc;
}

static void try_to_open(struct turn *t)
{
	struct spooler *s = t->s;
	struct err e = { 0 };
	bool is_new;
	int rc;

	if (t->spool || clock_mono() < t->open_at)
		return;
	rc = open_spool(t, &e);
	t->open_at = clock_mono() + SPOOL_RETRY_NS;
	pthread_mutex_lock(&s->lock);
	is_new = !s->has_opened || s->open_rc != rc;
	s->open_rc = rc;
	s->open_err = e;
	s->is_open = !rc;
	s->has_opened = true;
	pthread_mutex_unlock(&s->lock);
	if (is_new)
		s->way->report(s);
}

/* --- requests; called with the lock held */

static void take_request(struct turn *t, int i)
{
	struct consumer_request *w = &t->s->request[i];
	struct consumer *c = t->of[i].c;
	nsec_t now = clock_mono();

	if (w->is_new) {
		c = spool_find(t->spool, w->name);
		if (!c && spool_add(t->spool, w->name, w->from_oldest, &c))
			c = NULL;
		if (c)
			spool_rewind(t->spool, c);
		t->of[i].c = c;
		t->of[i].wants = false;
	}
	if (c && w->rewinds)
		spool_rewind(t->spool, c);
	if (c && w->acks && !w->rewinds)
		spool_ack(t->spool, c, w->place, now);
	if (w->rewinds)
		t->of[i].wants = false;
	if (w->wants)
		t->of[i].empty_at = 0;
	t->of[i].wants |= w->wants;
	t->of[i].era = w->era;
	w->is_new = w->rewinds = w->acks = w->wants = false;
	if (!w->goes)
		return;
	if (c)
		spool_remove(t->spool, c);
	t->of[i].c = NULL;
	t->of[i].wants = false;
	w->goes = w->has_answer = false;
	*w->name = 0;
}

static void take_limits(struct turn *t)
{
	if (!t->spool || !t->s->max_bytes)
		return;
	spool_limit(t->spool, t->s->when_full, t->s->max_bytes, clock_mono());
	t->s->max_bytes = 0;
}

static void take_work(struct turn *t)
{
	struct spooler *s = t->s;

	pthread_mutex_lock(&s->lock);
	s->has_work = false;
	if (t->spool && t->at == t->taken.n) {
		struct buf empty = t->taken;

		buf_clear(&empty);
		t->taken = s->in;
		t->at = 0;
		s->in = empty;
	}
	take_limits(t);
	for (int i = 0; t->spool && i < LEDGER_CONSUMERS_MAX; i++)
		if (*s->request[i].name)
			take_request(t, i);
	pthread_mutex_unlock(&s->lock);
}

/* --- execution of requests */

static void append_all(struct turn *t)
{
	struct evblock b;

	while (t->at < t->taken.n) {
		nsec_t now = clock_mono();

		memcpy(&b, t->taken.p + t->at, sizeof(b));
		if (spool_append(t->spool, t->taken.p + t->at + sizeof(b), &b, now) == -ERR_NOMEM)
			return;
		t->at += sizeof(b) + b.bytes;
		spool_step(t->spool, now);
	}
}

static void report(struct turn *t)
{
	struct spooler *s = t->s;
	bool is_new;

	pthread_mutex_lock(&s->lock);
	is_new = s->settled != spool_settled(t->spool) || s->is_full != spool_is_full(t->spool);
	s->settled = spool_settled(t->spool);
	s->is_full = spool_is_full(t->spool);
	spool_stats(t->spool, &s->stats);
	pthread_mutex_unlock(&s->lock);
	if (is_new)
		s->way->report(s);
}

static void hand_over(struct turn *t, int i, uint64_t place)
{
	struct consumer_request *w = &t->s->request[i];
	struct buf was;

	pthread_mutex_lock(&t->s->lock);
	was = w->answer;
	w->answer = t->answer;
	t->answer = was;
	w->answer_place = place;
	w->answer_era = t->of[i].era;
	w->has_answer = true;
	pthread_mutex_unlock(&t->s->lock);
	t->s->way->report(t->s);
}

/* Reports that a consumer has all blocks, once for each number of appended blocks. */
static void report_empty(struct turn *t, int i)
{
	struct consumer_request *w = &t->s->request[i];
	uint64_t at = spool_appended(t->spool);

	if (spool_settled(t->spool) != at || spool_owes(t->spool) || t->at < t->taken.n ||
	    t->of[i].empty_at == at + 1)
		return;
	t->of[i].empty_at = at + 1;
	pthread_mutex_lock(&t->s->lock);
	w->is_empty = w->era == t->of[i].era;
	w->empty_at = at;
	pthread_mutex_unlock(&t->s->lock);
	t->s->way->report(t->s);
}

/*
 * Answers after a read that found damaged bytes only. Without a report the consumer would wait for
 * ever.
 */
static nsec_t answer_nothing(struct turn *t, int i)
{
	if (spool_can_read(t->spool, t->of[i].c))
		return clock_mono();
	report_empty(t, i);
	return INT64_MAX;
}

/* Delivers blocks to a consumer. Returns the time of its next work. */
static nsec_t answer(struct turn *t, int i)
{
	nsec_t now = clock_mono();
	uint64_t place;
	int rc;

	if (!t->of[i].c || !t->of[i].wants)
		return INT64_MAX;
	if (!spool_can_read(t->spool, t->of[i].c)) {
		report_empty(t, i);
		return INT64_MAX;
	}
	if (now < t->of[i].not_before)
		return t->of[i].not_before;
	rc = spool_read(t->spool, t->of[i].c, &t->answer, &place);
	if (rc) {
		t->of[i].not_before = now + SPOOL_RETRY_NS;
		return t->of[i].not_before;
	}
	if (!t->answer.n)
		return answer_nothing(t, i);
	t->of[i].wants = false;
	hand_over(t, i, place);
	return INT64_MAX;
}

nsec_t turn_work(struct turn *t)
{
	nsec_t due, at;

	try_to_open(t);
	take_work(t);
	if (!t->spool)
		return t->open_at;
	append_all(t);
	due = spool_step(t->spool, clock_mono());
	if (t->at < t->taken.n) /* without memory, tries again later */
		due = clock_mono() + NOMEM_WAIT_NS;
	report(t);
	for (int i = 0; i < LEDGER_CONSUMERS_MAX; i++) {
		at = answer(t, i);
		due = at < due ? at : due;
	}
	return due;
}

void turn_close(struct turn *t)
{
	if (t->spool) /* also stores acknowledgements, which would otherwise wait */
		spool_commit(t->spool, clock_mono() + SPOOL_LEDGER_NS);
	spool_free(t->spool);
	t->spool = NULL;
	disk_leave(&t->disk);
}

struct turn *turn_new(struct spooler *s)
{
	struct turn *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->s = s;
	buf_init(&t->taken, SPOOLER_QUEUE_MAX_BYTES);
	buf_init(&t->answer, SPOOL_READ_BYTES + 1);
	return t;
}

void turn_free(struct turn *t)
{
	if (!t)
		return;
	buf_done(&t->taken);
	buf_done(&t->answer);
	free(t);
}
