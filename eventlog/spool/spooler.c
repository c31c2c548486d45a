/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/spool/spooler.h"

#include "common/base/str.h"
#include "eventlog/evgap.h"
#include "eventlog/spool/spooler_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GAP_BYTES (sizeof(struct evblock) + EVGAP_BLOCK_BYTES)
#define GAPS_BYTES (1u << 20) /* room in the queue for the losses while it is full */

void spooler_free(struct spooler *s)
{
	if (s->event_fd >= 0)
		close(s->event_fd);
	for (size_t i = 0; i < LEDGER_CONSUMERS_MAX; i++)
		buf_done(&s->request[i].answer);
	buf_done(&s->in);
	buf_done(&s->words);
	pthread_cond_destroy(&s->wake);
	pthread_cond_destroy(&s->ended);
	pthread_mutex_destroy(&s->lock);
	turn_free(s->turn);
	free(s->path);
	free(s);
}

/* Condition variables use monotonic times, which do not depend on the wall clock. */
static void init_shared(struct spooler *s)
{
	pthread_condattr_t a;

	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, &a);
	pthread_cond_init(&s->ended, &a);
	pthread_condattr_destroy(&a);
	buf_init(&s->in, SPOOLER_QUEUE_MAX_BYTES);
	buf_init(&s->words, SPOOLER_WORDS_MAX_BYTES);
	for (size_t i = 0; i < LEDGER_CONSUMERS_MAX; i++)
		buf_init(&s->request[i].answer, SPOOL_READ_BYTES + 1);
}

int spooler_open(const char *path, const struct spool_conf *c, const struct spooler_calls *calls,
		 struct spooler **out, struct err *e)
{
	struct spooler *s = calloc(1, sizeof(*s));
	struct err own = { 0 };
	int rc;

	if (!s)
		return err_nomem(e);
	s->loop = calls->loop;
	s->calls = *calls;
	s->conf = *c;
	s->way = calls->turns ? &spooler_loop : &spooler_thread;
	s->path = str_dup(path);
	s->turn = turn_new(s);
	s->event_fd = -1;
	init_shared(s);
	rc = s->path && s->turn ? s->way->start(s, e ? e : &own) : err_nomem(e);
	if (rc) {
		spooler_free(s);
		return rc;
	}
	*out = s;
	return 0;
}

void spooler_close(struct spooler *s)
{
	if (s)
		s->way->close(s);
}

/* --- requests of the loop */

static void work(struct spooler *s)
{
	s->has_work = true;
	s->way->work(s);
}

static int put(struct spooler *s, const uint8_t *p, const struct evblock *b)
{
	if (buf_reserve(&s->in, sizeof(*b) + b->bytes))
		return -ERR_NOMEM;
	buf_put(&s->in, b, sizeof(*b));
	buf_put(&s->in, p, b->bytes);
	work(s);
	return 0;
}

/* Queues the loss of the block instead of the block, so that later blocks keep their numbers. */
static int put_lost(struct spooler *s, const uint8_t *p, const struct evblock *b)
{
	uint8_t block[EVGAP_BLOCK_BYTES];
	struct evblock head;
	struct evgap what;
	int rc;

	if (s->in.n + GAP_BYTES > s->in.max)
		return -ERR_AGAIN;
	evgap_of(p, b, &what);
	evgap_encode(&what, block);
	evblock_head(block, &head);
	rc = put(s, block, &head);
	return rc ? rc : -ERR_LIMIT;
}

int spooler_append(struct spooler *s, const uint8_t *p, const struct evblock *b)
{
	int rc;

	pthread_mutex_lock(&s->lock);
	if (s->has_opened && !s->is_open)
		rc = -ERR_CLOSED;
	else if (s->in.n + sizeof(*b) + b->bytes + GAPS_BYTES <= s->in.max)
		rc = put(s, p, b);
	else
		rc = put_lost(s, p, b);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

void spooler_limit(struct spooler *s, enum spool_when_full when_full, uint64_t max_bytes)
{
	pthread_mutex_lock(&s->lock);
	s->when_full = when_full;
	s->max_bytes = max_bytes;
	work(s);
	pthread_mutex_unlock(&s->lock);
}

static int find_request(const struct spooler *s, const char *name)
{
	for (int i = 0; i < LEDGER_CONSUMERS_MAX; i++)
		if (str_eq(s->request[i].name, name) && !s->request[i].goes)
			return i;
	return -ERR_LIMIT;
}

int spooler_consumer(struct spooler *s, const char *name, bool from_oldest)
{
	int at;

	if (!ledger_is_name(name))
		return -ERR_INVALID;
	pthread_mutex_lock(&s->lock);
	at = find_request(s, name);
	if (at < 0)
		at = find_request(s, "");
	if (at >= 0 && !*s->request[at].name) {
		snprintf(s->request[at].name, sizeof(s->request[at].name), "%s", name);
		s->request[at].from_oldest = from_oldest;
		s->request[at].is_new = true;
		work(s);
	}
	pthread_mutex_unlock(&s->lock);
	return at;
}

void spooler_remove(struct spooler *s, int consumer)
{
	pthread_mutex_lock(&s->lock);
	s->request[consumer].goes = true;
	s->request[consumer].has_answer = s->request[consumer].wants =
		s->request[consumer].is_empty = false;
	work(s);
	pthread_mutex_unlock(&s->lock);
}

void spooler_want(struct spooler *s, int consumer)
{
	pthread_mutex_lock(&s->lock);
	s->request[consumer].wants = true;
	work(s);
	pthread_mutex_unlock(&s->lock);
}

void spooler_ack(struct spooler *s, int consumer, uint64_t place)
{
	pthread_mutex_lock(&s->lock);
	s->request[consumer].acks = true;
	s->request[consumer].place = place;
	work(s);
	pthread_mutex_unlock(&s->lock);
}

void spooler_rewind(struct spooler *s, int consumer)
{
	pthread_mutex_lock(&s->lock);
	s->request[consumer].rewinds = true;
	s->request[consumer].wants = s->request[consumer].has_answer =
		s->request[consumer].is_empty = false;
	s->request[consumer].era++;
	work(s);
	pthread_mutex_unlock(&s->lock);
}

void spooler_stats(struct spooler *s, struct spool_stats *out)
{
	pthread_mutex_lock(&s->lock);
	*out = s->stats;
	pthread_mutex_unlock(&s->lock);
}

/* --- reports of finished work */

static void report_words(struct spooler *s)
{
	struct buf words;

	pthread_mutex_lock(&s->lock);
	words = s->words;
	buf_init(&s->words, SPOOLER_WORDS_MAX_BYTES);
	pthread_mutex_unlock(&s->lock);
	for (char *p = words.n ? (char *)words.p : NULL, *end; p && *p; p = end) {
		end = p + strcspn(p, "\n");
		if (*end)
			*end++ = 0;
		if (s->calls.on_word)
			s->calls.on_word(s->calls.arg, p);
	}
	buf_done(&words);
}

static void report_blocks(struct spooler *s, int i)
{
	struct consumer_request *w = &s->request[i];
	struct buf answer;
	uint64_t place;
	bool is;

	pthread_mutex_lock(&s->lock);
	is = w->has_answer && w->answer_era == w->era && !w->goes;
	w->has_answer = false;
	answer = w->answer;
	place = w->answer_place;
	if (is)
		buf_init(&w->answer, SPOOL_READ_BYTES + 1);
	pthread_mutex_unlock(&s->lock);
	if (!is)
		return;
	if (s->calls.on_blocks)
		s->calls.on_blocks(s->calls.arg, i, answer.p, answer.n, place);
	buf_done(&answer);
}

static void report_empty(struct spooler *s, int i)
{
	struct consumer_request *w = &s->request[i];
	uint64_t at;
	bool is;

	pthread_mutex_lock(&s->lock);
	is = w->is_empty && !w->goes && !w->has_answer;
	at = w->empty_at;
	w->is_empty = false;
	pthread_mutex_unlock(&s->lock);
	if (is && s->calls.on_empty)
		s->calls.on_empty(s->calls.arg, i, at);
}

static void report_state(struct spooler *s)
{
	struct err why;
	bool is_new, is_full;
	uint64_t settled;
	int rc;

	pthread_mutex_lock(&s->lock);
	is_new = s->has_opened && (!s->reported_open || s->reported_rc != s->open_rc);
	rc = s->open_rc;
	why = s->open_err;
	is_full = s->is_full;
	settled = s->settled;
	pthread_mutex_unlock(&s->lock);
	if (is_new) {
		s->reported_open = true;
		s->reported_rc = rc;
		if (s->calls.on_open)
			s->calls.on_open(s->calls.arg, rc, &why);
	}
	if (is_full != s->reported_full) {
		s->reported_full = is_full;
		if (s->calls.on_full)
			s->calls.on_full(s->calls.arg, is_full);
	}
	if (settled > s->reported_settled) {
		s->reported_settled = settled;
		if (s->calls.on_settled)
			s->calls.on_settled(s->calls.arg, settled);
	}
}

void spooler_report(struct spooler *s)
{
	report_words(s);
	report_state(s);
	for (int i = 0; i < LEDGER_CONSUMERS_MAX; i++) {
		report_blocks(s, i);
		report_empty(s, i);
	}
}
